//! Verification: which findings are checked, by which verifier, and the results.

use crate::agent::answer::{CheckOutcome, ClaimCheck};
use crate::agent::claims::{NameBindings, refuted_by_definition};
use crate::change::Change;
use crate::finding::{Finding, Priority, Verification, VerificationOutcome};
use crate::review::admit::DroppedClaim;
use crate::review::merge::merge_duplicates;
use crate::review::{Coverage, ReviewerOpinion, Usage};
use crate::verdict::{counts, is_refuted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The part of an agent that checked findings of other reviewers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckerReport {
    /// Its name.
    pub reviewer: String,
    /// The model behind it.
    pub model: String,
    /// The number of findings that it checked.
    pub findings: usize,
    /// The usage.
    pub usage: Usage,
}

/// Whether a reviewer may check findings of others: it reviewed the whole change, and none of its claims
/// was dropped. A reviewer without a vote must not refute findings.
pub fn may_check(given: &ReviewerOpinion, change: &Change, dropped: &[DroppedClaim]) -> bool {
    let opinion = given.opinion.as_ref().ok().filter(|_| given.failure().is_none());
    opinion.is_some_and(|opinion| {
        Coverage::over(change, &opinion.accounted).is_complete()
            && !dropped.iter().any(|claim| claim.reviewer == given.reviewer)
    })
}

/// Urgent claims below this confidence go to the stronger model.
pub const ESCALATED: f64 = 0.6;

/// A nit with this confidence is not looked at again in `lean`.
const SURE: f64 = 0.65;

/// Whether a finding is minor and its reviewer sure of it.
pub fn is_sure_nit(finding: &Finding) -> bool {
    finding.effective_priority() == Priority::P3 && finding.confidence >= SURE
}

/// Whether a finding is urgent, and no check has settled it.
pub fn is_urgent_and_unsettled(finding: &Finding) -> bool {
    is_urgent(finding) && !finding.verification.is_settled()
}

/// Whether a finding is urgent, and no check has looked at it.
pub fn is_urgent_and_unchecked(finding: &Finding) -> bool {
    is_urgent(finding) && finding.verification.is_unchecked()
}

/// Whether the stronger model is to look at a finding.
pub fn needs_escalation(finding: &Finding) -> bool {
    counts(finding) && is_urgent(finding) && finding.confidence < ESCALATED
}

fn is_urgent(finding: &Finding) -> bool {
    finding.effective_priority() <= Priority::P1
}

/// Refutes a finding about a missing name if the file defines it. Findings of rules are skipped. Runs
/// before duplicates are merged, because a merged finding would be refuted as a whole.
pub fn refute_missing_names(finding: &mut Finding, bindings: &dyn NameBindings) {
    if finding.rule.is_some() || finding.verification.is_settled() {
        return;
    }
    let why = refuted_by_definition(&finding.title, &finding.file, finding.span(), bindings);
    if let Some(why) = why {
        finding.verification = Verification::refuted(why);
    }
}

/// Merges duplicates of several reviewers. Refuted findings are only merged with refuted ones.
pub fn merge_reports(findings: Vec<Finding>) -> Vec<Finding> {
    let (refuted, standing): (Vec<_>, Vec<_>) = findings.into_iter().partition(is_refuted);
    merge_duplicates(standing).into_iter().chain(merge_duplicates(refuted)).collect()
}

/// Verifies an urgent finding that two reviewers report independently.
pub fn verify_by_agreement(finding: &mut Finding) {
    let names: Vec<&str> = finding.reporters().filter(|name| !name.contains(": ")).collect();
    if is_urgent_and_unsettled(finding) && finding.rule.is_none() && names.len() > 1 {
        finding.verification = Verification::verified(format!("found by {}", names.join(" and ")));
    }
}

/// Verifies a finding by its location only, if no other reviewer can check it.
pub fn verify_by_location(finding: &mut Finding) {
    let said = finding.verification.how.as_deref().unwrap_or("no other lane to ask");
    let how = format!("{said}: its file, lines and evidence are there at head");
    finding.verification = Verification::verified(how);
}

/// Warnings about blocking findings that were not checked, one per reason.
pub fn unchecked_warnings(findings: &[Finding]) -> Vec<String> {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for finding in findings.iter().filter(|finding| is_urgent_and_unsettled(finding)) {
        if finding.verification.outcome == VerificationOutcome::NotChecked {
            *reasons.entry(finding.verification.how.as_deref().unwrap_or_default()).or_default() +=
                1;
        }
    }
    let lines = reasons.into_iter().map(|(how, n)| match n {
        1 => format!("1 blocking finding is {how}"),
        n => format!("{n} blocking findings are {how}"),
    });
    lines.collect()
}

/// The verification that follows from a check; `None` means not checked.
pub fn verification_from_check(
    check: Option<&ClaimCheck>,
    verifier: &str,
    how: &str,
) -> Verification {
    let Some(check) = check else {
        return Verification::not_checked(format!("{verifier} says nothing of it"));
    };
    let how = format!("{how}: {}", check.why);
    match check.outcome {
        CheckOutcome::Holds => Verification::verified(how),
        CheckOutcome::Corrected => Verification::corrected(match &check.correction {
            Some(correction) => format!("{how} {}", correction.consequence),
            None => how,
        }),
        CheckOutcome::Refuted => Verification::refuted(how),
        CheckOutcome::Unsure => Verification::unsure(how),
    }
}

/// The reviewer that checks a finding: the first one that does not report it.
pub fn independent_verifier<'l>(finding: &Finding, names: &[&'l str]) -> Option<&'l str> {
    names.iter().copied().find(|name| !finding.is_reported_by(name))
}

/// Combines two verifications: an unsure later check does not replace an earlier result.
pub fn later_verification(known: Verification, checked: Verification) -> Verification {
    if checked.is_settled() || known.is_unchecked() { checked } else { known }
}
