//! From what a panel says to what every reviewer contributes.

use super::{GateAccount, PanelWord};
use crate::change::{Change, ChangedFile, FilePath, LineSpan};
use crate::finding::{Category, Priority, ReviewClaim, Verification};
use crate::ports::ReviewerFailure;
use crate::review::{Coverage, FileCoverage, Opinion};
use crate::scope::{HeadState, ScopeSummary};
use crate::verdict::Verdict;

/// What a panel contributes to the review of a change, in the names of its reviewers.
pub fn opinion(reviewer: &str, word: PanelWord, change: &Change) -> Opinion {
    let mut claims: Vec<ReviewClaim> = Vec::new();
    for claim in word.claims {
        let mut candidate = claim.candidate;
        if !claim.has_lines
            && let Some(span) =
                change.files.iter().find(|f| f.path == candidate.file).and_then(first)
        {
            candidate.span = span;
        }
        claims.push(candidate);
    }
    claims.extend(word.decision.and_then(|why| decision(reviewer, &why, change)));
    let mut warnings: Vec<String> =
        word.warnings.into_iter().map(|warning| format!("{reviewer}: {warning}")).collect();
    let mut failure = None;
    let accounted = match word.account {
        GateAccount::Files(files) => {
            change.files.iter().filter_map(|it| part(it, &files)).collect()
        }
        GateAccount::Whole => {
            warnings.push(format!(
                "{reviewer}: the gate does not say which regions it reviewed; its verdict is taken for all"
            ));
            change.files.iter().map(|file| (file.path.clone(), all(file))).collect()
        }
        GateAccount::Nothing(why) => {
            warnings.push(format!(
                "{reviewer}: what it does not object to does not count as reviewed: {why}"
            ));
            // Without lines that could be left over, nothing else would say so.
            let has_lines = !Coverage::over(change, &[]).is_complete();
            failure = (!has_lines).then_some(ReviewerFailure::Unreadable(why));
            Vec::new()
        }
    };
    Opinion {
        claims,
        claimed_verdict: Some(word.verdict),
        accounted,
        warnings,
        members: word.members,
        log: word.log,
        failure,
        objects: word.verdict != Verdict::Pass,
        ..Opinion::default()
    }
}

/// What is accounted for of a file. A gate that saw another number of regions saw another change.
fn part(file: &ChangedFile, covered: &[FileCoverage]) -> Option<(FilePath, Vec<usize>)> {
    let own = covered.iter().find(|it| it.file == file.path)?;
    (own.hunks_given == file.hunks.len())
        .then(|| (file.path.clone(), (0..own.hunks_accounted.min(file.hunks.len())).collect()))
}

fn all(file: &ChangedFile) -> Vec<usize> {
    (0..file.hunks.len()).collect()
}

/// The first changed line of a file at head.
fn first(file: &ChangedFile) -> Option<LineSpan> {
    let hunk = file.hunks.first()?;
    let line = hunk.added_lines().map(|(line, _)| line).next().unwrap_or(hunk.new_start.max(1));
    Some(LineSpan::line(line))
}

/// What a person is to decide blocks until they did, wherever in the change there is a place for it.
fn decision(reviewer: &str, why: &str, change: &Change) -> Option<ReviewClaim> {
    let best = |file: &&ChangedFile| file.is_reviewable() && file.exists_at_head();
    let lines = |file: &ChangedFile| file.hunks.len();
    let file = change.files.iter().find(|file| best(file) && lines(file) > 0);
    let file = file.or_else(|| change.files.iter().find(|file| lines(file) > 0));
    let file = file.or_else(|| change.files.first())?;
    let span = if file.exists_at_head() { first(file) } else { None };
    let span = span.unwrap_or(LineSpan::line(1));
    let why = if why.trim().is_empty() { "It gives no reason." } else { why.trim() };
    Some(ReviewClaim {
        file: file.path.clone(),
        span,
        priority: Some(Priority::P1),
        category: Category::Logic,
        title: "[P1] The panel asks for a decision by a person".to_owned(),
        body: format!("The reviewers came to no verdict, and the gate asks a person. {why}"),
        suggestion: None,
        evidence: None,
        confidence: 1.0,
        reviewer: reviewer.to_owned(),
        rule: None,
        verification: Verification::verified("the gate's own verdict"),
    })
}

/// Whether a gate that says what it reviewed has reviewed this: between the same commits, and, with as
/// many files, the same diff. A review that is kept to some paths is a part of what a gate reviews.
pub fn reviewed_this(word: &PanelWord, asked: &ScopeSummary) -> bool {
    let Some(done) = &word.scope else { return true };
    let same_head = match (&done.head, &asked.head) {
        (HeadState::Commit(done), HeadState::Commit(asked)) => done == asked,
        // The working tree is reviewed as a commit that the gate makes of it.
        (HeadState::Commit(_), HeadState::WorkingTree) => true,
        _ => false,
    };
    let same_diff = done.diff_hash == asked.diff_hash;
    same_head && done.base == asked.base && (same_diff || done.files > asked.files)
}
