//! Checks that the problems of a case are on lines that it has. A problem at a wrong place would silently
//! lower the recall of every reviewer.

use super::{EvalCase, KnownProblem};
use mala_domain::change::{ChangedFile, FilePath, FileStatus, Hunk, LineSpan, parse};
use std::collections::{BTreeMap, HashMap};

/// The lines that a case shows at head.
pub(super) struct CaseLocations<'c> {
    files: &'c BTreeMap<FilePath, String>,
    lines: HashMap<&'c FilePath, Vec<&'c str>>,
    /// The files that are only known from the diff.
    shown: HashMap<FilePath, DiffFile>,
}

/// A file as far as a diff shows it: some of its lines by their numbers, or all when it is new.
struct DiffFile {
    is_new: bool,
    lines: Vec<(u32, String)>,
}

impl<'c> CaseLocations<'c> {
    /// The places of this case; the error describes an invalid diff.
    pub(super) fn of(case: &'c EvalCase) -> Result<Self, String> {
        let changed = parse(case.diff.as_bytes())
            .map_err(|error| format!("the diff cannot be read: {error}"))?;
        let is_only_here =
            |file: &ChangedFile| file.exists_at_head() && !case.files.contains_key(&file.path);
        let shown = changed.into_iter().filter(is_only_here).map(|file| {
            let lines = file.hunks.iter().flat_map(Hunk::head_lines);
            let lines: Vec<_> = lines.map(|(number, text)| (number, text.to_owned())).collect();
            let is_new = file.status == FileStatus::Added && !lines.is_empty();
            (file.path, DiffFile { is_new, lines })
        });
        Ok(Self { files: &case.files, lines: HashMap::new(), shown: shown.collect() })
    }

    /// Why there is no such place.
    pub(super) fn problem(&mut self, truth: &KnownProblem) -> Option<String> {
        let why = match self.files.get_key_value(&truth.file) {
            Some((path, text)) => {
                let lines = self.lines.entry(path).or_insert_with(|| text.lines().collect());
                outside(lines.len(), truth.span()).or_else(|| {
                    let (start, end) = (truth.span().start(), truth.span().end());
                    missing(truth, lines.get(start as usize - 1..end as usize).unwrap_or_default())
                })
            }
            None => self.problem_in_diff(truth),
        };
        why.map(|why| format!("{}:{}: {why}", truth.file, truth.span()))
    }

    fn problem_in_diff(&self, truth: &KnownProblem) -> Option<String> {
        let Some(DiffFile { is_new, lines }) = self.shown.get(&truth.file) else {
            return Some("the file is neither in `files` nor in the diff".to_owned());
        };
        let span = truth.span();
        if let (true, Some(why)) = (is_new, outside(lines.len(), span)) {
            return Some(why);
        }
        let start = lines.partition_point(|(number, _)| *number < span.start());
        let end = lines.partition_point(|(number, _)| *number <= span.end());
        let meant = lines.get(start..end).unwrap_or_default();
        // Lines outside the diff are unknown.
        let is_whole = meant.len() == span.n_lines() as usize;
        let meant = || meant.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>();
        is_whole.then(|| missing(truth, &meant())).flatten()
    }
}

fn outside(n_lines: usize, span: LineSpan) -> Option<String> {
    let is_outside = span.end() as usize > n_lines;
    let s = if n_lines == 1 { "" } else { "s" };
    is_outside.then(|| format!("the file has {n_lines} line{s}"))
}

fn missing(truth: &KnownProblem, lines: &[&str]) -> Option<String> {
    let evidence = truth.evidence.as_deref()?;
    (!is_on(lines, evidence)).then(|| format!("evidence {evidence:?} not found on these lines"))
}

/// Whether lines have this piece of text.
pub(crate) fn is_on(lines: &[&str], evidence: &str) -> bool {
    words(&lines.join("\n")).contains(&words(evidence))
}

/// A text with normalized white space.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
