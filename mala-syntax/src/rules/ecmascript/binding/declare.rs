//! The scopes of a file, what is declared in each, and which occurrences of names write.

use super::pattern::{Assigned, Target, targets};
use super::{Declared, Variable, Write};
use crate::rules::ecmascript::program::Flat;
use crate::source::Source;
use std::collections::HashMap;
use tree_sitter::Node;

/// What an occurrence of a name does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Reads,
    Writes,
    ReadsAndWrites,
    /// It declares the variable with this number.
    Declares(usize),
    /// It only looks like a name: the outer name of a renamed import.
    IsNoName,
}

struct Scope<'t> {
    around: Option<u32>,
    /// Whether `var` stops here.
    holds_vars: bool,
    opened_by: Node<'t>,
    names: HashMap<&'t str, usize>,
}

pub(super) struct Declarations<'t> {
    pub(super) variables: Vec<Variable<'t>>,
    /// By the position of the name.
    pub(super) roles: HashMap<usize, Role>,
    pub(super) writes: Vec<(usize, Write<'t>)>,
    scopes: Vec<Scope<'t>>,
    /// The scope that each node stands in, by position.
    scope_at: Vec<u32>,
}

impl<'t> Declarations<'t> {
    pub(super) fn of(source: &'t Source, tree: &Flat<'t>) -> Self {
        let mut all = Self {
            variables: Vec::new(),
            roles: HashMap::new(),
            writes: Vec::new(),
            scopes: Vec::new(),
            scope_at: Vec::with_capacity(tree.nodes.len()),
        };
        // The scope that a node opens for what is inside it.
        let mut inner: Vec<u32> = Vec::with_capacity(tree.nodes.len());
        for (position, node) in tree.nodes.iter().enumerate() {
            let parent = tree.parents.get(position).map_or(0, |parent| *parent as usize);
            let scope = inner.get(parent).copied().unwrap_or(0);
            all.scope_at.push(scope);
            inner.push(all.enter(*node, scope));
        }
        for (position, node) in tree.nodes.iter().enumerate() {
            let around = all.scope_at.get(position).copied().unwrap_or(0);
            let inside = inner.get(position).copied().unwrap_or(0);
            Site { all: &mut all, source, tree, scope: around }.visit(*node, inside);
        }
        all
    }

    /// The variable that a name means at a position.
    pub(super) fn resolve(&self, position: usize, name: &str) -> Option<usize> {
        let mut scope = self.scope_at.get(position).copied();
        while let Some(current) = scope.and_then(|scope| self.scopes.get(scope as usize)) {
            if let Some(variable) = current.names.get(name) {
                return Some(*variable);
            }
            scope = current.around;
        }
        None
    }

    /// The scope inside a node: one of its own, or the one around.
    fn enter(&mut self, node: Node<'t>, around: u32) -> u32 {
        let holds_vars = match node.kind() {
            "program"
            | "function_declaration"
            | "function_expression"
            | "generator_function"
            | "generator_function_declaration"
            | "arrow_function"
            | "method_definition"
            | "class_static_block"
            | "internal_module"
            | "module"
            | "function_type"
            | "constructor_type"
            | "call_signature"
            | "construct_signature"
            | "method_signature"
            | "abstract_method_signature"
            | "function_signature"
            | "index_signature" => true,
            "statement_block"
            | "for_statement"
            | "for_in_statement"
            | "catch_clause"
            | "switch_body"
            | "class"
            | "class_declaration"
            | "abstract_class_declaration"
            | "mapped_type_clause" => false,
            _ => return around,
        };
        let around = (!self.scopes.is_empty()).then_some(around);
        self.scopes.push(Scope { around, holds_vars, opened_by: node, names: HashMap::new() });
        u32::try_from(self.scopes.len() - 1).unwrap_or(0)
    }
}

/// A place where something is declared or written.
struct Site<'a, 't> {
    all: &'a mut Declarations<'t>,
    source: &'t Source,
    tree: &'a Flat<'t>,
    scope: u32,
}

impl<'t> Site<'_, 't> {
    /// Notes what a node declares or writes; `inside` is the scope that it opens.
    fn visit(&mut self, node: Node<'t>, inside: u32) {
        let name = node.child_by_field_name("name");
        match node.kind() {
            "variable_declarator" => self.declarator(node),
            "for_in_statement" => self.in_scope(inside).loop_head(node),
            "function_declaration" | "generator_function_declaration" | "function_signature" => {
                self.scope = self.var_scope();
                self.name(name, Declared::Function, Assigned::Exactly(node));
            }
            "class_declaration" | "abstract_class_declaration" => {
                self.name(name, Declared::Class, Assigned::Exactly(node));
            }
            "function_expression" | "generator_function" | "class" => {
                self.in_scope(inside).name(name, Declared::Function, Assigned::Exactly(node));
            }
            "enum_declaration" | "internal_module" | "module" => {
                self.name(name, Declared::Type, Assigned::Unknown);
            }
            "formal_parameters" => self.parameters(node),
            "arrow_function" => {
                let name = node.child_by_field_name("parameter");
                self.in_scope(inside).name(name, Declared::Parameter, Assigned::Unknown);
            }
            "catch_clause" => {
                if let Some(pattern) = node.child_by_field_name("parameter") {
                    self.in_scope(inside).pattern(pattern, Declared::Caught, Assigned::Unknown);
                }
            }
            "import_clause" | "namespace_import" | "import_require_clause" | "import_alias" => {
                self.name(first_identifier(node), Declared::Import, Assigned::Unknown);
            }
            "import_specifier" => self.import_specifier(node),
            "export_specifier" => self.no_name(node.child_by_field_name("alias")),
            "namespace_export" => self.no_name(first_identifier(node)),
            "assignment_expression" => self.assignment(node),
            "augmented_assignment_expression" => {
                self.update(node.child_by_field_name("left"), node);
            }
            "update_expression" => self.update(node.child_by_field_name("argument"), node),
            _ => {}
        }
    }

    fn in_scope(&mut self, scope: u32) -> &mut Self {
        self.scope = scope;
        self
    }

    fn declarator(&mut self, node: Node<'t>) {
        let Some(pattern) = node.child_by_field_name("name") else { return };
        let declared = match self.keyword_around(node) {
            "const" => Declared::Const,
            "let" => Declared::Let,
            _ => Declared::Var,
        };
        if let Some(value) = node.child_by_field_name("value") {
            self.pattern(pattern, declared, Assigned::Exactly(value));
            return;
        }
        for target in targets(pattern, Assigned::Unknown) {
            self.declare(target.name, declared);
        }
    }

    fn keyword_around(&self, node: Node<'t>) -> &'t str {
        let parent = self.tree.parent(node);
        if parent.is_some_and(|around| around.kind() == "using_declaration") {
            return "const";
        }
        let keyword = parent.and_then(|around| around.child_by_field_name("kind"));
        keyword.map_or("var", |keyword| self.source.slice(keyword))
    }

    fn loop_head(&mut self, node: Node<'t>) {
        let Some(left) = node.child_by_field_name("left") else { return };
        let declared = match node.child_by_field_name("kind").map(|it| self.source.slice(it)) {
            Some("const") => Declared::Const,
            Some("let") => Declared::Let,
            Some(_) => Declared::Var,
            None => {
                for target in targets(left, Assigned::Iterated(node)) {
                    self.write(target, Role::Writes);
                }
                return;
            }
        };
        self.pattern(left, declared, Assigned::Iterated(node));
    }

    fn parameters(&mut self, node: Node<'t>) {
        let mut cursor = node.walk();
        let parameters: Vec<_> = node.named_children(&mut cursor).collect();
        for parameter in parameters {
            self.pattern(parameter, Declared::Parameter, Assigned::Unknown);
        }
    }

    fn import_specifier(&mut self, node: Node<'t>) {
        let alias = node.child_by_field_name("alias");
        let name = node.child_by_field_name("name");
        if alias.is_some() {
            self.no_name(name);
        }
        self.name(alias.or(name), Declared::Import, Assigned::Unknown);
    }

    fn assignment(&mut self, node: Node<'t>) {
        let left = node.child_by_field_name("left");
        let (Some(left), Some(right)) = (left, node.child_by_field_name("right")) else { return };
        // The grammar takes `using a = b` for a name and an assignment.
        if self.source.slice(node).starts_with("using ") {
            self.pattern(left, Declared::Const, Assigned::Exactly(right));
            return;
        }
        for target in targets(left, Assigned::Exactly(right)) {
            self.write(target, Role::Writes);
        }
    }

    fn update(&mut self, target: Option<Node<'t>>, node: Node<'t>) {
        let Some(target) = target else { return };
        for target in targets(target, Assigned::Updated(node)) {
            self.write(target, Role::ReadsAndWrites);
        }
    }

    fn pattern(&mut self, pattern: Node<'t>, declared: Declared, value: Assigned<'t>) {
        for target in targets(pattern, value) {
            self.declare(target.name, declared);
            self.write(target, Role::Writes);
        }
    }

    fn name(&mut self, name: Option<Node<'t>>, declared: Declared, value: Assigned<'t>) {
        let is_name = |name: &Node<'_>| matches!(name.kind(), "identifier" | "type_identifier");
        if let Some(name) = name.filter(is_name) {
            self.declare(name, declared);
            self.write(Target { name, value }, Role::Writes);
        }
    }

    fn no_name(&mut self, name: Option<Node<'t>>) {
        if let Some(position) = name.and_then(|name| self.tree.position(name)) {
            self.all.roles.insert(position, Role::IsNoName);
        }
    }

    fn write(&mut self, target: Target<'t>, role: Role) {
        if let Some(position) = self.tree.position(target.name) {
            self.all.roles.entry(position).or_insert(role);
            let write = Write { target: target.name, value: target.value };
            self.all.writes.push((position, write));
        }
    }

    fn declare(&mut self, name: Node<'t>, declared: Declared) {
        let Some(position) = self.tree.position(name) else { return };
        let text = self.source.slice(name);
        let scope = if declared == Declared::Var { self.var_scope() } else { self.scope };
        let next = self.all.variables.len();
        let Some(scope) = self.all.scopes.get_mut(scope as usize) else { return };
        let known = *scope.names.entry(text).or_insert(next);
        if known == next {
            self.all.variables.push(Variable {
                name: text,
                declared,
                declarations: Vec::new(),
                writes: Vec::new(),
                reads: Vec::new(),
                scope: Some(scope.opened_by),
            });
        }
        self.all.roles.insert(position, Role::Declares(known));
    }

    fn var_scope(&self) -> u32 {
        let mut current = self.scope;
        while let Some(scope) = self.all.scopes.get(current as usize) {
            match scope.around {
                Some(around) if !scope.holds_vars => current = around,
                _ => break,
            }
        }
        current
    }
}

fn first_identifier(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).find(|child| child.kind() == "identifier")
}
