//! Plants defects into code by its syntax tree. Each defect is a small edit after which the file still
//! parses, and still compiles as far as the tree shows. Tests, dead code, comments and strings are left
//! alone, as are places where the edit makes no difference.

mod arguments;
mod awaits;
mod bindings;
mod bounds;
mod conditions;
mod dialect;
mod exceptions;
mod guards;
mod handles;
mod names;
mod place;
mod site;
#[cfg(test)]
mod tests;

use crate::plant::DefectKind;
use dialect::LanguageTraits;
use mala_domain::change::{AddedLines, LineSpan};
use mala_domain::language::Language;
use mala_syntax::source::{Source, lines_of};
use mala_syntax::symbols::{Descend, walk};
use site::MutationContext;
use std::ops::Range;
use tree_sitter::Node;

/// Larger files are skipped: they are not written by hand.
const MAX_BYTES: usize = 400_000;

/// The most mutations of one file.
const MAX_PLACES: usize = 1_000;

/// An edit that creates a defect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mutation {
    /// The kind of defect.
    pub(crate) kind: DefectKind,
    /// A title in one line.
    pub(crate) title: String,
    /// The change that the edit makes.
    pub(crate) description: String,
    edit: Range<usize>,
    text: String,
    mark: DefectMark,
    /// The bytes that must be part of the change, so that a reviewer can see the defect.
    needs: Range<usize>,
}

/// The lines of the edited file that have the defect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DefectMark {
    /// The lines of the inserted text.
    Edit,
    /// The first of them.
    First,
    /// The lines around the removed text.
    Gap,
}

/// A file with a defect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MutatedFile {
    /// The whole text.
    pub(crate) text: String,
    /// The lines of the defect.
    pub(crate) lines: LineSpan,
}

/// Whether defects can be planted into code of this language.
pub(crate) fn supports(language: Language) -> bool {
    LanguageTraits::of(language).is_some()
}

/// The defects that could be planted into the added lines, in the order of the text.
pub(crate) fn mutations(source: &Source, added: &AddedLines) -> Vec<Mutation> {
    let Some(dialect) = LanguageTraits::of(source.language()) else { return Vec::new() };
    // A file with a syntax error is skipped, because its tree can be wrong: `Array<string>` may be a
    // comparison.
    if source.text().len() > MAX_BYTES || source.tree().root_node().has_error() {
        return Vec::new();
    }
    let site = MutationContext::new(source, dialect);
    let mut found: Vec<Mutation> = Vec::new();
    walk(source.tree(), |_, step| {
        let node = step.node;
        if !added.overlaps(lines_of(node)) || found.len() >= MAX_PLACES {
            return Descend::Past;
        }
        if place::is_test(&site, node) {
            return Descend::Past;
        }
        let here = at(&site, node);
        let fits = |mutation: &Mutation| site.is_all_added(&mutation.needs, added);
        if !here.is_empty() && place::is_live(&site, node) {
            found.extend(here.into_iter().filter(fits));
        }
        Descend::Into
    });
    found
}

/// The mutations of one node.
fn at(site: &MutationContext<'_>, node: Node<'_>) -> Vec<Mutation> {
    let makers: [fn(&MutationContext<'_>, Node<'_>) -> Option<Mutation>; 9] = [
        bounds::compared,
        bounds::shifted,
        awaits::dropped,
        arguments::swapped,
        guards::removed,
        exceptions::widened,
        handles::leaked,
        handles::unclosed,
        conditions::inverted,
    ];
    if !node.is_named() || node.has_error() {
        return Vec::new();
    }
    makers.iter().filter_map(|maker| maker(site, node)).collect()
}

impl Mutation {
    /// The file with this defect; `None` when it would not parse.
    pub(crate) fn apply(&self, source: &Source) -> Option<MutatedFile> {
        let old = source.text();
        let (before, after) = (old.get(..self.edit.start)?, old.get(self.edit.end..)?);
        let text = [before, &self.text, after].concat();
        let parsed = Source::parse(source.language(), &text)?;
        if text == old || parsed.tree().root_node().has_error() {
            return None;
        }
        let line_at = |end: usize| {
            let n_lines = text.get(..end).unwrap_or_default().matches('\n').count();
            u32::try_from(n_lines + 1).unwrap_or(u32::MAX)
        };
        let first = line_at(self.edit.start);
        let lines = match self.mark {
            DefectMark::Edit => {
                LineSpan::between(first, line_at(self.edit.start + self.text.len()))
            }
            DefectMark::First => LineSpan::line(first),
            DefectMark::Gap => {
                let above = before.trim_end_matches('\n');
                let is_near = before.len() - above.len() == 1;
                let start = if is_near { first - 1 } else { first };
                LineSpan::between(start, first)
            }
        };
        Some(MutatedFile { text, lines })
    }

    /// The removed and the inserted text.
    #[cfg(test)]
    pub(crate) fn edit<'s>(&'s self, source: &'s Source) -> (&'s str, &'s str) {
        (source.text().get(self.edit.clone()).unwrap_or_default(), &self.text)
    }
}
