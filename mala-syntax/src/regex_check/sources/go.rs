//! Go: the functions of `regexp` and the methods of compiled patterns.

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
    let (Some(operand), Some(field)) =
        (function.child_by_field_name("operand"), function.child_by_field_name("field"))
    else {
        return;
    };
    let name = scan.text(field);
    let argument = |index: u32| arguments.named_child(index);
    let use_ = |role, subject| PatternUse::new(node, role, Anchoring::Search, subject);
    if scan.text(operand) != "regexp" {
        let role = match name {
            name if name.starts_with("Match") || name.starts_with("Find") => Role::Match,
            name if name.starts_with("ReplaceAll") => Role::Replace,
            "Split" => Role::Split,
            _ => return,
        };
        return scan.used(operand, use_(role, argument(0)));
    }
    let Some(constant) = argument(0).and_then(|pattern| scan.constant(pattern)) else { return };
    match name {
        "MustCompile" | "Compile" | "MustCompilePOSIX" | "CompilePOSIX" => {}
        "Match" | "MatchString" | "MatchReader" => {
            scan.used_here(node, use_(Role::Match, argument(1)));
        }
        _ => return,
    }
    scan.pattern(constant, Flavour::Go, Flags::default(), node);
}
