//! What a model's claims are worth: grounded in the text at head, checked by looking, chosen for a
//! check by others, and then merged over passes. What is checked is what was said: a claim that takes
//! another one along would be refuted for it.

mod ground;
mod missing;

pub use ground::ground;
pub use missing::{Bindings, MissingClaim, missing_claim, refuted_by_definition};

use crate::finding::{Candidate, Priority, VerificationOutcome, Wording};
use crate::review::Texts;

/// Claims below this are checked by a fresh context, whatever their priority.
pub const DOUBTFUL: f64 = 0.65;
/// Urgent claims below this go to the stronger model.
pub const ESCALATED: f64 = 0.6;

/// So many cited lines are compared.
const MAX_CITED: u32 = 40;

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

/// The claims, the worst first; what is said twice in the same words is there once.
pub fn distinct(mut claims: Vec<Candidate>) -> Vec<Candidate> {
    sort(&mut claims);
    let mut kept: Vec<Candidate> = Vec::with_capacity(claims.len());
    for claim in claims {
        let is_said = kept.iter().any(|other| {
            (&other.file, other.span, &other.title) == (&claim.file, claim.span, &claim.title)
                && other.body == claim.body
        });
        if !is_said {
            kept.push(claim);
        }
    }
    kept
}

/// Checked claims of several passes: what says the same is said once, by the more urgent and surer one,
/// which tells how else it was put. What is refuted and what is not stay apart. The worst come first.
pub fn merged(mut claims: Vec<Candidate>, texts: &Texts) -> Vec<Candidate> {
    sort(&mut claims);
    let mut kept: Vec<(Candidate, String)> = Vec::with_capacity(claims.len());
    for claim in claims {
        let shown = shown(&claim, texts);
        let said = kept.iter_mut().find(|(other, quoted)| {
            says_the_same(other, &claim)
                && is_worded_the_same(wording(other, quoted), wording(&claim, &shown))
        });
        match said {
            Some((other, _)) => absorb(other, &claim),
            None => kept.push((claim, shown)),
        }
    }
    kept.into_iter().map(|(claim, _)| claim).collect()
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
        && is_refuted(a) == is_refuted(b)
}

fn is_worded_the_same(a: Wording<'_>, b: Wording<'_>) -> bool {
    a.means_the_same(b) && a.names_the_same(b)
}

fn wording<'c>(claim: &'c Candidate, evidence: &'c str) -> Wording<'c> {
    Wording { title: &claim.title, body: &claim.body, evidence }
}

/// The lines that a claim is about: those that it quotes, else those that it cites.
fn shown(claim: &Candidate, texts: &Texts) -> String {
    if let Some(quoted) = &claim.evidence {
        return quoted.clone();
    }
    let (first, n) = (claim.span.start().saturating_sub(1), claim.span.n_lines().min(MAX_CITED));
    let count = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
    let lines = texts.at_head(&claim.file).unwrap_or_default().lines();
    lines.skip(count(first)).take(count(n)).collect::<Vec<_>>().join("\n")
}

fn is_refuted(claim: &Candidate) -> bool {
    claim.verification.outcome == VerificationOutcome::Refuted
}

fn sort(claims: &mut [Candidate]) {
    let unproven = |claim: &Candidate| claim.verification.outcome != VerificationOutcome::Verified;
    claims.sort_by(|a, b| {
        (is_refuted(a), priority(a), unproven(a))
            .cmp(&(is_refuted(b), priority(b), unproven(b)))
            .then(b.confidence.total_cmp(&a.confidence))
            .then((&a.file, a.span, &a.title).cmp(&(&b.file, b.span, &b.title)))
    });
}

#[cfg(test)]
mod tests;
