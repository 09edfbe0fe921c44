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

/// The most annotations that GitHub takes in one request.
const MAX_ANNOTATIONS: usize = 50;

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
    /// What goes wrong.
    pub message: String,
}

/// A check run to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckDraft {
    /// Identifies the result: the same result is written once.
    pub external_id: String,
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
    /// Its number.
    pub id: u64,
    /// The result that it shows.
    pub external_id: String,
    /// How many annotations it has.
    pub n_annotations: usize,
}

/// The check run of a review. `without_review` is how it ends when there is no review; it is never a success.
pub fn check_run(
    report: &Report,
    head: &str,
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
        external_id: format!("{}-{digest}", report.review_id),
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

/// Plans the next write of a check run: at most 50 annotations each, until all are there.
pub fn plan_check(discussion: &Discussion, draft: &CheckDraft) -> Option<ForgeWrite> {
    let known = discussion.checks.iter().filter(|check| check.external_id == draft.external_id);
    let Some(known) = known.max_by_key(|check| check.id) else {
        let annotations = draft.annotations.iter().take(MAX_ANNOTATIONS).cloned().collect();
        return Some(ForgeWrite::CreateCheck {
            check: CheckDraft { annotations, ..draft.clone() },
        });
    };
    let left = draft.annotations.iter().skip(known.n_annotations).take(MAX_ANNOTATIONS);
    let annotations: Vec<CheckAnnotation> = left.cloned().collect();
    let check = CheckDraft { annotations, ..draft.clone() };
    (!check.annotations.is_empty()).then_some(ForgeWrite::UpdateCheck { id: known.id, check })
}
