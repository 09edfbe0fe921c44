//! What must not be done with passwords and secrets: weak hashes, logs, files, open cookies.

use super::code::{arguments, callee, last_name, named_argument, placed_arguments, plain_text};
use super::module::{Module, found};
use super::names::Names;
use super::secret_names::{Kind, kind_of, opens_doors};
use crate::rules::native::code::{bare, parts};
use crate::rules::native::{NativeCheck, NativeMatch};
use crate::source::Source;
use tree_sitter::Node;

pub(super) const WEAK_HASH: NativeCheck =
    NativeCheck { name: "python-weak-hash", captures: &["VALUE", "HASH"] };

pub(super) const SHOWN: NativeCheck =
    NativeCheck { name: "python-secret-shown", captures: &["VALUE", "CALL"] };

pub(super) const STORED: NativeCheck =
    NativeCheck { name: "python-secret-stored", captures: &["VALUE", "CALL"] };

pub(super) const COOKIE: NativeCheck =
    NativeCheck { name: "python-open-cookie", captures: &["NAME", "LACKS"] };

/// What an expression is, by the name in it or the name of what was assigned.
fn sensitive<'t>(source: &'t Source, names: &Names<'t>, node: Node<'t>) -> Option<(Kind, &'t str)> {
    let node = bare(node);
    if node.kind() == "binary_operator" {
        return operands(node).into_iter().find_map(|it| sensitive(source, names, it));
    }
    let own = |node: Node<'t>| match node.kind() {
        "identifier" => Some(source.slice(node)),
        "attribute" => Some(source.slice(node.child_by_field_name("attribute")?)),
        "call" => Some(last_name(callee(source, node))),
        "subscript" => plain_text(source, node.child_by_field_name("subscript")?),
        _ => None,
    };
    let text = own(node)?;
    if node.kind() == "call" && !is_getter(text) {
        return wrapped(node).and_then(|inner| sensitive(source, names, inner));
    }
    if let Some(kind) = kind_of(text) {
        return Some((kind, source.slice(node)));
    }
    let value = names.last_value(node).filter(|_| node.kind() == "identifier")?;
    let kind = match value.kind() {
        "call" => kind_of(own(value).filter(|it| is_getter(it))?)?,
        "list" => {
            let [only] = parts(value)[..] else { return None };
            let left = only.child_by_field_name("left").unwrap_or(only);
            kind_of(own(left).filter(|_| left.kind() == "identifier")?)?
        }
        _ => return None,
    };
    Some((kind, source.slice(node)))
}

fn is_getter(name: &str) -> bool {
    ["get_", "read_", "load_", "fetch_", "get"].iter().any(|it| name.starts_with(it))
}

/// `password` in `password.encode()`, `str(password)` and `salt + password`.
fn wrapped(call: Node<'_>) -> Option<Node<'_>> {
    let target = call.child_by_field_name("function")?;
    match target.kind() {
        "attribute" if arguments(call).len() <= 1 => target.child_by_field_name("object"),
        "identifier" => arguments(call).first().copied(),
        _ => None,
    }
}

pub(super) fn weak_hashes(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let mut matches = Vec::new();
    for call in module.nodes(&["call"]) {
        let target = callee(source, call);
        let is_update = target.ends_with(".update");
        if !is_update && hash_name(target).is_none() {
            continue;
        }
        let names = module.names();
        let hash = match is_update {
            true => hasher_of(source, names, call),
            false => hash_name(target),
        };
        let Some(hash) = hash else { continue };
        let sensitive = placed_arguments(call)
            .into_iter()
            .flat_map(|it| operands(it))
            .find_map(|it| sensitive(source, names, it));
        let Some((kind, value)) = sensitive else { continue };
        let is_broken = matches!(hash, "md5" | "sha1" | "md4" | "md2");
        if is_broken || kind == Kind::Password {
            let captures = vec![("VALUE", value.to_owned()), ("HASH", hash.to_uppercase())];
            matches.push(found(call, captures));
        }
    }
    matches
}

/// Both sides of `a + b`, in turn.
fn operands(node: Node<'_>) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    let mut rest = vec![node];
    while let Some(node) = rest.pop().map(bare) {
        match (node.child_by_field_name("left"), node.child_by_field_name("right")) {
            (Some(left), Some(right)) if node.kind() == "binary_operator" => {
                rest.extend([right, left]);
            }
            _ => found.push(node),
        }
    }
    found
}

/// The hash function that a call starts, such as `hashlib.md5` or `MD5.new`.
fn hash_name(callee: &str) -> Option<&'static str> {
    const HASHES: [&str; 12] = [
        "md2", "md4", "md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256",
        "sha3_512", "blake2b", "blake2s",
    ];
    let (of, name) = callee.rsplit_once('.').unwrap_or(("", callee));
    let name = match (last_name(of), name) {
        ("hashlib" | "hashes", name) => name,
        (class, "new") => class,
        ("", name) if name.starts_with(char::is_lowercase) => name,
        _ => return None,
    };
    let name = name.to_lowercase();
    HASHES.into_iter().find(|it| *it == name || it.replace('_', "") == name)
}

/// The hash function of the object whose `update` is called.
fn hasher_of<'t>(source: &'t Source, names: &Names<'t>, update: Node<'t>) -> Option<&'static str> {
    let object = update.child_by_field_name("function")?.child_by_field_name("object")?;
    let value = names.value_of(object).filter(|it| it.kind() == "call")?;
    let target = callee(source, value);
    if last_name(target) == "Hash" {
        let kind = arguments(value).first().copied().filter(|it| it.kind() == "call")?;
        return hash_name(callee(source, kind));
    }
    hash_name(target)
}

/// Passwords and secrets that are printed or logged.
pub(super) fn shown_secrets(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    const METHODS: [&str; 7] =
        ["debug", "info", "warning", "warn", "error", "critical", "exception"];
    let mut matches = Vec::new();
    for call in module.nodes(&["call"]) {
        let target = callee(source, call);
        let is_log = target.rsplit_once('.').is_some_and(|(logger, method)| {
            let logger = last_name(logger).to_lowercase();
            METHODS.contains(&method) && (logger.ends_with("logger") || logger.starts_with("log"))
        });
        if !is_log && target != "print" {
            continue;
        }
        let names = module.names();
        let shown = arguments(call).into_iter().flat_map(shown_parts);
        let found_secret = shown.into_iter().find_map(|it| {
            sensitive(source, names, it).filter(|(kind, _)| *kind != Kind::Certificate)
        });
        if let Some((_, value)) = found_secret {
            let captures = vec![("VALUE", value.to_owned()), ("CALL", target.to_owned())];
            matches.push(found(call, captures));
        }
    }
    matches
}

/// The expressions whose values appear in a text: in braces, joined by `+`, after `%`.
fn shown_parts(argument: Node<'_>) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    let mut rest = vec![argument];
    while let Some(node) = rest.pop().map(bare) {
        match node.kind() {
            "string" | "concatenated_string" | "tuple" => rest.extend(parts(node)),
            "interpolation" => rest.extend(node.child_by_field_name("expression")),
            "binary_operator" => {
                rest.extend(node.child_by_field_name("left"));
                rest.extend(node.child_by_field_name("right"));
            }
            "identifier" | "attribute" | "subscript" => found.push(node),
            _ => {}
        }
    }
    found
}

/// Passwords that are written to files and cookies.
pub(super) fn stored_secrets(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let mut matches = Vec::new();
    for call in module.nodes(&["call"]) {
        let target = callee(source, call);
        let values = placed_arguments(call);
        let value = match (last_name(target), values.as_slice()) {
            ("write" | "writelines" | "write_text", [value, ..]) if target.contains('.') => *value,
            ("set_cookie", [_, value, ..]) => *value,
            _ => continue,
        };
        let is_stream = ["stdout", "stderr", "stdin"].iter().any(|it| target.contains(it));
        if is_stream {
            continue;
        }
        let names = module.names();
        let parts = shown_parts(value).into_iter();
        let secret = parts.into_iter().find_map(|it| {
            sensitive(source, names, it).filter(|(kind, _)| *kind == Kind::Password)
        });
        if let Some((_, value)) = secret {
            let captures = vec![("VALUE", value.to_owned()), ("CALL", target.to_owned())];
            matches.push(found(call, captures));
        }
    }
    matches
}

/// Cookies that let someone in, and that scripts or plain connections can read.
pub(super) fn open_cookies(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let mut matches = Vec::new();
    for call in module.nodes(&["call"]) {
        let is_cookie = callee(source, call).ends_with(".set_cookie");
        if !is_cookie || super::code::spreads_arguments(call) {
            continue;
        }
        let key = placed_arguments(call).first().copied();
        let Some(key) = key.or_else(|| named_argument(source, call, "key")) else { continue };
        let name = plain_text(source, key).unwrap_or(source.slice(key));
        let value = placed_arguments(call).get(1).copied();
        let holds_password = value.and_then(|it| kind_of(source.slice(it))) == Some(Kind::Password);
        if !opens_doors(name) || holds_password {
            continue;
        }
        let option = |name| named_argument(source, call, name).map(|it| source.slice(it));
        let is_off = |value: Option<&str>| matches!(value, None | Some("False"));
        let mut lacks = Vec::new();
        if is_off(option("httponly")) {
            lacks.push("`httponly=True`");
        }
        if is_off(option("secure")) {
            lacks.push("`secure=True`");
        }
        if option("samesite")
            .is_some_and(|it| it.trim_matches(['"', '\'']).eq_ignore_ascii_case("none"))
        {
            lacks.push("a strict `samesite`");
        }
        // Arguments by place may set anything.
        if !lacks.is_empty() && placed_arguments(call).len() <= 2 {
            let captures = vec![("NAME", name.to_owned()), ("LACKS", lacks.join(" and "))];
            matches.push(found(call, captures));
        }
    }
    matches
}
