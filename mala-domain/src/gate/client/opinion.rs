//! Turns the answer of a panel into the opinion of a reviewer.

use super::{GateAccount, PanelAnswer};
use crate::change::{Change, ChangedFile, FilePath, LineSpan};
use crate::finding::{Category, Priority, ReviewClaim, Verification};
use crate::ports::ReviewerFailure;
use crate::review::{Coverage, FileCoverage, Opinion};
use crate::scope::{HeadState, ScopeSummary};
use crate::verdict::Verdict;

/// The opinion of a panel; its claims have the names of the panel's reviewers.
pub fn opinion(reviewer: &str, word: PanelAnswer, change: &Change) -> Opinion {
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
            // A change without lines has no coverage that could show the failure.
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

/// The reviewed hunks of a file; `None` if the gate counts other hunks, and so reviewed another change.
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

/// A blocking claim about a decision that a person has to make, at the first suitable file of the change.
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

/// Whether the gate reviewed the requested change: the same commits, and the same diff unless the request is
/// limited to some paths of it. True if the gate does not name its change.
pub fn reviewed_this(word: &PanelAnswer, asked: &ScopeSummary) -> bool {
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
