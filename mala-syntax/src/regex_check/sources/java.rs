//! Java: `Pattern` and the methods of `String` that take patterns.

use tree_sitter::Node;

use super::scan::Scan;
use super::{PatternUse, Role};
use crate::regex_check::{Anchoring, Flags, Flavour};

pub(super) fn visit<'t>(scan: &mut Scan<'t>, node: Node<'t>) {
    if node.kind() != "method_invocation" {
        return;
    }
    let (Some(name), Some(arguments)) =
        (node.child_by_field_name("name"), node.child_by_field_name("arguments"))
    else {
        return;
    };
    let Some(object) = node.child_by_field_name("object") else { return };
    let argument = |index: u32| arguments.named_child(index);
    let name = scan.text(name);
    if scan.name_of(object) == Some("Pattern") {
        return pattern_class(scan, node, name);
    }
    match name {
        "matcher" => {
            let (role, anchoring) = matcher_use(scan, node);
            scan.used(object, PatternUse::new(node, role, anchoring, argument(0)));
        }
        "matches" | "replaceAll" | "replaceFirst" | "split" => {
            let (role, anchoring) = match name {
                "matches" => (Role::Match, Anchoring::Full),
                "split" => (Role::Split, Anchoring::Search),
                _ => (Role::Replace, Anchoring::Search),
            };
            let Some(constant) = argument(0).and_then(|pattern| scan.constant(pattern)) else {
                return;
            };
            let mut use_ = PatternUse::new(node, role, anchoring, Some(object));
            if role == Role::Replace {
                use_.replacement = scan.replacement(argument(1));
            }
            scan.used_here(node, use_);
            scan.pattern(constant, Flavour::Java, Flags::default(), node);
        }
        _ => {}
    }
}

/// `Pattern.compile` and `Pattern.matches`.
fn pattern_class<'t>(scan: &mut Scan<'t>, node: Node<'t>, name: &str) {
    let Some(arguments) = node.child_by_field_name("arguments") else { return };
    let argument = |index: u32| arguments.named_child(index);
    let Some(constant) = argument(0).and_then(|pattern| scan.constant(pattern)) else { return };
    match name {
        "compile" => {
            let flags = argument(1).map_or(Flags::default(), |flags| read_flags(scan.text(flags)));
            scan.pattern(constant, Flavour::Java, flags, node);
        }
        "matches" => {
            let use_ = PatternUse::new(node, Role::Match, Anchoring::Full, argument(1));
            scan.used_here(node, use_);
            scan.pattern(constant, Flavour::Java, Flags::default(), node);
        }
        _ => {}
    }
}

/// What is asked of a matcher right where it is made.
fn matcher_use(scan: &Scan<'_>, node: Node<'_>) -> (Role, Anchoring) {
    let call = node.parent().filter(|parent| parent.kind() == "method_invocation");
    let name = call.and_then(|call| call.child_by_field_name("name"));
    match name.map_or("", |name| scan.text_of(name)) {
        "matches" => (Role::Match, Anchoring::Full),
        "lookingAt" => (Role::Match, Anchoring::Start),
        "replaceAll" | "replaceFirst" => (Role::Replace, Anchoring::Search),
        _ => (Role::Match, Anchoring::Search),
    }
}

fn read_flags(text: &str) -> Flags {
    Flags {
        ignore_case: text.contains("CASE_INSENSITIVE"),
        multi_line: text.contains("MULTILINE"),
        dot_all: text.contains("DOTALL"),
        verbose: text.contains("COMMENTS"),
        ..Flags::default()
    }
}
