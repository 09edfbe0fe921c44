//! What leaves the program that should stay inside: passwords in logs, stack traces in answers,
//! messages to any window, files that everyone can read.

use super::{found, path_matches, short};
use crate::rules::ecmascript::origin::{arguments, callee};
use crate::rules::ecmascript::program::is_function;
use crate::rules::ecmascript::{Program, ProgramCheck};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const LOGGED_PASSWORD: ProgramCheck =
    ProgramCheck { name: "password-in-log", captures: &["NAME"], run: logged_passwords };

pub(in crate::rules::ecmascript) const STORED_PASSWORD: ProgramCheck = ProgramCheck {
    name: "password-stored-in-clear",
    captures: &["NAME", "PLACE"],
    run: stored_passwords,
};

pub(in crate::rules::ecmascript) const STACK_TRACE: ProgramCheck =
    ProgramCheck { name: "stack-trace-in-answer", captures: &["TRACE"], run: stack_traces };

pub(in crate::rules::ecmascript) const MESSAGE_TO_ANYONE: ProgramCheck = ProgramCheck {
    name: "secret-message-to-any-window",
    captures: &["MESSAGE"],
    run: messages_to_anyone,
};

pub(in crate::rules::ecmascript) const MESSAGE_FROM_ANYONE: ProgramCheck = ProgramCheck {
    name: "message-origin-not-checked",
    captures: &["EVENT"],
    run: messages_from_anyone,
};

pub(in crate::rules::ecmascript) const TEMPORARY_FILE: ProgramCheck =
    ProgramCheck { name: "insecure-temporary-file", captures: &["PATH"], run: temporary_files };

pub(in crate::rules::ecmascript) const OPEN_FILE_MODE: ProgramCheck =
    ProgramCheck { name: "file-open-to-everyone", captures: &["MODE"], run: open_file_modes };

/// Names that are a secret themselves, not something about one.
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
fn secret_in<'t>(program: &Program<'t>, node: Node<'t>) -> Option<&'t str> {
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

fn logged_passwords(program: &Program<'_>) -> Vec<NativeMatch> {
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

fn stored_passwords(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let place = match program.callee_origin(*call).as_deref() {
            Some("localStorage.setItem" | "window.localStorage.setItem") => "localStorage",
            Some("sessionStorage.setItem" | "window.sessionStorage.setItem") => "sessionStorage",
            _ => continue,
        };
        let value = arguments(*call).get(1).copied();
        let name = value.and_then(|it| secret_in(program, it));
        // Tokens are kept there by design; passwords are not.
        if let Some(name) = name.filter(|name| !name.to_lowercase().contains("token")) {
            let captures = vec![("NAME", name.to_owned()), ("PLACE", place.to_owned())];
            matches.push(found(*call, captures));
        }
    }
    matches
}

fn stack_traces(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let Some(callee) = callee(*call).filter(|it| it.kind() == "member_expression") else {
            continue;
        };
        let object = callee.child_by_field_name("object").map_or("", |it| program.text(it));
        let method = callee.child_by_field_name("property").map_or("", |it| program.text(it));
        let is_response = object == "res"
            || object == "response"
            || object.starts_with("res.")
            || object.starts_with("response.");
        if !is_response || !matches!(method, "send" | "end" | "write" | "json") {
            continue;
        }
        let trace = arguments(*call).into_iter().find_map(|it| stack_in(program, it));
        if let Some(trace) = trace.filter(|it| !is_for_developers(program, *it)) {
            matches.push(found(*call, vec![("TRACE", short(program.text(trace)))]));
        }
    }
    matches
}

fn stack_in<'t>(program: &Program<'t>, node: Node<'t>) -> Option<Node<'t>> {
    let is_stack = |node: Node<'t>| {
        node.kind() == "member_expression"
            && node.child_by_field_name("property").is_some_and(|it| program.text(it) == "stack")
            && node.child_by_field_name("object").is_some_and(|it| {
                let name = program.text(it).to_lowercase();
                name == "e" || name == "ex" || name.contains("err")
            })
    };
    let around = std::iter::once(&node).chain(program.inside(node));
    around.copied().find(|it| is_stack(*it))
}

/// Whether a condition around asks for the kind of installation.
fn is_for_developers<'t>(program: &Program<'t>, node: Node<'t>) -> bool {
    program.ancestors(node).any(|around| {
        let is_choice = match around.kind() {
            "if_statement" | "ternary_expression" => true,
            "binary_expression" => matches!(program.operator(around), "&&" | "||"),
            _ => false,
        };
        let condition = around
            .child_by_field_name("condition")
            .or_else(|| around.child_by_field_name("left"))
            .map_or("", |it| program.text(it))
            .to_lowercase();
        is_choice
            && ["env", "dev", "debug", "prod", "verbose"].iter().any(|it| condition.contains(it))
    })
}

fn messages_to_anyone(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let given = arguments(*call);
        let [message, target] = given.as_slice() else { continue };
        let method = callee(*call).and_then(|it| it.child_by_field_name("property"));
        let is_post = method.is_some_and(|it| program.text(it) == "postMessage");
        let to_anyone = program.constant_text(*target).is_some_and(|it| it == "*");
        if !is_post || !to_anyone {
            continue;
        }
        let inside = std::iter::once(message).chain(program.inside(*message));
        let secret = inside.copied().find(|it| {
            let name = match it.kind() {
                "identifier" | "property_identifier" | "shorthand_property_identifier" => {
                    program.text(*it)
                }
                _ => return false,
            };
            is_secret_name(name)
        });
        if secret.is_some() {
            matches.push(found(*call, vec![("MESSAGE", short(program.text(*message)))]));
        }
    }
    matches
}

fn messages_from_anyone(program: &Program<'_>) -> Vec<NativeMatch> {
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

/// The event of a handler that uses its data and asks for nobody's origin.
fn unchecked_message<'t>(program: &Program<'t>, handler: Node<'t>) -> Option<NativeMatch> {
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

fn temporary_files(program: &Program<'_>) -> Vec<NativeMatch> {
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
fn is_temporary<'t>(program: &Program<'t>, node: Node<'t>, depth: usize) -> bool {
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

/// Whether only the owner gets at the file, or the call says how it is.
fn has_private_mode<'t>(program: &Program<'t>, given: &[Node<'t>]) -> bool {
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

fn open_file_modes(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let Some(path) = program.callee_origin(*call) else { continue };
        let given = arguments(*call);
        // A socket that everyone may speak to is there for that.
        let is_socket = given.first().is_some_and(|it| {
            let target = program.text(*it).to_lowercase();
            target.contains("sock") || target.ends_with(".address()")
        });
        if is_socket {
            continue;
        }
        let mode = if path_matches("fs:*chmod*", &path) || path == "fs/promises:chmod" {
            given.get(1).copied()
        } else if path_matches("fs:*", &path) || path_matches("fs/promises:*", &path) {
            let options = given.iter().find(|it| it.kind() == "object");
            options.and_then(|it| program.member(*it, "mode").known())
        } else {
            None
        };
        let Some(mode) = mode else { continue };
        let value = program.constant_number(mode).map(|it| it as u32).or_else(|| {
            let text = program.constant_text(mode)?;
            u32::from_str_radix(text.trim_start_matches("0o"), 8).ok()
        });
        if value.is_some_and(|it| it <= 0o7777 && it & 0o002 != 0) {
            matches.push(found(mode, vec![("MODE", program.text(mode).to_owned())]));
        }
    }
    matches
}
