//! Looking at code the way the checks need it: compared without its layout, without parentheses,
//! without comments.

use super::{CheckMatch, NativeCheck, NativeMatch};
use crate::rules::walk::{TreeStep, descend};
use crate::source::{Source, lines_of};
use tree_sitter::Node;

/// Code with more tokens is not compared: so much is not repeated by mistake.
const MAX_TOKENS: usize = 4_000;

/// The code of a node without layout and comments; `None` when it is too much to compare. Depths
/// are part of it: where layout carries meaning, equal tokens may be different code.
pub(super) fn canonical(source: &Source, node: Node<'_>) -> Option<String> {
    let mut text = String::new();
    let mut n_tokens = 0;
    descend(node, |part, depth| {
        if is_comment(part) || n_tokens > MAX_TOKENS {
            return TreeStep::Over;
        }
        if part.child_count() > 0 && !is_text(part) {
            return TreeStep::Into;
        }
        n_tokens += 1;
        text.push_str(source.slice(part));
        text.extend(['\0', char::from_u32(depth as u32).unwrap_or('\0')]);
        TreeStep::Over
    });
    (n_tokens <= MAX_TOKENS).then_some(text)
}

/// Whether two nodes are the same code.
pub(super) fn same(source: &Source, a: Node<'_>, b: Node<'_>) -> bool {
    if source.slice(a) == source.slice(b) {
        return true;
    }
    match (canonical(source, a), canonical(source, b)) {
        (Some(a), Some(b)) => a == b,
        _ => false,
    }
}

/// The node inside parentheses.
pub(super) fn bare(node: Node<'_>) -> Node<'_> {
    let mut node = node;
    while matches!(node.kind(), "parenthesized_expression" | "condition_clause") {
        match parts(node).as_slice() {
            [only] => node = *only,
            _ => break,
        }
    }
    node
}

/// The named children that are no comments.
pub(super) fn parts(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| !is_comment(*child)).collect()
}

/// Whether a node is a comment.
pub(super) fn is_comment(node: Node<'_>) -> bool {
    matches!(node.kind(), "comment" | "line_comment" | "block_comment" | "line_continuation")
}

/// Whether a node is a literal: a number, a text, a constant.
pub(super) fn is_literal(node: Node<'_>) -> bool {
    let kind = node.kind();
    is_text(node)
        || kind.ends_with("_literal")
        || matches!(
            kind,
            "integer"
                | "float"
                | "number"
                | "true"
                | "false"
                | "none"
                | "null"
                | "undefined"
                | "nil"
                | "null_literal"
                | "boolean_literal"
        )
}

/// A match of a node, with the values for the texts.
pub(super) fn found(
    check: &NativeCheck,
    node: Node<'_>,
    captures: Vec<(&'static str, String)>,
) -> CheckMatch {
    let found = NativeMatch { bytes: node.byte_range(), because: None, captures };
    CheckMatch { check: check.name, found }
}

/// The same match, made wrong by another place.
pub(super) fn because(mut found: CheckMatch, place: Node<'_>) -> CheckMatch {
    found.found.because = Some(place.byte_range());
    found
}

/// The first line of a node, for messages.
pub(super) fn line(node: Node<'_>) -> String {
    lines_of(node).start().to_string()
}

fn is_text(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "string"
            | "encapsed_string"
            | "string_literal"
            | "template_string"
            | "raw_string_literal"
            | "char_literal"
            | "interpreted_string_literal"
            | "character_literal"
            | "rune_literal"
            | "regex"
    )
}
