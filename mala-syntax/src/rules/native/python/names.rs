//! What a name stands for at some place: the value that was last assigned to it in the same scope,
//! when the way from there leads through no branch.

use super::code::{ancestors, is_inside, scope_of, walk_scopes};
use crate::rules::walk::{Step, descend};
use crate::source::Source;
use std::collections::HashMap;
use tree_sitter::Node;

/// How many names may stand for one another in turn.
const MAX_STEPS: usize = 4;

/// All places of a file where names get values, by scope and name.
pub(super) struct Names<'t> {
    source: &'t Source,
    bindings: HashMap<usize, HashMap<&'t str, Vec<Binding<'t>>>>,
}

/// A place where a name gets a value; the value is known for plain assignments only.
#[derive(Clone, Copy)]
pub(super) struct Binding<'t> {
    pub(super) place: Node<'t>,
    pub(super) value: Option<Node<'t>>,
}

impl<'t> Names<'t> {
    pub(super) fn of(source: &'t Source) -> Self {
        let mut names = Self { source, bindings: HashMap::new() };
        walk_scopes(source.tree().root_node(), |node, scopes| {
            if let Some(scope) = scopes.last() {
                names.read(node, *scope);
            }
        });
        names
    }

    /// The value that a plain name surely has at its place; the node itself when it is no name.
    pub(super) fn value_of(&self, node: Node<'t>) -> Option<Node<'t>> {
        let mut node = node;
        for _ in 0..MAX_STEPS {
            if node.kind() != "identifier" {
                return Some(node);
            }
            node = self.last_value(node)?;
        }
        None
    }

    /// The value last assigned to a name before its place, if that is one plain assignment that
    /// every way to the place passes.
    pub(super) fn last_value(&self, name: Node<'t>) -> Option<Node<'t>> {
        let all = self.bindings_of(scope_of(name)?, self.source.slice(name));
        let statement = ancestors(name).find(|it| is_statement(*it))?;
        let n_before = all.partition_point(|it| it.place.end_byte() <= statement.start_byte());
        let (before, after) = all.split_at_checked(n_before)?;
        let last = before.last()?;
        let block = ancestors(last.place).find(|it| matches!(it.kind(), "block" | "module"))?;
        let again = ancestors(name)
            .take_while(|it| it.id() != block.id())
            .filter(|it| matches!(it.kind(), "for_statement" | "while_statement"))
            .any(|outer| after.iter().any(|it| is_inside(it.place, outer)));
        (is_inside(name, block) && !again).then_some(last.value).flatten()
    }

    /// All places in a scope that bind a name, in their order.
    pub(super) fn bindings_of(&self, scope: Node<'t>, name: &str) -> &[Binding<'t>] {
        let of_scope = self.bindings.get(&scope.id());
        of_scope.and_then(|names| names.get(name)).map_or(&[], Vec::as_slice)
    }

    fn read(&mut self, node: Node<'t>, scope: Node<'t>) {
        let field = |name| node.child_by_field_name(name);
        match node.kind() {
            "assignment" => {
                let (Some(left), Some(right)) = (field("left"), field("right")) else { return };
                let value = (left.kind() == "identifier").then(|| innermost(right));
                self.bind(scope, left, Binding { place: node, value });
            }
            "named_expression" => {
                if let Some(name) = field("name") {
                    self.bind(scope, name, Binding { place: node, value: field("value") });
                }
            }
            "augmented_assignment" | "for_statement" | "for_in_clause" => {
                if let Some(left) = field("left") {
                    self.bind(scope, left, Binding { place: left, value: None });
                }
            }
            "function_definition" | "class_definition" => {
                if let Some(name) = field("name") {
                    let place = if node.kind() == "class_definition" { node } else { name };
                    self.bind(scope, name, Binding { place, value: None });
                }
            }
            "as_pattern_target"
            | "import_statement"
            | "import_from_statement"
            | "global_statement"
            | "nonlocal_statement"
            | "delete_statement"
            | "parameters"
            | "lambda_parameters"
            | "case_pattern" => self.bind(scope, node, Binding { place: node, value: None }),
            _ => {}
        }
    }

    /// Names in a target: `x`, `(x, y)`, `[*x]`, but not `x.y` or `x[0]`.
    fn bind(&mut self, scope: Node<'t>, targets: Node<'t>, binding: Binding<'t>) {
        descend(targets, |node, _| {
            if node.kind() == "identifier" {
                let of_scope = self.bindings.entry(scope.id()).or_default();
                of_scope.entry(self.source.slice(node)).or_default().push(binding);
            }
            match node.kind() {
                "attribute" | "subscript" | "call" | "type" => Step::Over,
                "default_parameter" | "typed_default_parameter" => {
                    if let Some(name) = node.child_by_field_name("name") {
                        let of_scope = self.bindings.entry(scope.id()).or_default();
                        of_scope.entry(self.source.slice(name)).or_default().push(binding);
                    }
                    Step::Over
                }
                _ => Step::Into,
            }
        });
    }
}

/// The value at the end of `a = b = value`.
fn innermost(value: Node<'_>) -> Node<'_> {
    let mut value = value;
    while value.kind() == "assignment" {
        match value.child_by_field_name("right") {
            Some(right) => value = right,
            None => break,
        }
    }
    value
}

fn is_statement(node: Node<'_>) -> bool {
    node.kind().ends_with("_statement") || node.kind().ends_with("_clause")
}
