//! What the agent hands on: its own claims and the built-in findings, the worst of them.

use mala_domain::agent::NAME;
use mala_domain::agent::answer::HintOpinion;
use mala_domain::agent::budget::Limits;
use mala_domain::agent::judge;
use mala_domain::finding::{Candidate, Verification, VerificationOutcome};

/// The claims with the built-in findings. A model may refute what the checks themselves are not sure
/// of; what they proved stands, whatever a text talks a model into.
pub(super) fn with_hints(
    mut claims: Vec<Candidate>,
    hints: &[Candidate],
    opinions: &[HintOpinion],
) -> Vec<Candidate> {
    for (index, hint) in hints.iter().enumerate() {
        let id = format!("h{}", index + 1);
        let mut hint = hint.clone();
        let refuted = opinions.iter().find(|opinion| opinion.id == id && !opinion.stands);
        let unproven = hint.verification.outcome == VerificationOutcome::Unverified;
        if let Some(opinion) = refuted.filter(|opinion| unproven && !opinion.why.is_empty()) {
            hint.verification = Verification::refuted(format!("{NAME}: {}", opinion.why));
        }
        claims.push(hint);
    }
    claims
}

/// The worst of them; how many are left out is said.
pub(super) fn worst(
    claims: Vec<Candidate>,
    limits: &Limits,
    warnings: &mut Vec<String>,
) -> Vec<Candidate> {
    let max = usize::try_from(limits.max_output_issues).unwrap_or(usize::MAX).max(1);
    let (kept, left_out) = judge::worst(claims, max);
    if left_out > 0 {
        warnings.push(format!(
            "{NAME}: {left_out} less urgent findings left out: at most {max} are reported"
        ));
    }
    kept
}
