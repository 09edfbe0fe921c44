//! Puts a report together from what the stages gave.

use super::{CheckerReport, Consensus, Report, ReviewerReport, SCHEMA_VERSION, Stats, Status};
use crate::finding::{Finding, Priority};
use crate::ports::Checked;
use crate::report::Suppressed;
use crate::review::admit::{Admission, Dropped};
use crate::review::consensus::{Decision, VoteStatus, by_rule};
use crate::review::decide::DecisionPolicy;
use crate::review::{Coverage, GateMember, GivenOpinion, Opinion, Opinions, ReviewerVote, Usage};
use crate::scope::ScopeSummary;
use crate::verdict::{NotReviewedReason, Outcome, Threshold, Verdict};

/// What the stages gave.
#[derive(Debug, Clone)]
pub struct ReviewRecord {
    /// The id.
    pub review_id: String,
    /// What was reviewed.
    pub scope: ScopeSummary,
    /// What the reviewers gave.
    pub opinions: Opinions,
    /// Their votes, in the same order.
    pub votes: Vec<ReviewerVote>,
    /// The findings that stand or are refuted, worst first, and the claims that were dropped.
    pub admission: Admission,
    /// What comments suppress.
    pub suppressed: Vec<Suppressed>,
    /// What verifiers used, by name.
    pub checks: Vec<(String, Checked)>,
    /// The agent that checked findings of other reviewers.
    pub checker: Option<CheckerReport>,
    /// What was covered.
    pub coverage: Coverage,
    /// Whether work that a reviewer or a verifier wanted to do was not done.
    pub cut_short: bool,
    /// How the review ended.
    pub decision: Decision,
    /// By what it was decided.
    pub policy: DecisionPolicy,
    /// What went wrong without stopping the review.
    pub warnings: Vec<String>,
    /// What to say before everything else.
    pub preface: Option<String>,
    /// The folder for the files of this review.
    pub log: Option<String>,
    /// Seconds from start to end.
    pub seconds: f64,
}

/// The report over what the stages gave.
pub fn assemble(record: ReviewRecord) -> Report {
    let outcome = record.decision.outcome;
    let could_not = matches!(outcome, Outcome::CouldNotReview(_));
    let verdict = (!could_not).then(|| Verdict::over(&record.admission.findings));
    let reviewers = reviewer_reports(&record);
    let stats = stats(&reviewers, record.checker.as_ref(), record.seconds);
    Report {
        schema_version: SCHEMA_VERSION,
        passed: outcome == Outcome::Passed,
        verdict,
        outcome,
        status: status(&record),
        parse_error: parse_error(&record),
        fatal_error: matches!(
            outcome,
            Outcome::CouldNotReview(NotReviewedReason::NoReviewers | NotReviewedReason::Internal)
        ),
        model_used: reviewers.iter().find_map(|reviewer| reviewer.model.clone()),
        files_reviewed: record
            .coverage
            .files
            .iter()
            .filter(|file| file.hunks_accounted > 0)
            .map(|file| file.file.clone())
            .collect(),
        summary: summary(&record, &reviewers),
        fail_on: fail_on(&record),
        consensus: consensus(&record),
        errors: errors(&record),
        dropped: record.admission.dropped.iter().map(Dropped::marked).collect(),
        review_log_path: record.log.or_else(|| reviewers.iter().find_map(|it| it.log.clone())),
        review_id: record.review_id,
        issues: record.admission.findings,
        suppressed: record.suppressed,
        warnings: record.warnings,
        coverage: record.coverage,
        scope: record.scope,
        checker: record.checker,
        tracking: None,
        reviewers,
        stats,
    }
}

fn fail_on(record: &ReviewRecord) -> Threshold {
    if record.opinions.objects() { record.policy.fail_on_objection } else { record.policy.fail_on }
}

fn consensus(record: &ReviewRecord) -> Consensus {
    let Decision { verdict, passes, needed, .. } = record.decision;
    let claimed: Vec<VoteStatus> = record.votes.iter().map(|vote| vote.claimed).collect();
    let claimed_verdict = match claimed.is_empty() {
        true => verdict,
        false => by_rule(record.policy.rule, &claimed).verdict,
    };
    Consensus { rule: record.policy.rule, needed, passes, verdict, claimed_verdict }
}

fn status(record: &ReviewRecord) -> Status {
    match record.decision.outcome {
        Outcome::CouldNotReview(_) if record.coverage.hunks_accounted == 0 => Status::Error,
        _ if record.coverage.is_complete() && !record.cut_short => Status::Ok,
        _ => Status::Truncated,
    }
}

/// Why the review is to be tried again; `None` when that is of no use.
fn parse_error(record: &ReviewRecord) -> Option<String> {
    let reason = match record.decision.outcome {
        Outcome::CouldNotReview(NotReviewedReason::TimedOut) => return Some("timeout".to_owned()),
        Outcome::CouldNotReview(NotReviewedReason::Incomplete) => NotReviewedReason::Incomplete,
        _ => return None,
    };
    let mut absent =
        reviewer_errors(record).filter(|(_, vote)| vote.vote.status == VoteStatus::Absent(reason));
    match (absent.next(), record.opinions.0.len()) {
        (Some((_, vote)), 1) => vote.vote.error.clone(),
        (Some((name, vote)), _) => {
            Some(format!("{name}: {}", vote.vote.error.as_deref().unwrap_or_default()))
        }
        (None, _) => errors(record).into_iter().next(),
    }
}

fn reviewer_errors(record: &ReviewRecord) -> impl Iterator<Item = (&str, &ReviewerVote)> {
    let all = record.opinions.0.iter().zip(&record.votes);
    all.filter(|(_, vote)| vote.vote.error.is_some())
        .map(|(given, vote)| (given.reviewer.as_str(), vote))
}

/// Why reviewers have no vote, and what else keeps the change from being reviewed.
fn errors(record: &ReviewRecord) -> Vec<String> {
    let mut errors: Vec<String> = reviewer_errors(record)
        .map(|(name, vote)| format!("{name}: {}", vote.vote.error.as_deref().unwrap_or_default()))
        .collect();
    let Outcome::CouldNotReview(_) = record.decision.outcome else { return errors };
    let (needed, n_votes) = (record.decision.needed, record.votes.len());
    if n_votes > 0 && needed > n_votes {
        let rule = record.policy.rule;
        errors.push(format!("{rule} needs {needed} passes, and the panel has {n_votes}"));
    }
    if n_votes == 0 {
        let reason = match record.decision.outcome {
            Outcome::CouldNotReview(NotReviewedReason::NoReviewers) => "no reviewer is available",
            _ => "nothing in this change can be reviewed",
        };
        errors.push(reason.to_owned());
        errors.extend(match record.coverage.is_blind() {
            true => record.coverage.left_out(),
            false => record.warnings.clone(),
        });
    }
    errors
}

/// One entry per reviewer; those that a reviewer speaks for have theirs in its place.
fn reviewer_reports(record: &ReviewRecord) -> Vec<ReviewerReport> {
    let all = record.opinions.0.iter().zip(&record.votes);
    all.flat_map(|(given, vote)| match &given.opinion {
        Ok(opinion) if opinion.failure.is_none() && !opinion.members.is_empty() => {
            let entry = |member| member_report(record, opinion, member);
            opinion.members.iter().map(entry).collect()
        }
        _ => vec![reviewer_report(record, given, vote)],
    })
    .collect()
}

fn reviewer_report(
    record: &ReviewRecord,
    given: &GivenOpinion,
    vote: &ReviewerVote,
) -> ReviewerReport {
    let name = &given.reviewer;
    let opinion = given.opinion.as_ref().ok();
    let checks = record.checks.iter().filter(|(verifier, _)| verifier == name);
    let (mut model, mut usage) = match opinion {
        Some(opinion) => (opinion.model.clone(), opinion.usage.clone()),
        None => (None, Usage::default()),
    };
    for (_, checked) in checks {
        usage = usage.plus(&checked.usage);
        model = checked.model.clone().or(model);
    }
    ReviewerReport {
        reviewer: name.clone(),
        model,
        verdict: vote.vote.verdict,
        findings: given.findings(&record.admission.findings).len(),
        dropped: given.dropped(&record.admission.dropped).len(),
        error: vote.vote.error.clone(),
        log: opinion.and_then(|opinion| opinion.log.clone()),
        usage,
        claimed_verdict: opinion.and_then(|opinion| opinion.claimed_verdict),
        summary: opinion.map(|opinion| opinion.summary.clone()).unwrap_or_default(),
        not_reviewed: match vote.vote.status {
            VoteStatus::Absent(reason) => Some(reason),
            _ => None,
        },
        coverage: Some(vote.coverage.clone()).filter(|_| record.opinions.0.len() > 1),
        process: opinion.and_then(|opinion| opinion.process.clone()),
    }
}

fn member_report(record: &ReviewRecord, opinion: &Opinion, member: &GateMember) -> ReviewerReport {
    let name = &member.name;
    let own = record.admission.findings.iter().filter(|finding| finding.is_reported_by(name));
    ReviewerReport {
        reviewer: name.clone(),
        model: member.model.clone(),
        verdict: member.error.is_none().then(|| Verdict::over(own)),
        findings: reported_by(record, name),
        dropped: record.admission.dropped.iter().filter(|it| it.reviewer == *name).count(),
        error: member.error.clone(),
        log: opinion.log.clone(),
        usage: member.usage.clone(),
        claimed_verdict: None,
        summary: String::new(),
        not_reviewed: None,
        coverage: None,
        process: None,
    }
}

fn reported_by(record: &ReviewRecord, name: &str) -> usize {
    record.admission.findings.iter().filter(|finding| finding.is_reported_by(name)).count()
}

fn summary(record: &ReviewRecord, reviewers: &[ReviewerReport]) -> String {
    let mut sentences: Vec<String> = record.preface.iter().cloned().collect();
    let names: Vec<&str> = reviewers.iter().map(|it| it.reviewer.as_str()).collect();
    sentences.push(match record.decision.outcome {
        Outcome::CouldNotReview(_) => "The change could not be reviewed.".to_owned(),
        _ if record.scope.files == 0 => {
            format!("Nothing to review: {} has no changes.", record.scope.target)
        }
        _ => format!(
            "{} reviewed {} in {}: {}.",
            if names.is_empty() { "No reviewer".to_owned() } else { names.join(", ") },
            counted(record.coverage.hunks_accounted, "hunk"),
            counted(record.coverage.files.len(), "file"),
            tally(&record.admission.findings),
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

fn stats(reviewers: &[ReviewerReport], checker: Option<&CheckerReport>, seconds: f64) -> Stats {
    let all = reviewers.iter().map(|it| &it.usage).chain(checker.map(|it| &it.usage));
    let sum = all.fold(Usage::nothing(), |sum, usage| sum.plus(usage));
    Stats {
        tokens_used: sum.tokens_used,
        cost_usd: sum.cost_usd,
        latency_seconds_e2e: seconds,
        latency_seconds_llm: sum.latency_seconds_llm,
        llm_calls: sum.llm_calls,
        tool_calls: sum.tool_calls,
        cache_read_tokens: sum.cache_read_tokens,
        answers_read: sum.answers_read,
    }
}
