//! Assembles a report from the results of the stages.

use super::{
    Consensus, Report, ReportStats, ReviewStatus, ReviewerReport, SCHEMA_VERSION, TrackingReport,
};
use crate::finding::{Finding, Priority};
use crate::ports::{ReviewerFailure, VerifierResult};
use crate::review::admit::{Admission, DroppedClaim};
use crate::review::consensus::{Decision, VoteStatus, joint};
use crate::review::decide::{DecisionPolicy, ReviewerVote, split};
use crate::review::suppress::SuppressedFinding;
use crate::review::verify::CheckerReport;
use crate::review::{Coverage, GateMember, Opinion, Opinions, ReviewerOpinion, Usage, counted};
use crate::scope::ScopeSummary;
use crate::verdict::{NotReviewedReason, Outcome, Threshold, Verdict, counts, is_refuted};

/// The results of the stages.
#[derive(Debug, Clone)]
pub struct ReportParts {
    /// The id.
    pub review_id: String,
    /// Exactly what was reviewed.
    pub scope: ScopeSummary,
    /// The opinions of the reviewers.
    pub opinions: Opinions,
    /// Their votes, in the same order.
    pub votes: Vec<ReviewerVote>,
    /// The admitted findings, worst first, including refuted ones, and the dropped claims.
    pub admission: Admission,
    /// The findings that comments suppress.
    pub suppressed: Vec<SuppressedFinding>,
    /// The results of the verifiers, by name.
    pub checks: Vec<(String, VerifierResult)>,
    /// The agent that checked findings of other reviewers.
    pub checker: Option<CheckerReport>,
    /// The coverage.
    pub coverage: Coverage,
    /// Whether work that a reviewer or a verifier wanted to do was not done.
    pub cut_short: bool,
    /// How the review ended.
    pub decision: Decision,
    /// The policy of the decision.
    pub policy: DecisionPolicy,
    /// Problems that did not stop the review.
    pub warnings: Vec<String>,
    /// A message to show before everything else.
    pub preface: Option<String>,
    /// The folder for the files of this review.
    pub log: Option<String>,
    /// The ledger's data about the review.
    pub tracking: Option<TrackingReport>,
    /// Seconds from start to end.
    pub seconds: f64,
}

impl ReportParts {
    /// The findings that are not refuted.
    pub fn issues(&self) -> impl Iterator<Item = &Finding> {
        self.admission.findings.iter().filter(|finding| counts(finding))
    }

    /// The threshold that the report names.
    pub fn fail_on(&self) -> Threshold {
        self.policy.reported_threshold(&self.opinions, &self.votes)
    }

    /// The names of the reviewers in the report.
    pub fn reviewer_names(&self) -> Vec<String> {
        reviewer_reports(self).into_iter().map(|it| it.reviewer).collect()
    }

    /// Dollars of all reviewers; `None` if one of them did not report them.
    pub fn cost_usd(&self) -> Option<f64> {
        stats(&reviewer_reports(self), self.checker.as_ref(), self.seconds).cost_usd
    }
}

/// Assembles a report from the results of the stages.
pub fn assemble(mut parts: ReportParts) -> Report {
    let (findings, others): (Vec<Finding>, Vec<Finding>) =
        std::mem::take(&mut parts.admission.findings).into_iter().partition(counts);
    let (refuted, notes): (Vec<Finding>, Vec<Finding>) = others.into_iter().partition(is_refuted);
    parts.admission.findings = findings;
    let outcome = parts.decision.outcome;
    let could_not = matches!(outcome, Outcome::CouldNotReview(_));
    let verdict = (!could_not).then(|| Verdict::over(&parts.admission.findings));
    let reviewers = reviewer_reports(&parts);
    let stats = stats(&reviewers, parts.checker.as_ref(), parts.seconds);
    Report {
        schema_version: SCHEMA_VERSION,
        passed: outcome == Outcome::Passed,
        verdict,
        outcome,
        status: status(&parts),
        parse_error: parse_error(&parts),
        fatal_error: matches!(
            outcome,
            Outcome::CouldNotReview(NotReviewedReason::NoReviewers | NotReviewedReason::Internal)
        ),
        model_used: reviewers.iter().find_map(|reviewer| reviewer.model.clone()),
        files_reviewed: parts
            .coverage
            .files
            .iter()
            .filter(|file| file.hunks_accounted > 0)
            .map(|file| file.file.clone())
            .collect(),
        summary: summary(&parts, &reviewers, notes.len()),
        fail_on: parts.fail_on(),
        consensus: consensus(&parts),
        errors: errors(&parts),
        dropped: parts.admission.dropped.iter().map(DroppedClaim::to_refuted_finding).collect(),
        review_log_path: parts.log.or_else(|| reviewers.iter().find_map(|it| it.log.clone())),
        review_id: parts.review_id,
        issues: parts.admission.findings,
        notes,
        refuted,
        suppressed: parts.suppressed,
        warnings: parts.warnings.into_iter().chain(parts.coverage.vendored_warning()).collect(),
        coverage: parts.coverage,
        scope: parts.scope,
        checker: parts.checker,
        tracking: parts.tracking,
        reviewers,
        stats,
    }
}

fn consensus(parts: &ReportParts) -> Consensus {
    let Decision { verdict, passes, needed, .. } = parts.decision;
    let claimed = parts.votes.iter().map(|vote| vote.claimed);
    let claimed_verdict = match parts.votes.is_empty() {
        true => verdict,
        false => joint(parts.policy.rule, &split(&parts.opinions, claimed, &parts.policy)).verdict,
    };
    Consensus { rule: parts.policy.rule, needed, passes, verdict, claimed_verdict }
}

fn status(parts: &ReportParts) -> ReviewStatus {
    match parts.decision.outcome {
        Outcome::CouldNotReview(_) if parts.coverage.hunks_accounted == 0 => ReviewStatus::Error,
        _ if parts.coverage.is_complete() && !parts.cut_short => ReviewStatus::Ok,
        _ => ReviewStatus::Truncated,
    }
}

/// Why the review failed, if a retry may help.
fn parse_error(parts: &ReportParts) -> Option<String> {
    let reason = match parts.decision.outcome {
        Outcome::CouldNotReview(NotReviewedReason::TimedOut) => return Some("timeout".to_owned()),
        Outcome::CouldNotReview(NotReviewedReason::Incomplete) => NotReviewedReason::Incomplete,
        _ => return None,
    };
    let mut absent =
        reviewer_errors(parts).filter(|(_, vote)| vote.vote.status == VoteStatus::Absent(reason));
    match (absent.next(), parts.opinions.0.len()) {
        (Some((_, vote)), 1) => vote.vote.error.clone(),
        (Some((name, vote)), _) => {
            Some(format!("{name}: {}", vote.vote.error.as_deref().unwrap_or_default()))
        }
        (None, _) => errors(parts).into_iter().next(),
    }
}

fn reviewer_errors(parts: &ReportParts) -> impl Iterator<Item = (&str, &ReviewerVote)> {
    let all = parts.opinions.0.iter().zip(&parts.votes);
    all.filter(|(_, vote)| vote.vote.error.is_some())
        .map(|(given, vote)| (given.reviewer.as_str(), vote))
}

/// Why an empty change is no answer to open findings.
const NO_PROGRESS: &str = "no progress: the change is empty, and findings of its last review are still open; \
    fix, waive or dispute them (mala findings --state open)";

/// Why reviewers have no vote, and other reasons why the change could not be reviewed.
fn errors(parts: &ReportParts) -> Vec<String> {
    let mut errors: Vec<String> = reviewer_errors(parts)
        .map(|(name, vote)| format!("{name}: {}", vote.vote.error.as_deref().unwrap_or_default()))
        .collect();
    let Outcome::CouldNotReview(_) = parts.decision.outcome else { return errors };
    let (needed, n_votes) = (parts.decision.needed, parts.votes.len());
    if n_votes > 0 && needed > n_votes {
        let rule = parts.policy.rule;
        errors.push(format!("{rule} needs {needed} passes, and the panel has {n_votes}"));
    }
    let has_nothing_reviewable = parts.coverage.has_nothing_reviewable();
    if n_votes > 0 && !has_nothing_reviewable {
        errors.extend(parts.coverage.unreviewable());
    }
    if n_votes == 0 || has_nothing_reviewable {
        let reason = match parts.decision.outcome {
            Outcome::CouldNotReview(NotReviewedReason::NoReviewers) => "no reviewer is available",
            _ if !has_nothing_reviewable => NO_PROGRESS,
            _ => {
                "no file of this change can be reviewed; to allow that, list the files in review.ignore"
            }
        };
        errors.push(reason.to_owned());
        errors.extend(match has_nothing_reviewable {
            true => parts.coverage.left_out(),
            false => parts.warnings.clone(),
        });
    }
    errors
}

/// One entry per reviewer; those that a reviewer speaks for have theirs in its place.
fn reviewer_reports(parts: &ReportParts) -> Vec<ReviewerReport> {
    let all = parts.opinions.0.iter().zip(&parts.votes);
    all.flat_map(|(given, vote)| match &given.opinion {
        Ok(opinion) if opinion.failure.is_none() && !opinion.members.is_empty() => {
            let entry = |member| member_report(parts, opinion, member);
            opinion.members.iter().map(entry).collect()
        }
        _ => vec![reviewer_report(parts, given, vote)],
    })
    .collect()
}

fn reviewer_report(
    parts: &ReportParts,
    given: &ReviewerOpinion,
    vote: &ReviewerVote,
) -> ReviewerReport {
    let name = &given.reviewer;
    let opinion = given.opinion.as_ref().ok();
    let checks = parts.checks.iter().filter(|(verifier, _)| verifier == name);
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
        findings: given.findings(&parts.admission.findings).len(),
        dropped: given.dropped(&parts.admission.dropped).len(),
        error: vote.vote.error.clone(),
        log: opinion.and_then(|opinion| opinion.log.clone()),
        usage,
        claimed_verdict: opinion.and_then(|opinion| opinion.claimed_verdict),
        summary: opinion.map(|opinion| opinion.summary.clone()).unwrap_or_default(),
        not_reviewed: match vote.vote.status {
            VoteStatus::Absent(reason) => Some(reason),
            _ => None,
        },
        crashed: matches!(
            &given.opinion,
            Err(ReviewerFailure::Crashed(_))
                | Ok(Opinion { failure: Some(ReviewerFailure::Crashed(_)), .. })
        ),
        coverage: Some(vote.coverage.clone()).filter(|_| parts.opinions.0.len() > 1),
        process: opinion.and_then(|opinion| opinion.process.clone()),
    }
}

fn member_report(parts: &ReportParts, opinion: &Opinion, member: &GateMember) -> ReviewerReport {
    let name = &member.name;
    let own = parts.admission.findings.iter().filter(|finding| finding.is_reported_by(name));
    ReviewerReport {
        reviewer: name.clone(),
        model: member.model.clone(),
        verdict: member.error.is_none().then(|| Verdict::over(own)),
        findings: reported_by(parts, name),
        dropped: parts.admission.dropped.iter().filter(|it| it.reviewer == *name).count(),
        error: member.error.clone(),
        log: opinion.log.clone(),
        usage: member.usage.clone(),
        claimed_verdict: None,
        summary: String::new(),
        not_reviewed: None,
        crashed: false,
        coverage: None,
        process: None,
    }
}

fn reported_by(parts: &ReportParts, name: &str) -> usize {
    parts.admission.findings.iter().filter(|finding| finding.is_reported_by(name)).count()
}

fn summary(parts: &ReportParts, reviewers: &[ReviewerReport], notes: usize) -> String {
    let mut sentences: Vec<String> = parts.preface.iter().cloned().collect();
    let names: Vec<&str> = reviewers.iter().map(|it| it.reviewer.as_str()).collect();
    sentences.push(match parts.decision.outcome {
        Outcome::CouldNotReview(_) => "The change could not be reviewed.".to_owned(),
        _ if parts.scope.files == 0 => {
            format!("Nothing to review: {} has no changes.", parts.scope.target)
        }
        _ => format!(
            "{} reviewed {} in {}: {}.",
            if names.is_empty() { "No reviewer".to_owned() } else { names.join(", ") },
            counted(parts.coverage.hunks_accounted, "hunk"),
            counted(parts.coverage.files.len(), "file"),
            with_notes(tally(&parts.admission.findings), notes),
        ),
    });
    sentences.join(" ")
}

fn with_notes(tally: String, notes: usize) -> String {
    if notes == 0 { tally } else { format!("{tally}, {}", counted(notes, "note")) }
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

fn stats(
    reviewers: &[ReviewerReport],
    checker: Option<&CheckerReport>,
    seconds: f64,
) -> ReportStats {
    let all = reviewers.iter().map(|it| &it.usage).chain(checker.map(|it| &it.usage));
    let sum = all.fold(Usage::nothing(), |sum, usage| sum.plus(usage));
    ReportStats {
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
