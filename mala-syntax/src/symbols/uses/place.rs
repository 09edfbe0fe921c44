//! What a name does at the place where it stands.

use super::Deed;
use super::call::{Call, call_at};
use super::receiver::{before_in_path, before_in_tokens, normalised};
use crate::source::Source;
use crate::symbols::table::Table;
use crate::symbols::walk::{Step, Trail};
use mala_domain::language::Language;

/// What a name does at its place.
pub(super) enum Place {
    /// It is no use of anything: a key, a keyword, a label.
    Nothing,
    /// It binds.
    Binds,
    /// It reads, calls, or assigns to a member.
    Reads {
        /// What is before the dot.
        receiver: Option<String>,
        /// The call.
        call: Option<Call>,
        /// What it does.
        deed: Deed,
    },
}

/// The key in a Go literal: a field of the struct, mostly.
const GO_KEY: (&str, &str) = ("literal_element", "key");

/// What the name at `step` does.
pub(super) fn place_of(source: &Source, table: &Table, trail: &Trail<'_>, step: Step<'_>) -> Place {
    let Some(parent) = trail.parent() else {
        return Place::Reads { receiver: None, call: None, deed: Deed::Reads };
    };
    let kind = parent.node.kind();
    if table.ignored.contains(&(kind, step.field)) || (kind, parent.field) == GO_KEY {
        return Place::Nothing;
    }
    if kind == "token_tree" {
        let (receiver, call) = before_in_tokens(source, step.node);
        return Place::Reads { receiver, call, deed: Deed::Reads };
    }
    if binds(source, table, trail, step) {
        return Place::Binds;
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
    let deed = if receiver.is_some() && is_assigned(trail) {
        Deed::AssignsMember
    } else if is_tried(source, trail) {
        Deed::Tries
    } else {
        Deed::Reads
    };
    Place::Reads { receiver, call, deed }
}

/// The node before the dot of a member.
pub(super) fn object_of<'t>(
    table: &Table,
    trail: &Trail<'t>,
    step: Step<'t>,
) -> Option<tree_sitter::Node<'t>> {
    let parent = trail.parent()?.node;
    let member = table
        .members
        .iter()
        .find(|(node, _, member)| *node == parent.kind() && *member == step.field)?;
    parent.child_by_field_name(member.1)
}

/// Nodes where the object is left out when there is none.
fn is_bare_call(kind: &str) -> bool {
    matches!(kind, "method_invocation" | "call")
}

/// Whether the name is bound: it is in a place that binds, perhaps inside a pattern.
pub(super) fn binds(source: &Source, table: &Table, trail: &Trail<'_>, step: Step<'_>) -> bool {
    let in_pattern_of_rust = source.language() == Language::Rust
        && source.slice(step.node).starts_with(char::is_uppercase);
    let mut child = step;
    for (climbed, ancestor) in trail.up().enumerate() {
        let place = (ancestor.node.kind(), child.field);
        if table.binders.contains(&place) {
            return !(in_pattern_of_rust && (climbed > 0 || place.0 == "match_arm"));
        }
        let is_lone_path = place.0 == "dotted_name" && ancestor.node.named_child_count() == 1;
        if !table.patterns.contains(&place) && !is_lone_path {
            return false;
        }
        child = ancestor;
    }
    false
}

/// Whether the member is what an assignment writes to.
fn is_assigned(trail: &Trail<'_>) -> bool {
    let mut up = trail.up();
    let (Some(member), Some(parent)) = (up.next(), up.next()) else { return false };
    matches!(
        parent.node.kind(),
        "assignment" | "assignment_expression" | "augmented_assignment" | "assignment_statement"
    ) && member.field == "left"
}

/// Whether an exception for a missing name is caught around the use.
fn is_tried(source: &Source, trail: &Trail<'_>) -> bool {
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

/// `typeof name` is no error where nothing has the name.
fn is_asked_for(trail: &Trail<'_>) -> bool {
    trail.parent().is_some_and(|step| {
        step.node.kind() == "unary_expression"
            && step.node.child_by_field_name("operator").is_some_and(|it| it.kind() == "typeof")
    })
}
