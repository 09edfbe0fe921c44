//! The answers and the cost of a judge over a run.

use crate::judging::{Judgement, PairOutcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The answers of a judge over a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeScore {
    /// Pairs that it judged.
    pub pairs: u64,
    /// Pairs about the same problem.
    pub same: u64,
    /// Pairs about different problems.
    pub different: u64,
    /// Pairs without a clear answer. They are no hits.
    pub undecided: u64,
    /// Pairs of the same file that were not judged, because there are too many.
    pub left_out: u64,
    /// Calls to its model.
    pub llm_calls: u64,
    /// Dollars; null when unknown.
    pub cost_usd: Option<f64>,
}

impl JudgeScore {
    /// No answers yet.
    pub(super) fn nothing() -> Self {
        Self {
            pairs: 0,
            same: 0,
            different: 0,
            undecided: 0,
            left_out: 0,
            llm_calls: 0,
            cost_usd: Some(0.0),
        }
    }

    pub(super) fn add(&mut self, judgement: &Judgement) {
        let n = |outcome: PairOutcome| {
            judgement.pairs.iter().filter(|pair| pair.outcome == outcome).count() as u64
        };
        self.pairs += judgement.pairs.len() as u64;
        self.same += n(PairOutcome::Same);
        self.different += n(PairOutcome::Different);
        self.undecided += n(PairOutcome::Undecided);
        self.left_out += judgement.left_out;
        self.llm_calls += judgement.spent.llm_calls;
        self.cost_usd = self.cost_usd.zip(judgement.spent.cost_usd).map(|(all, one)| all + one);
    }
}
