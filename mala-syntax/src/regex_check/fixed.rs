//! Patterns that can match one text only.

use super::ast::{Ast, NodeId, NodeKind};
use super::charset::CharSet;
use super::{Flags, Flavour, parse};

/// The only text that `pattern` can match, if there is one. Anchors and lookaround restrict where
/// it matches, not what.
pub(super) fn text(pattern: &str, flavour: Flavour, flags: Flags) -> Option<String> {
    let ast = parse::parse(pattern, flavour, flags)?;
    let mut text = String::new();
    collect(&ast, ast.root, &mut text)?;
    Some(text)
}

fn collect(ast: &Ast, id: NodeId, text: &mut String) -> Option<()> {
    match ast.kind(id) {
        NodeKind::Empty | NodeKind::Look { .. } | NodeKind::Assert(_) => {}
        NodeKind::Chars { set, .. } => text.push(only_member(set)?),
        NodeKind::Concat(parts) => {
            parts.iter().try_for_each(|part| collect(ast, *part, text))?;
        }
        NodeKind::Group { body, .. } | NodeKind::Atomic(body) => collect(ast, *body, text)?,
        NodeKind::Alternate(_) | NodeKind::Repeat { .. } | NodeKind::Backref(_) => return None,
    }
    Some(())
}

fn only_member(set: &CharSet) -> Option<char> {
    match set.ranges() {
        [(low, high)] if low == high => char::from_u32(*low),
        _ => None,
    }
}
