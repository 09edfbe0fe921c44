//! Random numbers that are not evenly spread.

use super::{found, short};
use crate::rules::ecmascript::binding::Assigned;
use crate::rules::ecmascript::{Program, ProgramCheck};
use crate::rules::native::NativeMatch;
use tree_sitter::Node;

pub(in crate::rules::ecmascript) const BIASED_RANDOM: ProgramCheck =
    ProgramCheck { name: "biased-random", captures: &["EXPRESSION", "WHY"], run: biased_randoms };

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
