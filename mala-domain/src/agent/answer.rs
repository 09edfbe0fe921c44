//! Reads what a model answers. An answer counts when it is bound to our call: by the provider's
//! schema, by being the whole answer, or, inside other text, by the run's nonce. Everything else is
//! a problem and never an empty list of findings.

mod checks;
pub(crate) mod fields;
mod ladder;
mod objection;
mod restructured;
mod review;
mod schema;
mod unique;

pub use checks::{Check, CheckOutcome, check_of, read_checks};
pub use ladder::ParseMethod;
pub use ladder::{Object, find as find_object};
pub(crate) use ladder::{around_objects, bound_values, say_the_same};
pub use objection::objects;
pub use restructured::read_restructured;
pub use review::{Answer, Claim, HintOpinion, read_review};
pub(crate) use review::{AnswerSource, read_object};
pub use schema::{checks_form, review_form};
pub(crate) use unique::parse as parse_unique;

use crate::agent::fence::Nonce;
use thiserror::Error;

/// A model's words, and how far they can be trusted to be an answer.
#[derive(Debug, Clone, Copy)]
pub struct Words<'w> {
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
    pub fn in_own_words(&self) -> String {
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

#[cfg(test)]
mod tests;
