//! What the review of a change means for its task. An approval needs a report that passes; an objection of a command
//! counts with all of its issues that exist.

use super::review::{ConcludedReview, ReviewConclusion};
use crate::command::{ReviewResult, TaskAnswer, TaskIssue};
use crate::finding::Finding;
use crate::report::Report;
use crate::verdict::{NotReviewedReason, Outcome};

/// A conclusion, why there is none as a kind, and what else is to be known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskConclusion {
    /// What the review comes to.
    pub conclusion: ReviewConclusion,
    /// Why it could not be done, as a kind.
    pub not_done: Option<NotReviewedReason>,
    /// What else is to be known.
    pub warnings: Vec<String>,
}

/// The conclusion of a report, and of what a command answered if one reviewed.
pub fn conclude_task(report: &Report, answer: Option<&TaskAnswer>) -> TaskConclusion {
    let mut warnings = report.warnings.clone();
    let objection = answer.filter(|answer| answer.result != ReviewResult::Approved);
    let (conclusion, not_done) = match (objection, report.outcome) {
        (Some(answer), _) => objected(answer, report, &mut warnings),
        (None, Outcome::Passed) => {
            let summary = match answer {
                Some(answer) => answer.summary.clone(),
                None => report.summary.clone(),
            };
            (done(ReviewResult::Approved, Vec::new(), summary, false), None)
        }
        (None, Outcome::Blocked) => {
            let blocks = |finding: &&Finding| report.fail_on.blocks(finding);
            let issues = report.issues.iter().filter(blocks).map(words_of).collect();
            (done(ReviewResult::NeedsRevision, issues, report.summary.clone(), false), None)
        }
        (None, Outcome::CouldNotReview(kind)) => not_done_because(kind, report),
    };
    TaskConclusion { conclusion, not_done, warnings }
}

fn objected(
    answer: &TaskAnswer,
    report: &Report,
    warnings: &mut Vec<String>,
) -> (ReviewConclusion, Option<NotReviewedReason>) {
    let mut issues = Vec::new();
    for issue in &answer.issues {
        match why_not_counted(issue, report) {
            Some(why) => warnings.push(format!("left out an issue: {why}: {}", issue.text)),
            None => issues.push(issue.text.clone()),
        }
    }
    if issues.is_empty() {
        let why =
            format!("the review says {}, and none of its issues exists", answer.result.name());
        let kind = NotReviewedReason::Incomplete;
        return (ReviewConclusion::NotDone(why), Some(kind));
    }
    (done(answer.result, issues, answer.summary.clone(), answer.blocking), None)
}

fn why_not_counted(issue: &TaskIssue, report: &Report) -> Option<&'static str> {
    let claim = issue.claim.as_ref()?;
    let is_it = |finding: &Finding| {
        finding.line_start == claim.span.start() && finding.title == claim.title
    };
    if report.dropped.iter().any(is_it) {
        return Some("its place does not exist");
    }
    report.refuted.iter().any(is_it).then_some("it was refuted")
}

fn done(
    result: ReviewResult,
    issues: Vec<String>,
    summary: String,
    blocking: bool,
) -> ReviewConclusion {
    ReviewConclusion::Done(ConcludedReview { result, issues, summary, blocking })
}

fn not_done_because(
    kind: NotReviewedReason,
    report: &Report,
) -> (ReviewConclusion, Option<NotReviewedReason>) {
    let why = report.failure_reason().unwrap_or(&report.summary).to_owned();
    (ReviewConclusion::NotDone(why), Some(kind))
}

fn words_of(finding: &Finding) -> String {
    let (file, line) = (&finding.file, finding.line_start);
    let priority = finding.effective_priority();
    let body = finding.body.trim();
    let body = if body.is_empty() { String::new() } else { format!(": {body}") };
    format!("{file}:{line}: [{priority}] {}{body}", finding.title)
}
