//! Parses the answers of models. An answer counts if the provider enforced its schema, if it is the
//! whole text, or if it carries the nonce of the run. Everything else is a `ParseProblem`, never an
//! empty list of findings.

mod checks;
pub(crate) mod fields;
mod json_object;
mod review;
mod schema;
mod unique;

pub use checks::{CheckOutcome, ClaimCheck, find_check, read_checks};
pub use json_object::{JsonObject, ParseMethod, find as find_object};
pub(crate) use json_object::{have_same_value, text_around_objects, values_with_nonce};
pub(crate) use review::{AnswerSource, read_object};
pub use review::{HintOpinion, ModelClaim, ReviewAnswer, read_restructured, read_review};
pub use schema::{checks_format, review_format};
pub(crate) use unique::parse as parse_unique;

use crate::agent::fence::Nonce;
use regex::Regex;
use std::sync::LazyLock;
use thiserror::Error;

/// The text of a model's answer, before it is parsed.
#[derive(Debug, Clone, Copy)]
pub struct RawAnswer<'w> {
    /// The text.
    pub text: &'w str,
    /// Whether the provider enforced the schema.
    pub form_enforced: bool,
    /// The nonce of the run.
    pub nonce: &'w Nonce,
}

/// Why an answer cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseProblem {
    /// A field is missing.
    #[error("missing field: {0}")]
    MissingField(String),
    /// The verdict is unknown, or contradicts the findings.
    #[error("invalid verdict: {0}")]
    InvalidVerdict(String),
    /// The answer is not JSON, or JSON in other text without the nonce.
    #[error("invalid json: {0}")]
    InvalidJson(String),
    /// The answer objects, and none of its evidence is in the reviewed tree.
    #[error("invalid evidence: {0}")]
    InvalidEvidence(String),
    /// A field has the wrong type or value, or the answer repeats the prompt.
    #[error("invalid format")]
    InvalidFormat,
}

impl ParseProblem {
    /// The problem without text of the model. The reviewed code may have told the model what to write, so
    /// a retry prompt must not repeat it.
    pub fn without_model_text(&self) -> String {
        match self {
            Self::InvalidVerdict(_) => "invalid verdict: it is PASS without findings, FAIL with a \
                                        P0 or P1 among them, NEEDS_WORK otherwise"
                .to_owned(),
            Self::InvalidEvidence(_) => {
                "invalid evidence: no finding quotes lines that are in its \
                                         file after the change"
                    .to_owned()
            }
            other => other.to_string(),
        }
    }
}

/// An objection in prose or in invalid JSON.
#[expect(clippy::expect_used, reason = "a constant pattern, compiled by every test")]
static OBJECTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i)\bverdict\b["'*`]*\s*[:=]?\s*["'*`]*(?:FAIL|NEEDS_WORK)\b|\[P[01]\]"#)
        .expect("the pattern is valid")
});

/// Whether an answer objects to the change: a verdict other than PASS, or findings. A later answer
/// without them does not withdraw the objection.
pub fn has_objection(raw: &RawAnswer<'_>) -> bool {
    match json_object::find(raw, &["verdict", "findings"]) {
        Ok((object, _)) => is_objection(&object),
        Err(_) => {
            OBJECTION.is_match(raw.text)
                || json_object::json_objects_in(raw.text).any(|object| is_objection(&object))
        }
    }
}

fn is_objection(object: &JsonObject) -> bool {
    let verdict = object.get("verdict").and_then(|verdict| verdict.as_str()).unwrap_or_default();
    let findings = object.get("findings").and_then(|findings| findings.as_array());
    ["FAIL", "NEEDS_WORK"].iter().any(|word| verdict.eq_ignore_ascii_case(word))
        || findings.is_some_and(|findings| !findings.is_empty())
}

#[cfg(test)]
mod tests;
