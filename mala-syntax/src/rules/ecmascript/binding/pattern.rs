//! Which names a pattern fills, and with what: `{a, b: [c]} = value`.

use tree_sitter::Node;

/// What a name receives.
#[derive(Debug, Clone, Copy)]
pub(in crate::rules::ecmascript) enum Assigned<'t> {
    /// The value of this expression.
    Exactly(Node<'t>),
    /// A property of this expression's value; the second node is the property's name.
    Member(Node<'t>, Node<'t>),
    /// The value of an operation with the former value.
    Updated(Node<'t>),
    /// An element or a key of what this loop runs over.
    Iterated(Node<'t>),
    /// Nothing is known.
    Unknown,
}

/// A name in a pattern, with what it receives.
#[derive(Debug, Clone, Copy)]
pub(in crate::rules::ecmascript) struct Target<'t> {
    pub(in crate::rules::ecmascript) name: Node<'t>,
    pub(in crate::rules::ecmascript) value: Assigned<'t>,
}

/// The names that a pattern fills from a value.
pub(in crate::rules::ecmascript) fn targets<'t>(
    pattern: Node<'t>,
    value: Assigned<'t>,
) -> Vec<Target<'t>> {
    let mut found = Vec::new();
    let mut open = vec![(pattern, value)];
    while let Some((pattern, value)) = open.pop() {
        if matches!(pattern.kind(), "identifier" | "shorthand_property_identifier_pattern") {
            found.push(Target { name: pattern, value: own_member(pattern, value) });
        } else {
            open.extend(parts(pattern, value));
        }
    }
    found
}

/// The patterns inside a pattern, with what they receive.
fn parts<'t>(pattern: Node<'t>, value: Assigned<'t>) -> Vec<(Node<'t>, Assigned<'t>)> {
    let field = |name| pattern.child_by_field_name(name);
    let one = |part: Option<Node<'t>>, value| part.map(|part| (part, value)).into_iter().collect();
    match pattern.kind() {
        "object_pattern" | "array_pattern" => {
            let value =
                if pattern.kind() == "object_pattern" { whole(value) } else { Assigned::Unknown };
            let mut cursor = pattern.walk();
            pattern.named_children(&mut cursor).map(|part| (part, value)).collect()
        }
        "pair_pattern" => {
            let member = match (value, field("key")) {
                (Assigned::Exactly(whole), Some(key)) if key.kind() != "computed_property_name" => {
                    Assigned::Member(whole, key)
                }
                _ => Assigned::Unknown,
            };
            one(field("value"), member)
        }
        "object_assignment_pattern" | "assignment_pattern" => one(field("left"), Assigned::Unknown),
        "required_parameter" | "optional_parameter" => one(field("pattern"), Assigned::Unknown),
        "rest_pattern" => one(pattern.named_child(0), Assigned::Unknown),
        "parenthesized_expression" | "non_null_expression" | "as_expression" => {
            one(pattern.named_child(0), value)
        }
        _ => Vec::new(),
    }
}

/// Object patterns hand on their whole value; its members are taken at the parts.
fn whole(value: Assigned<'_>) -> Assigned<'_> {
    if matches!(value, Assigned::Exactly(_)) { value } else { Assigned::Unknown }
}

/// `{name} = value` takes the member `name` of the value.
fn own_member<'t>(name: Node<'t>, value: Assigned<'t>) -> Assigned<'t> {
    match value {
        Assigned::Exactly(whole) if name.kind() == "shorthand_property_identifier_pattern" => {
            Assigned::Member(whole, name)
        }
        _ => value,
    }
}
