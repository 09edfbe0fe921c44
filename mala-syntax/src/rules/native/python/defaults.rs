//! Default arguments that are made once and changed by a call: the next call finds them changed.

use super::code::{
    Function, ParameterKind, ancestors, are_alternatives, arguments, callee, is_inside, own_nodes,
    placed_arguments,
};
use super::module::{Module, found_because};
use super::names::Names;
use super::shape::Shape;
use crate::rules::native::code::{bare, canonical, line, parts};
use crate::rules::native::{NativeCheck, NativeMatch};
use crate::source::Source;
use std::collections::{HashMap, HashSet};
use tree_sitter::Node;

pub(super) const MODIFIED_DEFAULT: NativeCheck =
    NativeCheck { name: "python-modified-default", captures: &["NAME", "FUNCTION", "LINE"] };

/// How many calls a default is followed through.
const MAX_CALLS: usize = 3;

/// A default on its way through names and calls.
#[derive(Clone, Copy)]
struct Tracked<'t> {
    value: Node<'t>,
    shape: Shape,
    name: &'t str,
    owner: &'t str,
    parameter: Node<'t>,
}

struct Search<'m, 't> {
    source: &'t Source,
    names: &'m Names<'t>,
    by_name: HashMap<&'t str, Option<usize>>,
    functions: &'m [Function<'t>],
    seen: HashSet<(usize, usize, Shape)>,
    matches: Vec<NativeMatch>,
}

pub(super) fn modified_defaults(module: &Module<'_>) -> Vec<NativeMatch> {
    let source = module.source;
    let functions = module.functions();
    let mut by_name = HashMap::new();
    for (position, function) in functions.iter().enumerate() {
        let is_free = function.class.is_none();
        let entry = by_name.entry(function.name).or_insert(is_free.then_some(position));
        if *entry != Some(position) {
            *entry = None;
        }
    }
    let mut search = Search {
        source,
        names: module.names(),
        by_name,
        functions,
        seen: HashSet::new(),
        matches: Vec::new(),
    };
    for position in 0..search.functions.len() {
        for tracked in search.defaults_of(position) {
            search.follow(position, tracked.name, tracked, 0);
        }
    }
    search.matches.sort_by_key(|it| it.bytes.start);
    search.matches.dedup_by_key(|it| it.bytes.start);
    search.matches
}

impl<'t> Search<'_, 't> {
    fn defaults_of(&self, position: usize) -> Vec<Tracked<'t>> {
        let Some(function) = self.functions.get(position) else { return Vec::new() };
        // An inner function gets a fresh default whenever the outer one runs.
        if ancestors(function.node).any(|it| it.kind() == "function_definition") {
            return Vec::new();
        }
        let parameters = function.parameters.iter().filter(|it| !is_memory(it.name));
        parameters
            .filter_map(|it| {
                let value = it.default?;
                let shape = Shape::of(self.source, value)?;
                let (name, owner, parameter) = (it.name, function.name, it.node);
                Some(Tracked { value, shape, name, owner, parameter })
            })
            .collect()
    }

    /// Looks for what changes the default in one function, where it is called `name`.
    fn follow(&mut self, position: usize, name: &'t str, tracked: Tracked<'t>, n_calls: usize) {
        let Some(function) = self.functions.get(position) else { return };
        if !self.seen.insert((position, tracked.parameter.id(), tracked.shape)) {
            return;
        }
        let (scope, body) = (function.node, function.body);
        let mut change = None;
        let mut calls = Vec::new();
        own_nodes(body, |node| {
            if change.is_none()
                && self.changes(node, name, tracked)
                && self.may_be(node, name, tracked)
            {
                change = Some(node);
            }
            if node.kind() == "call" {
                calls.push(node);
            }
        });
        if let Some(change) = change.filter(|it| !self.is_replaced(scope, name, *it)) {
            let captures = vec![
                ("NAME", tracked.name.to_owned()),
                ("FUNCTION", tracked.owner.to_owned()),
                ("LINE", line(tracked.parameter)),
            ];
            self.matches.push(found_because(change, tracked.parameter, captures));
        }
        if n_calls < MAX_CALLS {
            calls.retain(|it| !self.is_replaced(scope, name, *it));
            for call in calls {
                if let Some((callee, parameter)) = self.handed_to(call, name) {
                    self.follow(callee, parameter, tracked, n_calls + 1);
                }
            }
        }
    }

    /// Whether the name gets another value before a place.
    fn is_replaced(&self, scope: Node<'t>, name: &str, place: Node<'t>) -> bool {
        self.names.bindings_of(scope, name).iter().any(|it| {
            !matches!(it.place.kind(), "parameters")
                && it.place.start_byte() < place.start_byte()
                && !is_augmented(it.place)
                && !are_alternatives(it.place, place)
        })
    }

    /// The function and parameter that a call hands the name to.
    fn handed_to(&self, call: Node<'t>, name: &str) -> Option<(usize, &'t str)> {
        let callee = (*self.by_name.get(callee(self.source, call))?)?;
        let is_it =
            |node: &Node<'_>| node.kind() == "identifier" && self.source.slice(*node) == name;
        let place = placed_arguments(call).iter().position(is_it)?;
        let parameter = self.functions.get(callee)?.parameters.get(place)?;
        matches!(parameter.kind, ParameterKind::Plain | ParameterKind::Placed)
            .then_some((callee, parameter.name))
    }

    /// Whether a node changes what the name holds.
    fn changes(&self, node: Node<'t>, name: &str, tracked: Tracked<'t>) -> bool {
        let is_it = |node: Node<'_>| node.kind() == "identifier" && self.source.slice(node) == name;
        let is_part = |node: Node<'_>| {
            node.kind() == "subscript" && node.child_by_field_name("value").is_some_and(is_it)
        };
        match node.kind() {
            "call" => {
                let Some(target) =
                    node.child_by_field_name("function").filter(|it| it.kind() == "attribute")
                else {
                    return false;
                };
                let method =
                    target.child_by_field_name("attribute").map(|it| self.source.slice(it));
                target.child_by_field_name("object").is_some_and(is_it)
                    && method.is_some_and(|it| tracked.shape.is_changed_by(it))
                    && !arguments(node).iter().any(|it| self.adds_nothing(*it, tracked))
            }
            "assignment" => {
                node.child_by_field_name("left").is_some_and(is_part)
                    && !self.sets_the_same(node, tracked)
            }
            "augmented_assignment" => {
                let right = node.child_by_field_name("right");
                node.child_by_field_name("left").is_some_and(|it| is_it(it) || is_part(it))
                    && !right.is_some_and(|it| self.adds_nothing(it, tracked))
            }
            "delete_statement" => {
                let targets = parts(node).into_iter();
                targets
                    .flat_map(
                        |it| if it.kind() == "expression_list" { parts(it) } else { vec![it] },
                    )
                    .any(is_part)
            }
            _ => false,
        }
    }

    /// Whether a value holds only what the default holds already.
    fn adds_nothing(&self, value: Node<'t>, tracked: Tracked<'t>) -> bool {
        if tracked.shape != Shape::Dict {
            return false;
        }
        let Some(value) = self.names.value_of(value).filter(|it| it.kind() == "dictionary") else {
            return false;
        };
        let known: Vec<_> =
            parts(tracked.value).iter().map(|it| canonical(self.source, *it)).collect();
        parts(value).iter().all(|it| known.contains(&canonical(self.source, *it)))
    }

    /// `d["a"] = 1` where the default is `{"a": 1}`.
    fn sets_the_same(&self, assignment: Node<'t>, tracked: Tracked<'t>) -> bool {
        let key = assignment
            .child_by_field_name("left")
            .and_then(|it| it.child_by_field_name("subscript"))
            .map(|it| self.source.slice(it));
        let value = assignment.child_by_field_name("right").map(|it| self.source.slice(it));
        parts(tracked.value).iter().filter(|it| it.kind() == "pair").any(|pair| {
            let part = |name| pair.child_by_field_name(name).map(|it| self.source.slice(it));
            part("key") == key && part("value") == value
        })
    }

    /// Whether the name may hold the default at a place: `if name:` tells an empty one apart.
    fn may_be(&self, place: Node<'t>, name: &str, tracked: Tracked<'t>) -> bool {
        let is_empty = match tracked.value.kind() {
            "call" => arguments(tracked.value).is_empty(),
            "list" | "dictionary" | "set" => parts(tracked.value).is_empty(),
            _ => return true,
        };
        ancestors(place).filter(|it| it.kind() == "if_statement").all(|outer| {
            let Some(condition) = outer.child_by_field_name("condition") else { return true };
            let consequence = outer.child_by_field_name("consequence");
            let in_first = consequence.is_some_and(|it| is_inside(place, it));
            let in_other = !in_first && !is_inside(place, condition);
            match self.truth_of(condition, name) {
                Some(Truth::Holds) if is_empty => !in_first,
                Some(Truth::Holds) => !in_other,
                Some(Truth::Fails) if is_empty => !in_other,
                Some(Truth::Fails) => !in_first,
                None => true,
            }
        })
    }

    /// What a condition says about the name when it is true.
    fn truth_of(&self, condition: Node<'t>, name: &str) -> Option<Truth> {
        let condition = bare(condition);
        match condition.kind() {
            "identifier" => (self.source.slice(condition) == name).then_some(Truth::Holds),
            "not_operator" => {
                let inner = bare(condition.child_by_field_name("argument")?);
                (inner.kind() == "identifier" && self.source.slice(inner) == name)
                    .then_some(Truth::Fails)
            }
            _ => None,
        }
    }
}

#[derive(Clone, Copy)]
enum Truth {
    Holds,
    Fails,
}

fn is_augmented(place: Node<'_>) -> bool {
    place.parent().is_some_and(|it| it.kind() == "augmented_assignment")
}

/// Names that say that the value is meant to live on.
fn is_memory(name: &str) -> bool {
    let name = name.to_lowercase();
    name.starts_with('_') || ["cache", "memo"].iter().any(|word| name.contains(word))
}
