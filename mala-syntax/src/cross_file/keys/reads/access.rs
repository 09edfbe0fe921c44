//! The smallest expression that takes something out of something else by a name: `a["name"]`,
//! `a.name`, `a.get("name")`.

use crate::source::Source;
use crate::symbols::{Step, Trail, named_children};
use tree_sitter::Node;

/// An access by a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Access<'t> {
    /// The whole expression.
    pub(super) node: Node<'t>,
    /// What is accessed; a bare call has nothing before it.
    pub(super) object: Option<Node<'t>>,
    /// The function that is called, by its name.
    pub(super) method: &'t str,
    /// How many arguments it takes.
    pub(super) n_arguments: usize,
    /// How.
    pub(super) way: Way,
    /// Whether it stands where a value is put in.
    pub(super) is_assigned: bool,
    /// Whether it only asks whether the name is there.
    pub(super) tests: bool,
    /// How many ancestors of the name are inside the expression.
    pub(super) height: usize,
}

/// How something is accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Index,
    Member,
    Call,
    Macro,
    Annotation,
    Unpacking,
}

/// The access that a text or a name is the key of.
pub(super) fn of<'t>(source: &'t Source, trail: &Trail<'t>, leaf: Step<'t>) -> Option<Access<'t>> {
    let mut up = trail.up();
    let mut inner = leaf;
    let mut parent = up.next()?;
    let mut height = 0;
    if matches!(parent.node.kind(), "argument" | "object_assignment_pattern") {
        inner = parent;
        parent = up.next()?;
        height = 1;
    }
    let around = up.next();
    let found = match parent.node.kind() {
        "subscript" | "subscript_expression" | "index_expression" | "element_reference" => {
            index(parent.node, inner.node)
        }
        "bracketed_argument_list" => index(around?.node, parent.node),
        "attribute" | "member_expression" | "field_access" | "member_access_expression" => {
            member(parent, inner)
        }
        "argument_list" | "arguments" => call(source, around?.node, parent.node, inner.node),
        "token_tree" => of_macro(source, around?.node),
        "annotation_argument_list" => annotation(source, around?.node),
        "object_pattern" => unpacking(around?, inner),
        "comparison_operator" => containment(source, parent.node, inner.node),
        _ => None,
    }?;
    let height = trail.up().position(|step| step.node == found.node).unwrap_or(height) + 1;
    let outer = trail.up().nth(height);
    let is_assigned = trail.up().nth(height - 1).is_some_and(|step| step.field == "left")
        && outer.is_some_and(|step| step.node.kind().contains("assignment"));
    Some(Access { is_assigned, height, ..found })
}

fn plain<'t>(node: Node<'t>, object: Option<Node<'t>>, way: Way) -> Access<'t> {
    Access {
        node,
        object,
        method: "",
        n_arguments: 0,
        way,
        is_assigned: false,
        tests: false,
        height: 0,
    }
}

fn field<'t>(node: Node<'t>, names: &[&str]) -> Option<Node<'t>> {
    names.iter().find_map(|name| node.child_by_field_name(name))
}

/// What something is taken from, whatever the grammar calls it.
pub(super) fn object_of(node: Node<'_>) -> Option<Node<'_>> {
    field(node, &["value", "object", "operand", "expression", "path", "receiver", "argument"])
        .or_else(|| node.named_child(0))
}

fn index<'t>(node: Node<'t>, key: Node<'t>) -> Option<Access<'t>> {
    let object = object_of(node)?;
    let is_key = object != key && key.end_byte() <= node.end_byte();
    is_key.then(|| plain(node, Some(object), Way::Index))
}

fn member<'t>(parent: Step<'t>, name: Step<'t>) -> Option<Access<'t>> {
    let is_name = matches!(name.field, "attribute" | "property" | "field" | "name");
    is_name.then(|| plain(parent.node, object_of(parent.node), Way::Member))
}

fn call<'t>(
    source: &'t Source,
    node: Node<'t>,
    list: Node<'t>,
    key: Node<'t>,
) -> Option<Access<'t>> {
    let arguments = named_children(list);
    if arguments.first()?.node != key {
        return None;
    }
    let (object, method) = callee(source, node)?;
    let has_block = node.child_by_field_name("block").is_some();
    let n_arguments = arguments.len() + usize::from(has_block);
    Some(Access { method, n_arguments, ..plain(node, object, Way::Call) })
}

/// What a call calls: what is before the dot, and the name.
pub(super) fn callee<'t>(
    source: &'t Source,
    call: Node<'t>,
) -> Option<(Option<Node<'t>>, &'t str)> {
    if let Some(name) = field(call, &["method", "name"]) {
        return Some((field(call, &["object", "receiver"]), source.slice(name)));
    }
    let mut function = call.child_by_field_name("function")?;
    if let Some(inner) = function.child_by_field_name("function") {
        function = inner;
    }
    let name = field(function, &["attribute", "property", "field", "name"]);
    Some(match name {
        Some(name) => {
            let name = source.slice(name);
            (object_of(function), name.split('<').next().unwrap_or_default())
        }
        None => (None, source.slice(function)),
    })
}

fn of_macro<'t>(source: &'t Source, node: Node<'t>) -> Option<Access<'t>> {
    let name = node.child_by_field_name("macro")?;
    Some(Access { method: source.slice(name), n_arguments: 1, ..plain(node, None, Way::Macro) })
}

fn annotation<'t>(source: &'t Source, node: Node<'t>) -> Option<Access<'t>> {
    let name = node.child_by_field_name("name")?;
    Some(Access { method: source.slice(name), ..plain(node, None, Way::Annotation) })
}

/// `const { name } = object`.
fn unpacking<'t>(declarator: Step<'t>, name: Step<'t>) -> Option<Access<'t>> {
    let value = field(declarator.node, &["value", "right"])?;
    let n_arguments = if name.node.kind() == "object_assignment_pattern" { 2 } else { 1 };
    Some(Access { n_arguments, ..plain(declarator.node, Some(value), Way::Unpacking) })
}

/// `"name" in object`.
fn containment<'t>(source: &Source, node: Node<'t>, key: Node<'t>) -> Option<Access<'t>> {
    let sides = named_children(node);
    let [left, right] = sides.as_slice() else { return None };
    let between = source.text().get(left.node.end_byte()..right.node.start_byte())?;
    let asks = left.node == key && between.split_whitespace().any(|word| word == "in");
    asks.then(|| Access { tests: true, ..plain(node, Some(right.node), Way::Index) })
}
