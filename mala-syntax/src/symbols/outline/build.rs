//! The walk that makes an outline.

use super::{FileOutline, Openness, exports, members, refine};
use crate::source::{Source, lines_of};
use crate::symbols::definition::{Definition, DefinitionKind, Visibility};
use crate::symbols::enclosing_scopes::{
    Defining, EnclosingScopes, defines_itself, defining, receiver_of,
};
use crate::symbols::imports;
use crate::symbols::names::{Named, names_at};
use crate::symbols::parameters::parameters;
use crate::symbols::table::{Lookup, ScopeOpening, lookup};
use crate::symbols::walk::{AncestorTrail, Descend, WalkStep, walk};
use mala_domain::change::LineSpan;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use tree_sitter::Node;

/// Definitions beyond this many are left out: no person wrote that file.
const MAX_DEFINITIONS: usize = 20_000;

/// Names in macros beyond this many are left out.
const MAX_IN_MACROS: usize = 20_000;

/// The outline of a file.
pub(super) fn outline(source: &Source) -> FileOutline {
    let mut builder = OutlineBuilder::new(source);
    walk(source.tree(), |trail, step| builder.visit(trail, step));
    builder.finish()
}

struct OutlineBuilder<'s> {
    source: &'s Source,
    lookup: &'static Lookup,
    scopes: EnclosingScopes,
    attributes: Vec<String>,
    outline: FileOutline,
}

impl<'s> OutlineBuilder<'s> {
    fn new(source: &'s Source) -> Self {
        let outline = FileOutline {
            language: source.language(),
            definitions: Vec::new(),
            imports: Vec::new(),
            exports: Vec::new(),
            package: None,
            openness: Openness::Closed,
            in_macros: HashSet::new(),
        };
        Self {
            source,
            lookup: lookup(source.language()),
            scopes: EnclosingScopes::default(),
            attributes: Vec::new(),
            outline,
        }
    }

    fn visit(&mut self, trail: &AncestorTrail<'_>, step: WalkStep<'_>) -> Descend {
        self.scopes.leave(trail);
        if step.node.is_extra() {
            return Descend::Past;
        }
        let traits = self.lookup.traits(step.node);
        if traits.import || traits.noted {
            self.import(trail, step);
            self.note(trail, step);
        }
        if let Some(defining) = defining(self.lookup, step.node) {
            self.define(trail, step, defining);
        }
        self.scopes.enter(self.source, self.lookup, trail, step);
        Descend::Into
    }

    fn import(&mut self, trail: &AncestorTrail<'_>, step: WalkStep<'_>) {
        let found = imports::imports_at(self.source, self.lookup, trail, step);
        if !found.is_empty() {
            let module = self.scopes.path();
            self.outline
                .imports
                .extend(found.into_iter().map(|i| i.inside(step.node, module.clone())));
        }
    }

    /// Records other relevant nodes, neither imports nor definitions.
    fn note(&mut self, trail: &AncestorTrail<'_>, step: WalkStep<'_>) {
        let node = step.node;
        match node.kind() {
            "attribute_item" => self.attributes.push(refine::attribute_name(self.source, node)),
            "export_statement" if trail.depth() == 1 => {
                self.outline.exports.extend(exports::exports_at(self.source, node));
                if exports::exports_everything(node) {
                    self.outline.openness = Openness::Open;
                }
            }
            "assignment_expression" if !self.scopes.in_function() => self.note_common_js(node),
            "macro_invocation" if !self.scopes.in_function() => self.note_macro(node),
            "package_clause"
            | "package_declaration"
            | "namespace_declaration"
            | "file_scoped_namespace_declaration"
            | "namespace_definition" => {
                self.note_package(trail, node);
            }
            _ => {}
        }
    }

    fn note_common_js(&mut self, node: Node<'_>) {
        match exports::common_js(self.source, node) {
            exports::CommonJs::Exports(found) => self.outline.exports.extend(found),
            exports::CommonJs::Anything => self.outline.openness = Openness::Open,
            exports::CommonJs::Nothing => {}
        }
    }

    fn note_macro(&mut self, node: Node<'_>) {
        let words = self.source.slice(node).split(|c: char| !c.is_alphanumeric() && c != '_');
        let room = MAX_IN_MACROS.saturating_sub(self.outline.in_macros.len());
        self.outline
            .in_macros
            .extend(words.filter(|word| !word.is_empty()).take(room).map(str::to_owned));
    }

    fn note_package(&mut self, trail: &AncestorTrail<'_>, node: Node<'_>) {
        if self.outline.package.is_some() || trail.depth() > 1 {
            return;
        }
        let name = node.child_by_field_name("name").or_else(|| node.named_child(0));
        self.outline.package = name.map(|name| self.source.slice(name).replace('\\', "."));
    }

    fn define(&mut self, trail: &AncestorTrail<'_>, step: WalkStep<'_>, defining: Defining<'_>) {
        let attributes = std::mem::take(&mut self.attributes);
        if self.outline.definitions.len() >= MAX_DEFINITIONS || !defines_itself(defining.shape) {
            return;
        }
        for named in names_at(self.source, step.node, defining.shape.name) {
            let Some(mut definition) = self.definition(trail, step, defining, &named) else {
                continue;
            };
            definition.decorators.extend(attributes.iter().cloned());
            let parts = members::members_of(self.source, step.node, &definition);
            definition.members = parts.iter().map(|part| part.name.clone()).collect();
            self.outline.definitions.push(definition);
            self.outline.definitions.extend(parts);
        }
    }

    fn definition(
        &self,
        trail: &AncestorTrail<'_>,
        step: WalkStep<'_>,
        defining: Defining<'_>,
        named: &Named<'_>,
    ) -> Option<Definition> {
        let node = step.node;
        let source = self.source;
        let kind = refine::kind_of(source, &self.scopes, (node, defining), named)?;
        let is_local = self.scopes.in_function() || refine::is_loose_member(&self.scopes, node);
        let is_value = matches!(kind, DefinitionKind::Variable | DefinitionKind::Constant);
        if is_local && is_value {
            return None;
        }
        let container = named
            .qualifier
            .clone()
            .or_else(|| receiver_of(source, node))
            .or_else(|| self.scopes.path());
        let outer = refine::outer_node(trail, node);
        let takes = refine::takes_parameters(kind, node)
            .then(|| refine::parameter_list(node, defining.value))
            .flatten();
        let parameters = takes.map(|list| parameters(source, list));
        let visibility = if is_local {
            Visibility::Local
        } else {
            refine::visibility(source, trail, node, source.slice(named.node))
        };
        Some(Definition {
            name: source.slice(named.node).to_owned(),
            container,
            kind,
            span: lines_of(outer),
            name_line: line_of(named.node),
            parameters: refine::with_receiver(source, kind, outer, parameters),
            visibility,
            role: refine::role(source, trail, node),
            members: Vec::new(),
            bases: refine::bases(source, node, defining.value),
            decorators: refine::decorators(source, outer, node),
            fingerprint: fingerprint(source, node, named.node),
        })
    }

    fn finish(mut self) -> FileOutline {
        exports::mark_exported(&mut self.outline);
        if refine::computes_names(self.source, &self.outline) {
            self.outline.openness = Openness::Open;
        }
        self.outline
    }
}

/// The 1-based line a node starts on.
pub(super) fn line_of(node: Node<'_>) -> u32 {
    LineSpan::start(lines_of(node))
}

/// A hash of a node's text without the name; of a long one, its length and its beginning.
fn fingerprint(source: &Source, node: Node<'_>, name: Node<'_>) -> u64 {
    const MAX_HASHED: usize = 4096;
    let mut hasher = DefaultHasher::new();
    let text = source.text().as_bytes();
    for part in [node.start_byte()..name.start_byte(), name.end_byte()..node.end_byte()] {
        let part = text.get(part).unwrap_or_default();
        part.len().hash(&mut hasher);
        part.iter().take(MAX_HASHED).for_each(|byte| byte.hash(&mut hasher));
    }
    hasher.finish()
}

/// Whether the scope around is a class or type.
pub(super) fn in_type(scopes: &EnclosingScopes) -> bool {
    scopes.innermost().is_some_and(|scope| scope.opens == ScopeOpening::Type)
}
