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
    check_agreement(proof.as_ref().ok(), &parsed)?;
    let mut opinion = Opinion::default();
    let is_rejected = parsed.blocking || is_rejected(&parsed, proof.as_ref().ok());
    for issue in parsed.issues {
        match issue {
            ReviewIssue::Located(claim) if is_named(&claim, answer) => opinion.claims.push(*claim),
            ReviewIssue::Located(claim) => opinion.warnings.push(invented(&claim)),
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

/// The answer of a command about a task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskAnswer {
    /// The result; `Rejected` if the command or its parser rejects the task.
    pub result: ReviewResult,
    /// The issues.
    pub issues: Vec<TaskIssue>,
    /// One or two sentences.
    pub summary: String,
    /// Whether a person must look at it.
    pub blocking: bool,
}

/// One problem that a command names.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskIssue {
    /// The description.
    pub text: String,
    /// In the code; `None` for an issue of the task as a whole.
    pub claim: Option<ReviewClaim>,
}

/// The opinion of an answer about a task, and the answer in form. Issues without a place count too: they are issues
/// of the task and not findings. Without a proof, only issues with a place count.
pub fn task_opinion(
    answer: &str,
    proof: Result<ReviewProof, ProofProblem>,
    parsed: StructuredReview,
    change: &Change,
) -> Result<(Opinion, TaskAnswer), ReviewerFailure> {
    check_agreement(proof.as_ref().ok(), &parsed)?;
    let is_rejected = is_rejected(&parsed, proof.as_ref().ok());
    let result = if is_rejected { ReviewResult::Rejected } else { parsed.result };
    let mut opinion = Opinion::default();
    let mut issues = Vec::new();
    for issue in parsed.issues {
        match issue {
            ReviewIssue::Located(claim) if is_named(&claim, answer) => {
                issues.push(TaskIssue { text: words_of(&claim), claim: Some((*claim).clone()) });
                opinion.claims.push(*claim);
            }
            ReviewIssue::Located(claim) => opinion.warnings.push(invented(&claim)),
            ReviewIssue::Prose(words) => issues.push(TaskIssue { text: words, claim: None }),
        }
    }
    if is_rejected || parsed.blocking {
        raise(&mut opinion.claims);
    }
    let objects = result != ReviewResult::Approved;
    if objects && issues.is_empty() {
        let why = format!("the review says {} and names no issue", result.name());
        return Err(ReviewerFailure::Unreadable(why));
    }
    match proof {
        Ok(proof) => opinion.accounted = proof.accounted(change),
        Err(problem) if opinion.claims.is_empty() => {
            let why = format!("the answer does not prove that it is a review: {problem}");
            return Err(ReviewerFailure::Unreadable(why));
        }
        Err(problem) => {
            opinion.warnings.push(format!("{NAME}: what it reviewed is not proven: {problem}"));
        }
    }
    opinion.objects = objects;
    if objects && opinion.claims.is_empty() {
        // No finding represents this objection, so the report must not pass.
        let why = format!("the review says {} and names no file and line", result.name());
        opinion.failure = Some(ReviewerFailure::Unreadable(why));
    }
    let (summary, blocking) = (parsed.summary, parsed.blocking);
    Ok((opinion, TaskAnswer { result, issues, summary, blocking }))
}

/// Rejects an answer if the command and its parser disagree about whether the change passes.
fn check_agreement(
    proof: Option<&ReviewProof>,
    parsed: &StructuredReview,
) -> Result<(), ReviewerFailure> {
    match proof {
        Some(proof)
            if (proof.result == ReviewResult::Approved)
                != (parsed.result == ReviewResult::Approved) =>
        {
            Err(ReviewerFailure::Unreadable(format!(
                "the review says {} and its parser {}",
                proof.result.name(),
                parsed.result.name()
            )))
        }
        _ => Ok(()),
    }
}

fn is_rejected(parsed: &StructuredReview, proof: Option<&ReviewProof>) -> bool {
    let rejects = |result| result == ReviewResult::Rejected;
    rejects(parsed.result) || proof.is_some_and(|proof| rejects(proof.result))
}

fn invented(claim: &ReviewClaim) -> String {
    format!(
        "{NAME}: dropped an issue of the parser: the review does not name {}:{}",
        claim.file, claim.span
    )
}

/// The text of a claim, with its location unless the text names the file.
fn words_of(claim: &ReviewClaim) -> String {
    let place = format!("{}:{}", claim.file, claim.span);
    let words = match claim.body.starts_with(&claim.title) {
        true => claim.body.clone(),
        false => format!("{}: {}", claim.title, claim.body),
    };
    if words.contains(&*claim.file.to_text()) { words } else { format!("{place}: {words}") }
}

fn is_named(claim: &ReviewClaim, answer: &str) -> bool {
    let line = claim.span.start().to_string();
    let numbers = answer.split(|c: char| !c.is_ascii_digit());
    answer.contains(&*claim.file.to_text()) && numbers.into_iter().any(|it| it == line)
}

/// Raises the most urgent claim of a rejection to P1, so that it blocks.
fn raise(claims: &mut [ReviewClaim]) {
    let urgency = |claim: &ReviewClaim| claim.priority.unwrap_or(Priority::P2);
    if let Some(worst) = claims.iter_mut().min_by_key(|claim| urgency(claim))
        && urgency(worst) > Priority::P1
    {
        worst.priority = Some(Priority::P1);
    }
}
