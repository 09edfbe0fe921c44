//! Checks one changed file at head: syntax rules and secrets on its added lines.

use super::{BuiltinSettings, secret_lines};
use mala_domain::change::{ChangedFile, LineSpan};
use mala_domain::finding::ReviewClaim;
use mala_domain::ports::{Blob, Side};
use mala_domain::review::ReviewContext;
use mala_syntax::parsed::{ParsedFile, parsed};
use mala_syntax::rules::{Extent, RuleSet};
use std::sync::Arc;

pub(super) struct FileCheck<'r> {
    pub(super) file: &'r ChangedFile,
    pub(super) context: &'r ReviewContext,
    pub(super) rules: &'r RuleSet,
    pub(super) settings: &'r BuiltinSettings,
}

/// The result of checking one file.
#[derive(Default)]
pub(super) struct FileCheckResult {
    pub(super) found: Vec<ReviewClaim>,
    /// The hunks that were checked completely.
    pub(super) accounted: Vec<usize>,
    pub(super) gap: Option<CheckGap>,
}

/// Why a file was not checked completely.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CheckGap {
    /// Some of its changed lines were not checked.
    Unread(&'static str),
    /// Only the lines of the patch were checked.
    Part,
}

/// The text for the rules.
struct CheckedText {
    file: Arc<ParsedFile>,
    extent: Extent,
}

impl FileCheck<'_> {
    pub(super) fn run(&self) -> FileCheckResult {
        let mut result = self.syntax();
        result.found.extend(secret_lines::check(self.file));
        result
    }

    /// Runs the rules on the whole file and keeps matches on added lines.
    fn syntax(&self) -> FileCheckResult {
        let all = || (0..self.file.hunks.len()).collect();
        let added = self.file.added();
        if added.runs().is_empty() || self.file.language().is_none() {
            return FileCheckResult { accounted: all(), ..FileCheckResult::default() };
        }
        let text = match self.text() {
            Ok(text) => text,
            Err(why) => {
                return FileCheckResult {
                    gap: Some(CheckGap::Unread(why)),
                    ..FileCheckResult::default()
                };
            }
        };
        let searched =
            self.rules.run_in(&text.file.source, &self.file.path, added.runs(), text.extent);
        let found = searched.matches.iter();
        let found = found
            .filter(|found| self.settings.runs(&found.rule, &self.file.path))
            .map(|found| found.candidate(&self.file.path))
            .collect();
        let gap = match text.extent {
            _ if !searched.missed.is_empty() => {
                Some(CheckGap::Unread("it is too deeply nested or too complex"))
            }
            Extent::Part => Some(CheckGap::Part),
            Extent::Whole => None,
        };
        FileCheckResult { found, accounted: self.without(&searched.missed), gap }
    }

    /// The hunks without added lines in these spans.
    fn without(&self, missed: &[LineSpan]) -> Vec<usize> {
        let meets = |line: u32| missed.iter().any(|span| span.overlaps(LineSpan::line(line)));
        let hunks = self.file.hunks.iter().enumerate();
        let text = hunks.filter(|(_, hunk)| !hunk.added_lines().any(|(line, _)| meets(line)));
        text.map(|(index, _)| index).collect()
    }

    fn text(&self) -> Result<CheckedText, &'static str> {
        let language = self.file.language().ok_or("its language is unknown")?;
        let path = &self.file.path;
        let (file, extent) = match self.context.texts.head.get(path) {
            Some(Blob::Text(_)) => (parsed(self.context, Side::Head, path), Extent::Whole),
            Some(Blob::TooLarge(_)) => return Err("it is too large"),
            Some(Blob::Binary) => return Err("it is not text"),
            Some(Blob::Missing) | None => {
                (ParsedFile::of(language, &self.shown()).map(Arc::new), Extent::Part)
            }
        };
        let file =
            file.ok_or("it cannot be parsed: it is too large or contains conflict markers")?;
        Ok(CheckedText { file, extent })
    }

    /// The lines of the file that the diff shows, at their line numbers.
    fn shown(&self) -> String {
        let mut text = String::new();
        let mut next = 1;
        for (line, shown) in self.file.hunks.iter().flat_map(|hunk| hunk.head_lines()) {
            // Limits the memory for a gap of many lines.
            let gap = line.saturating_sub(next).min(MAX_GAP);
            text.extend(std::iter::repeat_n('\n', usize::try_from(gap).unwrap_or(0)));
            text.push_str(shown);
            text.push('\n');
            next = line.saturating_add(1);
        }
        text
    }
}

/// The most lines to fill between two hunks.
const MAX_GAP: u32 = 1_000_000;
