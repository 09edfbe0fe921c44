//! The functions, types and modules around the visited node.

use super::definition::DefinitionKind;
use super::names::{Named, names_at};
use super::table::{DefinitionShape, Lookup, NameAt, ScopeOpening};
use super::walk::{AncestorTrail, WalkStep};
use crate::source::Source;
use tree_sitter::Node;

/// The definition of a node: the table's entry, adjusted by its value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Defining<'t> {
    /// The table's entry.
    pub(crate) shape: &'static DefinitionShape,
    /// The kind of definition.
    pub(crate) kind: DefinitionKind,
    /// The kind of scope that it opens.
    pub(crate) opens: ScopeOpening,
    /// The function, class or object that it names.
    pub(crate) value: Option<Node<'t>>,
}

/// One scope around the visited node.
#[derive(Debug)]
pub(crate) struct EnclosingScope {
    /// Its name, with its qualifier; closures have none.
    pub(crate) name: Option<String>,
    /// The kind of scope that it opens.
    pub(crate) opens: ScopeOpening,
    depth: usize,
}

/// All scopes around the visited node, the outermost first.
#[derive(Debug, Default)]
pub(crate) struct EnclosingScopes {
    stack: Vec<EnclosingScope>,
}

impl EnclosingScopes {
    /// Closes the scopes that the walk has left. Must be called first for every visited node.
    pub(crate) fn leave(&mut self, trail: &AncestorTrail<'_>) {
        while self.stack.last().is_some_and(|scope| scope.depth >= trail.depth()) {
            self.stack.pop();
        }
    }

    /// Opens the scope of this node, if it has one.
    pub(crate) fn enter(
        &mut self,
        source: &Source,
        lookup: &Lookup,
        trail: &AncestorTrail<'_>,
        step: WalkStep<'_>,
    ) {
        let node = step.node;
        let (named, opens) = match defining(lookup, node) {
            Some(defining) if defining.opens != ScopeOpening::Nothing => {
                let names = names_at(source, node, defining.shape.name);
                (names.into_iter().next(), defining.opens)
            }
            _ if lookup.traits(node).closure => (None, ScopeOpening::Function),
            _ => return,
        };
        self.stack.push(EnclosingScope {
            name: named.as_ref().map(|named| scope_name(source, node, named)),
            opens,
            depth: trail.depth(),
        });
    }

    /// The innermost.
    pub(crate) fn innermost(&self) -> Option<&EnclosingScope> {
        self.stack.last()
    }

    /// All scopes, the innermost first.
    pub(crate) fn inside_out(&self) -> impl Iterator<Item = &EnclosingScope> {
        self.stack.iter().rev()
    }

    /// Whether a function is around.
    pub(crate) fn in_function(&self) -> bool {
        self.stack.iter().any(|scope| scope.opens == ScopeOpening::Function)
    }

    /// The names of the scopes, joined by dots; of very many, only the innermost.
    pub(crate) fn path(&self) -> Option<String> {
        const MAX_NAMES: usize = 8;
        let mut names: Vec<&str> =
            self.inside_out().filter_map(|scope| scope.name.as_deref()).take(MAX_NAMES).collect();
        names.reverse();
        (!names.is_empty()).then(|| names.join("."))
    }

    /// The name of the innermost class or type.
    pub(crate) fn type_name(&self) -> Option<&str> {
        self.inside_out()
            .find(|scope| scope.opens == ScopeOpening::Type)
            .and_then(|scope| scope.name.as_deref())
            .or_else(|| self.receiver_type())
    }

    /// The type before the method's name, for methods outside of their type.
    fn receiver_type(&self) -> Option<&str> {
        self.inside_out()
            .filter_map(|scope| scope.name.as_deref())
            .find_map(|name| name.rsplit_once('.').map(|(owner, _)| owner))
    }
}

/// The definition of a node, adjusted by its value.
pub(crate) fn defining<'t>(lookup: &Lookup, node: Node<'t>) -> Option<Defining<'t>> {
    let shape = lookup.shape(node)?;
    let plain = Defining { shape, kind: shape.kind, opens: shape.opens, value: None };
    let value_field = match node.kind() {
        "variable_declarator" | "field_definition" | "public_field_definition" | "pair" => "value",
        "assignment_expression" => "right",
        _ => return Some(plain),
    };
    let Some(value) = node.child_by_field_name(value_field) else { return Some(plain) };
    let (kind, opens) = match value.kind() {
        "arrow_function" | "function_expression" | "generator_function" => {
            (DefinitionKind::Function, ScopeOpening::Function)
        }
        "class" => (DefinitionKind::Class, ScopeOpening::Type),
        "object" => (DefinitionKind::Variable, ScopeOpening::Type),
        _ if node.kind() == "pair" => (DefinitionKind::Variable, ScopeOpening::Nothing),
        _ => return Some(plain),
    };
    Some(Defining { shape, kind, opens, value: Some(value) })
}

/// The name of a scope: Go's methods and C++'s carry their type with them.
fn scope_name(source: &Source, node: Node<'_>, named: &Named<'_>) -> String {
    let own = source.slice(named.node);
    match named.qualifier.clone().or_else(|| receiver_of(source, node)) {
        Some(qualifier) => format!("{qualifier}.{own}"),
        None => own.to_owned(),
    }
}

/// The type that a Go method belongs to.
pub(crate) fn receiver_of(source: &Source, node: Node<'_>) -> Option<String> {
    let receiver = node.child_by_field_name("receiver")?;
    if node.kind() != "method_declaration" {
        return None;
    }
    let declared = receiver.named_child(0)?.child_by_field_name("type")?;
    let named = super::names::type_name(declared)?;
    Some(source.slice(named).to_owned())
}

/// Whether the name of this node is defined by the node itself, and is not that of its type.
pub(crate) fn defines_itself(shape: &DefinitionShape) -> bool {
    !matches!((shape.name, shape.node), (NameAt::OfType(_), "impl_item"))
}
