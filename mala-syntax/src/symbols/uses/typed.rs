//! Which type a receiver is of, as far as the function around it says: `t = Thing()`, `t: Thing`.

use super::place::binds;
use crate::source::Source;
use crate::symbols::table::{Lookup, Opens};
use crate::symbols::walk::{Descend, Step, Trail, named_children, walk_from};
use mala_domain::language::Language;
use std::collections::HashMap;
use std::rc::Rc;
use tree_sitter::Node;

/// Functions around a use beyond this many are not looked at.
const MAX_AROUND: usize = 3;

/// A type's name beyond this many bytes is none.
const MAX_BYTES: usize = 120;

/// The types of the names that a function binds; `None` when one is bound twice or to anything.
type Types = HashMap<String, Option<String>>;

/// The types of local names, by the function that binds them.
#[derive(Default)]
pub(super) struct LocalTypes {
    by_function: HashMap<usize, Rc<Types>>,
}

impl LocalTypes {
    /// The type of the object before the dot of a member, with dots between its parts.
    pub(super) fn of_object(
        &mut self,
        source: &Source,
        lookup: &Lookup,
        trail: &Trail<'_>,
        object: Object<'_>,
    ) -> Option<String> {
        let name = match object {
            Object::Node(node) => match made(source, node) {
                Some(made) => return Some(made),
                None if node.kind() == "identifier" => source.slice(node),
                None => return None,
            },
            Object::Name(name) => name,
        };
        let functions = trail.up().filter(|step| is_function(lookup, step.node)).take(MAX_AROUND);
        let root = source.tree().root_node();
        for function in functions.map(|step| step.node).chain([root]) {
            let types = self.types(source, lookup, function);
            if let Some(found) = types.get(name) {
                return found.clone();
            }
        }
        None
    }

    fn types(&mut self, source: &Source, lookup: &Lookup, function: Node<'_>) -> Rc<Types> {
        let found = self.by_function.entry(function.id());
        Rc::clone(found.or_insert_with(|| Rc::new(bound_types(source, lookup, function))))
    }
}

/// What stands before a dot.
#[derive(Debug, Clone, Copy)]
pub(super) enum Object<'a> {
    /// A node of the tree.
    Node(Node<'a>),
    /// A bare name, where there is no tree.
    Name(&'a str),
}

fn is_function(lookup: &Lookup, node: Node<'_>) -> bool {
    lookup.traits(node).closure
        || lookup.shape(node).is_some_and(|shape| shape.opens == Opens::Function)
}

/// The names that a function binds, with their types.
fn bound_types(source: &Source, lookup: &Lookup, function: Node<'_>) -> Types {
    let mut found = Types::new();
    walk_from(function, |trail, step| {
        if step.node.kind() == "identifier" && binds(source, lookup.table, trail, step) {
            let name = source.slice(step.node).to_owned();
            let declared = declared(source, trail, step);
            found.entry(name).and_modify(|known| *known = None).or_insert(declared);
        }
        Descend::Into
    });
    found
}

/// The type that a binding gives its name.
fn declared(source: &Source, trail: &Trail<'_>, step: Step<'_>) -> Option<String> {
    let mut up = trail.up();
    let parent = up.next()?.node;
    let (declared, given) = match parent.kind() {
        "assignment" if step.field == "left" => {
            (written(parent), parent.child_by_field_name("right"))
        }
        "typed_parameter"
        | "typed_default_parameter"
        | "required_parameter"
        | "parameter_declaration"
        | "parameter"
        | "formal_parameter" => (written(parent), None),
        "let_declaration" | "var_spec" => (written(parent), parent.child_by_field_name("value")),
        "variable_declarator" => {
            let around = up.next().map(|step| step.node).and_then(written);
            (written(parent).or(around), parent.child_by_field_name("value"))
        }
        "expression_list" => {
            let statement = up.next()?.node;
            return assigned_in_list(source, statement, parent, step.node);
        }
        _ => return None,
    };
    match declared {
        Some(declared) if source.slice(declared) != "var" => plain_type(source.slice(declared)),
        _ => made(source, value_of(given?)),
    }
}

fn written(node: Node<'_>) -> Option<Node<'_>> {
    node.child_by_field_name("type")
}

/// Go's `t, err := NewThing()`.
fn assigned_in_list(
    source: &Source,
    statement: Node<'_>,
    left: Node<'_>,
    name: Node<'_>,
) -> Option<String> {
    if statement.kind() != "short_var_declaration" {
        return None;
    }
    let at = named_children(left).iter().position(|step| step.node == name)?;
    let right = named_children(statement.child_by_field_name("right")?);
    let given = if right.len() == 1 && at > 0 { None } else { right.get(at) };
    made(source, given?.node)
}

/// The only value of a list of one.
fn value_of(node: Node<'_>) -> Node<'_> {
    match (node.kind(), named_children(node).as_slice()) {
        ("expression_list", [only]) => only.node,
        _ => node,
    }
}

/// The type of which an expression makes an object.
fn made(source: &Source, node: Node<'_>) -> Option<String> {
    let node = unwrapped(source, node);
    let field = |name| node.child_by_field_name(name);
    match node.kind() {
        "call" if source.language() == Language::Python => {
            capitalised(plain_type(source.slice(field("function")?))?)
        }
        "new_expression" => plain_type(source.slice(field("constructor")?)),
        "object_creation_expression" | "composite_literal" => {
            plain_type(source.slice(field("type")?))
        }
        "struct_expression" => plain_type(source.slice(field("name")?)),
        "call_expression" if source.language() == Language::Go => made_by_go(source, node),
        "call_expression" if source.language() == Language::Rust => {
            let function = plain_type(source.slice(field("function")?))?;
            let (made, by) = function.rsplit_once('.')?;
            let makes = matches!(by, "new" | "default") && made != "Self";
            makes.then(|| capitalised(made.to_owned())).flatten()
        }
        _ => None,
    }
}

/// An expression without what only passes its object on.
fn unwrapped<'t>(source: &Source, mut node: Node<'t>) -> Node<'t> {
    const MAX_WRAPS: usize = 4;
    for _ in 0..MAX_WRAPS {
        let wraps = match node.kind() {
            "parenthesized_expression" | "try_expression" | "reference_expression" => true,
            "unary_expression" => source.slice(node).starts_with('&'),
            _ => false,
        };
        match named_children(node).last() {
            Some(inner) if wraps => node = inner.node,
            _ => return node,
        }
    }
    node
}

/// `new(Thing)`, `NewThing()` and `pkg.NewThing()`.
fn made_by_go(source: &Source, call: Node<'_>) -> Option<String> {
    let function = source.slice(call.child_by_field_name("function")?);
    if function == "new" {
        let arguments = named_children(call.child_by_field_name("arguments")?);
        return plain_type(source.slice(arguments.first()?.node));
    }
    let function = plain_type(function)?;
    let (package, name) = function.rsplit_once('.').unwrap_or(("", &function));
    let made = name.strip_prefix("New").or_else(|| name.strip_prefix("new"))?;
    let made = capitalised(made.to_owned())?;
    Some(if package.is_empty() { made } else { format!("{package}.{made}") })
}

fn capitalised(path: String) -> Option<String> {
    let last = path.rsplit('.').next().unwrap_or_default();
    last.starts_with(char::is_uppercase).then_some(path)
}

/// The path of a type without what is around it; `None` for anything but one named type.
fn plain_type(text: &str) -> Option<String> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let text = text.trim_start_matches(':').trim().trim_matches(['"', '\'']);
    let text = text.strip_prefix("Optional[").and_then(|t| t.strip_suffix(']')).unwrap_or(text);
    let text = text.strip_suffix("| None").unwrap_or(text).trim();
    let text = text.trim_start_matches(['&', '*']).trim_start();
    let text = match text.strip_prefix('\'') {
        Some(lifetime) => lifetime.split_once(' ').map_or("", |(_, rest)| rest),
        None => text,
    };
    let text = text.strip_prefix("mut ").unwrap_or(text).trim().replace("::", ".");
    let is_path = text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '$'));
    (is_path && !text.is_empty() && !text.starts_with('.')).then_some(text)
}
