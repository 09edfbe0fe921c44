//! What one changed file shows at head: syntax rules on its changed lines, and secrets in what it
//! adds. What could not be looked at is said.

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

/// What became of one file.
#[derive(Default)]
pub(super) struct Looked {
    pub(super) found: Vec<ReviewClaim>,
    /// The hunks that every check that applies has looked at.
    pub(super) accounted: Vec<usize>,
    pub(super) limit: Option<Limit>,
}

/// Why not every check has looked at all of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Limit {
    /// Some of its changed lines were not looked at.
    Unread(&'static str),
    /// Its lines were looked at without the rest of the file.
    Part,
}

/// The text that rules can look at.
struct CheckableText {
    file: Arc<ParsedFile>,
    extent: Extent,
}

impl FileCheck<'_> {
    pub(super) fn run(&self) -> Looked {
        let mut looked = self.syntax();
        looked.found.extend(secret_lines::check(self.file));
        looked
    }

    /// Rules look at the whole file and speak of lines that the change added.
    fn syntax(&self) -> Looked {
        let all = || (0..self.file.hunks.len()).collect();
        let added = self.file.added();
        if added.runs().is_empty() || self.file.language().is_none() {
            return Looked { accounted: all(), ..Looked::default() };
        }
        let seen = match self.see() {
            Ok(seen) => seen,
            Err(why) => return Looked { limit: Some(Limit::Unread(why)), ..Looked::default() },
        };
        let searched =
            self.rules.run_in(&seen.file.source, &self.file.path, added.runs(), seen.extent);
        let found = searched.matches.iter();
        let found = found
            .filter(|found| self.settings.runs(&found.rule, &self.file.path))
            .map(|found| found.candidate(&self.file.path))
            .collect();
        let limit = match seen.extent {
            _ if !searched.missed.is_empty() => {
                Some(Limit::Unread("it is nested too deeply, or holds too much"))
            }
            Extent::Part => Some(Limit::Part),
            Extent::Whole => None,
        };
        Looked { found, accounted: self.without(&searched.missed), limit }
    }

    /// The hunks that add nothing on these lines.
    fn without(&self, missed: &[LineSpan]) -> Vec<usize> {
        let meets = |line: u32| missed.iter().any(|span| span.overlaps(LineSpan::line(line)));
        let hunks = self.file.hunks.iter().enumerate();
        let seen = hunks.filter(|(_, hunk)| !hunk.added_lines().any(|(line, _)| meets(line)));
        seen.map(|(index, _)| index).collect()
    }

    fn see(&self) -> Result<CheckableText, &'static str> {
        let language = self.file.language().ok_or("its language is not known")?;
        let path = &self.file.path;
        let (file, extent) = match self.context.texts.head.get(path) {
            Some(Blob::Text(_)) => (parsed(self.context, Side::Head, path), Extent::Whole),
            Some(Blob::TooLarge(_)) => return Err("it is too large"),
            Some(Blob::Binary) => return Err("it is not text"),
            Some(Blob::Missing) | None => {
                (ParsedFile::of(language, &self.shown()).map(Arc::new), Extent::Part)
            }
        };
        let file = file.ok_or("it cannot be parsed: it is too large, or holds half a merge")?;
        Ok(CheckableText { file, extent })
    }

    /// The file as far as the diff shows it, each line in its place.
    fn shown(&self) -> String {
        let mut text = String::new();
        let mut next = 1;
        for (line, shown) in self.file.hunks.iter().flat_map(|hunk| hunk.head_lines()) {
            // Lines that are not shown cost nothing when there are too many of them.
            let gap = line.saturating_sub(next).min(MAX_GAP);
            text.extend(std::iter::repeat_n('\n', usize::try_from(gap).unwrap_or(0)));
            text.push_str(shown);
            text.push('\n');
            next = line.saturating_add(1);
        }
        text
    }
}

/// Files with more lines than this between two hunks are not code.
const MAX_GAP: u32 = 1_000_000;
