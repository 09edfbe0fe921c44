//! The role of a name at its place, and its receiver.

use super::UseKind;
use super::call::{CallShape, call_at};
use crate::source::Source;
use crate::symbols::file_scopes::{binds, is_html_tag};
use crate::symbols::table::LanguageTable;
use crate::symbols::walk::{AncestorTrail, WalkStep};
use mala_domain::language::Language;
use tree_sitter::Node;

/// The role of a name at its place.
pub(super) enum NameUsage {
    /// Not a use: a key, a keyword, a label.
    Nothing,
    /// It binds.
    Binds,
    /// It reads, calls, or assigns to a member.
    Reads {
        /// The receiver.
        receiver: Option<String>,
        /// The call.
        call: Option<CallShape>,
        /// The kind of use.
        kind: UseKind,
    },
}

/// The key in a Go literal: a field of the struct, mostly.
const GO_KEY: (&str, &str) = ("literal_element", "key");

/// The role of the name at `step`.
pub(super) fn place_of(
    source: &Source,
    table: &LanguageTable,
    trail: &AncestorTrail<'_>,
    step: WalkStep<'_>,
) -> NameUsage {
    let Some(parent) = trail.parent() else {
        return NameUsage::Reads { receiver: None, call: None, kind: UseKind::Reads };
    };
    let kind = parent.node.kind();
    if table.ignored.contains(&(kind, step.field))
        || (kind, parent.field) == GO_KEY
        || is_html_tag(source, kind, step)
    {
        return NameUsage::Nothing;
    }
    if kind == "token_tree" {
        let (receiver, call) = before_in_tokens(source, step.node);
        return NameUsage::Reads { receiver, call, kind: UseKind::Reads };
    }
    if binds(source, table, trail, step) {
        return NameUsage::Binds;
    }
    let member =
        table.members.iter().find(|(node, _, member)| *node == kind && *member == step.field);
    let receiver = match member {
        Some((_, object, _)) => parent.node.child_by_field_name(object),
        None => None,
    };
    let mut receiver = receiver.map(|object| normalised(source.slice(object)));
    if member.is_some() && receiver.is_none() && !is_bare_call(kind) {
        receiver = Some(String::from("?"));
    }
    if table.paths.contains(&kind) {
        receiver = before_in_path(source, parent.node, step.node);
    }
    let steps = if receiver.is_some() { 1 } else { 0 };
    let call = call_at(source, table, trail, step, steps);
    let kind = if receiver.is_some() && is_assigned(trail) {
        UseKind::AssignsMember
    } else if is_tried(source, trail) {
        UseKind::Tries
    } else {
        UseKind::Reads
    };
    NameUsage::Reads { receiver, call, kind }
}

/// The node before the dot of a member.
pub(super) fn object_of<'t>(
    table: &LanguageTable,
    trail: &AncestorTrail<'t>,
    step: WalkStep<'t>,
) -> Option<Node<'t>> {
    let parent = trail.parent()?.node;
    let member = table
        .members
        .iter()
        .find(|(node, _, member)| *node == parent.kind() && *member == step.field)?;
    parent.child_by_field_name(member.1)
}

/// Nodes in which the receiver is optional.
fn is_bare_call(kind: &str) -> bool {
    matches!(kind, "method_invocation" | "call")
}

/// Whether the member is the target of an assignment.
fn is_assigned(trail: &AncestorTrail<'_>) -> bool {
    let mut up = trail.up();
    let (Some(member), Some(parent)) = (up.next(), up.next()) else { return false };
    matches!(
        parent.node.kind(),
        "assignment" | "assignment_expression" | "augmented_assignment" | "assignment_statement"
    ) && member.field == "left"
}

/// Whether an exception for a missing name is caught around the use.
fn is_tried(source: &Source, trail: &AncestorTrail<'_>) -> bool {
    const MISSING: &[&str] =
        &["ImportError", "ModuleNotFoundError", "NameError", "AttributeError", "TypeError"];
    if source.language() != Language::Python {
        return is_asked_for(trail);
    }
    trail.up().any(|step| {
        step.node.kind() == "try_statement" && {
            let mut cursor = step.node.walk();
            step.node
                .children(&mut cursor)
                .filter(|child| child.kind() == "except_clause")
                .filter_map(|clause| clause.child_by_field_name("value"))
                .any(|value| MISSING.iter().any(|name| source.slice(value).contains(name)))
        }
    })
}

/// Whether it is in `typeof name`, which is valid for an undefined name.
fn is_asked_for(trail: &AncestorTrail<'_>) -> bool {
    trail.parent().is_some_and(|step| {
        step.node.kind() == "unary_expression"
            && step.node.child_by_field_name("operator").is_some_and(|it| it.kind() == "typeof")
    })
}

/// Longer receivers are ignored.
const MAX_BYTES: usize = 200;

/// The receiver, its parts joined by dots, without everything that is not a name.
fn normalised(text: &str) -> String {
    if text.len() > MAX_BYTES {
        return String::from("?");
    }
    let text: String = text.split_whitespace().collect();
    let text = text.trim_start_matches(['&', '*', '$', '\\']);
    let mut out = String::with_capacity(text.len());
    let mut depth = 0_u32;
    for c in text.replace("::", ".").replace("->", ".").replace('\\', ".").chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '?' | '!' => {}
            c if depth == 0 => out.push(c),
            _ => {}
        }
    }
    let out = out.trim_end_matches('.').replace("..", ".");
    if out.is_empty() { String::from("?") } else { out }
}

/// The part of a path before this part.
fn before_in_path(source: &Source, path: Node<'_>, part: Node<'_>) -> Option<String> {
    let before = source.text().get(path.start_byte()..part.start_byte()).unwrap_or_default();
    let before = before.trim_end_matches(['.', ':', '\\', ' ', '\n', '\t']);
    (!before.is_empty()).then(|| normalised(before))
}

/// The receiver and the call of a name between the tokens of a macro, which has no tree of its own.
fn before_in_tokens(source: &Source, name: Node<'_>) -> (Option<String>, Option<CallShape>) {
    let text = source.text();
    let before = text.get(..name.start_byte()).unwrap_or_default().trim_end();
    let after = text.get(name.end_byte()..).unwrap_or_default().trim_start();
    let receiver = if let Some(path) = before.strip_suffix("::") {
        let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        let start = path
            .char_indices()
            .rev()
            .take(MAX_BYTES)
            .take_while(|(_, c)| is_path(*c))
            .last()
            .map_or(path.len(), |(at, _)| at);
        Some(normalised(path.get(start..).unwrap_or_default()))
    } else if before.ends_with('.') && !before.ends_with("..") {
        Some(name_before_dot(before))
    } else {
        None
    };
    let call = after.starts_with('(').then(|| match name.next_sibling() {
        Some(list) if list.kind() == "token_tree" => CallShape::in_tokens(source, name, list),
        _ => CallShape::unread(name),
    });
    (receiver, call)
}

/// The lone name before a dot; `?` when there is more than a name.
fn name_before_dot(before: &str) -> String {
    let before = before.trim_end_matches('.');
    let start = before
        .char_indices()
        .rev()
        .take(MAX_BYTES)
        .take_while(|(_, c)| c.is_alphanumeric() || *c == '_')
        .last()
        .map_or(before.len(), |(at, _)| at);
    let (rest, name) = before.split_at(start);
    let stands_alone = !rest.trim_end().ends_with(['.', ':', ')', ']', '}', '?']);
    if name.is_empty() || !stands_alone { String::from("?") } else { name.to_owned() }
}
