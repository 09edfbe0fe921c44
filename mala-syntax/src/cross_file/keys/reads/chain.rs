//! How code reads settings: by a chain of names that starts at something called configuration.

use super::Effect;
use super::access::{Access, Way, callee, object_of};
use crate::source::Source;
use crate::symbols::named_children;
use mala_domain::language::Language;
use tree_sitter::Node;

/// What configuration is called, without underscores and in lower case.
const ROOTS: [&str; 14] = [
    "config",
    "configs",
    "configuration",
    "conf",
    "cfg",
    "settings",
    "appconfig",
    "appsettings",
    "globalconfig",
    "configservice",
    "viper",
    "nconf",
    "getconfig",
    "loadconfig",
];

/// Functions that give a setting by its name.
const GETTERS: [&str; 32] = [
    "get",
    "fetch",
    "getString",
    "getInt",
    "getBoolean",
    "getLong",
    "getDouble",
    "getList",
    "getOrThrow",
    "get_string",
    "get_str",
    "get_int",
    "get_bool",
    "get_float",
    "get_table",
    "get_array",
    "Get",
    "GetString",
    "GetInt",
    "GetInt64",
    "GetBool",
    "GetFloat64",
    "GetDuration",
    "GetStringSlice",
    "GetStringMap",
    "GetStringMapString",
    "GetUint",
    "GetTime",
    "GetValue",
    "GetSection",
    "getProperty",
    "getRequiredProperty",
];

/// Longer chains are not followed.
const MAX_LINKS: usize = 10;

/// The names between the configuration and the accessed one; `None` when it starts elsewhere.
pub(super) fn names_before(source: &Source, access: &Access<'_>) -> Option<Vec<String>> {
    match access.way {
        Way::Annotation => return (access.method == "Value").then(Vec::new),
        Way::Macro | Way::Unpacking => return None,
        Way::Member if !has_open_members(source.language()) => return None,
        Way::Call if is_of_environment(source, access) => return Some(Vec::new()),
        _ => {}
    }
    let mut node = access.object?;
    let mut names = Vec::new();
    for _ in 0..MAX_LINKS {
        node = bare(node);
        if let Some(name) = plain_name(source, node) {
            return is_root(name).then(|| reversed(names));
        }
        if let Some(name) = member_name(source, node) {
            if is_root(name) {
                return Some(reversed(names));
            }
            if !has_open_members(source.language()) {
                return None;
            }
            names.push(name.to_owned());
            node = object_of(node)?;
            continue;
        }
        node = match step_inside(source, node)? {
            Inside::Root => return Some(reversed(names)),
            Inside::Named(before, text) => {
                names.extend(text.split(['.', ':']).rev().map(str::to_owned));
                before
            }
        };
    }
    None
}

fn reversed(mut names: Vec<String>) -> Vec<String> {
    names.reverse();
    names
}

/// One link of a chain.
enum Inside<'t> {
    /// A call that gives the configuration.
    Root,
    /// What is before it, and the name that it takes.
    Named(Node<'t>, String),
}

fn step_inside<'t>(source: &'t Source, node: Node<'t>) -> Option<Inside<'t>> {
    let kind = node.kind();
    if kind.contains("subscript") || kind == "index_expression" || kind == "element_reference" {
        let object = object_of(node)?;
        let key =
            named_children(node).into_iter().map(|step| step.node).find(|it| *it != object)?;
        return Some(Inside::Named(object, text_of(source, key)?));
    }
    if !kind.contains("call") && !kind.contains("invocation") {
        return None;
    }
    let (object, method) = callee(source, node)?;
    let list = node.child_by_field_name("arguments")?;
    match (object, named_children(list).as_slice()) {
        (_, []) => is_root(method).then_some(Inside::Root),
        (Some(object), [key]) if GETTERS.contains(&method) => {
            Some(Inside::Named(object, text_of(source, key.node)?))
        }
        (None, _) => is_root(method).then_some(Inside::Root),
        _ => None,
    }
}

/// Whether members of an object can be anything there: elsewhere a type says what there is.
fn has_open_members(language: Language) -> bool {
    matches!(
        language,
        Language::Python | Language::JavaScript | Language::TypeScript | Language::Tsx
    )
}

fn is_root(name: &str) -> bool {
    let name: String =
        name.chars().filter(|c| c.is_ascii_alphanumeric()).collect::<String>().to_lowercase();
    ROOTS.contains(&name.as_str())
}

/// Spring's `environment.getProperty("key")`.
fn is_of_environment(source: &Source, access: &Access<'_>) -> bool {
    let object = access.object.map(|node| source.slice(node)).unwrap_or_default();
    let name = object.rsplit('.').next().unwrap_or_default();
    source.language() == Language::Java
        && matches!(name, "env" | "environment")
        && matches!(access.method, "getProperty" | "getRequiredProperty")
}

/// What is inside brackets and other wrappings.
fn bare(mut node: Node<'_>) -> Node<'_> {
    const WRAPPERS: [&str; 5] = [
        "parenthesized_expression",
        "non_null_expression",
        "as_expression",
        "await_expression",
        "await",
    ];
    while WRAPPERS.contains(&node.kind()) {
        match node.named_child(0) {
            Some(inner) => node = inner,
            None => break,
        }
    }
    node
}

fn plain_name<'s>(source: &'s Source, node: Node<'_>) -> Option<&'s str> {
    matches!(node.kind(), "identifier" | "constant" | "instance_variable" | "variable_name")
        .then(|| source.slice(node))
}

fn member_name<'s>(source: &'s Source, node: Node<'_>) -> Option<&'s str> {
    let name = ["attribute", "property", "field", "name"]
        .iter()
        .filter(|_| !node.kind().contains("call") && !node.kind().contains("invocation"))
        .find_map(|field| node.child_by_field_name(field))?;
    Some(source.slice(name))
}

fn text_of(source: &Source, node: Node<'_>) -> Option<String> {
    let node = if node.kind() == "argument" { node.named_child(0)? } else { node };
    let is_text = node.kind().contains("string");
    let text = source.slice(node).trim_matches(['"', '\'', '`']);
    (is_text && !text.contains(['{', '$', '\\'])).then(|| text.to_owned())
}

/// What happens when the setting is not there; `None` when this is no read.
pub(super) fn effect(source: &Source, access: &Access<'_>) -> Option<Effect> {
    let script =
        matches!(source.language(), Language::JavaScript | Language::TypeScript | Language::Tsx);
    let python = source.language() == Language::Python;
    Some(match access.way {
        Way::Index if python => Effect::Raises("raises `KeyError`"),
        Way::Index | Way::Member if script => Effect::Gives("gives `undefined`"),
        Way::Member | Way::Index => Effect::Gives("finds no value"),
        Way::Annotation => Effect::Raises("has no value: the program does not start"),
        Way::Call if !GETTERS.contains(&access.method) => return None,
        Way::Call if access.n_arguments > 1 => Effect::Defaults,
        Way::Call if source.language() == Language::Rust => Effect::Result("gives an error"),
        Way::Call => Effect::Gives("finds no value"),
        _ => return None,
    })
}

/// Whether a call only asks whether a setting is there.
pub(super) fn tests(access: &Access<'_>) -> bool {
    const ASKERS: [&str; 8] = [
        "has",
        "contains",
        "exists",
        "IsSet",
        "InConfig",
        "containsKey",
        "containsProperty",
        "has_key",
    ];
    ASKERS.contains(&access.method)
}

/// Whether a call puts a setting in.
pub(super) fn sets(access: &Access<'_>) -> bool {
    const SETTERS: [&str; 10] = [
        "set",
        "Set",
        "SetDefault",
        "set_default",
        "setdefault",
        "setDefault",
        "set_override",
        "setProperty",
        "BindEnv",
        "BindPFlag",
    ];
    access.way == Way::Call && SETTERS.contains(&access.method)
}
