//! The format of the contract, and the one of mala, which has more fields.

use super::issues::GateDialect;
use super::votes::{agrees, contradiction, disagreement, missing, panel_word, unanimous};
use super::{GateAccount, GateClaim, PanelAnswer, StartedSession, unreadable};
use crate::agent::answer::fields::{number, object, required, text};
use crate::agent::answer::{JsonObject, ParseProblem};
use crate::finding::{Finding, ReviewClaim};
use crate::ports::ReviewerFailure;
use crate::render::gate::{GateResultJson, GateReviewerJson, PanelVerdict};
use crate::review::GateMember;
use crate::review::consensus::{ConsensusRule, VoteStatus, by_rule};
use crate::verdict::{NotReviewedReason, Outcome, Verdict, counts};
use serde_json::Value;

const DIALECT: GateDialect = GateDialect {
    file: "file",
    lines_may_be_null: false,
    of_reviewers: &["verdict", "summary", "issues", "error"],
    failed: &[],
    claims: "issues",
};

pub(super) fn read(
    object: &JsonObject,
    code: i32,
    started: &StartedSession,
) -> Result<PanelAnswer, ReviewerFailure> {
    let consensus = required(object, "consensus").and_then(self::object).map_err(unreadable)?;
    if consensus.contains_key("rule") && object.contains_key("schema_version") {
        return ours(object, code, started);
    }
    let status = text(object, "status").map_err(unreadable)?;
    let word = text(consensus, "verdict").map_err(unreadable)?;
    let verdict = match (code, status, word) {
        (0, "resolved", "PASS") => Verdict::Pass,
        (1, "resolved", "FAIL") => Verdict::Fail,
        (1, "resolved", "NEEDS_WORK") => Verdict::NeedsWork,
        (_, _, "PASS" | "FAIL" | "NEEDS_WORK" | "no_reviewers") => {
            return Err(disagreement(code, &format!("{status} and {word}")));
        }
        (_, _, other) => return Err(unreadable(ParseProblem::InvalidVerdict(other.to_owned()))),
    };
    number(consensus, "iteration").map_err(unreadable)?;
    panel_word(object, verdict, &DIALECT, started)
}

/// The answer of mala's own gate: its decision by its rule, and the parts that its reviewers covered.
fn ours(
    object: &JsonObject,
    code: i32,
    started: &StartedSession,
) -> Result<PanelAnswer, ReviewerFailure> {
    let waited: GateResultJson = serde_json::from_value(Value::Object(object.clone()))
        .map_err(|error| unreadable(ParseProblem::InvalidJson(error.to_string())))?;
    let verdict = match (code, waited.outcome(), waited.consensus.verdict) {
        (0, Outcome::Passed, _) => Verdict::Pass,
        (1, Outcome::Blocked, PanelVerdict::NeedsWork) => Verdict::NeedsWork,
        (1, Outcome::Blocked, _) => Verdict::Fail,
        (_, _, other) => return Err(disagreement(code, &format!("{:?} {other:?}", waited.status))),
    };
    let unheard = follows(&waited, verdict, started)?;
    let refuted = waited.refuted();
    let claims: Vec<GateClaim> = waited.issues.iter().chain(refuted).flat_map(claims_of).collect();
    let report = waited.report.clone();
    let account = unheard.map_or(GateAccount::Files(report.coverage.files), GateAccount::Nothing);
    Ok(PanelAnswer {
        verdict,
        claims,
        members: members(&waited),
        account,
        scope: report.scope,
        log: report.session_dir,
        decision: None,
        warnings: report.warnings,
    })
}

/// Checks that the decision of mala's own gate follows from the votes of its lanes. Returns a message if fewer
/// lanes gave a verdict than the rule needs.
fn follows(
    waited: &GateResultJson,
    verdict: Verdict,
    started: &StartedSession,
) -> Result<Option<String>, ReviewerFailure> {
    if waited.report.scope.is_none() {
        return Err(unreadable(ParseProblem::MissingField("scope".to_owned())));
    }
    let lanes = waited.reviewers.iter();
    let votes: Vec<_> =
        lanes.map(|(name, lane)| (member(name, lane, waited), standing_verdict(lane))).collect();
    let rule = waited.consensus.rule;
    let is_unanimous = rule == ConsensusRule::Unanimous;
    if verdict != Verdict::Pass || is_unanimous {
        let standing = waited.issues.iter().flat_map(claims_of).collect::<Vec<_>>();
        agrees(verdict, &standing)?;
    }
    if verdict == Verdict::Pass {
        let passing =
            |(_, verdict): &(GateMember, Option<Verdict>)| *verdict == Some(Verdict::Pass);
        let mut needed = votes.clone();
        needed.retain(|vote| is_unanimous || passing(vote));
        unanimous(&needed)?;
    }
    if let Some(why) = missing(started, &votes) {
        return Err(contradiction(&format!("{} though {why}", verdict.name())));
    }
    for (name, lane) in &waited.reviewers {
        is_consistent(name, lane, waited)?;
    }
    let decision = by_rule(rule, &waited.reviewers.values().map(vote).collect::<Vec<_>>());
    if decision.verdict != Some(verdict) {
        let (word, rule) = (verdict.name(), waited.consensus.rule);
        return Err(contradiction(&format!(
            "{word}, which by {rule} does not follow from the votes"
        )));
    }
    let n_heard = votes.iter().filter(|(_, verdict)| verdict.is_some()).count();
    let needed = decision.needed;
    Ok((n_heard < needed).then(|| format!("{n_heard} gave a verdict, and {rule} needs {needed}")))
}

/// Checks that a lane's verdict follows from its findings, and that the panel lists all of them unchanged.
fn is_consistent(
    name: &str,
    lane: &GateReviewerJson,
    waited: &GateResultJson,
) -> Result<(), ReviewerFailure> {
    let over = Verdict::over(lane.issues.iter().filter(|issue| counts(issue)));
    if let Some(verdict) = standing_verdict(lane).filter(|verdict| *verdict != over) {
        let words = format!("{name} says {}, its issues {}", verdict.name(), over.name());
        return Err(contradiction(&words));
    }
    let standing = lane.issues.iter().filter(|own| counts(own));
    match standing.into_iter().find(|own| !waited.issues.contains(own)) {
        Some(own) => {
            let place = format!("{}:{}", own.file, own.line_start);
            Err(contradiction(&format!("{name} names {place}, and the panel does not")))
        }
        None => Ok(()),
    }
}

/// The verdict of a lane over the findings that were not refuted.
fn standing_verdict(lane: &GateReviewerJson) -> Option<Verdict> {
    let is_refuted = !lane.issues.is_empty() && !lane.issues.iter().any(counts);
    lane.verdict.map(|verdict| if is_refuted { Verdict::Pass } else { verdict })
}

fn vote(lane: &GateReviewerJson) -> VoteStatus {
    match standing_verdict(lane) {
        Some(Verdict::Pass) => VoteStatus::Passes,
        Some(verdict) => VoteStatus::Objects(verdict),
        None => VoteStatus::Absent(NotReviewedReason::Incomplete),
    }
}

/// The lanes, and the agent that checked for them.
fn members(waited: &GateResultJson) -> Vec<GateMember> {
    let lanes = waited.reviewers.iter().map(|(name, lane)| member(name, lane, waited));
    let checker = waited.report.checker.iter().map(|checker| GateMember {
        name: format!("{} (checks)", checker.reviewer),
        model: Some(checker.model.clone()),
        error: None,
        usage: checker.usage.clone(),
    });
    lanes.chain(checker).collect()
}

fn member(name: &str, lane: &GateReviewerJson, waited: &GateResultJson) -> GateMember {
    let details = waited.report.reviewers.get(name);
    GateMember {
        name: name.to_owned(),
        model: None,
        error: lane.error.clone(),
        usage: details.map(|details| details.usage.clone()).unwrap_or_default(),
    }
}

/// A finding as a claim of each reviewer that reports it. The claims are located and merged again.
fn claims_of(finding: &Finding) -> Vec<GateClaim> {
    let is_redacted = finding.evidence_snippet.contains("[redacted");
    let evidence = Some(finding.evidence_snippet.clone()).filter(|_| !is_redacted);
    let claim = |reviewer: &str| GateClaim {
        has_lines: true,
        candidate: ReviewClaim {
            file: finding.file.clone(),
            span: finding.span(),
            priority: finding.priority,
            category: finding.category,
            title: finding.title.clone(),
            body: finding.body.clone(),
            suggestion: finding.suggestion.clone(),
            evidence: evidence.clone().filter(|text| !text.trim().is_empty()),
            confidence: finding.confidence,
            reviewer: reviewer.to_owned(),
            rule: finding.rule.clone(),
            verification: finding.verification.clone(),
        },
    };
    finding.reporters().map(claim).collect()
}
