//! What the review of a change means for its task. An approval needs a report that passes; an objection of a command
//! counts with all of its issues that exist. Failed tests are an issue of every review.

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

/// The conclusion of a report, of what a command answered if one reviewed, and of tests that failed.
pub fn conclude_task(
    report: &Report,
    answer: Option<&TaskAnswer>,
    failed_tests: Option<&str>,
) -> TaskConclusion {
    let mut warnings = report.warnings.clone();
    let objection = answer.filter(|answer| answer.result != ReviewResult::Approved);
    let (mut conclusion, not_done) = match (objection, report.outcome) {
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
    if let (ReviewConclusion::Done(review), Some(failed)) = (&mut conclusion, failed_tests) {
        review.issues.push(failed.to_owned());
        if review.result == ReviewResult::Approved {
            review.result = ReviewResult::NeedsRevision;
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::ReviewClaim;
    use crate::render::tests::sample;

    fn report(outcome: Outcome) -> Report {
        Report { outcome, warnings: Vec::new(), ..sample::full().report }
    }

    fn answer(result: ReviewResult, issues: Vec<TaskIssue>) -> TaskAnswer {
        TaskAnswer { result, issues, summary: "S".to_owned(), blocking: false }
    }

    fn prose(text: &str) -> TaskIssue {
        TaskIssue { text: text.to_owned(), claim: None }
    }

    /// An issue at the place of a finding.
    fn located(finding: &Finding) -> TaskIssue {
        let claim = ReviewClaim {
            file: finding.file.clone(),
            span: crate::change::LineSpan::between(finding.line_start, finding.line_end),
            priority: finding.priority,
            category: finding.category,
            title: finding.title.clone(),
            body: finding.body.clone(),
            suggestion: None,
            evidence: None,
            confidence: 0.7,
            reviewer: "command".to_owned(),
            rule: None,
            verification: finding.verification.clone(),
        };
        TaskIssue { text: finding.title.clone(), claim: Some(claim) }
    }

    /// Rows 004-002, 004-025, 004-032, 004-051, 004-055 and 004-057.
    #[test]
    fn an_approval_needs_a_report_that_passes_and_an_objection_needs_issues() {
        use NotReviewedReason::{Incomplete, TimedOut};
        use ReviewResult::{Approved, NeedsRevision, Rejected};
        let could_not = Outcome::CouldNotReview;
        let rows = [
            ("004-051", Outcome::Passed, None, Ok((Approved, 0))),
            ("004-051", Outcome::Blocked, None, Ok((NeedsRevision, 2))),
            ("004-002", could_not(TimedOut), None, Err(TimedOut)),
            ("004-058", Outcome::Passed, Some(answer(Approved, vec![])), Ok((Approved, 0))),
            ("004-032", could_not(Incomplete), Some(answer(Approved, vec![])), Err(Incomplete)),
            (
                "004-057",
                could_not(Incomplete),
                Some(answer(NeedsRevision, vec![prose("A1 is not met")])),
                Ok((NeedsRevision, 1)),
            ),
            (
                "004-066",
                Outcome::Blocked,
                Some(answer(Rejected, vec![prose("x")])),
                Ok((Rejected, 1)),
            ),
        ];
        for (row, outcome, answer, expected) in rows {
            let done = conclude_task(&report(outcome), answer.as_ref(), None);
            let found = match (done.conclusion, done.not_done) {
                (ReviewConclusion::Done(it), None) => Ok((it.result, it.issues.len())),
                (ReviewConclusion::NotDone(_), Some(kind)) => Err(kind),
                other => panic!("{row}: {other:?}"),
            };
            assert_eq!(found, expected, "{row}");
        }
    }

    #[test]
    fn failed_tests_are_an_issue_of_every_review() {
        use ReviewResult::{Approved, NeedsRevision, Rejected};
        for (outcome, answer, expected) in [
            (Outcome::Passed, None, Some((NeedsRevision, 1))),
            (Outcome::Passed, Some(answer(Approved, vec![])), Some((NeedsRevision, 1))),
            (Outcome::Blocked, None, Some((NeedsRevision, 3))),
            (Outcome::Blocked, Some(answer(Rejected, vec![prose("x")])), Some((Rejected, 2))),
            (Outcome::CouldNotReview(NotReviewedReason::TimedOut), None, None),
        ] {
            let done = conclude_task(&report(outcome), answer.as_ref(), Some("the tests failed"));
            let found = match &done.conclusion {
                ReviewConclusion::Done(it) => Some((it.result, it.issues.len())),
                ReviewConclusion::NotDone(_) => None,
            };
            assert_eq!(found, expected, "{outcome:?}");
        }
    }

    /// Row 004-025.
    #[test]
    fn issues_that_do_not_exist_do_not_count() {
        let report = report(Outcome::Blocked);
        let (real, refuted) = (located(&report.issues[0]), located(&report.refuted[0]));
        let both = answer(ReviewResult::NeedsRevision, vec![real.clone(), refuted.clone()]);
        let done = conclude_task(&report, Some(&both), None);
        let ReviewConclusion::Done(it) = done.conclusion else { panic!("{done:?}") };
        assert_eq!(it.issues, [real.text]);
        assert!(done.warnings[0].contains("it was refuted"), "{:?}", done.warnings);
        let none = answer(ReviewResult::NeedsRevision, vec![refuted]);
        let done = conclude_task(&report, Some(&none), None);
        assert_eq!(done.not_done, Some(NotReviewedReason::Incomplete));
    }
}
