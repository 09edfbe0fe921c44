//! Finds the names in a defining node.

use super::table::NameAt;
use super::walk::named_children;
use crate::source::Source;
use tree_sitter::Node;

/// Maximum depth of declarators and patterns.
const MAX_DEPTH: usize = 32;

/// A name with the node that has it.
#[derive(Debug, Clone)]
pub(crate) struct Named<'t> {
    /// The leaf.
    pub(crate) node: Node<'t>,
    /// The qualifier written before it, such as `Foo` of `Foo::bar` and of `Foo.prototype.bar`.
    pub(crate) qualifier: Option<String>,
    /// The kind of the declarator right around it, in C.
    pub(crate) declarator: &'t str,
}

/// The names that a node defines.
pub(crate) fn names_at<'t>(source: &Source, node: Node<'t>, at: NameAt) -> Vec<Named<'t>> {
    match at {
        NameAt::Field(field) => fields(node, field).into_iter().filter_map(plain_leaf).collect(),
        NameAt::Pattern(field) => {
            node.child_by_field_name(field).map(pattern_names).unwrap_or_default()
        }
        NameAt::Declarator => {
            fields(node, "declarator").into_iter().filter_map(|d| declared(source, d)).collect()
        }
        NameAt::First => node.named_child(0).and_then(plain_leaf).into_iter().collect(),
        NameAt::OfType(field) => {
            node.child_by_field_name(field).and_then(type_name).into_iter().map(plain).collect()
        }
        NameAt::Assigned => assigned(source, node).into_iter().collect(),
    }
}

/// Every child in a field.
pub(crate) fn fields<'t>(node: Node<'t>, field: &str) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    node.children_by_field_name(field, &mut cursor).filter(Node::is_named).collect()
}

/// The innermost name of a type: `S` of `&a::S<T>`.
pub(crate) fn type_name(node: Node<'_>) -> Option<Node<'_>> {
    let mut node = node;
    for _ in 0..MAX_DEPTH {
        if node.named_child_count() == 0 {
            return Some(node);
        }
        node = node
            .child_by_field_name("name")
            .or_else(|| node.child_by_field_name("type"))
            .or_else(|| node.named_child(0))?;
    }
    None
}

fn plain(node: Node<'_>) -> Named<'_> {
    Named { node, qualifier: None, declarator: "" }
}

fn plain_leaf(node: Node<'_>) -> Option<Named<'_>> {
    (node.named_child_count() == 0).then(|| plain(node))
}

/// The leaves that a pattern binds; a pattern that assigns to members or elements binds nothing.
fn pattern_names(node: Node<'_>) -> Vec<Named<'_>> {
    let mut found = Vec::new();
    let mut open = vec![(node, 0)];
    while let Some((node, depth)) = open.pop() {
        match node.kind() {
            "identifier" | "constant" | "shorthand_property_identifier_pattern" => {
                found.push(plain(node));
            }
            "pair_pattern" => {
                open.extend(node.child_by_field_name("value").map(|n| (n, depth + 1)));
            }
            "object_assignment_pattern" | "assignment_pattern" => {
                open.extend(node.child_by_field_name("left").map(|n| (n, depth + 1)));
            }
            "pattern_list"
            | "tuple_pattern"
            | "list_pattern"
            | "list_splat_pattern"
            | "object_pattern"
            | "array_pattern"
            | "rest_pattern"
            | "left_assignment_list"
            | "tuple"
            | "expression_list"
                if depth < MAX_DEPTH =>
            {
                open.extend(named_children(node).into_iter().map(|s| (s.node, depth + 1)));
            }
            _ => {}
        }
    }
    found.sort_by_key(|named| named.node.start_byte());
    found
}

/// The name inside C's declarators.
fn declared<'t>(source: &Source, declarator: Node<'t>) -> Option<Named<'t>> {
    let mut node = declarator;
    let mut qualifier = None;
    let mut declarator = "";
    for _ in 0..MAX_DEPTH {
        if node.kind() == "qualified_identifier" {
            let scope = node.child_by_field_name("scope").map(|scope| source.slice(scope));
            qualifier = scope.map(|text| text.split('<').next().unwrap_or_default().to_owned());
            node = node.child_by_field_name("name")?;
            continue;
        }
        if node.named_child_count() == 0 {
            return Some(Named { node, qualifier, declarator });
        }
        declarator = node.kind();
        node = node
            .child_by_field_name("declarator")
            .or_else(|| named_children(node).into_iter().map(|s| s.node).find(is_declarator))?;
    }
    None
}

fn is_declarator(node: &Node<'_>) -> bool {
    node.kind().ends_with("declarator")
        || matches!(node.kind(), "identifier" | "field_identifier" | "type_identifier")
}

/// The member that a JavaScript assignment defines.
fn assigned<'t>(source: &Source, node: Node<'t>) -> Option<Named<'t>> {
    let left = node.child_by_field_name("left")?;
    if left.kind() != "member_expression" {
        return None;
    }
    let object = source.slice(left.child_by_field_name("object")?);
    let property = left.child_by_field_name("property")?;
    let qualifier = match object {
        "exports" | "module.exports" => None,
        "module" | "this" | "window" | "self" | "globalThis" => return None,
        other => {
            let other = other.strip_suffix(".prototype").unwrap_or(other);
            let simple = other.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
            Some(simple.then(|| other.to_owned())?)
        }
    };
    Some(Named { node: property, qualifier, declarator: "" })
}
