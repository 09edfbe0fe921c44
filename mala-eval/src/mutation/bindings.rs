//! The bindings of names inside functions. The declared type of a parameter does not apply if the
//! parameter is bound again.

use mala_syntax::source::Source;
use mala_syntax::symbols::{Descend, walk, walk_from};
use std::collections::BTreeMap;
use std::ops::Range;

/// The nodes that bind names, and the field with the names.
const BINDERS: [(&str, &str); 11] = [
    ("let_declaration", "pattern"),
    ("let_condition", "pattern"),
    ("for_expression", "pattern"),
    ("match_arm", "pattern"),
    ("closure_expression", "parameters"),
    ("short_var_declaration", "left"),
    ("range_clause", "left"),
    ("var_spec", "name"),
    ("variable_declarator", "name"),
    ("for_in_statement", "left"),
    ("catch_clause", "parameter"),
];

/// The names of a file that something other than a parameter binds.
pub(super) struct LocalBindings<'s> {
    places: BTreeMap<&'s str, Vec<usize>>,
}

impl<'s> LocalBindings<'s> {
    pub(super) fn of(source: &'s Source) -> Self {
        let mut places: BTreeMap<&'s str, Vec<usize>> = BTreeMap::new();
        walk(source.tree(), |_, step| {
            let binder = BINDERS.iter().find(|(kind, _)| *kind == step.node.kind());
            let bound = binder.and_then(|(_, field)| step.node.child_by_field_name(field));
            if let Some(bound) = bound {
                walk_from(bound, |_, step| {
                    if step.node.kind().ends_with("identifier") {
                        let at = step.node.start_byte();
                        places.entry(source.slice(step.node)).or_default().push(at);
                    }
                    Descend::Into
                });
            }
            Descend::Into
        });
        places.values_mut().for_each(|places| places.sort_unstable());
        Self { places }
    }

    /// Whether something binds this name between these bytes.
    pub(super) fn has(&self, name: &str, bytes: &Range<usize>) -> bool {
        let places = self.places.get(name).map_or(&[][..], Vec::as_slice);
        let first = places.partition_point(|at| *at < bytes.start);
        places.get(first).is_some_and(|at| *at < bytes.end)
    }
}
