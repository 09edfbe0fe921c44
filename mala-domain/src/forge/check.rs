//! The check run of a review: a conclusion that can block a merge, and an annotation per finding. A review that
//! could not be done is neutral or a failure, never a success.

use super::{Discussion, ForgeWrite};
use crate::change::FilePath;
use crate::config::UnreviewedCheck;
use crate::finding::{Finding, Priority};
use crate::render::{at_most, one_line, visible};
use crate::report::Report;
use crate::verdict::{self, Outcome};
use sha2::{Digest, Sha256};

/// The name of the check.
pub const CHECK_NAME: &str = "mala";

/// How a check ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckConclusion {
    /// The change passed.
    Success,
    /// Findings block it.
    Failure,
    /// It could not be reviewed.
    Neutral,
}

/// A note on lines of a check run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckAnnotation {
    /// The file at head.
    pub path: FilePath,
    /// The first line.
    pub start_line: u32,
    /// The last line.
    pub end_line: u32,
    /// `failure`, `warning` or `notice`.
    pub level: &'static str,
    /// A one-line summary.
    pub title: String,
    /// The problem.
    pub message: String,
}

/// A check run to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckDraft {
    /// Identifies the result: the same result is not written twice in a row.
    pub result: String,
    /// When the review started, in a form that sorts by time.
    pub started: String,
    /// The reviewed commit.
    pub head: String,
    /// How it ends.
    pub conclusion: CheckConclusion,
    /// A one-line summary.
    pub title: String,
    /// The text, in Markdown.
    pub summary: String,
    /// The findings, worst first.
    pub annotations: Vec<CheckAnnotation>,
}

/// A check run that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgeCheck {
    /// Its number; later check runs have larger ones.
    pub id: u64,
    /// The result that it shows.
    pub result: String,
    /// When its review started; empty when that is not known.
    pub started: String,
    /// How many annotations it has.
    pub n_annotations: usize,
}

impl CheckDraft {
    /// The id that the forge stores, to recognise the check run.
    pub fn external_id(&self) -> String {
        format!("{}@{}", self.result, self.started)
    }
}

impl ForgeCheck {
    /// A check run with this external id.
    pub fn new(id: u64, external_id: &str, n_annotations: usize) -> Self {
        let (result, started) = external_id.split_once('@').unwrap_or((external_id, ""));
        Self { id, result: result.to_owned(), started: started.to_owned(), n_annotations }
    }
}

/// The check run of a review that started at this time. `without_review` is how it ends when there is no review; it
/// is never a success.
pub fn check_run(
    report: &Report,
    (head, started): (&str, &str),
    summary: &str,
    without_review: UnreviewedCheck,
) -> CheckDraft {
    let conclusion = match report.outcome {
        Outcome::Passed => CheckConclusion::Success,
        Outcome::Blocked => CheckConclusion::Failure,
        Outcome::CouldNotReview(_) => match without_review {
            UnreviewedCheck::Neutral => CheckConclusion::Neutral,
            UnreviewedCheck::Failure => CheckConclusion::Failure,
        },
    };
    let counted = report.issues.iter().filter(|finding| verdict::counts(finding));
    let annotations: Vec<CheckAnnotation> = counted.map(annotation).collect();
    let hash = Sha256::digest(format!("{conclusion:?} {annotations:?}").as_bytes());
    let digest: String = hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    CheckDraft {
        result: format!("{}-{digest}", report.review_id),
        started: started.to_owned(),
        head: head.to_owned(),
        conclusion,
        title: at_most(&one_line(&report.summary), 200).into_owned(),
        summary: at_most(summary, 60_000).into_owned(),
        annotations,
    }
}

fn annotation(finding: &Finding) -> CheckAnnotation {
    let span = finding.span();
    CheckAnnotation {
        path: finding.file.clone(),
        start_line: span.start(),
        end_line: span.end(),
        level: match finding.effective_priority() {
            Priority::P0 | Priority::P1 => "failure",
            Priority::P2 => "warning",
            Priority::P3 => "notice",
        },
        title: at_most(&one_line(&finding.title), 200).into_owned(),
        message: at_most(&visible(finding.body.trim()), 4000).into_owned(),
    }
}

/// Plans the write of a check run with all annotations that are missing. A forge shows the last check run of a commit,
/// so only that one counts: a result that was shown before another one is written again, and the result of a review that
/// started later stays.
pub fn plan_check(discussion: &Discussion, draft: &CheckDraft) -> Option<ForgeWrite> {
    let latest = discussion.checks.iter().max_by_key(|check| check.id);
    let known = latest.filter(|latest| latest.result == draft.result);
    if known.is_none() && latest.is_some_and(|latest| latest.started > draft.started) {
        return None;
    }
    let n_known = known.map_or(0, |known| known.n_annotations);
    let missing = draft.annotations.iter().skip(n_known).cloned().collect();
    let check = CheckDraft { annotations: missing, ..draft.clone() };
    match known {
        None => Some(ForgeWrite::CreateCheck { check }),
        Some(_) if check.annotations.is_empty() => None,
        Some(known) => Some(ForgeWrite::UpdateCheck { id: known.id, check }),
    }
}
