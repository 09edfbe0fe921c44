//! Derives the result of a task review. An approval needs a report that passes; an objection of a
//! command counts with all of its issues that exist. Failed tests are an issue of every review;
//! without tests that ran to their end there is no approval.

use super::advice::NOTHING_REVIEWABLE;
use super::context::FailedTests;
use super::review::{ConcludedReview, ReviewConclusion};
use crate::command::{ReviewResult, TaskAnswer, TaskIssue};
use crate::finding::Finding;
use crate::report::Report;
use crate::verdict::{NotReviewedReason, Outcome};

/// The conclusion of a review, why it could not be done, and warnings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskConclusion {
    /// The conclusion.
    pub conclusion: ReviewConclusion,
    /// Why it could not be done, as a kind.
    pub not_done: Option<NotReviewedReason>,
    /// Warnings, including the files that were not reviewed.
    pub warnings: Vec<String>,
    /// Whether no file was reviewed.
    pub is_empty: bool,
}

/// Other facts about a review.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TaskFacts<'f> {
    /// How the tests failed.
    pub failed_tests: Option<&'f FailedTests>,
    /// The output of the command.
    pub printed: &'f str,
}

/// The conclusion from the report, the answer of the command that reviewed (if any), and failed
/// tests.
pub fn conclude_task(
    report: &Report,
    answer: Option<&TaskAnswer>,
    facts: &TaskFacts<'_>,
) -> TaskConclusion {
    let mut warnings = report.warnings.clone();
    let objection = answer.filter(|answer| answer.result != ReviewResult::Approved);
    let blocker = named_blocker(report, facts.printed);
    let (mut conclusion, mut not_done) = match (objection, report.outcome) {
        (Some(answer), _) => objected(answer, report, &mut warnings),
        (None, Outcome::Passed) if blocker.is_some() => {
            let line = blocker.unwrap_or_default();
            let why = format!("the review approves, and names a blocking problem: {line}");
            (ReviewConclusion::NotDone(why), Some(NotReviewedReason::Incomplete))
        }
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
    if let (ReviewConclusion::Done(review), Some(failed)) = (&mut conclusion, facts.failed_tests) {
        let is_approved = review.result == ReviewResult::Approved;
        review.issues.push(failed.issue.clone());
        if is_approved && failed.has_ended {
            review.result = ReviewResult::NeedsRevision;
            review.only_tests_failed = true;
        } else if is_approved {
            not_done = Some(NotReviewedReason::Incomplete);
            conclusion = ReviewConclusion::NotDone(failed.issue.clone());
        }
    }
    let why = match &conclusion {
        ReviewConclusion::NotDone(why) => why.as_str(),
        ReviewConclusion::Done(_) => "",
    };
    let is_told =
        |line: &String| why == line || report.warnings.iter().any(|it| it.starts_with(line));
    warnings.extend(report.coverage.left_out().into_iter().filter(|line| !is_told(line)));
    let is_empty = report.coverage.files.is_empty();
    TaskConclusion { conclusion, not_done, warnings, is_empty }
}

/// A line of an answer with `[P0]` or `[P1]` and a line of a changed file: an approval contradicts it.
fn named_blocker<'p>(report: &Report, printed: &'p str) -> Option<&'p str> {
    let has_place = |line: &str| {
        report.coverage.files.iter().any(|reviewed| {
            let name = format!("{}:", reviewed.file);
            let mut places = line.split(name.as_str()).skip(1);
            places.any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        })
    };
    let is_blocker = |line: &&str| ["[P0]", "[P1]"].iter().any(|it| line.contains(it));
    printed.lines().map(str::trim).filter(is_blocker).find(|line| has_place(line))
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
    let only_tests_failed = false;
    ReviewConclusion::Done(ConcludedReview { result, issues, summary, blocking, only_tests_failed })
}

fn not_done_because(
    kind: NotReviewedReason,
    report: &Report,
) -> (ReviewConclusion, Option<NotReviewedReason>) {
    let why = match report.coverage.has_nothing_reviewable() {
        true => NOTHING_REVIEWABLE.to_owned(),
        false => report.failure_reason().unwrap_or(&report.summary).to_owned(),
    };
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
    use crate::review::{SkipReason, SkippedFile};

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
            let done = conclude_task(&report(outcome), answer.as_ref(), &TaskFacts::default());
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
        let approved = || Some(answer(Approved, vec![]));
        let rejected = || Some(answer(Rejected, vec![prose("x")]));
        for (outcome, answer, has_ended, expected) in [
            (Outcome::Passed, None, true, Some((NeedsRevision, 1))),
            (Outcome::Passed, approved(), true, Some((NeedsRevision, 1))),
            (Outcome::Passed, approved(), false, None),
            (Outcome::Blocked, None, true, Some((NeedsRevision, 3))),
            (Outcome::Blocked, rejected(), true, Some((Rejected, 2))),
            (Outcome::Blocked, rejected(), false, Some((Rejected, 2))),
            (Outcome::CouldNotReview(NotReviewedReason::TimedOut), None, true, None),
        ] {
            let failed = FailedTests { issue: "the tests failed".to_owned(), has_ended };
            let facts = TaskFacts { failed_tests: Some(&failed), printed: "" };
            let done = conclude_task(&report(outcome), answer.as_ref(), &facts);
            let found = match &done.conclusion {
                ReviewConclusion::Done(it) => Some((it.result, it.issues.len())),
                ReviewConclusion::NotDone(_) => None,
            };
            assert_eq!(found, expected, "{outcome:?}");
            assert_eq!(found.is_none(), done.not_done.is_some(), "{outcome:?}");
        }
    }

    /// Every review says what it did not cover.
    #[test]
    fn files_that_are_not_reviewed_are_named() {
        let skip = |file: &str, reason| SkippedFile { file: file.into(), reason, hunks: 1 };
        let mut report = report(Outcome::Passed);
        report.coverage.skipped =
            vec![skip("a.py", SkipReason::Generated), skip("v/b.py", SkipReason::Vendored)];
        let told = "v/b.py is not reviewed: vendored code; to review it, do this".to_owned();
        report.warnings = vec![told.clone()];
        let done = conclude_task(&report, None, &TaskFacts::default());
        assert_eq!(done.warnings, [told, "a.py is not reviewed: generated".to_owned()]);
        assert!(!done.is_empty);
        report.coverage.files.clear();
        assert!(conclude_task(&report, None, &TaskFacts::default()).is_empty);
        report.outcome = Outcome::CouldNotReview(NotReviewedReason::Incomplete);
        let done = conclude_task(&report, None, &TaskFacts::default());
        assert_eq!(done.conclusion, ReviewConclusion::NotDone(NOTHING_REVIEWABLE.to_owned()));
    }

    #[test]
    fn an_approval_that_names_a_blocker_is_none() {
        let report = report(Outcome::Passed);
        let file = report.coverage.files[0].file.to_string();
        let approved = answer(ReviewResult::Approved, vec![]);
        for (printed, is_approval) in [
            (format!("{file}:1 [P0] SQL injection"), false),
            (format!("- [P1] wrong, see `{file}:12`"), false),
            (format!("{file}:1 [P2] a nit"), true),
            (format!("{file}: no [P0] problem"), true),
            ("other.py:1 [P0] not in this change".to_owned(), true),
        ] {
            let facts = TaskFacts { failed_tests: None, printed: &printed };
            let done = conclude_task(&report, Some(&approved), &facts);
            assert_eq!(done.not_done.is_none(), is_approval, "{printed}: {done:?}");
        }
    }

    /// Row 004-025.
    #[test]
    fn issues_that_do_not_exist_do_not_count() {
        let report = report(Outcome::Blocked);
        let (real, refuted) = (located(&report.issues[0]), located(&report.refuted[0]));
        let both = answer(ReviewResult::NeedsRevision, vec![real.clone(), refuted.clone()]);
        let done = conclude_task(&report, Some(&both), &TaskFacts::default());
        let ReviewConclusion::Done(it) = done.conclusion else { panic!("{done:?}") };
        assert_eq!(it.issues, [real.text]);
        assert!(done.warnings[0].contains("it was refuted"), "{:?}", done.warnings);
        let none = answer(ReviewResult::NeedsRevision, vec![refuted]);
        let done = conclude_task(&report, Some(&none), &TaskFacts::default());
        assert_eq!(done.not_done, Some(NotReviewedReason::Incomplete));
    }
}
