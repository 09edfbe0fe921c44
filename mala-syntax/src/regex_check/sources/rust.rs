//! Rust: the constructors of the `regex` crate and the methods of its patterns.

use tree_sitter::Node;

use super::scan::Scan;
use super::{PatternUse, Role};
use crate::regex_check::{Anchoring, Flags, Flavour};

pub(super) fn visit<'t>(scan: &mut Scan<'t>, node: Node<'t>) {
    if node.kind() != "call_expression" {
        return;
    }
    let Some(function) = node.child_by_field_name("function") else { return };
    let Some(arguments) = node.child_by_field_name("arguments") else { return };
    let first = arguments.named_child(0);
    match function.kind() {
        "scoped_identifier" => {
            let path = scan.text(function);
            let constructor =
                ["Regex::new", "RegexBuilder::new"].iter().any(|known| path.ends_with(known));
            let constant = first.filter(|_| constructor).and_then(|pattern| scan.constant(pattern));
            if let Some(constant) = constant {
                scan.pattern(constant, Flavour::Rust, Flags::default(), node);
            }
        }
        "field_expression" => {
            let (Some(value), Some(field)) =
                (function.child_by_field_name("value"), function.child_by_field_name("field"))
            else {
                return;
            };
            let role = match scan.text(field) {
                "is_match" | "find" | "find_iter" | "captures" | "captures_iter" => Role::Match,
                "replace" | "replace_all" | "replacen" => Role::Replace,
                "split" | "splitn" => Role::Split,
                _ => return,
            };
            scan.used(value, PatternUse::new(node, role, Anchoring::Search, first));
        }
        _ => {}
    }
}
