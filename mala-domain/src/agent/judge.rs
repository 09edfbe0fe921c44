//! What a model's claims are worth: grounded in the text at head, merged over passes, checked by
//! looking, chosen for a check by others, and cut to the worst.

mod ground;
mod missing;

pub use ground::ground;
pub use missing::{Bindings, MissingClaim, missing_claim, refuted_by_definition};

use crate::finding::{Candidate, Priority, VerificationOutcome, Wording};

/// Claims below this are checked by a fresh context, whatever their priority.
pub const DOUBTFUL: f64 = 0.65;
/// Urgent claims below this go to the stronger model.
pub const ESCALATED: f64 = 0.6;

/// Whether a claim is to be checked by somebody else before it counts.
pub fn needs_check(claim: &Candidate) -> bool {
    claim.verification.outcome == VerificationOutcome::Unverified
        && (is_urgent(claim) || claim.confidence < DOUBTFUL)
}

/// Whether a claim is to be looked at by the stronger model.
pub fn needs_escalation(claim: &Candidate) -> bool {
    claim.verification.outcome != VerificationOutcome::Refuted
        && is_urgent(claim)
        && claim.confidence < ESCALATED
}

fn is_urgent(claim: &Candidate) -> bool {
    priority(claim) <= Priority::P1
}

fn priority(claim: &Candidate) -> Priority {
    claim.priority.unwrap_or(Priority::P2)
}

/// Claims of several passes: what says the same is said once, by the more urgent and surer one, which
/// tells how else it was put. The worst come first.
pub fn merged(claims: Vec<Candidate>) -> Vec<Candidate> {
    let mut claims = claims;
    sort(&mut claims);
    let mut kept: Vec<Candidate> = Vec::with_capacity(claims.len());
    for claim in claims {
        match kept.iter_mut().find(|other| says_the_same(other, &claim)) {
            Some(other) => absorb(other, &claim),
            None => kept.push(claim),
        }
    }
    kept
}

fn absorb(kept: &mut Candidate, other: &Candidate) {
    let note = format!("Also said, of {}: {}", other.span, other.title);
    if kept.title != other.title && !kept.body.contains(&note) {
        kept.body.push_str(&format!("\n\n{note}"));
    }
}

fn says_the_same(a: &Candidate, b: &Candidate) -> bool {
    a.file == b.file
        && a.reviewer == b.reviewer
        && a.span.overlaps(b.span)
        && (a.category == b.category || a.title == b.title)
        && a.span.start().abs_diff(b.span.start()) <= 2
        && wording(a).means_the_same(wording(b))
}

fn wording(claim: &Candidate) -> Wording<'_> {
    Wording { title: &claim.title, body: &claim.body }
}

/// The worst claims, and how many are left out. What is refuted goes first.
pub fn worst(mut claims: Vec<Candidate>, max: usize) -> (Vec<Candidate>, usize) {
    sort(&mut claims);
    let left_out = claims.len().saturating_sub(max);
    claims.truncate(max);
    (claims, left_out)
}

fn sort(claims: &mut [Candidate]) {
    let refuted = |claim: &Candidate| claim.verification.outcome == VerificationOutcome::Refuted;
    claims.sort_by(|a, b| {
        (refuted(a), priority(a))
            .cmp(&(refuted(b), priority(b)))
            .then(b.confidence.total_cmp(&a.confidence))
            .then((&a.file, a.span, &a.title).cmp(&(&b.file, b.span, &b.title)))
    });
}

#[cfg(test)]
mod tests;
