//! Settings of servers and clients that switch off a protection.

use super::{found, path_matches, short};
use crate::rules::ecmascript::object::Member;
use crate::rules::ecmascript::origin::{arguments, unquoted};
use crate::rules::ecmascript::{Program, ProgramCheck};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const CERTIFICATE: ProgramCheck =
    ProgramCheck { name: "certificate-not-checked", captures: &[], run: unchecked_certificates };

pub(in crate::rules::ecmascript) const HTTP_ONLY: ProgramCheck =
    ProgramCheck { name: "cookie-without-httponly", captures: &["COOKIE"], run: readable_cookies };

pub(in crate::rules::ecmascript) const CORS: ProgramCheck =
    ProgramCheck { name: "cors-for-everyone", captures: &["ORIGIN"], run: open_cors };

pub(in crate::rules::ecmascript) const HELMET: ProgramCheck =
    ProgramCheck { name: "helmet-switched-off", captures: &["OPTION"], run: helmet_options };

pub(in crate::rules::ecmascript) const ELECTRON: ProgramCheck =
    ProgramCheck { name: "electron-web-preferences", captures: &["OPTION"], run: electron_options };

fn unchecked_certificates(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for pair in program.of_kind("pair") {
        let is_option = program.member_name(*pair) == Some("rejectUnauthorized");
        let value = pair.child_by_field_name("value").filter(|_| is_option);
        if value.is_some_and(|it| program.constant_truth(it) == Some(false))
            && !is_asked_for(program, *pair)
        {
            matches.push(found(*pair, Vec::new()));
        }
    }
    for assignment in program.of_kind("assignment_expression") {
        let (Some(left), Some(right)) =
            (assignment.child_by_field_name("left"), assignment.child_by_field_name("right"))
        else {
            continue;
        };
        let target = program.text(left);
        let is_off = program.constant_text(right).is_some_and(|it| it == "0")
            || program.constant_number(right) == Some(0.0)
            || program.constant_truth(right) == Some(false);
        let is_switch = target.contains("NODE_TLS_REJECT_UNAUTHORIZED")
            || target.ends_with(".rejectUnauthorized");
        if is_off && is_switch && !is_asked_for(program, *assignment) {
            matches.push(found(*assignment, Vec::new()));
        }
    }
    matches
}

/// Whether a setting that is named after it chooses this: `if (options.insecure)`.
fn is_asked_for<'t>(program: &Program<'t>, node: Node<'t>) -> bool {
    const WORDS: [&str; 9] =
        ["insecure", "unsafe", "ignore", "verify", "tls", "ssl", "cert", "selfsigned", "reject"];
    program.ancestors(node).filter_map(|it| it.child_by_field_name("condition")).any(|condition| {
        let text = program.text(condition).to_lowercase();
        WORDS.iter().any(|word| text.contains(word))
    })
}

/// Whether a cookie says who somebody is.
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

fn readable_cookies(program: &Program<'_>) -> Vec<NativeMatch> {
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
fn session_middleware<'t>(program: &Program<'t>, call: Node<'t>) -> Option<String> {
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
fn set_cookie_call<'t>(program: &Program<'t>, call: Node<'t>) -> Option<String> {
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
            Member::Is(value) => program.constant_truth(value) == Some(false),
            Member::Missing => true,
            Member::Unsure => false,
        },
    };
    is_readable.then_some(shown)
}

fn last_word(text: &str) -> String {
    unquoted(text.rsplit('.').next().unwrap_or(text)).to_owned()
}

/// `res.setHeader("Set-Cookie", "session=…")`
fn set_cookie_header<'t>(program: &Program<'t>, call: Node<'t>) -> Option<String> {
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
fn readable_cookie_text<'t>(program: &Program<'t>, cookie: Node<'t>) -> Option<String> {
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

fn open_cors(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kinds(&["call_expression", "new_expression"]) {
        let Some(path) = program.callee_origin(call) else { continue };
        let options = match path.as_str() {
            "cors:" | "@koa/cors:" | "koa2-cors:" => arguments(call).first().copied(),
            _ if path_matches("*:ApolloServer", &path) => {
                arguments(call).first().and_then(|options| program.member(*options, "cors").known())
            }
            _ => None,
        };
        let Some(options) = options else { continue };
        let Some(origin) = program.member(options, "origin").known() else { continue };
        let with_credentials = program
            .member(options, "credentials")
            .known()
            .is_some_and(|it| program.constant_truth(it) == Some(true));
        if allows_everyone(program, origin, with_credentials) {
            let at = program.parent(origin).filter(|it| it.kind() == "pair").unwrap_or(origin);
            matches.push(found(at, vec![("ORIGIN", short(program.text(origin)))]));
        }
    }
    matches.extend(open_headers(program));
    matches
}

/// `null` is what sandboxed pages send; `true` reflects whoever asks.
fn allows_everyone<'t>(program: &Program<'t>, origin: Node<'t>, with_credentials: bool) -> bool {
    let text = program.constant_text(origin);
    if program.value_of(origin).is_some_and(|it| it.kind() == "null")
        || text.as_deref() == Some("null")
    {
        return true;
    }
    with_credentials
        && (text.as_deref() == Some("*") || program.constant_truth(origin) == Some(true))
}

/// `Access-Control-Allow-Origin` from the request beside `Access-Control-Allow-Credentials`.
fn open_headers(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let Some((name, value)) = header(program, *call) else { continue };
        if !name.eq_ignore_ascii_case("access-control-allow-origin") {
            continue;
        }
        let Some(around) = program.function_around(*call) else { continue };
        let with_credentials = program.inside(around).iter().any(|other| {
            other.kind() == "call_expression"
                && header(program, *other).is_some_and(|(name, value)| {
                    name.eq_ignore_ascii_case("access-control-allow-credentials")
                        && unquoted(program.text(value)) == "true"
                })
        });
        let is_null =
            value.kind() == "null" || program.constant_text(value).is_some_and(|it| it == "null");
        if with_credentials && (is_null || is_request_origin(program, value)) {
            matches.push(found(*call, vec![("ORIGIN", short(program.text(value)))]));
        }
    }
    matches
}

fn header<'t>(program: &Program<'t>, call: Node<'t>) -> Option<(String, Node<'t>)> {
    let callee = call.child_by_field_name("function")?;
    let method = program.text(callee.child_by_field_name("property")?);
    let arguments = arguments(call);
    match arguments.as_slice() {
        [name, value] if matches!(method, "setHeader" | "set" | "header" | "append") => {
            Some((program.constant_text(*name)?.into_owned(), *value))
        }
        _ => None,
    }
}

/// What the request names as its origin, with no list asked about it.
fn is_request_origin<'t>(program: &Program<'t>, value: Node<'t>) -> bool {
    let Some(known) = program.value_of(value) else { return false };
    let text = program.text(known);
    let from_request = [
        "req.headers.origin",
        "req.header('origin')",
        "req.header(\"origin\")",
        "req.get('origin')",
        "req.get(\"origin\")",
        "request.headers.origin",
        ".query.origin",
        "req.headers['origin']",
        "req.headers[\"origin\"]",
    ]
    .iter()
    .any(|it| text.to_lowercase().contains(it));
    from_request && !program.is_tested_around(value, value)
}

fn helmet_options(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let is_helmet = program.callee_origin(*call).is_some_and(|path| path == "helmet:");
        let Some(options) = arguments(*call).first().copied().filter(|_| is_helmet) else {
            continue;
        };
        for option in ["contentSecurityPolicy", "frameguard", "hsts", "xFrameOptions"] {
            let value = program.member(options, option).known();
            if let Some(value) = value.filter(|it| program.constant_truth(*it) == Some(false)) {
                let at = program.parent(value).filter(|it| it.kind() == "pair").unwrap_or(value);
                matches.push(found(at, vec![("OPTION", option.to_owned())]));
            }
        }
    }
    matches
}

fn electron_options(program: &Program<'_>) -> Vec<NativeMatch> {
    const DANGEROUS: [(&str, bool); 5] = [
        ("webSecurity", false),
        ("allowRunningInsecureContent", true),
        ("nodeIntegration", true),
        ("nodeIntegrationInWorker", true),
        ("contextIsolation", false),
    ];
    let mut matches = Vec::new();
    for call in program.of_kind("new_expression") {
        let is_window = program.callee_origin(*call).is_some_and(|path| {
            matches!(path.as_str(), "electron:BrowserWindow" | "electron:BrowserView")
        });
        let Some(options) = arguments(*call).first().copied().filter(|_| is_window) else {
            continue;
        };
        let Some(preferences) = program.member(options, "webPreferences").known() else { continue };
        for (option, dangerous) in DANGEROUS {
            let value = program.member(preferences, option).known();
            if let Some(value) = value.filter(|it| program.constant_truth(*it) == Some(dangerous)) {
                let at = program.parent(value).filter(|it| it.kind() == "pair").unwrap_or(value);
                matches.push(found(at, vec![("OPTION", option.to_owned())]));
            }
        }
    }
    matches
}
