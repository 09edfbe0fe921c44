//! The contract's own shape, and ours, which says more.

use super::issues::{self, Dialect};
use super::{Account, Claim, PanelWord, Started, agrees, disagreement, unanimous, unreadable};
use crate::agent::answer::fields::{object, required, text};
use crate::agent::answer::{Object, ParseProblem};
use crate::finding::{Candidate, Finding};
use crate::gate::check;
use crate::gate::consensus::Rule;
use crate::gate::output::{LaneReport, PanelVerdict, Waited};
use crate::ports::ReviewerFailure;
use crate::review::Voice;
use crate::verdict::{Outcome, Verdict};
use serde_json::Value;

const DIALECT: Dialect = Dialect { file: "file", lines_may_be_null: false };

pub(super) fn read(
    object: &Object,
    code: i32,
    started: &Started,
) -> Result<PanelWord, ReviewerFailure> {
    let consensus = required(object, "consensus").and_then(self::object).map_err(unreadable)?;
    if consensus.contains_key("rule") && object.contains_key("schema_version") {
        return ours(object, code);
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
    let claims = issues::claims(object, "issues", &DIALECT, None)?;
    agrees(verdict, &claims)?;
    let voices = issues::voices(object)?;
    let warnings = issues::parse_errors(object)?;
    if verdict == Verdict::Pass {
        all_there(&warnings, started, &voices)?;
        issues::nobody_objects(object)?;
    }
    let voices = voices.into_iter().map(|(voice, _)| voice).collect();
    let log = issues::log(object)?;
    Ok(PanelWord { claims, voices, log, warnings, ..PanelWord::whole(verdict) })
}

/// Whether a pass is everybody's: those who were started, with nothing that could not be read.
fn all_there(
    parse_errors: &[String],
    started: &Started,
    voices: &[(Voice, Option<Verdict>)],
) -> Result<(), ReviewerFailure> {
    unanimous(voices)?;
    let is_heard = |name: &&String| voices.iter().any(|(voice, _)| voice.name == **name);
    let unheard = started.reviewers.iter().find(|name| !is_heard(name));
    let trouble = unheard.map(|name| format!("{name} was started and says nothing"));
    match trouble.or_else(|| parse_errors.first().cloned()) {
        Some(why) => Err(unreadable(ParseProblem::InvalidVerdict(format!("PASS though {why}")))),
        None => Ok(()),
    }
}

/// Our own gate: what it decided, by its rule, with what its reviewers account for.
fn ours(object: &Object, code: i32) -> Result<PanelWord, ReviewerFailure> {
    let waited: Waited = serde_json::from_value(Value::Object(object.clone()))
        .map_err(|error| unreadable(ParseProblem::InvalidJson(error.to_string())))?;
    let verdict = match (code, waited.outcome(), waited.consensus.verdict) {
        (0, Outcome::Passed, _) => Verdict::Pass,
        (1, Outcome::Blocked, PanelVerdict::NeedsWork) => Verdict::NeedsWork,
        (1, Outcome::Blocked, _) => Verdict::Fail,
        (_, _, other) => return Err(disagreement(code, &format!("{:?} {other:?}", waited.status))),
    };
    let refuted = waited.findings.refuted.iter();
    let claims: Vec<Claim> = waited.issues.iter().chain(refuted).flat_map(claims_of).collect();
    let is_unanimous = waited.consensus.rule == Rule::Unanimous;
    if verdict != Verdict::Pass || is_unanimous {
        let standing = waited.issues.iter().flat_map(claims_of).collect::<Vec<_>>();
        agrees(verdict, &standing)?;
    }
    if verdict == Verdict::Pass {
        let lanes = waited.reviewers.iter().map(|(name, lane)| (voice(name, lane), lane.verdict));
        let passing = |(_, verdict): &(Voice, Option<Verdict>)| *verdict == Some(Verdict::Pass);
        unanimous(&lanes.filter(|lane| is_unanimous || passing(lane)).collect::<Vec<_>>())?;
    }
    Ok(PanelWord {
        verdict,
        claims,
        voices: voices(&waited),
        account: Account::Files(waited.coverage.files),
        scope: waited.scope,
        log: waited.session_dir,
        decision: None,
        warnings: waited.warnings,
    })
}

/// The lanes, and the agent that checked for them.
fn voices(waited: &Waited) -> Vec<Voice> {
    let lanes = waited.reviewers.iter().map(|(name, lane)| voice(name, lane));
    let checker = waited.checker.iter().map(|checker| Voice {
        name: format!("{} (checks)", checker.reviewer),
        model: Some(checker.model.clone()),
        error: None,
        usage: checker.usage.clone(),
    });
    lanes.chain(checker).collect()
}

fn voice(name: &str, lane: &LaneReport) -> Voice {
    Voice {
        name: name.to_owned(),
        model: None,
        error: lane.error.clone(),
        usage: lane.usage.clone(),
    }
}

/// A finding as a claim of everybody who says it: it is looked at again here, and merged again.
fn claims_of(finding: &Finding) -> Vec<Claim> {
    let is_redacted = finding.evidence_snippet.contains("[redacted");
    let evidence = Some(finding.evidence_snippet.clone()).filter(|_| !is_redacted);
    let claim = |reviewer: &str| Claim {
        has_lines: true,
        candidate: Candidate {
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
    check::voices(finding).map(claim).collect()
}
