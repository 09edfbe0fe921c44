//! Secrets written into the code where they are used: keys that sign and encrypt, passwords and
//! tokens given to clients.

use super::{found, path_matches};
use crate::rules::ecmascript::origin::{arguments, callee};
use crate::rules::ecmascript::{Program, ProgramCheck};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const SIGNING_SECRET: ProgramCheck = ProgramCheck {
    name: "hardcoded-signing-secret",
    captures: &["SECRET", "CALL"],
    run: signing_secrets,
};

/// Where a call takes a secret.
enum Takes {
    /// In the argument at this place.
    Argument(usize),
    /// Under these paths of the argument at this place.
    Options(usize, &'static [&'static str]),
    /// In every member of the object under this path of the first argument.
    Values(&'static str),
}

use Takes::{Argument, Options, Values};

/// Keys that a server signs or encrypts with: who knows them can forge what it trusts.
const SIGNING: &[(&str, Takes)] = &[
    ("jsonwebtoken:sign", Argument(1)),
    ("jsonwebtoken:verify", Argument(1)),
    ("jwt-simple:encode", Argument(1)),
    ("jwt-simple:decode", Argument(1)),
    ("jose:jwtVerify", Argument(1)),
    ("jose:SignJWT()*.sign", Argument(0)),
    ("express-jwt:", Options(0, &["secret"])),
    ("express-jwt:expressjwt", Options(0, &["secret"])),
    ("koa-jwt:", Options(0, &["secret"])),
    ("passport-jwt:Strategy", Options(0, &["secretOrKey"])),
    ("next-auth:", Options(0, &["secret", "jwt.secret"])),
    ("express-session:", Options(0, &["secret"])),
    ("cookie-session:", Options(0, &["secret"])),
    ("koa-session:", Options(0, &["secret"])),
    ("client-sessions:", Options(0, &["secret"])),
    ("iron-session:getIronSession", Options(2, &["password"])),
    ("cookie-parser:", Argument(0)),
    ("crypto:createHmac", Argument(1)),
    ("crypto:createCipher", Argument(1)),
    ("crypto:createDecipher", Argument(1)),
    ("crypto:createCipheriv", Argument(1)),
    ("crypto:createDecipheriv", Argument(1)),
    ("crypto:createSecretKey", Argument(0)),
    ("crypto-js/aes:encrypt", Argument(1)),
    ("crypto-js/aes:decrypt", Argument(1)),
    ("crypto-js:AES.encrypt", Argument(1)),
    ("crypto-js:AES.decrypt", Argument(1)),
    ("crypto-js:Hmac*", Argument(1)),
    ("CryptoJS.AES.encrypt", Argument(1)),
    ("CryptoJS.AES.decrypt", Argument(1)),
];

/// The services of pkgcloud that have clients; other paths with the same end are something else.
const CLOUD_SERVICES: [&str; 9] = [
    "compute",
    "storage",
    "database",
    "dns",
    "blockstorage",
    "loadbalancer",
    "network",
    "orchestration",
    "cdn",
];

/// Texts that stand for a secret which is not there yet.
const PLACEHOLDERS: [&str; 18] = [
    "example",
    "sample",
    "placeholder",
    "dummy",
    "fake",
    "changeme",
    "change_me",
    "change-me",
    "your",
    "insert",
    "todo",
    "test",
    "mytoken",
    "mypassword",
    "xxx",
    "<",
    "{",
    "...",
];

fn signing_secrets(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for (call, takes) in calls(program, SIGNING) {
        for given in given(program, call, takes) {
            let Some((literal, text)) = literal_secret(program, given) else { continue };
            if text.trim().is_empty() || is_placeholder(&text) || is_public(&text) {
                continue;
            }
            matches.push(secret(program, literal, call));
        }
    }
    matches
}

fn secret(program: &Program<'_>, literal: Node<'_>, call: Node<'_>) -> NativeMatch {
    let callee = callee(call).unwrap_or(call);
    let shown: String = program.text(callee).chars().take(60).collect();
    let name = shown.split_whitespace().collect::<String>();
    found(literal, vec![("SECRET", hint(program.text(literal))), ("CALL", name)])
}

/// The first letters of a secret: enough to find it, too little to use it.
fn hint(text: &str) -> String {
    let shown: String = text.chars().take(4).collect();
    format!("{shown}…")
}

/// The calls of functions in a table.
fn calls<'t, 'a>(
    program: &Program<'t>,
    table: &'a [(&'static str, Takes)],
) -> Vec<(Node<'t>, &'a Takes)> {
    let mut found = Vec::new();
    for call in program.of_kinds(&["call_expression", "new_expression"]) {
        let Some(path) = program.callee_origin(call) else { continue };
        if path.starts_with("pkgcloud:") && !is_cloud_service(&path) {
            continue;
        }
        let entries = table.iter().filter(|(pattern, _)| path_matches(pattern, &path));
        found.extend(entries.map(|(_, takes)| (call, takes)));
    }
    found
}

fn is_cloud_service(path: &str) -> bool {
    let mut parts = path.rsplit(['.', ':']);
    parts.nth(1).is_some_and(|service| CLOUD_SERVICES.contains(&service))
}

/// The expressions that a call is given as secrets.
fn given<'t>(program: &Program<'t>, call: Node<'t>, takes: &Takes) -> Vec<Node<'t>> {
    let arguments = arguments(call);
    match takes {
        Argument(place) => arguments.get(*place).copied().into_iter().collect(),
        Options(place, paths) => {
            let Some(options) = arguments.get(*place).copied() else { return Vec::new() };
            let members =
                paths.iter().filter_map(|path| program.member_path(options, path).known());
            members.flat_map(|value| elements(program, value)).collect()
        }
        Values(path) => {
            let Some(options) = arguments.first().copied() else { return Vec::new() };
            let users = program.member_path(options, path).known();
            users.map(|users| values(program, users)).unwrap_or_default()
        }
    }
}

/// The elements of an array; any other value is itself.
fn elements<'t>(program: &Program<'t>, node: Node<'t>) -> Vec<Node<'t>> {
    match program.value_of(node) {
        Some(array) if array.kind() == "array" => {
            let mut cursor = array.walk();
            array.named_children(&mut cursor).collect()
        }
        _ => vec![node],
    }
}

/// The values in an object, and those put into it later.
fn values<'t>(program: &Program<'t>, object: Node<'t>) -> Vec<Node<'t>> {
    let mut found = Vec::new();
    if let Some(literal) = program.object_value(object) {
        let mut cursor = literal.walk();
        let pairs = literal.named_children(&mut cursor);
        found.extend(pairs.filter_map(|pair| pair.child_by_field_name("value")));
    }
    let variable = program.variable(object);
    for read in variable.map(|it| it.reads.as_slice()).unwrap_or_default() {
        let target = program.parent(*read).filter(|it| it.kind() == "subscript_expression");
        let assignment = target.and_then(|target| program.parent(target));
        found.extend(
            assignment
                .filter(|it| it.kind() == "assignment_expression")
                .and_then(|it| it.child_by_field_name("right")),
        );
    }
    found
}

/// The literal that a secret comes down to, also as the fallback of `a || "literal"` and inside
/// `Buffer.from("literal")`.
fn literal_secret<'t>(program: &Program<'t>, node: Node<'t>) -> Option<(Node<'t>, String)> {
    let mut node = program.value_of(node)?;
    for _ in 0..4 {
        if let Some(text) = program.constant_text(node) {
            return Some((node, text.into_owned()));
        }
        node = match node.kind() {
            "binary_expression" => {
                let operator = node.child_by_field_name("operator")?;
                if !matches!(program.text(operator), "||" | "??") {
                    return None;
                }
                program.value_of(node.child_by_field_name("right")?)?
            }
            "call_expression" => {
                let path = program.callee_origin(node)?;
                let wraps = [
                    "Buffer.from",
                    "buffer:Buffer.from",
                    "TextEncoder().encode",
                    "crypto-js:enc.Utf8.parse",
                    "CryptoJS.enc.Utf8.parse",
                    "crypto:createSecretKey",
                ];
                if !wraps.contains(&path.as_str()) {
                    return None;
                }
                program.value_of(*arguments(node).first()?)?
            }
            _ => return None,
        };
    }
    None
}

fn is_placeholder(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut characters: Vec<char> = lower.chars().collect();
    characters.sort_unstable();
    characters.dedup();
    characters.len() < 3 || PLACEHOLDERS.iter().any(|word| lower.contains(word))
}

/// A public key is no secret.
fn is_public(text: &str) -> bool {
    text.contains("PUBLIC KEY-") || text.contains("BEGIN CERTIFICATE")
}
