//! Secrets and files that other users can read, and messages that any sender can send.

use super::{found, short};
use crate::rules::ecmascript::object::ObjectMember;
use crate::rules::ecmascript::origin::{arguments, callee, unquoted};
use crate::rules::ecmascript::program::is_function;
use crate::rules::ecmascript::{ScriptCheck, ScriptFile};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const LOGGED_PASSWORD: ScriptCheck =
    ScriptCheck { name: "password-in-log", captures: &["NAME"], run: logged_passwords };

pub(in crate::rules::ecmascript) const MESSAGE_FROM_ANYONE: ScriptCheck = ScriptCheck {
    name: "message-origin-not-checked",
    captures: &["EVENT"],
    run: messages_from_anyone,
};

pub(in crate::rules::ecmascript) const TEMPORARY_FILE: ScriptCheck =
    ScriptCheck { name: "insecure-temporary-file", captures: &["PATH"], run: temporary_files };

/// Whether a name is that of a secret itself, not of something about a secret.
fn is_secret_name(name: &str) -> bool {
    let lower = name.to_lowercase().replace(['_', '-'], "");
    let is_secret = ["password", "passwd", "secretkey", "privatekey", "apisecret", "clientsecret"]
        .iter()
        .any(|word| lower.ends_with(word))
        || matches!(lower.as_str(), "apikey" | "accesstoken" | "refreshtoken" | "authtoken");
    let about =
        ["hash", "encrypted", "masked", "no", "has", "is", "reset", "forgot", "invalid", "show"];
    is_secret && !about.iter().any(|word| lower.starts_with(word) || lower.contains("hashed"))
}

/// The secret that an expression shows: itself, or a part of a text that is put together.
fn secret_in<'t>(program: &ScriptFile<'t>, node: Node<'t>) -> Option<&'t str> {
    match node.kind() {
        "identifier" | "shorthand_property_identifier" => {
            let name = program.text(node);
            let is_constant = program.constant_text(node).is_some();
            let is_callable = program.value_of(node).is_some_and(is_function);
            (is_secret_name(name) && !is_constant && !is_callable).then_some(name)
        }
        "member_expression" => {
            let name = program.text(node.child_by_field_name("property")?);
            is_secret_name(name).then_some(name)
        }
        "binary_expression" if program.operator(node) == "+" => {
            let left = node.child_by_field_name("left").and_then(|it| secret_in(program, it));
            left.or_else(|| secret_in(program, node.child_by_field_name("right")?))
        }
        "template_string" | "template_substitution" | "parenthesized_expression" => {
            let mut cursor = node.walk();
            node.named_children(&mut cursor).find_map(|part| secret_in(program, part))
        }
        _ => None,
    }
}

fn logged_passwords(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let Some(callee) = callee(*call).filter(|it| it.kind() == "member_expression") else {
            continue;
        };
        let object = callee.child_by_field_name("object").map_or("", |it| program.text(it));
        let method = callee.child_by_field_name("property").map_or("", |it| program.text(it));
        let is_log = matches!(object, "console" | "logger" | "log" | "this.logger" | "winston")
            && matches!(method, "log" | "info" | "debug" | "warn" | "error" | "trace" | "verbose");
        let secret = arguments(*call).into_iter().find_map(|it| secret_in(program, it));
        if let Some(name) = secret.filter(|_| is_log) {
            matches.push(found(*call, vec![("NAME", name.to_owned())]));
        }
    }
    matches
}

fn messages_from_anyone(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let given = arguments(*call);
        let [name, handler, ..] = given.as_slice() else { continue };
        let is_listener =
            callee(*call).is_some_and(|it| program.text(it) == "window.addEventListener");
        let is_message = program.constant_text(*name).is_some_and(|it| it == "message");
        let Some(handler) = program.value_of(*handler).filter(|it| is_function(*it)) else {
            continue;
        };
        if is_listener && is_message {
            matches.extend(unchecked_message(program, handler));
        }
    }
    for assignment in program.of_kind("assignment_expression") {
        let target = assignment.child_by_field_name("left").map_or("", |it| program.text(it));
        let handler = assignment.child_by_field_name("right").and_then(|it| program.value_of(it));
        let handler = handler.filter(|it| target == "window.onmessage" && is_function(*it));
        matches.extend(handler.and_then(|it| unchecked_message(program, it)));
    }
    matches
}

/// The event of a handler that uses its data and does not check its origin.
fn unchecked_message<'t>(program: &ScriptFile<'t>, handler: Node<'t>) -> Option<NativeMatch> {
    let event = *program.parameters(handler).first()?;
    let name = event.child_by_field_name("pattern").unwrap_or(event);
    let variable = program.variable(name)?;
    let member = |read: &Node<'t>| {
        let parent = program.parent(*read)?;
        Some(program.text(parent.child_by_field_name("property")?))
    };
    let uses_data = variable.reads.iter().any(|it| member(it) == Some("data"));
    let only_member_reads = variable.reads.iter().all(|it| member(it).is_some());
    let asks = variable
        .reads
        .iter()
        .any(|it| matches!(member(it), Some("origin" | "source" | "isTrusted" | "ports")));
    (uses_data && only_member_reads && !asks)
        .then(|| found(event, vec![("EVENT", program.text(name).to_owned())]))
}

const WRITERS: [&str; 7] = [
    "fs:writeFile",
    "fs:writeFileSync",
    "fs:promises.writeFile",
    "fs/promises:writeFile",
    "fs:open",
    "fs:openSync",
    "fs:createWriteStream",
];

fn temporary_files(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let is_writer =
            program.callee_origin(*call).is_some_and(|path| WRITERS.contains(&path.as_str()));
        let given = arguments(*call);
        let Some(path) = given.first().copied().filter(|_| is_writer) else { continue };
        if is_temporary(program, path, 6) && !has_private_mode(program, &given) {
            matches.push(found(*call, vec![("PATH", short(program.text(path)))]));
        }
    }
    matches
}

/// Whether a path lies in the folder that all users of a machine share.
fn is_temporary<'t>(program: &ScriptFile<'t>, node: Node<'t>, depth: usize) -> bool {
    let Some(value) = program.value_of(node).filter(|_| depth > 0) else { return false };
    if program.constant_text(value).is_some_and(|text| text.starts_with("/tmp/")) {
        return true;
    }
    match value.kind() {
        "call_expression" => match program.callee_origin(value).as_deref() {
            Some("os:tmpdir" | "os:tmpDir") => true,
            Some("path:join" | "path:resolve") => {
                arguments(value).first().is_some_and(|it| is_temporary(program, *it, depth - 1))
            }
            _ => false,
        },
        "ternary_expression" => ["consequence", "alternative"]
            .into_iter()
            .filter_map(|field| value.child_by_field_name(field))
            .any(|it| is_temporary(program, it, depth - 1)),
        "template_string" => {
            let starts = program.text(value).starts_with("`/tmp/");
            let first = value.named_child(0).filter(|it| it.kind() == "template_substitution");
            starts
                || first
                    .and_then(|it| it.named_child(0))
                    .is_some_and(|it| is_temporary(program, it, depth - 1))
        }
        "binary_expression" => {
            value.child_by_field_name("left").is_some_and(|it| is_temporary(program, it, depth - 1))
        }
        _ => false,
    }
}

/// Whether the file is readable by its owner only, or the call sets a mode explicitly.
fn has_private_mode<'t>(program: &ScriptFile<'t>, given: &[Node<'t>]) -> bool {
    given.iter().skip(1).any(|argument| {
        let mode = match argument.kind() {
            "number" => Some(*argument),
            "object" => program.member(*argument, "mode").known(),
            _ => None,
        };
        mode.is_some_and(|mode| {
            program.constant_number(mode).is_none_or(|mode| mode as u32 & 0o077 == 0)
        })
    })
}

pub(in crate::rules::ecmascript) const HTTP_ONLY: ScriptCheck =
    ScriptCheck { name: "cookie-without-httponly", captures: &["COOKIE"], run: readable_cookies };

/// Whether a cookie identifies a user.
fn is_session_cookie(name: &str) -> bool {
    let lower = name.to_lowercase();
    if ["redirect", "return", "lang", "theme"].iter().any(|word| lower.contains(word)) {
        return false;
    }
    ["session", "auth", "token", "sid", "jwt", "login", "password"].iter().any(|word| {
        if *word == "sid" {
            lower == "sid" || lower.ends_with(".sid")
        } else {
            lower.contains(word)
        }
    }) && !lower.contains("csrf")
        && !lower.contains("xsrf")
}

fn readable_cookies(program: &ScriptFile<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let cookie = session_middleware(program, *call)
            .or_else(|| set_cookie_call(program, *call))
            .or_else(|| set_cookie_header(program, *call));
        if let Some(cookie) = cookie {
            matches.push(found(*call, vec![("COOKIE", cookie)]));
        }
    }
    matches
}

/// `session({ cookie: { httpOnly: false } })`
fn session_middleware<'t>(program: &ScriptFile<'t>, call: Node<'t>) -> Option<String> {
    let path = program.callee_origin(call)?;
    let option = match path.as_str() {
        "express-session:" => "cookie.httpOnly",
        "cookie-session:" => "httpOnly",
        _ => return None,
    };
    let options = *arguments(call).first()?;
    let value = program.member_path(options, option).known()?;
    (program.constant_truth(value) == Some(false)).then(|| "session".to_owned())
}

/// `res.cookie("session", value, options)`
fn set_cookie_call<'t>(program: &ScriptFile<'t>, call: Node<'t>) -> Option<String> {
    let callee = call.child_by_field_name("function")?;
    let method = program.text(callee.child_by_field_name("property")?);
    let object = program.text(callee.child_by_field_name("object")?);
    let is_response = matches!(object, "res" | "response" | "reply" | "ctx.res")
        || object.ends_with(')') && object.starts_with("res");
    if method != "cookie" || !is_response {
        return None;
    }
    let arguments = arguments(call);
    let [name, _, rest @ ..] = arguments.as_slice() else { return None };
    let shown = program
        .constant_text(*name)
        .map_or_else(|| last_word(program.text(*name)), |text| text.into_owned());
    if !is_session_cookie(&shown) && !is_session_cookie(&last_word(program.text(*name))) {
        return None;
    }
    let is_readable = match rest.first() {
        None => true,
        Some(options) => match program.member(*options, "httpOnly") {
            ObjectMember::Is(value) => program.constant_truth(value) == Some(false),
            ObjectMember::Missing => true,
            ObjectMember::Unsure => false,
        },
    };
    is_readable.then_some(shown)
}

fn last_word(text: &str) -> String {
    unquoted(text.rsplit('.').next().unwrap_or(text)).to_owned()
}

/// `res.setHeader("Set-Cookie", "session=…")`
fn set_cookie_header<'t>(program: &ScriptFile<'t>, call: Node<'t>) -> Option<String> {
    let callee = call.child_by_field_name("function")?;
    let method = program.text(callee.child_by_field_name("property")?);
    let arguments = arguments(call);
    let [header, value] = arguments.as_slice() else { return None };
    let is_header = matches!(method, "setHeader" | "set" | "header" | "append")
        && program.constant_text(*header).is_some_and(|it| it.eq_ignore_ascii_case("set-cookie"));
    if !is_header {
        return None;
    }
    let cookies: Vec<Node<'t>> = if value.kind() == "array" {
        let mut cursor = value.walk();
        value.named_children(&mut cursor).collect()
    } else {
        vec![*value]
    };
    cookies.into_iter().find_map(|cookie| readable_cookie_text(program, cookie))
}

/// The name of a cookie written as text, when it is a session and not marked.
fn readable_cookie_text<'t>(program: &ScriptFile<'t>, cookie: Node<'t>) -> Option<String> {
    let known = program.constant_text(cookie);
    let text = match &known {
        Some(text) => text.to_string(),
        None if cookie.kind() == "binary_expression" => {
            let left = cookie.child_by_field_name("left")?;
            let rest = cookie.child_by_field_name("right")?;
            let is_call_or_name = matches!(rest.kind(), "call_expression" | "identifier");
            is_call_or_name.then(|| program.constant_text(left))??.to_string()
        }
        None => return None,
    };
    let (name, _) = text.split_once('=')?;
    let is_marked = text.to_lowercase().contains("httponly");
    (is_session_cookie(name) && !is_marked).then(|| name.to_owned())
}
