//! An index of the rules by node kind, so that a walk tries only those that may match.

use super::compile::Matchers;
use super::native::FAMILIES;
use super::rule::{Detector, Rule};
use crate::grammar::Grammar;
use ast_grep_core::{Language as _, Matcher};
use mala_domain::language::Language;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The rules of one language, by the kind of node that they may match.
#[derive(Default)]
pub(super) struct KindIndex {
    by_kind: Vec<Vec<RuleEntry>>,
    any_kind: Vec<RuleEntry>,
    /// Rules that look at the file as a whole.
    pub(super) whole_file: Vec<usize>,
    /// The families of native checks that some rule needs, with those rules.
    pub(super) families: BTreeMap<usize, Vec<usize>>,
    families_by_kind: Vec<Vec<usize>>,
}

/// The position of a rule in the set, and of the language's matcher in the rule.
#[derive(Debug, Clone, Copy)]
pub(super) struct RuleEntry {
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
            match &rule.detector {
                Detector::Shape(matchers) => index.add_shapes(position, matchers, language),
                Detector::Taint(_) | Detector::ScriptFile(_) => index.whole_file.push(position),
                Detector::Native { family, .. } => {
                    index.families.entry(*family).or_default().push(position);
                }
            }
        }
        index.add_family_kinds(language);
        index
    }

    /// The families of native checks that look at nodes of this kind.
    pub(super) fn families_of_kind(&self, kind: u16) -> &[usize] {
        self.families_by_kind.get(usize::from(kind)).map_or(&[], Vec::as_slice)
    }

    fn add_shapes(&mut self, rule: usize, matchers: &Matchers, language: Language) {
        for (matcher, (of, core)) in matchers.iter().enumerate() {
            if *of == language {
                let kinds = core.potential_kinds().map(|kinds| kinds.iter().collect());
                self.add(RuleEntry { rule, matcher }, kinds);
            }
        }
    }

    fn add_family_kinds(&mut self, language: Language) {
        for position in self.families.keys() {
            let kinds = FAMILIES.get(*position).map_or(&[][..], |family| family.kinds);
            for kind in kinds.iter().map(|kind| usize::from(Grammar(language).kind_to_id(kind))) {
                if kind > 0 {
                    at_kind(&mut self.families_by_kind, kind).push(*position);
                }
            }
        }
    }

    /// The rules that may match a node of this kind.
    pub(super) fn of_kind(&self, kind: u16) -> impl Iterator<Item = RuleEntry> + '_ {
        let exact = self.by_kind.get(usize::from(kind)).map_or(&[][..], Vec::as_slice);
        exact.iter().chain(&self.any_kind).copied()
    }

    fn add(&mut self, entry: RuleEntry, kinds: Option<Vec<usize>>) {
        let Some(kinds) = kinds else {
            self.any_kind.push(entry);
            return;
        };
        for kind in kinds {
            at_kind(&mut self.by_kind, kind).push(entry);
        }
    }
}

/// The list at a kind, made when it is not there.
fn at_kind<T>(lists: &mut Vec<Vec<T>>, kind: usize) -> &mut Vec<T> {
    if lists.len() <= kind {
        lists.resize_with(kind + 1, Vec::new);
    }
    &mut lists[kind]
}
