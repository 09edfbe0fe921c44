//! Python's enums: classes whose members are assignments in their body.

use crate::source::Source;
use crate::symbols::walk::named_children;
use mala_domain::language::Language;
use std::collections::HashSet;
use tree_sitter::Node;

/// Classes that make an enum of what extends them.
const ENUMS: [&str; 6] =
    ["Enum", "IntEnum", "StrEnum", "ReprEnum", "TextChoices", "IntegerChoices"];

/// Members beyond this many are left out.
const MAX_MEMBERS: usize = 2_000;

/// The members of a class, when it is an enum and every member can be seen.
pub(super) fn members(source: &Source, class: Node<'_>, bases: &[String]) -> Vec<String> {
    let is_enum = source.language() == Language::Python
        && bases.iter().any(|base| ENUMS.contains(&base.as_str()))
        && !bases.iter().any(|base| base.contains("Flag"));
    let body = class.child_by_field_name("body").filter(|_| is_enum);
    body.and_then(|body| listed(source, body)).unwrap_or_default()
}

/// The members in the order of the text; `None` when some of it is computed.
fn listed(source: &Source, body: Node<'_>) -> Option<Vec<String>> {
    let mut found = Vec::new();
    // The names and values of members: what has the value of another is an alias of it.
    let mut values = HashSet::new();
    for step in named_children(body).into_iter().take(MAX_MEMBERS) {
        let statement = step.node;
        match statement.kind() {
            "expression_statement" => {}
            "function_definition"
            | "decorated_definition"
            | "class_definition"
            | "pass_statement" => continue,
            _ => return None,
        }
        let Some(inner) = statement.named_child(0) else { continue };
        match inner.kind() {
            "assignment" => {}
            "string" | "ellipsis" => continue,
            _ => return None,
        }
        let left = inner.child_by_field_name("left")?;
        // A name with a type alone is no member.
        let Some(right) = inner.child_by_field_name("right") else { continue };
        let name = source.slice(left);
        if left.kind() != "identifier" {
            return None;
        }
        if name.starts_with('_') || matches!(right.kind(), "lambda" | "assignment") {
            continue;
        }
        let value = source.slice(right);
        let is_alias = values.contains(value);
        if !value.ends_with(')') {
            values.insert(value);
        }
        if !is_alias {
            values.insert(name);
            found.push(name.to_owned());
        }
    }
    Some(found)
}
