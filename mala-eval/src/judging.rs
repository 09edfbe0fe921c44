//! The semantic mode: a judge model reads a finding and a known problem of the same file and decides whether
//! both describe the same problem. Its answers are stored in the record. An unclear answer is no hit.

mod answer;
pub mod ask;
mod candidates;
mod question;
#[cfg(test)]
mod tests;

pub use answer::{form, read_pairs};
pub use candidates::{BATCH, CandidatePairs, MAX_PAIRS, candidates};
pub use question::{JudgeQuestion, question};

use super::record::CaseUsage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The instructions of a judge.
pub const JUDGE: &str = include_str!("judging/judge.md");

/// The judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeUsed {
    /// The model.
    pub model: String,
    /// The version of its instructions.
    pub version: String,
}

impl JudgeUsed {
    /// The judge with this model and the current instructions.
    pub fn of(model: &str) -> Self {
        Self { model: model.to_owned(), version: version() }
    }
}

/// The judgement of a case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// The judgement of each pair in the prompt.
    pub pairs: Vec<JudgedPair>,
    /// Pairs of the same file that were not judged, because there are too many.
    pub left_out: u64,
    /// The usage.
    pub spent: CaseUsage,
}

impl Judgement {
    /// These pairs with their judgements, in the same order.
    pub fn said(
        pairs: &[(usize, usize)],
        said: impl IntoIterator<Item = (PairOutcome, String)>,
    ) -> Vec<JudgedPair> {
        let named = pairs.iter().zip(said).map(|((claim, truth), (outcome, why))| JudgedPair {
            claim: *claim,
            truth: *truth,
            outcome,
            why,
        });
        named.collect()
    }

    /// Marks these pairs as undecided, for one reason.
    pub fn undecided(pairs: &[(usize, usize)], why: &str) -> Vec<JudgedPair> {
        Self::said(pairs, std::iter::repeat((PairOutcome::Undecided, why.to_owned())))
    }
}

/// The judgement of a finding and a known problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgedPair {
    /// The finding, by its index in `predictions`.
    pub claim: usize,
    /// The known problem, by its index in `truths`.
    pub truth: usize,
    /// The outcome.
    pub outcome: PairOutcome,
    /// Why.
    pub why: String,
}

/// Whether two texts speak of the same problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PairOutcome {
    /// They do.
    Same,
    /// They do not.
    Different,
    /// The judge is unsure, or its answer cannot be parsed. It does not count as a hit.
    Undecided,
}

/// The version of the instructions: 16 hexadecimal digits.
pub fn version() -> String {
    Sha256::digest(JUDGE).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
