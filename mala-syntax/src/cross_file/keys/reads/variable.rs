//! How languages read and set environment variables.

use super::Effect;
use super::access::{Access, Way};
use crate::source::Source;
use mala_domain::language::Language;

/// What happens when the variable is not set; `None` when this is no read of one.
pub(super) fn effect(source: &Source, access: &Access<'_>) -> Option<Effect> {
    let object = access.object.map(|node| source.slice(node)).unwrap_or_default();
    let found = match source.language() {
        Language::Python => python(access, object),
        Language::JavaScript | Language::TypeScript | Language::Tsx => script(access, object),
        Language::Go => go(access, object),
        Language::Rust => rust(access, object),
        Language::Java => java(access, object),
        Language::Ruby => ruby(access, object),
        Language::CSharp => (access.method == "GetEnvironmentVariable").then_some(NULL),
        Language::Php => php(access, object),
        Language::C | Language::Cpp => (access.method == "getenv").then_some(NULL),
    }?;
    Some(if has_default(access) { Effect::Defaults } else { found })
}

const NULL: Effect = Effect::Gives("gives `null`");

fn has_default(access: &Access<'_>) -> bool {
    matches!(access.way, Way::Call | Way::Unpacking) && access.n_arguments > 1
}

fn python(access: &Access<'_>, object: &str) -> Option<Effect> {
    let is_environ = object == "environ" || object.ends_with(".environ");
    match (access.way, access.method) {
        (Way::Index, _) if is_environ => Some(Effect::Raises("raises `KeyError`")),
        (Way::Call, "get") if is_environ => Some(Effect::Gives("gives `None`")),
        (Way::Call, "getenv") => Some(Effect::Gives("gives `None`")),
        (Way::Call, "env") if object.is_empty() => Some(Effect::Raises("raises an error")),
        (Way::Call, "config") if object.is_empty() => {
            Some(Effect::Raises("raises `UndefinedValueError`"))
        }
        (Way::Call, "str" | "bool" | "int" | "float" | "list" | "url" | "json")
            if object == "env" =>
        {
            Some(Effect::Raises("raises an error"))
        }
        _ => None,
    }
}

fn script(access: &Access<'_>, object: &str) -> Option<Effect> {
    let object: String = object.chars().filter(|c| !c.is_whitespace()).collect();
    let is_env = matches!(object.as_str(), "process.env" | "import.meta.env" | "Bun.env");
    let is_deno = object == "Deno.env" && access.method == "get";
    (is_env && access.way != Way::Call || is_deno).then_some(Effect::Gives("gives `undefined`"))
}

fn go(access: &Access<'_>, object: &str) -> Option<Effect> {
    match (object, access.method) {
        ("os" | "syscall", "Getenv") => Some(Effect::Gives("gives an empty string")),
        ("os", "LookupEnv") => Some(Effect::Defaults),
        _ => None,
    }
}

fn rust(access: &Access<'_>, object: &str) -> Option<Effect> {
    let is_env = object.rsplit("::").next() == Some("env");
    match (access.way, access.method) {
        (Way::Call, "var") if is_env => Some(Effect::Result("gives `Err(NotPresent)`")),
        (Way::Call, "var_os") if is_env => Some(Effect::Result("gives `None`")),
        (Way::Macro, "env") => Some(Effect::Raises("does not compile")),
        _ => None,
    }
}

fn java(access: &Access<'_>, object: &str) -> Option<Effect> {
    match (access.way, access.method) {
        (Way::Call, "getenv") if object == "System" => Some(NULL),
        (Way::Annotation, "Value") => {
            Some(Effect::Raises("has no value: the program does not start"))
        }
        _ => None,
    }
}

fn ruby(access: &Access<'_>, object: &str) -> Option<Effect> {
    match (access.way, access.method) {
        (Way::Index, _) if object == "ENV" => Some(Effect::Gives("gives `nil`")),
        (Way::Call, "fetch") if object == "ENV" => Some(Effect::Raises("raises `KeyError`")),
        _ => None,
    }
}

fn php(access: &Access<'_>, object: &str) -> Option<Effect> {
    match (access.way, access.method) {
        (Way::Call, "getenv") if object.is_empty() => Some(Effect::Gives("gives `false`")),
        (Way::Call, "env") if object.is_empty() => Some(NULL),
        (Way::Index, _) if object == "$_ENV" => Some(NULL),
        _ => None,
    }
}

/// Whether this sets a variable.
pub(super) fn sets(source: &Source, access: &Access<'_>) -> bool {
    const SETTERS: [&str; 9] = [
        "setenv",
        "Setenv",
        "set_var",
        "putenv",
        "setdefault",
        "stubEnv",
        "BindEnv",
        "setProperty",
        "SetEnvironmentVariable",
    ];
    access.way == Way::Call && SETTERS.contains(&access.method)
        || access.is_assigned && effect(source, access).is_some()
}
