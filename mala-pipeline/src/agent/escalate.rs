//! Urgent claims that nobody is sure of go to the stronger model, if there is one.

use super::desk::Desk;
use super::prepare::Prepared;
use super::verify::{positions, refute};
use mala_domain::agent::NAME;
use mala_domain::agent::judge;
use mala_domain::finding::{Candidate, VerificationOutcome};
use mala_domain::report::counted;

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
        let n = counted(n, "doubtful claim");
        desk.leave_undone(&format!("{n} not escalated: the calls are spent"));
        return claims;
    }
    let before = claims.clone();
    refute(desk, prepared, stronger, &mut claims, &doubtful).await;
    let answered = |index: &&usize| claims.get(**index).is_some_and(was_checked);
    let n_answered = doubtful.iter().filter(answered).count();
    keep_what_was_known(&mut claims, &before);
    if n_answered > 0 {
        let n = counted(n_answered, "doubtful claim");
        warnings.push(format!("{NAME}: {n} escalated to {}", stronger.name));
    }
    claims
}

/// Whether the stronger model said something of a claim, be it that it is unsure.
fn was_checked(claim: &Candidate) -> bool {
    let how = claim.verification.how.as_deref();
    how.is_some_and(|how| !how.starts_with("not checked: "))
}

/// A second opinion that does not come takes nothing from the first one.
fn keep_what_was_known(claims: &mut [Candidate], before: &[Candidate]) {
    for (claim, before) in claims.iter_mut().zip(before) {
        if claim.verification.outcome == VerificationOutcome::Unverified {
            claim.verification = before.verification.clone();
        }
    }
}
