//! The answer to a check of claims.

use super::fields::{cut, list, object, optional_text, text};
use super::json_object::{self, JsonObject, ParseMethod};
use super::{ParseProblem, RawAnswer};
use crate::finding::Priority;

/// What a fresh context says of one claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimCheck {
    /// Which claim.
    pub id: String,
    /// What came of it.
    pub outcome: CheckOutcome,
    /// Why.
    pub why: String,
    /// What really goes wrong, if that is not what the claim says.
    pub correction: Option<Correction>,
}

/// What really goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Correction {
    /// The consequence.
    pub consequence: String,
    /// The priority that fits it.
    pub priority: Option<Priority>,
}

/// What came of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckOutcome {
    /// The claim holds.
    Holds,
    /// The problem is real, with another consequence.
    Corrected,
    /// The code is right.
    Refuted,
    /// It cannot be told from what was shown.
    Unsure,
}

/// What is said of one claim; what is said differently of the same claim says nothing for sure.
pub fn find_check(checks: &[ClaimCheck], id: &str) -> Option<ClaimCheck> {
    let mut own = checks.iter().filter(|check| check.id == id);
    let mut check = own.next()?.clone();
    if own.any(|other| other.outcome != check.outcome) {
        check.outcome = CheckOutcome::Unsure;
        check.correction = None;
        check.why = "it is answered twice, and differently".to_owned();
    }
    Some(check)
}

/// Reads the answer to a check. A refutation without a reason is none.
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
        // Without another consequence, nothing is corrected.
        let outcome = match outcome {
            CheckOutcome::Corrected if correction.is_none() => CheckOutcome::Holds,
            outcome => outcome,
        };
        Ok(ClaimCheck { id: cut(text(check, "id")?, 40), outcome, why, correction })
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
