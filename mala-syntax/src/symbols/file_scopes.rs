//! Resolves every name of a file to its declaration. This is the only name resolution in the crate:
//! rules, taint analysis and cross-file checks all use it. It is driven by the language tables;
//! special cases of single languages are in `roles`.

mod language_roles;
mod roles;

use super::imports::imports_at;
use super::table::{BareMembers, Lookup, ScopeOpening, lookup};
use super::walk::{AncestorTrail, Descend, WalkStep, walk};
use crate::source::Source;
use mala_domain::language::Language;
pub(crate) use roles::WrittenValue;
use roles::{DeclaringScope, NameRole, role_of};
pub(super) use roles::{binds, is_html_tag};
use std::collections::{HashMap, HashSet};
use tree_sitter::Node;

/// How a name is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeclarationKind {
    /// JavaScript's `var`.
    Var,
    /// A variable that can be assigned again.
    Let,
    /// A variable that cannot be assigned again.
    Const,
    /// A function declaration.
    Function,
    /// A class declaration.
    Class,
    /// A parameter.
    Parameter,
    /// An import.
    Import,
    /// The variable of a handler of exceptions.
    Caught,
    /// A type, an enum or a namespace.
    Type,
    /// The file does not declare it.
    Undeclared,
}

/// Something with a name, and every place that mentions it.
#[derive(Debug)]
pub(crate) struct ScopeVariable<'t> {
    /// Its name.
    pub(crate) name: &'t str,
    /// How it is declared.
    pub(crate) declared: DeclarationKind,
    /// The names at its declarations; for imports of some languages the whole import.
    pub(crate) declarations: Vec<Node<'t>>,
    /// Every value that is put into it.
    pub(crate) writes: Vec<VariableWrite<'t>>,
    /// The names where its value is read.
    pub(crate) reads: Vec<Node<'t>>,
    /// The reads as a type only.
    pub(crate) type_reads: Vec<Node<'t>>,
    /// The node that opens the scope that declares it: a function, a block, the file.
    pub(crate) scope: Option<Node<'t>>,
    scope_id: Option<ScopeId>,
}

/// A value that is put into a variable.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VariableWrite<'t> {
    /// The name that receives it.
    pub(crate) target: Node<'t>,
    /// The written value.
    pub(crate) value: WrittenValue<'t>,
}

impl<'t> ScopeVariable<'t> {
    /// The value that it always has, when there is only one.
    pub(crate) fn only_value(&self) -> Option<Node<'t>> {
        match self.writes.as_slice() {
            [VariableWrite { value: WrittenValue::Exactly(value), .. }] => Some(*value),
            _ => None,
        }
    }

    /// Whether other files can change it without a trace here.
    pub(crate) fn is_outside(&self) -> bool {
        matches!(self.declared, DeclarationKind::Undeclared | DeclarationKind::Import)
    }

    /// Whether the file itself declares it at its top level.
    pub(crate) fn is_top_level(&self) -> bool {
        self.scope_id == Some(ROOT)
    }
}

type ScopeId = u32;

/// A number of a variable in its file.
type VariableId = usize;

const ROOT: ScopeId = 0;

/// The kind of scope that a node opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScopeKind {
    /// The file, a function or a namespace: JavaScript's `var` stops here.
    Function,
    /// A class: in most languages its functions do not see its names.
    Class,
    /// A block.
    Block,
    /// A comprehension: Python's assignments pass through it.
    Comprehension,
}

struct LexicalScope<'t> {
    around: Option<ScopeId>,
    kind: ScopeKind,
    node: Node<'t>,
    names: HashMap<&'t str, VariableId>,
}

/// The scopes of a file, their declarations, and the resolution of every name.
pub(crate) struct FileScopes<'t> {
    scopes: Vec<LexicalScope<'t>>,
    variables: Vec<ScopeVariable<'t>>,
    /// The variable of each name, by the id of its node.
    by_node: HashMap<usize, VariableId>,
    /// Whether a class hides its names from its functions.
    classes_hide_names: bool,
}

impl<'t> FileScopes<'t> {
    /// All names of a file.
    pub(crate) fn of(source: &'t Source) -> Self {
        ScopeBuilder::new(source, None).build()
    }

    /// Resolves only these names: the others have no variables.
    pub(crate) fn of_names(source: &'t Source, names: &HashSet<&str>) -> Self {
        ScopeBuilder::new(source, Some(names)).build()
    }

    /// The number of the variable that a name means.
    fn id_at(&self, name: Node<'_>) -> Option<VariableId> {
        self.by_node.get(&name.id()).copied()
    }

    /// The variable that a name means.
    pub(crate) fn variable_at(&self, name: Node<'_>) -> Option<&ScopeVariable<'t>> {
        self.variables.get(self.id_at(name)?)
    }

    /// All variables, those that the file does not declare included.
    pub(crate) fn variables(&self) -> &[ScopeVariable<'t>] {
        &self.variables
    }

    /// The variable that a name would refer to at the place of a node.
    pub(crate) fn resolve_at(&self, place: Node<'_>, name: &str) -> Option<&ScopeVariable<'t>> {
        let declared = self.resolve(self.innermost(place), name);
        let undeclared =
            || self.variables.iter().position(|it| it.scope_id.is_none() && it.name == name);
        self.variables.get(declared.or_else(undeclared)?)
    }

    /// The innermost scope around a node.
    fn innermost(&self, place: Node<'_>) -> ScopeId {
        let n_before =
            self.scopes.partition_point(|scope| scope.node.start_byte() <= place.start_byte());
        let mut current = u32::try_from(n_before.saturating_sub(1)).unwrap_or(ROOT);
        while let Some(scope) = self.scopes.get(current as usize) {
            match scope.around {
                Some(around) if scope.node.end_byte() < place.end_byte() => current = around,
                _ => break,
            }
        }
        current
    }

    fn resolve(&self, scope: ScopeId, name: &str) -> Option<VariableId> {
        let mut current = Some(scope);
        let mut left_function = false;
        while let Some(scope) = current.and_then(|id| self.scopes.get(id as usize)) {
            let hidden = scope.kind == ScopeKind::Class && left_function && self.classes_hide_names;
            if let Some(variable) = scope.names.get(name).filter(|_| !hidden) {
                return Some(*variable);
            }
            left_function |= scope.kind == ScopeKind::Function;
            current = scope.around;
        }
        None
    }

    /// The nearest scope of a kind that `holds` accepts, from the inside out.
    fn nearest(&self, from: ScopeId, holds: fn(ScopeKind) -> bool) -> ScopeId {
        let mut current = from;
        while let Some(scope) = self.scopes.get(current as usize) {
            match scope.around {
                Some(around) if !holds(scope.kind) => current = around,
                _ => break,
            }
        }
        current
    }

    fn declare(
        &mut self,
        scope: ScopeId,
        name: &'t str,
        kind: DeclarationKind,
    ) -> Option<VariableId> {
        let next = self.variables.len();
        let holder = self.scopes.get_mut(scope as usize)?;
        let known = *holder.names.entry(name).or_insert(next);
        if known == next {
            let (node, id) = (Some(holder.node), Some(scope));
            self.variables.push(new_variable(name, kind, (node, id)));
        }
        Some(known)
    }
}

fn new_variable<'t>(
    name: &'t str,
    declared: DeclarationKind,
    (scope, scope_id): (Option<Node<'t>>, Option<ScopeId>),
) -> ScopeVariable<'t> {
    ScopeVariable {
        name,
        declared,
        declarations: Vec::new(),
        writes: Vec::new(),
        reads: Vec::new(),
        type_reads: Vec::new(),
        scope,
        scope_id,
    }
}

/// One mention of a name, in the order of the text.
struct Mention<'t> {
    node: Node<'t>,
    scope: ScopeId,
    role: NameRole<'t>,
    /// The variable, when the mention declares it.
    declares: Option<VariableId>,
}

struct ScopeBuilder<'t, 'n> {
    source: &'t Source,
    lookup: &'static Lookup,
    wanted: Option<&'n HashSet<&'n str>>,
    file: FileScopes<'t>,
    /// The scopes around the visited node, with the depth of the node that opens each.
    stack: Vec<(usize, ScopeId)>,
    /// The depth of the annotation around the visited node: Python's types are expressions.
    annotation: Option<usize>,
    mentions: Vec<Mention<'t>>,
}

impl<'t, 'n> ScopeBuilder<'t, 'n> {
    fn new(source: &'t Source, wanted: Option<&'n HashSet<&'n str>>) -> Self {
        let lookup = lookup(source.language());
        let is_script = is_ecmascript(source.language());
        let file = FileScopes {
            scopes: Vec::new(),
            variables: Vec::new(),
            by_node: HashMap::new(),
            classes_hide_names: lookup.table.bare_members == BareMembers::OutOfScope && !is_script,
        };
        Self {
            source,
            lookup,
            wanted,
            file,
            stack: Vec::new(),
            annotation: None,
            mentions: Vec::new(),
        }
    }

    fn build(mut self) -> FileScopes<'t> {
        let source = self.source;
        walk(source.tree(), |trail, step| self.visit(trail, step));
        let mut undeclared: HashMap<&str, VariableId> = HashMap::new();
        for mention in std::mem::take(&mut self.mentions) {
            let name = self.source.slice(mention.node);
            let known = mention.declares.or_else(|| self.file.resolve(mention.scope, name));
            let id = known.unwrap_or_else(|| {
                *undeclared.entry(name).or_insert_with(|| {
                    let kind = DeclarationKind::Undeclared;
                    self.file.variables.push(new_variable(name, kind, (None, None)));
                    self.file.variables.len() - 1
                })
            });
            self.note(id, &mention);
        }
        self.file
    }

    fn note(&mut self, id: VariableId, mention: &Mention<'t>) {
        let node = mention.node;
        self.file.by_node.insert(node.id(), id);
        let Some(variable) = self.file.variables.get_mut(id) else { return };
        let (written, is_read) = match mention.role {
            NameRole::Declares { value, is_read, .. } => {
                variable.declarations.push(node);
                (value, is_read)
            }
            NameRole::Writes { value, is_read } => (Some(value), is_read),
            NameRole::Reads => (None, true),
            NameRole::ReadsType => {
                variable.type_reads.push(node);
                (None, false)
            }
            NameRole::Ignored | NameRole::Global | NameRole::Nonlocal => (None, false),
        };
        variable.writes.extend(written.map(|value| VariableWrite { target: node, value }));
        if is_read {
            variable.reads.push(node);
        }
    }

    fn visit(&mut self, trail: &AncestorTrail<'t>, step: WalkStep<'t>) -> Descend {
        let depth = trail.depth();
        while self.stack.last().is_some_and(|(opened, _)| *opened >= depth) {
            self.stack.pop();
        }
        let node = step.node;
        if node.is_extra() || !node.is_named() {
            return Descend::Past;
        }
        self.leave_for_outside(trail, step, depth);
        self.annotation = self.annotation.filter(|entered| *entered < depth);
        let is_python = self.source.language() == Language::Python;
        if is_python && self.annotation.is_none() && node.kind() == "type" {
            self.annotation = Some(depth);
        }
        let traits = self.lookup.traits(node);
        if traits.name {
            self.mention(trail, step);
            return Descend::Past;
        }
        if traits.import && !roles::has_import_places(self.source.language()) {
            self.import(trail, step);
            return Descend::Past;
        }
        if let Some(kind) = self.scope_kind(trail, node) {
            self.open(kind, node, depth);
        }
        Descend::Into
    }

    fn open(&mut self, kind: ScopeKind, node: Node<'t>, depth: usize) {
        let around = self.stack.last().map(|(_, scope)| *scope);
        let id = u32::try_from(self.file.scopes.len()).unwrap_or(ROOT);
        self.file.scopes.push(LexicalScope { around, kind, node, names: HashMap::new() });
        self.stack.push((depth, id));
    }

    /// The kind of scope that a node opens, if any.
    fn scope_kind(&self, trail: &AncestorTrail<'_>, node: Node<'_>) -> Option<ScopeKind> {
        if trail.depth() == 0 {
            return Some(ScopeKind::Function);
        }
        let traits = self.lookup.traits(node);
        if traits.closure {
            let kind = node.kind();
            let passes = kind.ends_with("comprehension") || kind == "generator_expression";
            return Some(if passes { ScopeKind::Comprehension } else { ScopeKind::Function });
        }
        if traits.block {
            return Some(ScopeKind::Block);
        }
        match self.lookup.shape(node)?.opens {
            ScopeOpening::Nothing => None,
            ScopeOpening::Type => Some(ScopeKind::Class),
            ScopeOpening::Function | ScopeOpening::Module => Some(ScopeKind::Function),
        }
    }

    /// Python evaluates default values and annotations in the scope around the function.
    fn leave_for_outside(&mut self, trail: &AncestorTrail<'_>, step: WalkStep<'_>, depth: usize) {
        let outside = self.lookup.table.outside;
        let Some(parent) = trail.parent().filter(|_| !outside.is_empty()) else { return };
        if outside.contains(&(parent.node.kind(), step.field)) {
            let inner = self.stack.last().map_or(ROOT, |(_, scope)| *scope);
            let around = self.file.scopes.get(inner as usize).and_then(|scope| scope.around);
            self.stack.push((depth, around.unwrap_or(ROOT)));
        }
    }

    fn mention(&mut self, trail: &AncestorTrail<'t>, step: WalkStep<'t>) {
        let name = self.source.slice(step.node);
        if self.wanted.is_some_and(|wanted| !wanted.contains(name)) {
            return;
        }
        let role =
            role_of(self.source, self.lookup.table, (trail, step), self.annotation.is_some());
        let here = self.stack.last().map_or(ROOT, |(_, scope)| *scope);
        let declares = match role {
            NameRole::Ignored => return,
            NameRole::Declares { kind, scope, .. } => {
                let scope = self.scope_for(here, scope);
                self.file.declare(scope, name, kind)
            }
            NameRole::Global | NameRole::Nonlocal => self.alias(here, name, role),
            _ => None,
        };
        self.mentions.push(Mention { node: step.node, scope: here, role, declares });
    }

    fn scope_for(&self, here: ScopeId, scope: DeclaringScope) -> ScopeId {
        match scope {
            DeclaringScope::Here => here,
            DeclaringScope::Assignment => {
                self.file.nearest(here, |kind| kind != ScopeKind::Comprehension)
            }
            DeclaringScope::Function => self.file.nearest(here, |kind| kind == ScopeKind::Function),
            DeclaringScope::Around { depth, hoisted } => {
                let around = self.stack.iter().rev().find(|(opened, _)| *opened < depth);
                let around = around.map_or(ROOT, |(_, scope)| *scope);
                if hoisted {
                    self.file.nearest(around, |kind| kind == ScopeKind::Function)
                } else {
                    around
                }
            }
        }
    }

    /// `global name` and `nonlocal name`: the name of this scope is that of another.
    fn alias(&mut self, here: ScopeId, name: &'t str, role: NameRole<'t>) -> Option<VariableId> {
        let target = if matches!(role, NameRole::Global) {
            ROOT
        } else {
            let around = self.file.scopes.get(here as usize).and_then(|scope| scope.around);
            self.file.nearest(around.unwrap_or(ROOT), |kind| kind == ScopeKind::Function)
        };
        let id = self.file.declare(target, name, DeclarationKind::Let)?;
        if let Some(scope) = self.file.scopes.get_mut(here as usize) {
            scope.names.insert(name, id);
        }
        Some(id)
    }

    /// An import of a language whose imports are read as a whole.
    fn import(&mut self, trail: &AncestorTrail<'t>, step: WalkStep<'t>) {
        let here = self.stack.last().map_or(ROOT, |(_, scope)| *scope);
        for import in imports_at(self.source, self.lookup, trail, step) {
            let text = self.source.slice(step.node);
            let Some(start) = text.rfind(import.local.as_str()) else { continue };
            let Some(local) = text.get(start..start + import.local.len()) else { continue };
            let is_wanted = self.wanted.is_none_or(|wanted| wanted.contains(local));
            if local.is_empty() || !is_wanted {
                continue;
            }
            let Some(id) = self.file.declare(here, local, DeclarationKind::Import) else {
                continue;
            };
            if let Some(variable) = self.file.variables.get_mut(id) {
                variable.declarations.push(step.node);
            }
        }
    }
}

pub(crate) fn is_ecmascript(language: Language) -> bool {
    matches!(language, Language::JavaScript | Language::TypeScript | Language::Tsx)
}

#[cfg(test)]
mod tests;
