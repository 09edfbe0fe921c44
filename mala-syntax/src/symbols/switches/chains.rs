//! Python's `match`, and its chains of `if` and `elif` that ask for one value after the other.

use super::{Case, Fallback};
use crate::source::Source;
use crate::symbols::walk::{child_of_kind, named_children};
use tree_sitter::Node;

/// Alternatives beyond this many are not looked at.
const MAX_ALTERNATIVES: usize = 500;

/// The cases of a `match`.
pub(super) fn python_match(source: &Source, node: Node<'_>) -> Option<(Vec<Case>, Fallback)> {
    let body = node.child_by_field_name("body").unwrap_or(node);
    let mut cases = Vec::new();
    let mut fallback = Fallback::Absent;
    for clause in named_children(body).iter().filter(|step| step.node.kind() == "case_clause") {
        let is_conditional = clause.node.child_by_field_name("guard").is_some();
        let patterns = named_children(clause.node);
        let patterns: Vec<_> =
            patterns.iter().filter(|step| step.node.kind() == "case_pattern").collect();
        match patterns.as_slice() {
            _ if is_conditional => cases.push(Case::Other),
            [only] => match alternatives(source, only.node) {
                Some(found) => cases.extend(found),
                None => fallback = Fallback::Present,
            },
            _ => cases.push(Case::Other),
        }
    }
    Some((cases, fallback))
}

/// What a pattern names; `None` when it takes everything.
fn alternatives(source: &Source, pattern: Node<'_>) -> Option<Vec<Case>> {
    let mut open = vec![pattern];
    let mut found = Vec::new();
    while let Some(node) = open.pop().filter(|_| found.len() < MAX_ALTERNATIVES) {
        let inner = named_children(node);
        match (node.kind(), inner.as_slice()) {
            // `_` has no node of its own.
            ("case_pattern", []) => return None,
            ("case_pattern", [only]) => open.push(only.node),
            ("union_pattern", all) => open.extend(all.iter().rev().map(|step| step.node)),
            ("dotted_name", [_]) => return None,
            ("dotted_name", _) => found.push(name(source, node)),
            _ => found.push(Case::Other),
        }
    }
    Some(found)
}

/// The cases of a chain of at least two conditions on the same value.
pub(super) fn python_if(source: &Source, node: Node<'_>) -> Option<(Vec<Case>, Fallback)> {
    let mut conditions = vec![node.child_by_field_name("condition")?];
    let mut fallback = Fallback::Absent;
    for step in named_children(node) {
        match step.node.kind() {
            "elif_clause" => conditions.extend(step.node.child_by_field_name("condition")),
            "else_clause" => fallback = Fallback::Present,
            _ => {}
        }
    }
    if conditions.len() < 2 {
        return None;
    }
    let mut subject = None;
    let cases = conditions.into_iter().flat_map(|it| condition(source, it, &mut subject)).collect();
    Some((cases, fallback))
}

/// The members that a condition compares the subject with.
fn condition<'s>(source: &'s Source, node: Node<'_>, subject: &mut Option<&'s str>) -> Vec<Case> {
    let mut open = vec![node];
    let mut found = Vec::new();
    while let Some(node) = open.pop().filter(|_| found.len() < MAX_ALTERNATIVES) {
        let sides = named_children(node);
        match (node.kind(), sides.as_slice()) {
            ("parenthesized_expression", [only]) => open.push(only.node),
            ("boolean_operator", [left, right])
                if between(source, left.node, right.node) == "or" =>
            {
                open.extend([right.node, left.node]);
            }
            ("comparison_operator", [left, right]) => {
                found.extend(comparison(source, (left.node, right.node), subject));
            }
            _ => found.push(Case::Other),
        }
    }
    found
}

fn comparison<'s>(
    source: &'s Source,
    (left, right): (Node<'_>, Node<'_>),
    subject: &mut Option<&'s str>,
) -> Vec<Case> {
    let (value, members) = match between(source, left, right) {
        "==" | "is" if is_member(source, right) => (left, vec![right]),
        "==" | "is" if is_member(source, left) => (right, vec![left]),
        "in" if matches!(right.kind(), "tuple" | "list" | "set") => {
            (left, named_children(right).iter().map(|step| step.node).collect())
        }
        _ => return vec![Case::Other],
    };
    let value = source.slice(value);
    if *subject.get_or_insert(value) != value {
        return vec![Case::Other];
    }
    let case = |node: Node<'_>| {
        if is_member(source, node) { name(source, node) } else { Case::Other }
    };
    members.into_iter().map(case).collect()
}

/// What stands between two nodes.
fn between<'s>(source: &'s Source, left: Node<'_>, right: Node<'_>) -> &'s str {
    source.text().get(left.end_byte()..right.start_byte()).unwrap_or_default().trim()
}

/// Whether a node is a member of something with a name like a class.
fn is_member(source: &Source, node: Node<'_>) -> bool {
    let owner = node.child_by_field_name("object").filter(|_| node.kind() == "attribute");
    owner.is_some_and(|owner| {
        let last = source.slice(owner).rsplit('.').next().unwrap_or_default();
        last.starts_with(char::is_uppercase) && child_of_kind(owner, &["call"]).is_none()
    })
}

fn name(source: &Source, node: Node<'_>) -> Case {
    Case::Name(source.slice(node).split_whitespace().collect())
}
