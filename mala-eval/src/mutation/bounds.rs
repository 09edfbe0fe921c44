//! Off by one: a comparison that includes or excludes its bound, or a range or slice that ends one too early
//! or too late.

use super::Mutation;
use super::site::{MutationContext, MutationDraft, shown, statements};
use crate::plant::DefectKind;
use mala_domain::language::Language;
use mala_syntax::symbols::named_children;
use std::ops::Range;
use tree_sitter::Node;

/// Values for which an inclusive bound makes no difference.
const SMOOTH: [&str; 16] = [
    "time",
    "date",
    "score",
    "ratio",
    "price",
    "weight",
    "prob",
    "epsilon",
    "elapsed",
    "deadline",
    "duration",
    "seconds",
    "latency",
    "confidence",
    "percent",
    "now",
];
const COUNTS: [&str; 8] = ["len(", ".length", ".len()", ".size", "count", "index", "idx", "offset"];
const PLAIN: [&str; 7] = [
    "identifier",
    "attribute",
    "member_expression",
    "field_expression",
    "selector_expression",
    "field_access",
    "property_identifier",
];

fn draft() -> MutationDraft {
    MutationDraft { kind: DefectKind::OffByOne, title: "A bound is off by one" }
}

/// The two sides of a comparison, and its operator.
pub(super) fn comparison<'t>(node: Node<'t>) -> Option<(Node<'t>, Node<'t>, Node<'t>)> {
    if !matches!(node.kind(), "comparison_operator" | "binary_expression") {
        return None;
    }
    let sides = named_children(node);
    let [left, right] = sides.as_slice() else { return None };
    let mut cursor = node.walk();
    let operator = node.children(&mut cursor).find(|it| {
        it.start_byte() >= left.node.end_byte() && it.end_byte() <= right.node.start_byte()
    })?;
    Some((left.node, operator, right.node))
}

/// `<` and `<=`, `>` and `>=`.
pub(super) fn compared(site: &MutationContext<'_>, node: Node<'_>) -> Option<Mutation> {
    let (left, operator, right) = comparison(node)?;
    let other = match site.text(operator) {
        "<" => "<=",
        "<=" => "<",
        ">" => ">=",
        ">=" => ">",
        _ => return None,
    };
    let (a, b) = (site.text(left), site.text(right));
    if !(is_countable(left, a) && is_countable(right, b)) || !(counts(left, a) || counts(right, b))
    {
        return None;
    }
    // A count is never below zero, so the comparison would be constant.
    let is_absurd = matches!((a, other, b), (_, ">=" | "<", "0") | ("0", "<=" | ">", _));
    if is_absurd || is_clamp(site, node, (a, b)) {
        return None;
    }
    let text = format!("{}{other}{}", gap(site, left, operator), gap(site, operator, right));
    let text = format!("{a}{text}{b}");
    Some(draft().replace(site, node.byte_range(), text))
}

fn gap<'s>(site: &MutationContext<'s>, before: Node<'_>, after: Node<'_>) -> &'s str {
    site.slice(before.end_byte()..after.start_byte())
}

fn is_number(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "integer" | "number" | "int_literal" | "integer_literal" | "decimal_integer_literal"
    )
}

fn is_countable(node: Node<'_>, text: &str) -> bool {
    let is_literal = node.kind().contains("string") || node.kind().contains("float");
    let lower = text.to_ascii_lowercase();
    let is_fraction = is_number(node) && text.contains('.');
    !is_literal && !is_fraction && !SMOOTH.iter().any(|word| lower.contains(word))
}

/// Whether a value is a count or an index.
fn counts(node: Node<'_>, text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    is_number(node)
        || PLAIN.contains(&node.kind())
        || COUNTS.iter().any(|word| lower.contains(word))
}

/// Whether both comparisons have the same effect: `if (low > x) x = low`.
fn is_clamp(site: &MutationContext<'_>, node: Node<'_>, (a, b): (&str, &str)) -> bool {
    let inner = node.parent().filter(|it| it.kind() == "parenthesized_expression");
    let Some(outer) = inner.unwrap_or(node).parent() else { return false };
    if matches!(outer.kind(), "conditional_expression" | "ternary_expression") {
        let text = site.text(outer);
        return text.matches(a).count() > 1 || text.matches(b).count() > 1;
    }
    let Some(body) = outer.child_by_field_name("consequence") else { return false };
    let [only] = statements(body)[..] else { return false };
    let text = site.text(only).trim_end_matches(';');
    let value = text.strip_prefix("return").unwrap_or_default().trim();
    let throws = text.starts_with("raise") || text.starts_with("throw");
    value == a || value == b || (!throws && text.contains(a) && text.contains(b))
}

/// The end of a range or of a slice, one less or one more.
pub(super) fn shifted(site: &MutationContext<'_>, node: Node<'_>) -> Option<Mutation> {
    if site.language() == Language::Rust {
        return inclusive(site, node);
    }
    let end = match (site.language(), node.kind()) {
        (Language::Python, "call") => range_end(site, node)?,
        (Language::Python, "slice") => slice_end(node)?,
        (Language::Go, "slice_expression") => node.child_by_field_name("end")?,
        (Language::Java, "method_invocation") | (_, "call_expression") => cut_end(site, node)?,
        _ => return None,
    };
    let text = one_less(site, end)?;
    let mutation = draft().replace(site, end.byte_range(), text);
    let description =
        format!("{} It is the end of `{}`.", mutation.description, shown(site.text(node)));
    Some(Mutation { description, ..mutation })
}

fn range_end<'t>(site: &MutationContext<'_>, call: Node<'t>) -> Option<Node<'t>> {
    let function = call.child_by_field_name("function")?;
    let arguments = named_children(call.child_by_field_name("arguments")?);
    let end = if arguments.len() == 1 { arguments.first() } else { arguments.get(1) };
    end.map(|step| step.node).filter(|_| site.text(function) == "range")
}

fn slice_end(slice: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = slice.walk();
    let mut children = slice.children(&mut cursor).skip_while(|it| it.kind() != ":").skip(1);
    children.next().filter(Node::is_named)
}

/// The end argument of `slice(a, b)`, `substring(a, b)` and `subList(a, b)`.
fn cut_end<'t>(site: &MutationContext<'_>, call: Node<'t>) -> Option<Node<'t>> {
    let callee = call.child_by_field_name("function").or(call.child_by_field_name("name"))?;
    let name = site.text(callee).rsplit('.').next()?;
    let takes_end = match site.language() {
        Language::Java => matches!(name, "substring" | "subList"),
        _ => site.is_ecmascript() && matches!(name, "slice" | "substring" | "subarray"),
    };
    let arguments = named_children(call.child_by_field_name("arguments")?);
    let [_, end] = arguments.as_slice() else { return None };
    takes_end.then_some(end.node)
}

fn one_less(site: &MutationContext<'_>, end: Node<'_>) -> Option<String> {
    if matches!(end.kind(), "binary_operator" | "binary_expression") {
        let sides = named_children(end);
        let [left, right] = sides.as_slice() else { return None };
        let operator = site.slice(left.node.end_byte()..right.node.start_byte()).trim();
        let is_step = site.text(right.node) == "1" && matches!(operator, "+" | "-");
        return is_step.then(|| site.text(left.node).to_owned());
    }
    let is_call = matches!(end.kind(), "call" | "call_expression" | "method_invocation");
    let text = site.text(end);
    let is_length = is_call && COUNTS.iter().any(|word| text.contains(word));
    (PLAIN.contains(&end.kind()) || is_length).then(|| format!("{text}{}", site.dialect.less_one))
}

/// `..` and `..=`, where a range is gone through or cuts a slice.
fn inclusive(site: &MutationContext<'_>, node: Node<'_>) -> Option<Mutation> {
    let is_used = node.parent().is_some_and(|it| {
        it.kind() == "index_expression" || it.child_by_field_name("value") == Some(node)
    });
    if node.kind() != "range_expression" || !is_used {
        return None;
    }
    let mut cursor = node.walk();
    let dots = node.children(&mut cursor).find(|it| it.kind().starts_with(".."))?;
    let has_end = named_children(node).iter().any(|it| it.node.start_byte() >= dots.end_byte());
    let other = match dots.kind() {
        ".." => "..=",
        "..=" => "..",
        _ => return None,
    };
    let range: Range<usize> = node.byte_range();
    let text = format!(
        "{}{other}{}",
        site.slice(range.start..dots.start_byte()),
        site.slice(dots.end_byte()..range.end)
    );
    let is_loop =
        node.parent().is_some_and(|it| matches!(it.kind(), "for_expression" | "index_expression"));
    (has_end && is_loop).then(|| draft().replace(site, range, text))
}
