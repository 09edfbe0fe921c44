//! The scores of a run. A rate without a denominator is absent, never 0.

mod calibration;
mod counts;
mod judge;
mod scorer;
mod semantic;
mod severity;
mod tally;
#[cfg(test)]
pub(crate) mod tests;
mod trials;

pub use calibration::{Calibration, CalibrationBin};
pub use counts::{CleanScore, MatchCounts, RejectedScore, RuleScore, ScoreRates};
pub use judge::{MatchedRecord, judge};
pub use scorer::{CaseCounts, ModeScores, RunUsage, Scorer, ScorerOptions, Scores, Unreviewed};
pub use semantic::JudgeScore;
pub use severity::SeverityAgreement;
pub use trials::{Spread, TrialSpread};
