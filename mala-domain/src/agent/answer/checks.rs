//! The answer to a check of claims.

use super::fields::{cut, list, maybe_text, object, text};
use super::ladder::{self, ParseMethod};
use super::{ParseProblem, Words};

/// What a fresh context says of one claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Which claim.
    pub id: String,
    /// What came of it.
    pub outcome: CheckOutcome,
    /// Why.
    pub why: String,
}

/// What came of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckOutcome {
    /// The claim holds.
    Holds,
    /// The code is right.
    Refuted,
    /// It cannot be told from what was shown.
    Unsure,
}

/// What is said of one claim; what is said differently of the same claim says nothing for sure.
pub fn check_of(checks: &[Check], id: &str) -> Option<Check> {
    let mut own = checks.iter().filter(|check| check.id == id);
    let mut check = own.next()?.clone();
    if own.any(|other| other.outcome != check.outcome) {
        check.outcome = CheckOutcome::Unsure;
        check.why = "it is answered twice, and differently".to_owned();
    }
    Some(check)
}

/// Reads the answer to a check. A refutation without a reason is none.
pub fn read_checks(words: &Words<'_>) -> Result<(Vec<Check>, ParseMethod), ParseProblem> {
    let (found, method) = ladder::find(words, &["checks"])?;
    ladder::agree(words, &["checks"])?;
    let checks = list(&found, "checks")?.iter().take(200).map(|value| {
        let check = object(value)?;
        let why = cut(maybe_text(check, "why")?.unwrap_or_default().trim(), 600);
        let outcome = match text(check, "outcome")? {
            "holds" => CheckOutcome::Holds,
            "refuted" if why.is_empty() => CheckOutcome::Unsure,
            "refuted" => CheckOutcome::Refuted,
            "unsure" => CheckOutcome::Unsure,
            _ => return Err(ParseProblem::InvalidFormat),
        };
        Ok(Check { id: cut(text(check, "id")?, 40), outcome, why })
    });
    Ok((checks.collect::<Result<_, _>>()?, method))
}
