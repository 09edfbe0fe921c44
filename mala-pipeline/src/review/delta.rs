//! The input of reviewers in a later round: the hunks with lines that are new since the last
//! complete review, or everything, and the findings that are still open. Other hunks count as
//! reviewed.

use mala_domain::change::{Change, ChangedFile, FilePath, Hunk, LineSpan};
use mala_domain::ledger::LedgerFinding;
use mala_domain::ledger::delta::Delta;
use mala_domain::review::{CodeSurroundings, Opinion, ReviewContext};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The input of reviewers in a later round.
pub(super) struct DeltaContext {
    /// The context, restricted to new hunks.
    pub(super) context: ReviewContext,
    /// The hunks that are given, by file, as indices into the file's hunks.
    given: BTreeMap<FilePath, Vec<usize>>,
    /// The hunks that an earlier round reviewed.
    carried: Vec<(FilePath, Vec<usize>)>,
}

impl DeltaContext {
    /// The context of a round that reviews only new hunks, with the findings that are still open.
    pub(super) fn of(context: &ReviewContext, delta: &Delta, open: &[&LedgerFinding]) -> Self {
        let mut given = BTreeMap::new();
        let mut carried = Vec::new();
        let mut files = Vec::new();
        for file in &context.change.files {
            let (new, old): (Vec<usize>, Vec<usize>) = (0..file.hunks.len()).partition(|index| {
                file.hunks.get(*index).is_some_and(|hunk| is_new(delta, file, hunk))
            });
            if !file.is_reviewable() || !new.is_empty() {
                files.push(narrowed(file, &new));
            }
            given.insert(file.path.clone(), new);
            carried.push((file.path.clone(), old));
        }
        let mut narrow = context.clone();
        narrow.change = Arc::new(Change { files });
        narrow.surroundings = Arc::new(around(&context.surroundings, &given));
        narrow.whole_change = Some(context.change.clone());
        Self { context: told(narrow, open), given, carried }
    }

    /// The context of a round that reviews everything, with the findings that are still open.
    pub(super) fn whole(context: &ReviewContext, open: &[&LedgerFinding]) -> Self {
        let files = context.change.files.iter();
        let given = files.map(|file| (file.path.clone(), (0..file.hunks.len()).collect()));
        Self { context: told(context.clone(), open), given: given.collect(), carried: Vec::new() }
    }

    /// An opinion over the narrowed change as one over the whole change.
    pub(super) fn restored(&self, mut opinion: Opinion) -> Opinion {
        for (file, hunks) in &mut opinion.accounted {
            let given = self.given.get(file).map(Vec::as_slice).unwrap_or_default();
            *hunks = hunks.iter().filter_map(|index| given.get(*index).copied()).collect();
        }
        if opinion.failure.is_none() {
            opinion.accounted.extend(self.carried.iter().cloned());
        }
        opinion
    }
}

fn told(mut context: ReviewContext, open: &[&LedgerFinding]) -> ReviewContext {
    if !open.is_empty() {
        let mut tasks = context.tasks.to_vec();
        tasks.push((OPEN_FINDINGS.to_owned(), listed(open)));
        context.tasks = tasks.into();
    }
    context
}

/// The heading of the open findings in the prompt.
const OPEN_FINDINGS: &str =
    "findings of earlier rounds that are still open: report again each one that is still there";

fn listed(open: &[&LedgerFinding]) -> String {
    let line = |it: &&LedgerFinding| {
        let finding = &it.finding;
        let (file, span) = (&finding.file, finding.span());
        let (priority, title) = (finding.effective_priority(), &finding.title);
        format!("- {file}:{span} {priority} {title}: {}\n", finding.body)
    };
    open.iter().map(line).collect()
}

/// Whether a hunk has a new line. Lines that were removed at its end belong to the line after it.
fn is_new(delta: &Delta, file: &ChangedFile, hunk: &Hunk) -> bool {
    let start = hunk.new_start.max(1);
    delta.touches(&file.path, LineSpan::between(start, start + hunk.new_lines))
}

fn narrowed(file: &ChangedFile, hunks: &[usize]) -> ChangedFile {
    let hunks = hunks.iter().filter_map(|index| file.hunks.get(*index).cloned()).collect();
    ChangedFile { hunks, ..file.clone() }
}

/// The surroundings of the hunks that are given.
fn around(
    surroundings: &CodeSurroundings,
    given: &BTreeMap<FilePath, Vec<usize>>,
) -> CodeSurroundings {
    let enclosing = surroundings.enclosing.iter().map(|(file, all)| {
        let indices = given.get(file).map(Vec::as_slice).unwrap_or_default();
        let kept = indices.iter().map(|index| all.get(*index).cloned().flatten()).collect();
        (file.clone(), kept)
    });
    CodeSurroundings { enclosing: enclosing.collect(), ..surroundings.clone() }
}
