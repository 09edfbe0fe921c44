//! The type of a receiver, from its declaration: `t = Thing()`, `t: Thing`.

use crate::source::Source;
use crate::symbols::file_scopes::{FileScopes, ScopeVariable};
use crate::symbols::walk::named_children;
use mala_domain::language::Language;
use tree_sitter::Node;

/// Longer type names are ignored.
const MAX_BYTES: usize = 120;

/// The receiver before a dot.
#[derive(Debug, Clone, Copy)]
pub(super) enum ReceiverObject<'t> {
    /// A node of the tree.
    Node(Node<'t>),
    /// The node of the member, if the receiver is only known as text.
    NameBefore(Node<'t>),
}

impl<'t> ReceiverObject<'t> {
    /// The name whose declaration has the type.
    pub(super) fn name<'s>(self, source: &'s Source, receiver: &'s str) -> Option<&'s str> {
        match self {
            Self::Node(node) => (node.kind() == "identifier").then(|| source.slice(node)),
            Self::NameBefore(_) => Some(receiver),
        }
    }
}

/// The type of the object before the dot of a member, with dots between its parts.
pub(super) fn type_of(
    source: &Source,
    scopes: &FileScopes<'_>,
    (object, receiver): (ReceiverObject<'_>, &str),
) -> Option<String> {
    let place = match object {
        ReceiverObject::Node(node) => node,
        ReceiverObject::NameBefore(node) => node,
    };
    if let ReceiverObject::Node(node) = object
        && let Some(made) = made(source, node)
    {
        return Some(made);
    }
    declared_type(source, scopes.resolve_at(place, object.name(source, receiver)?)?)
}

/// The type of a variable with a single declaration.
fn declared_type(source: &Source, variable: &ScopeVariable<'_>) -> Option<String> {
    let [name] = variable.declarations.as_slice() else { return None };
    if variable.writes.len() > 1 {
        return None;
    }
    let declaration = name.parent()?;
    let around = declaration.parent().filter(|_| declaration.kind() == "variable_declarator");
    let written = [Some(declaration), around].into_iter().flatten();
    let written = written.filter_map(|node| node.child_by_field_name("type")).next();
    match written.map(|written| source.slice(written)) {
        Some(written) if written != "var" => plain_type(written),
        _ => match made_in_list(variable, declaration) {
            Some(value) => made(source, value),
            None => made(source, variable.only_value()?),
        },
    }
}

/// Go's `t, err := NewThing()`: the first name receives the new object.
fn made_in_list<'t>(variable: &ScopeVariable<'t>, list: Node<'t>) -> Option<Node<'t>> {
    let statement = list.parent().filter(|it| it.kind() == "short_var_declaration")?;
    let is_first = list.named_child(0).as_ref() == variable.declarations.first();
    let values = named_children(statement.child_by_field_name("right")?);
    values.first().filter(|_| is_first && values.len() == 1).map(|step| step.node)
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

/// An expression without parentheses, references and `?`.
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

/// The path of a type without modifiers and arguments; `None` for anything but one named type.
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
