//! The spread of scores over several reviews of the same cases.

use super::ScoreRates;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rates of each trial, and their spread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrialSpread {
    /// The rates of each trial, in order.
    pub trials: Vec<ScoreRates>,
    /// Recall over the trials.
    pub recall: Option<Spread>,
    /// Precision over the trials.
    pub precision: Option<Spread>,
    /// F1 over the trials.
    pub f1: Option<Spread>,
}

/// A number over trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// Its mean.
    pub mean: f64,
    /// Its standard deviation (n - 1); null with one trial.
    pub deviation: Option<f64>,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl TrialSpread {
    pub(super) fn over(trials: Vec<ScoreRates>) -> Self {
        let spread =
            |of: fn(&ScoreRates) -> Option<f64>| Spread::over(trials.iter().filter_map(of));
        let (recall, precision) = (spread(|rates| rates.recall), spread(|rates| rates.precision));
        let f1 = spread(|rates| rates.f1);
        Self { recall, precision, f1, trials }
    }
}

impl Spread {
    /// The spread of these numbers; `None` if there are none.
    pub fn over(values: impl Iterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.collect();
        let n = values.len() as f64;
        let first = *values.first()?;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        Some(Self {
            mean,
            deviation: (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt()),
            min: values.iter().copied().fold(first, f64::min),
            max: values.iter().copied().fold(first, f64::max),
        })
    }
}
