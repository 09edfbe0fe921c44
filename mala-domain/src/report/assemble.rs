//! Puts a report together from what the stages gave.

use super::{Report, ReviewerReport, SCHEMA_VERSION, Stats, Status};
use crate::finding::{Finding, Priority};
use crate::ports::ReviewerFailure;
use crate::report::Suppressed;
use crate::review::{Coverage, Usage};
use crate::scope::Scope;
use crate::verdict::{Obstacle, Outcome, Threshold, Verdict};
use std::collections::BTreeMap;

/// What the stages gave.
#[derive(Debug, Clone)]
pub struct Gathered {
    /// The id.
    pub review_id: String,
    /// What was reviewed.
    pub scope: Scope,
    /// How the review ended.
    pub outcome: Outcome,
    /// What stands, worst first.
    pub findings: Vec<Finding>,
    /// What comments set aside.
    pub suppressed: Vec<Suppressed>,
    /// What was covered.
    pub coverage: Coverage,
    /// Whether a reviewer could not do all that it wanted to.
    pub cut_short: bool,
    /// One entry per reviewer.
    pub reviewers: Vec<ReviewerReport>,
    /// Why reviewers failed.
    pub failures: Vec<ReviewerFailure>,
    /// What went wrong without stopping the review.
    pub warnings: Vec<String>,
    /// From which priority on findings fail.
    pub fail_on: Threshold,
    /// What to say before everything else.
    pub preface: Option<String>,
    /// Seconds from start to end.
    pub seconds: f64,
}

/// The report over what the stages gave.
pub fn assemble(gathered: Gathered) -> Report {
    let could_not = matches!(gathered.outcome, Outcome::CouldNotReview(_));
    let verdict = (!could_not).then(|| Verdict::over(&gathered.findings));
    let summary = summary(&gathered);
    let stats = stats(&gathered.reviewers, gathered.seconds);
    Report {
        schema_version: SCHEMA_VERSION,
        passed: gathered.outcome == Outcome::Passed,
        verdict,
        status: status(&gathered),
        parse_error: parse_error(gathered.outcome, &gathered.failures, &gathered.coverage),
        fatal_error: matches!(
            gathered.outcome,
            Outcome::CouldNotReview(Obstacle::NoReviewers | Obstacle::Internal)
        ),
        model_used: gathered.reviewers.iter().find_map(|reviewer| reviewer.model.clone()),
        files_reviewed: gathered
            .coverage
            .files
            .iter()
            .filter(|file| file.hunks_accounted > 0)
            .map(|file| file.file.clone())
            .collect(),
        review_id: gathered.review_id,
        outcome: gathered.outcome,
        issues: gathered.findings,
        suppressed: gathered.suppressed,
        review_log_path: gathered.reviewers.iter().find_map(|reviewer| reviewer.log.clone()),
        warnings: gathered.warnings,
        summary,
        coverage: gathered.coverage,
        scope: gathered.scope,
        fail_on: gathered.fail_on,
        reviewers: gathered.reviewers,
        stats,
    }
}

fn status(gathered: &Gathered) -> Status {
    match gathered.outcome {
        Outcome::CouldNotReview(_) if gathered.coverage.hunks_accounted == 0 => Status::Error,
        _ if gathered.coverage.is_complete() && !gathered.cut_short => Status::Ok,
        _ => Status::Truncated,
    }
}

fn parse_error(
    outcome: Outcome,
    failures: &[ReviewerFailure],
    coverage: &Coverage,
) -> Option<String> {
    // What is fatal is no answer that could not be read: whoever reads this field tries again.
    let Outcome::CouldNotReview(Obstacle::Incomplete | Obstacle::TimedOut) = outcome else {
        return None;
    };
    let failure = failures.iter().map(ToString::to_string).next();
    Some(failure.unwrap_or_else(|| {
        let left = coverage.hunks_given - coverage.hunks_accounted;
        format!("{left} of {} hunks were not reviewed", coverage.hunks_given)
    }))
}

fn summary(gathered: &Gathered) -> String {
    let mut sentences: Vec<String> = gathered.preface.iter().cloned().collect();
    let names: Vec<&str> = gathered.reviewers.iter().map(|r| r.reviewer.as_str()).collect();
    sentences.push(match gathered.outcome {
        Outcome::CouldNotReview(_) => "The change could not be reviewed.".to_owned(),
        _ if gathered.scope.files == 0 => {
            format!("Nothing to review: {} has no changes.", gathered.scope.target)
        }
        _ => format!(
            "{} reviewed {} in {}: {}.",
            if names.is_empty() { "Nobody".to_owned() } else { names.join(", ") },
            counted(gathered.coverage.hunks_accounted, "hunk"),
            counted(gathered.coverage.files.len(), "file"),
            tally(&gathered.findings),
        ),
    });
    sentences.join(" ")
}

/// `3 findings (1 P0, 2 P2)`, or `no findings`.
pub fn tally(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return "no findings".to_owned();
    }
    let by_priority: Vec<String> = Priority::ALL
        .into_iter()
        .map(|priority| {
            (findings.iter().filter(|f| f.effective_priority() == priority).count(), priority)
        })
        .filter(|(count, _)| *count > 0)
        .map(|(count, priority)| format!("{count} {priority}"))
        .collect();
    format!("{} ({})", counted(findings.len(), "finding"), by_priority.join(", "))
}

/// `1 file`, `2 files`.
pub fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

fn stats(reviewers: &[ReviewerReport], seconds: f64) -> Stats {
    let usages = || reviewers.iter().map(|reviewer| &reviewer.usage);
    let known = |field: fn(&Usage) -> Option<u64>| {
        usages().map(field).try_fold(0_u64, |sum, one| Some(sum.saturating_add(one?)))
    };
    let mut answers_read = BTreeMap::new();
    for (rung, count) in usages().flat_map(|usage| &usage.answers_read) {
        *answers_read.entry(*rung).or_default() += count;
    }
    Stats {
        tokens_used: known(|usage| usage.tokens_used),
        cost_usd: usages().try_fold(0.0, |sum, usage| Some(sum + usage.cost_usd?)),
        latency_seconds_e2e: seconds,
        latency_seconds_llm: usages().fold(0.0, |sum, usage| sum + usage.latency_seconds_llm),
        llm_calls: usages().map(|usage| usage.llm_calls).fold(0, u64::saturating_add),
        tool_calls: usages().map(|usage| usage.tool_calls).fold(0, u64::saturating_add),
        cache_read_tokens: known(|usage| usage.cache_read_tokens),
        answers_read,
    }
}
