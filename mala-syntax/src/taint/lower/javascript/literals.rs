//! Texts, templates, numbers, patterns and markup.

use super::super::super::ir::{ExprId, Expression};
use super::super::{Builder, Tree, children, field, place_of, unescape};
use super::expressions::{expression, first};
use std::rc::Rc;

pub(super) fn text(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let raw = b.slice(node);
    let inner = raw.get(1..raw.len().saturating_sub(1)).unwrap_or_default();
    let value = unescape(inner);
    b.text_at(&value, node)
}

/// Text pieces and what is put between them, in order.
pub(super) fn template_parts(b: &mut Builder<'_>, node: Tree<'_>) -> Vec<ExprId> {
    let mut parts = Vec::new();
    let mut from = node.start_byte() + 1;
    let inner: Vec<Tree<'_>> = children(node)
        .into_iter()
        .filter(|child| child.kind() == "template_substitution")
        .collect();
    for substitution in inner {
        piece(b, node, (from, substitution.start_byte()), &mut parts);
        parts.push(first(b, substitution));
        from = substitution.end_byte();
    }
    piece(b, node, (from, node.end_byte().saturating_sub(1)), &mut parts);
    parts
}

pub(super) fn piece(
    b: &mut Builder<'_>,
    node: Tree<'_>,
    range: (usize, usize),
    parts: &mut Vec<ExprId>,
) {
    let raw = b.text.get(range.0..range.1).unwrap_or_default();
    if !raw.is_empty() {
        let value = unescape(raw);
        parts.push(b.text_at(&value, node));
    }
}

pub(super) fn template(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let parts = template_parts(b, node);
    match parts.as_slice() {
        [] => b.text_at("", node),
        [only] if matches!(b.program.expression(*only), Expression::Text(_)) => *only,
        _ => b.add(Expression::Join(parts), node),
    }
}

pub(super) fn number(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let raw: String = b.slice(node).chars().filter(|c| *c != '_' && *c != 'n').collect();
    let value = match raw.strip_prefix("0x").or_else(|| raw.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).map_or(f64::NAN, |value| value as f64),
        None => raw.parse().unwrap_or(f64::NAN),
    };
    b.add(Expression::Number(value), node)
}

pub(super) fn regex(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let body = field(node, "pattern").map_or("", |pattern| b.slice(pattern));
    let flags = field(node, "flags").map_or("", |flags| b.slice(flags));
    b.add(Expression::Pattern(Rc::from(body), Rc::from(flags)), node)
}

pub(super) fn markup(b: &mut Builder<'_>, node: Tree<'_>) -> ExprId {
    let head = field(node, "open_tag").unwrap_or(node);
    let tag = match field(head, "name") {
        Some(name) if b.slice(name).starts_with(|c: char| c.is_ascii_lowercase()) => {
            let text = b.slice(name);
            b.text_at(text, name)
        }
        Some(name) => expression(b, name),
        None => b.text_at("", node),
    };
    let mut attributes = Vec::new();
    let mut inner = Vec::new();
    for child in children(head) {
        match child.kind() {
            "jsx_attribute" => {
                let parts = children(child);
                if let (Some(name), Some(value)) = (parts.first(), parts.get(1)) {
                    let value = expression(b, *value);
                    attributes.push((Some(b.sym_of(*name)), value));
                }
            }
            "jsx_expression" => attributes.push((None, first(b, child))),
            _ => {}
        }
    }
    for child in children(node) {
        if matches!(
            child.kind(),
            "jsx_element" | "jsx_self_closing_element" | "jsx_expression" | "jsx_fragment"
        ) && child.id() != head.id()
            && node.kind() != "jsx_self_closing_element"
        {
            inner.push(expression(b, child));
        }
    }
    b.add_at(Expression::Markup { tag, attributes, children: inner }, place_of(node))
}
