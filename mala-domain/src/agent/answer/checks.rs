//! The answer to a check of claims.

use super::fields::{cut, list, object, optional_text, percent, text};
use super::json_object::{self, JsonObject, ParseMethod};
use super::{ParseProblem, RawAnswer};
use crate::finding::Priority;

/// The result of checking one claim in a fresh context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimCheck {
    /// The id of the claim.
    pub id: String,
    /// The outcome of the check.
    pub outcome: CheckOutcome,
    /// The reason for the outcome.
    pub why: String,
    /// How many of 100 maintainers would call it worth a comment.
    pub worth: Option<u8>,
    /// The actual problem, if it differs from the claim.
    pub correction: Option<Correction>,
}

/// The actual consequence of a problem, where the claim states another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correction {
    /// What really goes wrong.
    pub consequence: String,
    /// The priority that fits the consequence.
    pub priority: Option<Priority>,
}

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckOutcome {
    /// The claim is true.
    Holds,
    /// The problem is real, with another consequence.
    Corrected,
    /// The code is correct.
    Refuted,
    /// The shown code is not enough to decide.
    Unsure,
}

/// The check of the claim with this id. If the answer has several checks of it with different
/// outcomes, the outcome is `Unsure`.
pub fn find_check(checks: &[ClaimCheck], id: &str) -> Option<ClaimCheck> {
    let mut own = checks.iter().filter(|check| check.id == id);
    let mut check = own.next()?.clone();
    if own.any(|other| other.outcome != check.outcome) {
        check.outcome = CheckOutcome::Unsure;
        check.correction = None;
        check.worth = None;
        check.why = "it is answered twice, and differently".to_owned();
    }
    Some(check)
}

/// Parses the answer to a check. A refutation without a reason counts as `Unsure`.
pub fn read_checks(raw: &RawAnswer<'_>) -> Result<(Vec<ClaimCheck>, ParseMethod), ParseProblem> {
    let (found, method) = json_object::find(raw, &["checks"])?;
    json_object::require_agreement(raw, &["checks"])?;
    let checks = list(&found, "checks")?.iter().take(200).map(|value| {
        let check = object(value)?;
        let why = cut(optional_text(check, "why")?.unwrap_or_default().trim(), 600);
        let outcome = match text(check, "outcome")? {
            "holds" => CheckOutcome::Holds,
            "refuted" if why.is_empty() => CheckOutcome::Unsure,
            "refuted" => CheckOutcome::Refuted,
            "unsure" => CheckOutcome::Unsure,
            "corrected" => CheckOutcome::Corrected,
            _ => return Err(ParseProblem::InvalidFormat),
        };
        let correction = match outcome {
            CheckOutcome::Corrected => correction(check)?,
            _ => None,
        };
        // A correction without a consequence corrects nothing: the claim holds.
        let outcome = match outcome {
            CheckOutcome::Corrected if correction.is_none() => CheckOutcome::Holds,
            outcome => outcome,
        };
        let worth = check.get("worth").and_then(percent);
        Ok(ClaimCheck { id: cut(text(check, "id")?, 40), outcome, why, worth, correction })
    });
    Ok((checks.collect::<Result<_, _>>()?, method))
}

fn correction(check: &JsonObject) -> Result<Option<Correction>, ParseProblem> {
    let consequence = optional_text(check, "consequence")?.unwrap_or_default().trim();
    let priority = check.get("priority").and_then(serde_json::Value::as_i64);
    let priority = priority.and_then(Priority::from_number);
    let consequence = cut(consequence, 1_500);
    Ok((!consequence.is_empty()).then_some(Correction { consequence, priority }))
}
