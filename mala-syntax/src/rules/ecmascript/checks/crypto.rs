//! Cryptography that is too weak: broken ciphers, short keys, fast hashes for passwords, tokens
//! that are not verified.

use super::{found, path_matches, short};
use crate::rules::ecmascript::origin::{arguments, callee};
use crate::rules::ecmascript::{Program, ProgramCheck};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const WEAK_CIPHER: ProgramCheck =
    ProgramCheck { name: "weak-cipher", captures: &["CIPHER", "WHY"], run: weak_ciphers };

pub(in crate::rules::ecmascript) const SHORT_KEY: ProgramCheck =
    ProgramCheck { name: "short-key", captures: &["CALL", "BITS", "NEEDED"], run: short_keys };

pub(in crate::rules::ecmascript) const FAST_HASH: ProgramCheck =
    ProgramCheck { name: "fast-password-hash", captures: &["PASSWORD"], run: fast_hashes };

pub(in crate::rules::ecmascript) const UNVERIFIED_TOKEN: ProgramCheck =
    ProgramCheck { name: "unverified-token", captures: &["WHY"], run: unverified_tokens };

pub(in crate::rules::ecmascript) const CONSTANT_IV: ProgramCheck =
    ProgramCheck { name: "constant-iv", captures: &[], run: constant_ivs };

fn weak_ciphers(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let Some(path) = program.callee_origin(*call) else { continue };
        if !path_matches("crypto:create*", &path) || !path.contains("ipher") {
            continue;
        }
        let name = arguments(*call).first().and_then(|it| program.constant_text(*it));
        let Some(name) = name else { continue };
        if let Some(why) = weakness(&name) {
            let captures = vec![("CIPHER", name.into_owned()), ("WHY", why.to_owned())];
            matches.push(found(*call, captures));
        }
    }
    matches
}

fn weakness(cipher: &str) -> Option<&'static str> {
    let lower = cipher.to_lowercase();
    if lower.starts_with("rc4") || lower.starts_with("rc2") {
        return Some("it is broken");
    }
    if lower.starts_with("des") || lower.starts_with("bf") {
        return Some("its keys or blocks are too short");
    }
    lower.ends_with("-ecb").then_some("equal blocks stay equal, so the text shows through")
}

/// Where a call takes the size of a key, and how large it must be, in bits.
const KEY_SIZES: &[(&str, usize, &str, f64)] = &[
    ("crypto:generateKeyPair*", 1, "modulusLength", 2048.0),
    ("crypto:generateKey*", 1, "length", 128.0),
    ("node-rsa:", 0, "b", 2048.0),
];

/// The same, with the size as an argument.
const KEY_ARGUMENTS: &[(&str, usize, f64)] = &[
    ("crypto:createDiffieHellman", 0, 2048.0),
    ("node-rsa:().generateKeyPair", 0, 2048.0),
    ("node-forge:rc2.create*", 1, 128.0),
    ("node-forge:pki.rsa.generateKeyPair", 0, 2048.0),
];

fn short_keys(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kinds(&["call_expression", "new_expression"]) {
        let Some(path) = program.callee_origin(call) else { continue };
        let given = arguments(call);
        let argument = |place: usize| given.get(place).copied();
        let from_options = KEY_SIZES.iter().filter(|it| path_matches(it.0, &path)).filter_map(
            |(_, place, option, needed)| {
                let value = program.member(argument(*place)?, option).known()?;
                Some((program.constant_number(value)?, *needed))
            },
        );
        let from_arguments =
            KEY_ARGUMENTS.iter().filter(|it| path_matches(it.0, &path)).filter_map(
                |(_, place, needed)| Some((program.constant_number(argument(*place)?)?, *needed)),
            );
        let in_words = derived_key(program, &path, &given);
        let in_bytes = forge_key(program, &path, &given);
        let short_one = from_options
            .chain(from_arguments)
            .chain(in_words)
            .chain(in_bytes)
            .find(|(size, needed)| size < needed);
        if let Some((size, needed)) = short_one {
            let name = callee(call).map_or("", |it| program.text(it));
            matches.push(found(
                call,
                vec![
                    ("CALL", short(name)),
                    ("BITS", size.to_string()),
                    ("NEEDED", needed.to_string()),
                ],
            ));
        }
    }
    matches
}

/// CryptoJS counts keys in words of 32 bits.
fn derived_key<'t>(program: &Program<'t>, path: &str, given: &[Node<'t>]) -> Option<(f64, f64)> {
    let place = match path {
        "crypto-js:PBKDF2" | "crypto-js:EvpKDF" => 2,
        "crypto-js:algo.PBKDF2.create" | "crypto-js:algo.EvpKDF.create" => 0,
        _ => return None,
    };
    let size = program.member(*given.get(place)?, "keySize").known()?;
    Some((program.constant_number(size)? * 32.0, 128.0))
}

/// Keys of node-forge are texts of that many bytes.
fn forge_key<'t>(program: &Program<'t>, path: &str, given: &[Node<'t>]) -> Option<(f64, f64)> {
    if !path_matches("node-forge:cipher.create*ipher", path) {
        return None;
    }
    let key = program.value_of(*given.get(1)?)?;
    let source = program.callee_origin(key).filter(|_| key.kind() == "call_expression")?;
    let makes_bytes = source == "node-forge:random.getBytesSync" || source.ends_with(".getBytes");
    let size = program.constant_number(*arguments(key).first().filter(|_| makes_bytes)?)?;
    Some((size * 8.0, 128.0))
}

fn fast_hashes(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let Some(path) = program.callee_origin(*call) else { continue };
        let is_hash = matches!(
            path.as_str(),
            "crypto:createHash().update"
                | "md5:"
                | "sha1:"
                | "crypto-js:MD5"
                | "crypto-js:SHA1"
                | "crypto-js:SHA256"
                | "CryptoJS.MD5"
                | "CryptoJS.SHA1"
        );
        let Some(argument) = arguments(*call).first().copied().filter(|_| is_hash) else {
            continue;
        };
        if let Some(name) = password_in(program, argument) {
            matches.push(found(*call, vec![("PASSWORD", name)]));
        }
    }
    matches
}

/// The name of a password in an expression.
fn password_in<'t>(program: &Program<'t>, node: Node<'t>) -> Option<String> {
    let named = |node: &Node<'t>| {
        let text = program.text(*node);
        let lower = text.to_lowercase();
        let is_name = matches!(
            node.kind(),
            "identifier" | "property_identifier" | "shorthand_property_identifier"
        );
        let is_password =
            lower.ends_with("password") || lower.ends_with("passwd") || lower == "pwd";
        (is_name && is_password && !lower.contains("hash")).then(|| text.to_owned())
    };
    named(&node).or_else(|| program.inside(node).iter().find_map(named))
}

fn unverified_tokens(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let is_verify =
            program.callee_origin(*call).is_some_and(|path| path == "jsonwebtoken:verify");
        let given = arguments(*call);
        let [_, key, rest @ ..] = given.as_slice() else { continue };
        if !is_verify {
            continue;
        }
        let is_empty = program.value_of(*key).is_some_and(|it| {
            matches!(it.kind(), "null" | "undefined" | "false")
                || program.constant_text(it).is_some_and(|text| text.is_empty())
        });
        let algorithms =
            rest.first().and_then(|options| program.member(*options, "algorithms").known());
        let allows_none = algorithms.is_some_and(|list| {
            program.inside(list).iter().any(|it| {
                it.kind() == "string"
                    && program.constant_text(*it).is_some_and(|it| it.eq_ignore_ascii_case("none"))
            })
        });
        let why = match (is_empty, allows_none) {
            (true, _) => "there is no key",
            (_, true) => "the algorithm `none` is allowed",
            _ => continue,
        };
        matches.push(found(*call, vec![("WHY", why.to_owned())]));
    }
    matches
}

fn constant_ivs(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for call in program.of_kind("call_expression") {
        let is_cipher =
            program.callee_origin(*call).is_some_and(|path| path == "crypto:createCipheriv");
        let given = arguments(*call);
        let Some(iv) = given.get(2).copied().filter(|_| is_cipher) else { continue };
        if given
            .first()
            .and_then(|it| program.constant_text(*it))
            .is_some_and(|it| it.to_lowercase().ends_with("-ecb"))
        {
            continue;
        }
        if is_constant_buffer(program, iv) {
            matches.push(found(iv, Vec::new()));
        }
    }
    matches
}

fn is_constant_buffer<'t>(program: &Program<'t>, node: Node<'t>) -> bool {
    let Some(value) = program.value_of(node) else { return false };
    if program.constant_text(value).is_some() {
        return true;
    }
    if value.kind() != "call_expression" {
        return false;
    }
    let first = arguments(value).first().copied();
    match program.callee_origin(value).as_deref() {
        Some("Buffer.from") => first.is_some_and(|it| program.constant_text(it).is_some()),
        Some("Buffer.alloc") => {
            let around = program.variable(node);
            // A buffer that is filled later has another name in the meantime.
            around.is_none_or(|variable| variable.reads.len() == 1)
        }
        _ => false,
    }
}
