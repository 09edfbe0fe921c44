//! The two sides of a comparison: properties of a known or a reported finding that do not depend on
//! the other one. They are computed once, so that many findings of one file can be compared.

use super::{KnownFindings, is_added_copy};
use crate::change::{FilePath, LineSpan};
use crate::finding::{CodeLines, Finding, copy_number, places, squeezed};
use crate::ledger::LedgerFinding;
use std::cell::OnceCell;

/// A reported finding.
pub(super) struct ReportedSide<'f> {
    pub(super) finding: &'f Finding,
    /// Its evidence without white space.
    pub(super) code: String,
    /// The words of its evidence, sorted.
    pub(super) tokens: Vec<&'f str>,
    /// The position of its lines in the last review, if they and the lines around them are
    /// unchanged.
    pub(super) origin: Option<LineSpan>,
    copy: OnceCell<Option<usize>>,
    is_added_copy: OnceCell<bool>,
}

impl<'f> ReportedSide<'f> {
    pub(super) fn of(finding: &'f Finding, known: &KnownFindings<'_>) -> Self {
        let origin = |it: &crate::ledger::delta::Delta| {
            it.origin_of_unchanged(&finding.file, finding.span())
        };
        Self {
            finding,
            code: squeezed(&finding.evidence_snippet),
            tokens: tokens(&finding.evidence_snippet),
            origin: known.delta.and_then(origin),
            copy: OnceCell::new(),
            is_added_copy: OnceCell::new(),
        }
    }

    /// The index of the copy of equal code in its symbol.
    pub(super) fn copy(&self) -> Option<usize> {
        *self.copy.get_or_init(|| copy_number(self.finding).map(|(copy, _)| copy))
    }

    /// Whether the change adds its code while another copy is older.
    pub(super) fn is_added_copy(&self, known: &KnownFindings<'_>) -> bool {
        *self.is_added_copy.get_or_init(|| is_added_copy(self.finding, known.added, known.texts))
    }
}

/// A known finding in a file at head.
pub(super) struct KnownSide<'k> {
    pub(super) it: &'k LedgerFinding,
    /// Its evidence without white space.
    pub(super) code: String,
    /// The words of its evidence, sorted.
    pub(super) tokens: Vec<&'k str>,
    /// Whether its lines in the last review were its code.
    pub(super) was_there: bool,
    /// The position at head of its lines in the last review, as far as the diff shows it.
    pub(super) located: Option<LineSpan>,
    /// The same, if they and those around them are unchanged.
    pub(super) unchanged: Option<LineSpan>,
    /// The places of its code as whole lines; `None` if the file cannot be read.
    copies: Option<Vec<LineSpan>>,
    /// The places of its code with other line breaks or as parts of lines.
    broken_copies: OnceCell<Vec<LineSpan>>,
    was_only_copy: OnceCell<bool>,
    copy: OnceCell<Option<usize>>,
    file: &'k FilePath,
    known: &'k KnownFindings<'k>,
}

impl<'k> KnownSide<'k> {
    /// The candidates of a file at head.
    pub(super) fn of_file(
        candidates: &[&'k LedgerFinding],
        file: &'k FilePath,
        known: &'k KnownFindings<'k>,
    ) -> Vec<Self> {
        let lines = known.texts.at_head(file).map(CodeLines::of);
        let side = |it: &&'k LedgerFinding| {
            let old = &it.finding;
            let (delta, code) = (known.delta, &old.evidence_snippet);
            Self {
                it,
                code: squeezed(code),
                tokens: tokens(code),
                was_there: delta.is_some_and(|it| it.had(file, old.span(), code)),
                located: delta.and_then(|it| it.locate(file, old.span())),
                unchanged: delta.and_then(|it| it.locate_unchanged(file, old.span())),
                copies: lines.as_ref().map(|lines| lines.positions(code.lines())),
                broken_copies: OnceCell::new(),
                was_only_copy: OnceCell::new(),
                copy: OnceCell::new(),
                file,
                known,
            }
        };
        candidates.iter().map(side).collect()
    }

    /// The index of the copy of equal code in its symbol.
    pub(super) fn copy(&self) -> Option<usize> {
        *self.copy.get_or_init(|| copy_number(&self.it.finding).map(|(copy, _)| copy))
    }

    /// Whether its code was there once in the last review.
    pub(super) fn was_only_copy(&self) -> bool {
        let n_copies = || {
            let code = &self.it.finding.evidence_snippet;
            self.known.delta.map_or(0, |it| it.n_earlier_copies(self.file, code))
        };
        *self.was_only_copy.get_or_init(|| n_copies() == 1)
    }

    /// Whether its code exists as whole lines, with the same line breaks.
    pub(super) fn stands_as_lines(&self) -> bool {
        self.copies.as_ref().is_some_and(|copies| !copies.is_empty())
    }

    /// Whether its code exists exactly once, on some of these lines.
    pub(super) fn is_only_at(&self, lines: LineSpan) -> bool {
        matches!(self.places(), Some([only]) if only.overlaps(lines))
    }

    /// Whether its code exists, or may exist, on other lines than these.
    pub(super) fn may_be_outside(&self, lines: LineSpan) -> bool {
        self.places().is_none_or(|places| places.iter().any(|place| !place.overlaps(lines)))
    }

    /// The places of its code; `None` if the file cannot be read.
    fn places(&self) -> Option<&[LineSpan]> {
        let copies = self.copies.as_deref()?;
        if !copies.is_empty() {
            return Some(copies);
        }
        let text = self.known.texts.at_head(self.file)?;
        let broken = || places(text, &self.it.finding.evidence_snippet);
        Some(self.broken_copies.get_or_init(broken))
    }
}

/// The words of a text, sorted.
fn tokens(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    let mut tokens: Vec<&str> = words.filter(|it| !it.is_empty()).collect();
    tokens.sort_unstable();
    tokens
}
