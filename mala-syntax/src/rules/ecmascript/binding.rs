//! What the names of a file stand for: which declaration each occurrence belongs to, and every
//! value that is put into it.

mod declare;
mod pattern;

use super::program::Flat;
use crate::source::Source;
use declare::{Declarations, Role};
pub(super) use pattern::Assigned;
use std::collections::HashMap;
use tree_sitter::Node;

/// How a name comes about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Declared {
    /// `var`
    Var,
    /// `let`
    Let,
    /// `const`
    Const,
    /// A function declaration.
    Function,
    /// A class declaration.
    Class,
    /// A parameter.
    Parameter,
    /// An import.
    Import,
    /// The parameter of a `catch`.
    Caught,
    /// An enum or a namespace.
    Type,
    /// The file does not say.
    Nowhere,
}

/// Something with a name.
#[derive(Debug)]
pub(super) struct Variable<'t> {
    pub(super) name: &'t str,
    pub(super) declared: Declared,
    /// The names at its declarations.
    pub(super) declarations: Vec<Node<'t>>,
    /// Every value that is put into it.
    pub(super) writes: Vec<Write<'t>>,
    /// The names where it is read.
    pub(super) reads: Vec<Node<'t>>,
    /// The function, block or file that it belongs to.
    pub(super) scope: Option<Node<'t>>,
}

/// A value that is put into a variable.
#[derive(Debug, Clone, Copy)]
pub(super) struct Write<'t> {
    /// The name that receives it.
    pub(super) target: Node<'t>,
    pub(super) value: Assigned<'t>,
}

impl<'t> Variable<'t> {
    /// The value that it always has, when there is only one.
    pub(super) fn only_value(&self) -> Option<Node<'t>> {
        match self.writes.as_slice() {
            [Write { value: Assigned::Exactly(value), .. }] => Some(*value),
            _ => None,
        }
    }

    /// Whether other files can change it without a trace here.
    pub(super) fn is_outside(&self) -> bool {
        matches!(self.declared, Declared::Nowhere | Declared::Import)
    }
}

/// All variables of a file.
#[derive(Default)]
pub(super) struct Bindings<'t> {
    variables: Vec<Variable<'t>>,
    at: HashMap<usize, usize>,
}

impl<'t> Bindings<'t> {
    pub(super) fn of(source: &'t Source, tree: &Flat<'t>) -> Self {
        let mut declarations = Declarations::of(source, tree);
        let mut bindings =
            Self { variables: std::mem::take(&mut declarations.variables), at: HashMap::new() };
        let mut outside: HashMap<&'t str, usize> = HashMap::new();
        for (position, node) in tree.nodes.iter().enumerate() {
            let role = match declarations.roles.get(&position) {
                Some(Role::IsNoName) => continue,
                Some(role) => *role,
                None if is_name(*node) => Role::Reads,
                None => continue,
            };
            let name = source.slice(*node);
            let known = match role {
                Role::Declares(variable) => Some(variable),
                _ => declarations.resolve(position, name),
            };
            let variable = known.unwrap_or_else(|| {
                *outside.entry(name).or_insert_with(|| bindings.add_outside(name))
            });
            bindings.note(variable, position, *node, role);
        }
        for (position, write) in declarations.writes {
            bindings.write(position, write);
        }
        bindings
    }

    pub(super) fn variable_at(&self, position: usize) -> Option<&Variable<'t>> {
        self.variables.get(*self.at.get(&position)?)
    }

    pub(super) fn all(&self) -> &[Variable<'t>] {
        &self.variables
    }

    fn add_outside(&mut self, name: &'t str) -> usize {
        self.variables.push(Variable {
            name,
            declared: Declared::Nowhere,
            declarations: Vec::new(),
            writes: Vec::new(),
            reads: Vec::new(),
            scope: None,
        });
        self.variables.len() - 1
    }

    fn note(&mut self, variable: usize, position: usize, node: Node<'t>, role: Role) {
        self.at.insert(position, variable);
        let Some(variable) = self.variables.get_mut(variable) else { return };
        match role {
            Role::Reads | Role::ReadsAndWrites => variable.reads.push(node),
            Role::Declares(_) => variable.declarations.push(node),
            Role::Writes | Role::IsNoName => {}
        }
    }

    fn write(&mut self, position: usize, write: Write<'t>) {
        let variable = self.at.get(&position).and_then(|at| self.variables.get_mut(*at));
        if let Some(variable) = variable {
            variable.writes.push(write);
        }
    }
}

fn is_name(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "identifier" | "shorthand_property_identifier" | "shorthand_property_identifier_pattern"
    )
}
