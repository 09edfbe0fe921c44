//! Reads what a model answers. An answer counts when it is bound to our call: by the provider's
//! schema, by being the whole answer, or, inside other text, by the run's nonce. Everything else is
//! a problem and never an empty list of findings.

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

/// A model's words, and how far they can be trusted to be an answer.
#[derive(Debug, Clone, Copy)]
pub struct RawAnswer<'w> {
    /// What it said.
    pub text: &'w str,
    /// Whether the provider enforced the form.
    pub form_enforced: bool,
    /// The run's nonce.
    pub nonce: &'w Nonce,
}

/// Why an answer cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseProblem {
    /// A field is not there.
    #[error("missing field: {0}")]
    MissingField(String),
    /// The verdict is none, or contradicts the findings.
    #[error("invalid verdict: {0}")]
    InvalidVerdict(String),
    /// It is no JSON, or JSON inside text that nothing binds to this run.
    #[error("invalid json: {0}")]
    InvalidJson(String),
    /// It objects, and nothing that it quotes is in the reviewed tree.
    #[error("invalid evidence: {0}")]
    InvalidEvidence(String),
    /// A field has another type or value than it must, or the answer repeats the question.
    #[error("invalid format")]
    InvalidFormat,
}

impl ParseProblem {
    /// The problem without what the model wrote: that may be an order that it was given by the text
    /// under review, and our own turns never repeat one.
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

/// An objection in words or in JSON that cannot be read.
#[expect(clippy::expect_used, reason = "a constant pattern, compiled by every test")]
static OBJECTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i)\bverdict\b["'*`]*\s*[:=]?\s*["'*`]*(?:FAIL|NEEDS_WORK)\b|\[P[01]\]"#)
        .expect("the pattern is valid")
});

/// Whether these words hold an objection: a verdict other than PASS, or findings. One that is gone from
/// the next answer was not taken back: nobody said why.
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
