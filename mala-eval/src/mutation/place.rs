//! Places where nothing is planted: tests, and unreachable code.

use super::site::{MutationContext, previous_statement};
use mala_domain::language::Language;
use tree_sitter::Node;

const NEVER: [&str; 4] = ["False", "false", "0", "None"];
const ENDS: [&str; 8] = [
    "return_statement",
    "raise_statement",
    "throw_statement",
    "continue_statement",
    "break_statement",
    "return_expression",
    "break_expression",
    "continue_expression",
];

/// Whether a node is a test.
pub(super) fn is_test(site: &MutationContext<'_>, node: Node<'_>) -> bool {
    let name = || node.child_by_field_name("name").map(|name| site.text(name)).unwrap_or_default();
    match (site.language(), node.kind()) {
        (Language::Python, "function_definition") => name().starts_with("test_"),
        (Language::Python, "class_definition") => name().starts_with("Test"),
        (Language::Python, "assert_statement") => true,
        (Language::Rust, "mod_item" | "function_item") => {
            let mut above = node.prev_named_sibling();
            while let Some(attribute) =
                above.filter(|it| it.kind() == "attribute_item" || it.is_extra())
            {
                let text = site.text(attribute);
                if text.contains("test]") || text.contains("test)") || text.contains("test(") {
                    return true;
                }
                above = attribute.prev_named_sibling();
            }
            false
        }
        (Language::Java, "method_declaration") => {
            let mut cursor = node.walk();
            node.children(&mut cursor)
                .any(|it| it.kind() == "modifiers" && site.text(it).contains("@Test"))
        }
        _ => false,
    }
}

/// Whether code can be reached, as far as the tree shows.
pub(super) fn is_live(site: &MutationContext<'_>, node: Node<'_>) -> bool {
    let mut inner = node;
    while let Some(outer) = inner.parent() {
        let is_consequence = outer.child_by_field_name("consequence") == Some(inner);
        let condition = outer.child_by_field_name("condition").filter(|_| is_consequence);
        let words = condition.map(|it| site.text(it).trim_matches(['(', ')', ' ']));
        if words.is_some_and(|words| NEVER.contains(&words)) {
            return false;
        }
        let is_statement = outer.kind().ends_with("block") || outer.kind() == "statement_list";
        if is_statement && previous_statement(inner).is_some_and(is_end) {
            return false;
        }
        if site.dialect.functions.contains(&outer.kind()) {
            return true;
        }
        inner = outer;
    }
    true
}

fn is_end(statement: Node<'_>) -> bool {
    let inner = super::site::unwrapped(statement, &["expression_statement"]);
    ENDS.contains(&inner.kind())
}
