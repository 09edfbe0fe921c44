//! Turns the answer of a command and its structured form into an `Opinion`.

use super::proof::{ProofProblem, ReviewProof};
use super::structured_review::{ReviewIssue, StructuredReview};
use super::{NAME, ReviewResult};
use crate::change::Change;
use crate::finding::{Priority, ReviewClaim};
use crate::ports::ReviewerFailure;
use crate::review::Opinion;

/// The opinion of an answer. Issues whose location the answer does not name are dropped, because the
/// parser invented them. Without issues, the answer needs a proof to count as a review.
pub fn command_opinion(
    answer: &str,
    proof: Result<ReviewProof, ProofProblem>,
    parsed: StructuredReview,
    change: &Change,
) -> Result<Opinion, ReviewerFailure> {
    if let Ok(proof) = &proof
        && (proof.result == ReviewResult::Approved) != (parsed.result == ReviewResult::Approved)
    {
        return Err(ReviewerFailure::Unreadable(format!(
            "the review says {} and its parser {}",
            proof.result.name(),
            parsed.result.name()
        )));
    }
    let mut opinion = Opinion::default();
    let is_rejected = parsed.blocking
        || parsed.result == ReviewResult::Rejected
        || proof.as_ref().is_ok_and(|proof| proof.result == ReviewResult::Rejected);
    for issue in parsed.issues {
        match issue {
            ReviewIssue::Located(claim) if is_named(&claim, answer) => opinion.claims.push(*claim),
            ReviewIssue::Located(claim) => opinion.warnings.push(format!(
                "{NAME}: dropped an issue of the parser: the review does not name {}:{}",
                claim.file, claim.span
            )),
            ReviewIssue::Prose(words) => {
                opinion.warnings.push(format!("{NAME}: an issue without file and line: {words}"));
            }
        }
    }
    if is_rejected {
        raise(&mut opinion.claims);
    }
    match proof {
        Ok(proof) if proof.result != ReviewResult::Approved && opinion.claims.is_empty() => {
            Err(ReviewerFailure::Unreadable(format!(
                "the review says {} and names no file and line",
                proof.result.name()
            )))
        }
        Ok(proof) => {
            opinion.accounted = proof.accounted(change);
            Ok(opinion)
        }
        Err(problem) if opinion.claims.is_empty() => {
            let why = format!("the answer does not prove that it is a review: {problem}");
            Err(ReviewerFailure::Unreadable(why))
        }
        Err(problem) => {
            opinion.warnings.push(format!("{NAME}: what it reviewed is not proven: {problem}"));
            Ok(opinion)
        }
    }
}

fn is_named(claim: &ReviewClaim, answer: &str) -> bool {
    let line = claim.span.start().to_string();
    let numbers = answer.split(|c: char| !c.is_ascii_digit());
    answer.contains(&*claim.file.to_text()) && numbers.into_iter().any(|it| it == line)
}

/// What is rejected blocks: its most urgent finding does.
fn raise(claims: &mut [ReviewClaim]) {
    let urgency = |claim: &ReviewClaim| claim.priority.unwrap_or(Priority::P2);
    if let Some(worst) = claims.iter_mut().min_by_key(|claim| urgency(claim))
        && urgency(worst) > Priority::P1
    {
        worst.priority = Some(Priority::P1);
    }
}
