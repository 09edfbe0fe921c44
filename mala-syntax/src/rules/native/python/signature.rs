//! The parameters of functions and classes of a file, and the class behind a name.

use super::code::{Function, Parameter, ParameterKind, arguments, decorators, spreads_arguments};
use crate::rules::native::code::parts;
use crate::source::Source;
use std::collections::{HashMap, HashSet};
use tree_sitter::Node;

/// The parameters of a function, without those that are bound to an object.
pub(super) struct Signature<'t> {
    parameters: Vec<Parameter<'t>>,
}

/// Why a call does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mismatch {
    /// More arguments by place than there are places.
    TooMany { given: usize, taken: usize },
    /// A parameter has no argument.
    Missing(String),
    /// A name that no parameter has.
    Unknown(String),
    /// A parameter gets two values.
    Twice(String),
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooMany { given, taken } => {
                write!(f, "{given} arguments are given by place and {taken} are taken")
            }
            Self::Missing(name) => write!(f, "`{name}` gets no value"),
            Self::Unknown(name) => write!(f, "there is no parameter `{name}`"),
            Self::Twice(name) => write!(f, "`{name}` gets two values"),
        }
    }
}

impl<'t> Signature<'t> {
    /// The signature of a function, or of a method without `self`; `None` for a method without any
    /// parameter.
    pub(super) fn of(function: &Function<'t>, n_bound: usize) -> Option<Self> {
        let parameters = &function.parameters;
        let n_places = parameters.iter().take(n_bound).filter(|it| is_placed(it)).count();
        let has_rest = parameters.iter().any(|it| it.kind == ParameterKind::Rest);
        if n_places < n_bound && !has_rest {
            return None;
        }
        Some(Self { parameters: parameters.iter().skip(n_places).copied().collect() })
    }

    /// The most arguments by place; `None` without a limit.
    pub(super) fn most(&self) -> Option<usize> {
        let is_open = self.parameters.iter().any(|it| it.kind == ParameterKind::Rest);
        (!is_open).then(|| self.placed().count())
    }

    fn placed(&self) -> impl Iterator<Item = &Parameter<'t>> {
        self.parameters.iter().filter(|it| is_placed(it))
    }

    /// Why a call does not fit; `None` if it fits or cannot be decided.
    pub(super) fn mismatch(&self, source: &Source, call: Node<'_>) -> Option<Mismatch> {
        if spreads_arguments(call) {
            return None;
        }
        let is_comprehension = call
            .child_by_field_name("arguments")
            .is_some_and(|it| it.kind() == "generator_expression");
        let mut n_placed = usize::from(is_comprehension);
        let mut given = Vec::new();
        for argument in arguments(call) {
            match argument.child_by_field_name("name") {
                Some(name) if argument.kind() == "keyword_argument" => {
                    given.push(source.slice(name))
                }
                _ => n_placed += 1,
            }
        }
        self.place_mismatch(n_placed).or_else(|| self.name_mismatch(n_placed, &given))
    }

    fn place_mismatch(&self, given: usize) -> Option<Mismatch> {
        let taken = self.most().filter(|most| given > *most)?;
        Some(Mismatch::TooMany { given, taken })
    }

    fn name_mismatch(&self, n_placed: usize, given: &[&str]) -> Option<Mismatch> {
        let takes_any = self.parameters.iter().any(|it| it.kind == ParameterKind::Keywords);
        let by_name =
            |it: &&Parameter<'_>| matches!(it.kind, ParameterKind::Plain | ParameterKind::Named);
        for name in given {
            let known = self.parameters.iter().filter(by_name).any(|it| it.name == *name);
            if !known && !takes_any {
                return Some(Mismatch::Unknown((*name).to_owned()));
            }
            if self.placed().take(n_placed).any(|it| it.name == *name) && known {
                return Some(Mismatch::Twice((*name).to_owned()));
            }
        }
        let mut place = 0;
        for parameter in &self.parameters {
            let filled_by_place = is_placed(parameter) && {
                place += 1;
                place <= n_placed
            };
            let is_needed = parameter.default.is_none()
                && matches!(
                    parameter.kind,
                    ParameterKind::Placed | ParameterKind::Plain | ParameterKind::Named
                );
            let named = parameter.kind != ParameterKind::Placed && given.contains(&parameter.name);
            if is_needed && !filled_by_place && !named {
                return Some(Mismatch::Missing(parameter.name.to_owned()));
            }
        }
        None
    }
}

fn is_placed(parameter: &Parameter<'_>) -> bool {
    matches!(parameter.kind, ParameterKind::Placed | ParameterKind::Plain)
}

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
        })
    }

    /// Its last method with this name.
    pub(super) fn method(&self, name: &str) -> Option<&Function<'t>> {
        self.methods.get(*self.by_name.get(name)?)
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
            // A name that is defined twice is ambiguous.
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

    /// Whether the file contains all base classes of a class.
    pub(super) fn is_whole(&self, class: &Class<'t>) -> bool {
        let is_plain = |it: &Class<'_>| !it.has_keywords && it.decorators.is_empty();
        let knows = |it: &Class<'_>| {
            it.bases.iter().all(|base| *base == "object" || self.named(base).is_some())
        };
        let ancestors = self.ancestors(class);
        is_plain(class) && knows(class) && ancestors.iter().all(|it| is_plain(it) && knows(it))
    }
}
