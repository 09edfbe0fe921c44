//! The uses of names in a Go file. The compiler rejects unused imports and variables, so the last
//! use of one must stay.

use mala_syntax::source::Source;
use mala_syntax::symbols::{Descend, walk};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

const NAMES: [&str; 2] = ["identifier", "package_identifier"];
const WRITES: [&str; 4] =
    ["short_var_declaration", "assignment_statement", "range_clause", "var_spec"];

/// The names of a file.
pub(super) struct NameUses<'s> {
    reads: BTreeMap<&'s str, Vec<usize>>,
    imports: BTreeSet<&'s str>,
    variables: BTreeSet<&'s str>,
}

impl<'s> NameUses<'s> {
    pub(super) fn of(source: &'s Source) -> Self {
        let mut names =
            Self { reads: BTreeMap::new(), imports: BTreeSet::new(), variables: BTreeSet::new() };
        walk(source.tree(), |trail, step| {
            let node = step.node;
            let is_import = node.kind() == "import_spec";
            if is_import {
                let path = node.child_by_field_name("path").map(|path| source.slice(path));
                let last = path.and_then(|path| path.trim_matches(['"', '`']).rsplit('/').next());
                let own = node.child_by_field_name("name").map(|name| source.slice(name));
                names.imports.extend(own.or(last));
            }
            if NAMES.contains(&node.kind()) {
                let mut up = trail.up().take(2).map(|step| (step.node.kind(), step.field));
                let is_written = match (up.next(), up.next()) {
                    (Some(("expression_list", "left")), Some((kind, _))) => WRITES.contains(&kind),
                    (Some(("var_spec", _)), _) => step.field == "name",
                    _ => false,
                };
                let name = source.slice(node);
                if is_written {
                    names.variables.insert(name);
                } else {
                    names.reads.entry(name).or_default().push(node.start_byte());
                }
            }
            if is_import { Descend::Past } else { Descend::Into }
        });
        names
    }

    /// Whether all names in these bytes are also used elsewhere: a variable in the same function,
    /// an import anywhere.
    pub(super) fn can_lose(&self, bytes: &Range<usize>, function: &Range<usize>) -> bool {
        self.reads.iter().all(|(name, places)| {
            let is_lost = places.iter().any(|at| bytes.contains(at));
            let is_bound = self.imports.contains(name) || self.variables.contains(name);
            let is_here = |at: &usize| self.imports.contains(name) || function.contains(at);
            let stays = || places.iter().any(|at| !bytes.contains(at) && is_here(at));
            !is_lost || !is_bound || stays()
        })
    }
}

impl super::site::MutationContext<'_> {
    /// Whether the file still compiles without these bytes.
    pub(super) fn can_lose(&self, bytes: &Range<usize>, node: tree_sitter::Node<'_>) -> bool {
        let Some(names) = &self.names else { return true };
        let function = self.function(node).map_or(0..usize::MAX, |it| it.byte_range());
        names.can_lose(bytes, &function)
    }
}
