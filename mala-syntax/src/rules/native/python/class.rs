//! The classes of a file, and which of them inherit from which.

use super::code::{Function, decorators};
use crate::rules::native::code::parts;
use crate::source::Source;
use std::collections::{HashMap, HashSet};
use tree_sitter::Node;

/// Longer chains of inheritance are not followed.
const MAX_ANCESTORS: usize = 20;

/// A class.
pub(super) struct Class<'t> {
    pub(super) node: Node<'t>,
    pub(super) name: &'t str,
    pub(super) bases: Vec<&'t str>,
    pub(super) has_keywords: bool,
    pub(super) methods: Vec<Function<'t>>,
    pub(super) decorators: Vec<&'t str>,
    pub(super) body: Node<'t>,
    by_name: HashMap<&'t str, usize>,
    assigned: HashSet<&'t str>,
}

impl<'t> Class<'t> {
    fn of(source: &'t Source, node: Node<'t>) -> Option<Self> {
        let body = node.child_by_field_name("body")?;
        let listed = node.child_by_field_name("superclasses").map(parts).unwrap_or_default();
        let has_keywords = listed
            .iter()
            .any(|it| matches!(it.kind(), "keyword_argument" | "list_splat" | "dictionary_splat"));
        let bases = listed.into_iter().filter(|it| it.kind() != "keyword_argument");
        let members = parts(body);
        let methods: Vec<_> = members.iter().filter_map(|it| method(source, *it)).collect();
        Some(Self {
            node,
            name: source.slice(node.child_by_field_name("name")?),
            bases: bases.map(|it| source.slice(it)).collect(),
            has_keywords,
            by_name: methods.iter().enumerate().map(|(at, it)| (it.name, at)).collect(),
            assigned: members.iter().filter_map(|it| assigned_name(source, *it)).collect(),
            methods,
            decorators: decorators(source, node),
            body,
        })
    }

    /// Its last method with this name.
    pub(super) fn method(&self, name: &str) -> Option<&Function<'t>> {
        self.methods.get(*self.by_name.get(name)?)
    }

    /// From `class` to its name.
    pub(super) fn head(&self) -> std::ops::Range<usize> {
        let end = self.node.child_by_field_name("name").map_or(0, |it| it.end_byte());
        self.node.start_byte()..end.max(self.node.start_byte() + 1)
    }

    /// Whether the body assigns a name.
    pub(super) fn assigns(&self, name: &str) -> bool {
        self.assigned.contains(name)
    }
}

fn assigned_name<'t>(source: &'t Source, statement: Node<'t>) -> Option<&'t str> {
    let assignment = statement.named_child(0).filter(|it| it.kind() == "assignment")?;
    Some(source.slice(assignment.child_by_field_name("left")?))
}

fn method<'t>(source: &'t Source, statement: Node<'t>) -> Option<Function<'t>> {
    let definition = match statement.kind() {
        "decorated_definition" => statement.child_by_field_name("definition")?,
        _ => statement,
    };
    Function::of(source, definition)
}

/// All classes of a file.
pub(super) struct Classes<'t> {
    pub(super) all: Vec<Class<'t>>,
    by_name: HashMap<&'t str, Option<usize>>,
    by_node: HashMap<usize, usize>,
}

impl<'t> Classes<'t> {
    pub(super) fn of(source: &'t Source, nodes: Vec<Node<'t>>) -> Self {
        let all: Vec<_> = nodes.into_iter().filter_map(|node| Class::of(source, node)).collect();
        let mut by_name = HashMap::new();
        for (position, class) in all.iter().enumerate() {
            // A name that is there twice says nothing for sure.
            by_name.entry(class.name).and_modify(|it| *it = None).or_insert(Some(position));
        }
        let by_node = all.iter().enumerate().map(|(at, class)| (class.node.id(), at)).collect();
        Self { all, by_name, by_node }
    }

    /// The only class with this name.
    pub(super) fn named(&self, name: &str) -> Option<&Class<'t>> {
        self.all.get((*self.by_name.get(name)?)?)
    }

    /// The class of this node.
    pub(super) fn at(&self, node: Node<'_>) -> Option<&Class<'t>> {
        self.all.get(*self.by_node.get(&node.id())?)
    }

    /// The classes of the file that a class inherits from, nearest first.
    pub(super) fn ancestors(&self, class: &Class<'t>) -> Vec<&Class<'t>> {
        let mut found: Vec<&Class<'t>> = Vec::new();
        let mut next: std::collections::VecDeque<_> = class.bases.iter().copied().collect();
        while let Some(base) = next.pop_front() {
            let Some(base) = self.named(base) else { continue };
            let is_known =
                base.node.id() == class.node.id() || found.iter().any(|it| it.name == base.name);
            if !is_known && found.len() < MAX_ANCESTORS {
                next.extend(base.bases.iter().copied());
                found.push(base);
            }
        }
        found
    }

    /// Whether the file shows everything that a class inherits.
    pub(super) fn is_whole(&self, class: &Class<'t>) -> bool {
        let is_plain = |it: &Class<'_>| !it.has_keywords && it.decorators.is_empty();
        let knows = |it: &Class<'_>| {
            it.bases.iter().all(|base| *base == "object" || self.named(base).is_some())
        };
        let ancestors = self.ancestors(class);
        is_plain(class) && knows(class) && ancestors.iter().all(|it| is_plain(it) && knows(it))
    }
}
