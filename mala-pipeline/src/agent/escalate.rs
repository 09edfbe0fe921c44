//! Urgent claims that nobody is sure of go to the stronger model, if there is one.

use super::desk::Desk;
use super::prepare::Prepared;
use super::verify::{positions, refute};
use mala_domain::agent::NAME;
use mala_domain::agent::judge;
use mala_domain::finding::{Candidate, VerificationOutcome};

pub(super) async fn escalate(
    desk: &Desk<'_>,
    prepared: &Prepared,
    mut claims: Vec<Candidate>,
    warnings: &mut Vec<String>,
) -> Vec<Candidate> {
    let Some(stronger) = &desk.settings.escalation else { return claims };
    let doubtful = positions(&claims, judge::needs_escalation);
    if doubtful.is_empty() {
        return claims;
    }
    let n = doubtful.len();
    if desk.account.calls_left() == 0 {
        desk.leave_undone(&format!("{n} doubtful claims not escalated: the calls are spent"));
        return claims;
    }
    let before = claims.clone();
    refute(desk, prepared, stronger, &mut claims, &doubtful).await;
    keep_what_was_known(&mut claims, &before);
    warnings.push(format!("{NAME}: {n} doubtful claims escalated to {}", stronger.name));
    claims
}

/// A second opinion that does not come takes nothing from the first one.
fn keep_what_was_known(claims: &mut [Candidate], before: &[Candidate]) {
    for (claim, before) in claims.iter_mut().zip(before) {
        if claim.verification.outcome == VerificationOutcome::Unverified {
            claim.verification = before.verification.clone();
        }
    }
}
