//! Which rules may match a node of which kind, so that a walk asks only those.

use super::rule::{Detector, Rule};
use ast_grep_core::Matcher;
use mala_domain::language::Language;
use std::sync::Arc;

/// The rules of one language, by the kind of node that they may match.
#[derive(Default)]
pub(super) struct KindIndex {
    by_kind: Vec<Vec<Entry>>,
    any_kind: Vec<Entry>,
    /// Rules that look at the file as a whole.
    pub(super) whole_file: Vec<usize>,
}

/// The position of a rule in the set, and of the language's matcher in the rule.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    pub(super) rule: usize,
    pub(super) matcher: usize,
}

impl KindIndex {
    pub(super) fn new(rules: &[Arc<Rule>], language: Language) -> Self {
        let mut index = Self::default();
        for (position, rule) in rules.iter().enumerate() {
            if !rule.languages.contains(&language) {
                continue;
            }
            let Detector::Shape(matchers) = &rule.detector else {
                index.whole_file.push(position);
                continue;
            };
            for (matcher, (of, core)) in matchers.iter().enumerate() {
                if *of == language {
                    let kinds = core.potential_kinds().map(|kinds| kinds.iter().collect());
                    index.add(Entry { rule: position, matcher }, kinds);
                }
            }
        }
        index
    }

    /// The rules that may match a node of this kind.
    pub(super) fn of_kind(&self, kind: u16) -> impl Iterator<Item = Entry> + '_ {
        let exact = self.by_kind.get(usize::from(kind)).map_or(&[][..], Vec::as_slice);
        exact.iter().chain(&self.any_kind).copied()
    }

    fn add(&mut self, entry: Entry, kinds: Option<Vec<usize>>) {
        let Some(kinds) = kinds else {
            self.any_kind.push(entry);
            return;
        };
        for kind in kinds {
            if self.by_kind.len() <= kind {
                self.by_kind.resize_with(kind + 1, Vec::new);
            }
            self.by_kind[kind].push(entry);
        }
    }
}
