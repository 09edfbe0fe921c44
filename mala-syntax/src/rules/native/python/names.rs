//! The value of a name at some place: the last one assigned in the same scope, if no branch is in
//! between.

use super::code::{ancestors, is_inside, scope_of};
use crate::source::Source;
use crate::symbols::{FileScopes, ScopeVariable, WrittenValue};
use tree_sitter::Node;

/// Maximum length of a chain of names.
const MAX_STEPS: usize = 4;

/// The names of a file and their values.
pub(super) struct PythonNames<'t> {
    pub(super) scopes: FileScopes<'t>,
}

impl<'t> PythonNames<'t> {
    pub(super) fn of(source: &'t Source) -> Self {
        Self { scopes: FileScopes::of(source) }
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
    fn last_value(&self, name: Node<'t>) -> Option<Node<'t>> {
        let variable = self.scopes.variable_at(name)?;
        if variable.scope?.id() != scope_of(name)?.id() {
            return None;
        }
        let statement = ancestors(name).find(|it| is_statement(*it))?;
        let n_before =
            variable.writes.partition_point(|it| it.target.end_byte() <= statement.start_byte());
        let (before, after) = variable.writes.split_at_checked(n_before)?;
        let last = before.last()?;
        let block = ancestors(last.target).find(|it| matches!(it.kind(), "block" | "module"))?;
        let again = ancestors(name)
            .take_while(|it| it.id() != block.id())
            .filter(|it| matches!(it.kind(), "for_statement" | "while_statement"))
            .any(|outer| after.iter().any(|it| is_inside(it.target, outer)));
        match last.value {
            WrittenValue::Exactly(value) if is_inside(name, block) && !again => Some(value),
            _ => None,
        }
    }

    /// The variable of this name at the top level of the file, when it gets its value only once.
    pub(super) fn only_at_top(&self, root: Node<'t>, name: &str) -> Option<&ScopeVariable<'t>> {
        let variable = self.scopes.resolve_at(root, name)?;
        (variable.is_top_level() && variable.writes.len() == 1).then_some(variable)
    }
}

fn is_statement(node: Node<'_>) -> bool {
    node.kind().ends_with("_statement") || node.kind().ends_with("_clause")
}
