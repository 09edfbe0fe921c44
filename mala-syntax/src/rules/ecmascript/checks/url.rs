//! Hosts that are looked for somewhere in a URL: the text may stand anywhere in it.

use super::found;
use crate::rules::ecmascript::origin::arguments;
use crate::rules::ecmascript::{Program, ProgramCheck};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const HOST_IN_URL: ProgramCheck = ProgramCheck {
    name: "host-searched-in-url",
    captures: &["HOST", "EXAMPLE"],
    run: hosts_in_urls,
};

pub(in crate::rules::ecmascript) const SCHEME_CHECK: ProgramCheck =
    ProgramCheck { name: "incomplete-scheme-check", captures: &["MISSING"], run: scheme_checks };

const TOP_LEVEL: [&str; 22] = [
    "com", "org", "net", "io", "dev", "app", "edu", "gov", "uk", "de", "fr", "jp", "cn", "us",
    "me", "co", "info", "biz", "internal", "cloud", "ai", "eu",
];

fn hosts_in_urls(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let Some((method, receiver)) = method_call(program, *call) else { continue };
        let arguments = arguments(*call);
        let [only] = arguments.as_slice() else { continue };
        let Some(text) = program.constant_text(*only) else { continue };
        let is_wrong = match method {
            "includes" => is_host(&text),
            "indexOf" => is_host(&text) && asks_where(program, *call, &text),
            "startsWith" => text.contains("://") && is_host(&text) && ends_with_host(&text),
            "endsWith" => is_host(&text) && !text.starts_with('.'),
            _ => false,
        };
        if is_wrong && !is_no_url(program, receiver) && !chooses_a_look(program, *call) {
            matches.push(found(
                *call,
                vec![("HOST", text.to_string()), ("EXAMPLE", example(method, &text))],
            ));
        }
    }
    matches
}

/// Whether the function around says that it only picks what to show: `getIconForLink`.
fn chooses_a_look<'t>(program: &Program<'t>, call: Node<'t>) -> bool {
    const LOOKS: [&str; 6] = ["icon", "logo", "label", "brand", "favicon", "emoji"];
    let Some(function) = program.function_around(call) else { return false };
    let text = program.source().text();
    let head = text.get(..function.start_byte()).and_then(|before| before.lines().next_back());
    let own = function.child_by_field_name("name").map_or("", |name| program.text(name));
    let name = format!("{}{own}", head.unwrap_or_default()).to_lowercase();
    LOOKS.iter().any(|look| name.contains(look))
}

/// The method of a call, and what it is called on.
fn method_call<'t>(program: &Program<'t>, call: Node<'t>) -> Option<(&'t str, Node<'t>)> {
    let callee = call.child_by_field_name("function")?;
    let property = callee.child_by_field_name("property")?;
    Some((program.text(property), callee.child_by_field_name("object")?))
}

/// A URL that passes the test and belongs to somebody else.
fn example(method: &str, text: &str) -> String {
    let host = text.split("://").last().unwrap_or(text).trim_start_matches('.');
    let host = host.split('/').next().unwrap_or(host);
    match method {
        "startsWith" => format!("{text}.evil.net"),
        "endsWith" => format!("evil{host}"),
        _ => format!("https://evil.net/?{host}"),
    }
}

/// Whether a text is a host, or a URL with one.
fn is_host(text: &str) -> bool {
    let (has_scheme, rest) = match text.split_once("://") {
        Some(("http" | "https", rest)) => (true, rest),
        Some(_) => return false,
        None => (false, text),
    };
    let host = rest.split(['/', ':']).next().unwrap_or_default().trim_start_matches('.');
    let parts: Vec<&str> = host.split('.').collect();
    let is_part = |part: &&str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    let top = parts.last().copied().unwrap_or_default();
    parts.len() >= 2
        && parts.iter().all(is_part)
        && (has_scheme || (TOP_LEVEL.contains(&top) && !rest.contains('/')))
        && parts.first().is_some_and(|first| first.len() > 1)
}

/// `https://host` may go on with `.evil.net`; `https://host/` and `https://host:80` may not.
fn ends_with_host(text: &str) -> bool {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    !rest.contains('/') && !rest.contains(':')
}

/// Whether the result of `indexOf` decides something.
fn asks_where<'t>(program: &Program<'t>, call: Node<'t>, text: &str) -> bool {
    let Some(parent) = program.parent(call).filter(|it| it.kind() == "binary_expression") else {
        return false;
    };
    let other = parent.child_by_field_name("right").map_or("", |it| program.text(it));
    match program.operator(parent) {
        "===" | "!==" | "==" | "!=" if other == "0" => ends_with_host(text),
        "===" | "!==" | "==" | "!=" | ">" => other == "-1",
        ">=" | "<" => other == "0",
        _ => false,
    }
}

/// Lists contain whole hosts, and prose contains anything.
fn is_no_url<'t>(program: &Program<'t>, receiver: Node<'t>) -> bool {
    let is_list = program.value_of(receiver).is_some_and(|it| it.kind() == "array");
    let text = program.text(receiver).to_lowercase();
    let last = text.rsplit(['.', '(', '[']).next().unwrap_or_default();
    let words = [
        "list", "allow", "white", "message", "text", "html", "body", "content", "title", "agent",
        "output", "stdout", "stderr", "source", "code", "email", "mail", "error", "log",
    ];
    const ADDRESSES: [&str; 17] = [
        "url", "uri", "link", "href", "host", "origin", "refer", "location", "domain", "address",
        "site", "src", "redirect", "target", "next", "endpoint", "server",
    ];
    // A whole word that is no word for an address names something else.
    let is_named = last.chars().all(char::is_alphanumeric) && last.len() > 4;
    let is_other = is_named && !ADDRESSES.iter().any(|word| last.contains(word));
    let is_many = last.ends_with('s') && !last.ends_with("address") && !last.ends_with("class");
    is_list || is_many || is_other || words.iter().any(|word| last.contains(word))
}

/// Tests for `javascript:` that forget the other schemes that run code.
fn scheme_checks(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    let mentions = |scheme: &str| {
        let lower = program.source().text().to_lowercase();
        lower.contains(scheme)
    };
    for call in program.of_kind("call_expression") {
        let Some((method, _)) = method_call(program, *call) else { continue };
        let asks = matches!(method, "startsWith" | "indexOf" | "includes");
        let argument = arguments(*call).first().copied().filter(|_| asks);
        let Some(text) = argument.and_then(|it| program.constant_text(it)) else { continue };
        if !text.trim().eq_ignore_ascii_case("javascript:") {
            continue;
        }
        let missing: Vec<&str> =
            ["data:", "vbscript:"].into_iter().filter(|scheme| !mentions(scheme)).collect();
        if !missing.is_empty() {
            matches.push(found(*call, vec![("MISSING", missing.join(" and "))]));
        }
    }
    matches
}
