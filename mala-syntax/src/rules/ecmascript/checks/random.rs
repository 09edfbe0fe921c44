//! Random numbers that an attacker can guess, or that are not evenly spread.

use super::{found, short};
use crate::rules::ecmascript::binding::Assigned;
use crate::rules::ecmascript::origin::{arguments, unquoted};
use crate::rules::ecmascript::{Program, ProgramCheck};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const GUESSABLE_SECRET: ProgramCheck =
    ProgramCheck { name: "guessable-secret", captures: &["NAME"], run: guessable_secrets };

pub(in crate::rules::ecmascript) const BIASED_RANDOM: ProgramCheck =
    ProgramCheck { name: "biased-random", captures: &["EXPRESSION", "WHY"], run: biased_randoms };

/// Words in the name of a value that nobody may guess.
const SECRET_WORDS: [&str; 15] = [
    "password",
    "passwd",
    "secret",
    "token",
    "apikey",
    "api_key",
    "privatekey",
    "private_key",
    "salt",
    "otp",
    "csrf",
    "sessionid",
    "session_id",
    "authcode",
    "resetcode",
];

fn guessable_secrets(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches: Vec<NativeMatch> = Vec::new();
    for node in program.of_kinds(&[
        "variable_declarator",
        "assignment_expression",
        "augmented_assignment_expression",
        "pair",
    ]) {
        let (name, value) = match node.kind() {
            "variable_declarator" => ("name", "value"),
            "pair" => ("key", "value"),
            _ => ("left", "right"),
        };
        let (Some(name), Some(value)) =
            (node.child_by_field_name(name), node.child_by_field_name(value))
        else {
            continue;
        };
        let is_computed = name.child_by_field_name("index").is_some_and(|it| it.kind() != "string");
        if is_computed || name.kind() == "computed_property_name" {
            continue;
        }
        let text = last_name(program.text(name));
        if is_secret(text) && is_guessable(program, value, 6) {
            matches.push(found(node, vec![("NAME", text.to_owned())]));
        }
    }
    for call in program.of_kind("call_expression") {
        let is_key = program.callee_origin(*call).is_some_and(|it| it == "crypto:createHmac");
        let key = arguments(*call).get(1).copied().filter(|_| is_key);
        if key.is_some_and(|key| is_guessable(program, key, 6)) {
            matches.push(found(*call, vec![("NAME", "the key of the HMAC".to_owned())]));
        }
    }
    matches
}

fn last_name(text: &str) -> &str {
    let last = text.rsplit(['.', '[']).next().unwrap_or(text);
    unquoted(last.trim_end_matches(']'))
}

fn is_secret(name: &str) -> bool {
    let lower = name.to_lowercase();
    let counts = ["count", "index", "length", "type", "width", "color", "design", "limit"];
    if counts.iter().any(|word| lower.contains(word)) || lower.starts_with("max") {
        return false;
    }
    SECRET_WORDS.iter().any(|word| lower.contains(word)) || is_unique_id(name)
}

/// `uid`, `userUid`, `MY_UUID`; not `liquid`.
fn is_unique_id(name: &str) -> bool {
    ["uid", "uuid", "guid"].iter().any(|word| {
        let lower = name.to_lowercase();
        let Some(before) = lower.strip_suffix(word) else { return false };
        let start = name.get(before.len()..).and_then(|it| it.chars().next());
        let shouts = name.chars().all(|c| !c.is_lowercase());
        before.is_empty()
            || before.ends_with('_')
            || (!shouts && start.is_some_and(char::is_uppercase))
    })
}

/// Whether a value is made from `Math.random()`, by calculation and joining only.
fn is_guessable<'t>(program: &Program<'t>, node: Node<'t>, depth: usize) -> bool {
    if depth == 0 {
        return false;
    }
    let any =
        |nodes: Vec<Node<'t>>| nodes.into_iter().any(|it| is_guessable(program, it, depth - 1));
    let child = |name| node.child_by_field_name(name);
    match node.kind() {
        "call_expression" => {
            let Some(callee) = child("function") else { return false };
            let path = program.origin(callee);
            if path.as_deref() == Some("Math.random") {
                return true;
            }
            let is_math = path.is_some_and(|it| it.starts_with("Math.") || it == "String");
            let is_method = callee.kind() == "member_expression";
            is_math && any(arguments(node))
                || is_method && any(callee.child_by_field_name("object").into_iter().collect())
        }
        "binary_expression" => {
            let compares = matches!(program.operator(node), "<" | ">" | "<=" | ">=" | "==" | "===");
            !compares && any([child("left"), child("right")].into_iter().flatten().collect())
        }
        "unary_expression"
        | "parenthesized_expression"
        | "template_string"
        | "template_substitution"
        | "as_expression" => {
            let mut cursor = node.walk();
            any(node.named_children(&mut cursor).collect())
        }
        "subscript_expression" => any(child("index").into_iter().collect()),
        "assignment_expression" => any(child("right").into_iter().collect()),
        "identifier" => program
            .variable(node)
            .and_then(|it| it.only_value())
            .filter(|_| !is_secret(program.text(node)))
            .is_some_and(|value| is_guessable(program, value, depth - 1)),
        _ => false,
    }
}

const RANDOM_BYTES: [&str; 4] =
    ["crypto:randomBytes()", "crypto.getRandomValues()", "secure-random:()", "randombytes:()"];

fn biased_randoms(program: &Program<'_>) -> Vec<NativeMatch> {
    let mut matches = Vec::new();
    for node in program.of_kind("binary_expression") {
        let (Some(left), Some(right)) =
            (node.child_by_field_name("left"), node.child_by_field_name("right"))
        else {
            continue;
        };
        let why = match program.operator(*node) {
            "%" => {
                is_byte(program, left).then(|| uneven_modulus(program, right, left)).flatten().map(
                    |_| "256 is no multiple of the divisor, so the first values come up more often",
                )
            }
            "/" => (is_byte(program, left)
                && is_rounded(program, *node)
                && program.constant_number(right).is_some_and(is_uneven_divisor))
            .then_some("the steps after rounding are not equally wide"),
            "+" | "*" => (is_byte(program, left) && is_byte(program, right))
                .then_some("sums and products of random bytes are not equally likely"),
            _ => None,
        };
        if let Some(why) = why {
            let text = short(program.text(*node));
            matches.push(found(*node, vec![("EXPRESSION", text), ("WHY", why.to_owned())]));
        }
    }
    matches
}

/// Whether an expression is one random byte.
fn is_byte<'t>(program: &Program<'t>, node: Node<'t>) -> bool {
    let is_source = |node: Node<'t>| {
        program.origin(node).is_some_and(|path| RANDOM_BYTES.iter().any(|it| path == *it))
    };
    match node.kind() {
        "subscript_expression" => node.child_by_field_name("object").is_some_and(is_source),
        "parenthesized_expression" => {
            node.named_child(0).is_some_and(|inner| is_byte(program, inner))
        }
        "identifier" => {
            let Some(variable) = program.variable(node) else { return false };
            match variable.writes.as_slice() {
                [only] => match only.value {
                    Assigned::Exactly(value) => {
                        value.kind() == "subscript_expression" && is_byte(program, value)
                            || is_sum_with_byte(program, value)
                    }
                    Assigned::Iterated(node) => node
                        .child_by_field_name("right")
                        .and_then(|it| program.origin(it))
                        .is_some_and(|path| {
                            RANDOM_BYTES
                                .iter()
                                .any(|it| path == *it || path.strip_prefix(it) == Some(".values()"))
                        }),
                    _ => false,
                },
                _ => false,
            }
        }
        _ => false,
    }
}

fn is_sum_with_byte<'t>(program: &Program<'t>, node: Node<'t>) -> bool {
    node.kind() == "binary_expression"
        && program.operator(node) == "+"
        && node.child_by_field_name("left").is_some_and(|it| it.kind() == "number")
        && node.child_by_field_name("right").is_some_and(|it| is_byte(program, it))
}

/// The divisor, when it divides 256 unevenly and nothing throws the rest away.
fn uneven_modulus<'t>(program: &Program<'t>, divisor: Node<'t>, byte: Node<'t>) -> Option<f64> {
    let value = program.constant_number(divisor).or_else(|| length_of_text(program, divisor))?;
    let is_even = value >= 1.0 && 256.0 % value == 0.0;
    (!is_even && value >= 2.0 && !is_limited(program, byte)).then_some(value)
}

/// The length of a constant text.
fn length_of_text<'t>(program: &Program<'t>, node: Node<'t>) -> Option<f64> {
    let property =
        node.child_by_field_name("property").filter(|_| node.kind() == "member_expression")?;
    let text = program.constant_text(node.child_by_field_name("object")?)?;
    (program.text(property) == "length").then(|| text.chars().count() as f64)
}

/// Whether the byte is compared with a limit in the same function.
fn is_limited<'t>(program: &Program<'t>, byte: Node<'t>) -> bool {
    let text = program.text(byte);
    let around = program.function_around(byte);
    let inside = around.map_or(program.of_kind("binary_expression"), |it| program.inside(it));
    inside.iter().any(|it| {
        it.kind() == "binary_expression"
            && matches!(program.operator(*it), "<" | ">" | "<=" | ">=")
            && it.child_by_field_name("left").is_some_and(|left| program.text(left) == text)
            && it.start_byte().abs_diff(byte.start_byte()) < 300
    })
}

fn is_uneven_divisor(value: f64) -> bool {
    let is_whole = value.fract() == 0.0;
    value > 1.0 && value != 255.0 && !(is_whole && 256.0 % value == 0.0)
}

/// Whether the value is rounded.
fn is_rounded<'t>(program: &Program<'t>, node: Node<'t>) -> bool {
    program.ancestors(node).take(6).any(|around| {
        around.kind() == "call_expression"
            && program.callee_origin(around).is_some_and(|path| {
                matches!(path.as_str(), "Math.floor" | "Math.ceil" | "Math.round" | "Math.trunc")
            })
    })
}
