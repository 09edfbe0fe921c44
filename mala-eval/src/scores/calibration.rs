//! Calibration: claimed confidence against correctness.

use super::counts::ratio;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Into how many parts the scale from 0 to 1 is cut.
const N_BINS: usize = 10;

/// How well the confidence of claims predicts whether they are right.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calibration {
    /// 1 less the mean distance between a claim's confidence and its worth (1 right, 0 wrong).
    pub avg_confidence_calibration: Option<f64>,
    /// Expected calibration error over ten bins of equal width; 0 is best.
    pub ece: Option<f64>,
    /// The mean squared distance between confidence and worth; 0 is best.
    pub brier: Option<f64>,
    /// The reliability curve: the bins that have claims, in order.
    pub bins: Vec<CalibrationBin>,
}

/// The claims of one part of the scale.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CalibrationBin {
    /// The lower end.
    pub from: f64,
    /// The upper bound; the last bin includes it.
    pub to: f64,
    /// How many claims it has.
    pub findings: u64,
    /// Their mean confidence.
    pub mean_confidence: f64,
    /// The fraction of them that is right.
    pub precision: f64,
}

/// Claims by confidence, as they come.
#[derive(Debug, Clone, Default)]
pub(super) struct ConfidenceTally {
    all: u64,
    distance: f64,
    squares: f64,
    bins: [(u64, f64, u64); N_BINS],
}

impl ConfidenceTally {
    pub(super) fn add(&mut self, confidence: f64, is_right: ConfidenceRates) {
        let confidence = confidence.clamp(0.0, 1.0);
        let worth = if is_right == ConfidenceRates::Right { 1.0 } else { 0.0 };
        self.all += 1;
        self.distance += (confidence - worth).abs();
        self.squares += (confidence - worth) * (confidence - worth);
        // Truncation is intended: 0.95 is in the last bin.
        let at = ((confidence * N_BINS as f64) as usize).min(N_BINS - 1);
        if let Some((findings, sum, right)) = self.bins.get_mut(at) {
            *findings += 1;
            *sum += confidence;
            *right += u64::from(is_right == ConfidenceRates::Right);
        }
    }

    pub(super) fn calibration(&self) -> Calibration {
        let width = 1.0 / N_BINS as f64;
        let bins: Vec<CalibrationBin> = self
            .bins
            .iter()
            .enumerate()
            .filter_map(|(at, (findings, sum, right))| {
                Some(CalibrationBin {
                    from: at as f64 * width,
                    to: (at + 1) as f64 * width,
                    findings: *findings,
                    mean_confidence: sum / *findings as f64,
                    precision: ratio(*right, *findings)?,
                })
            })
            .collect();
        let mean = |sum: f64| (self.all > 0).then(|| sum / self.all as f64);
        let gap = |bin: &CalibrationBin| {
            bin.findings as f64 * (bin.precision - bin.mean_confidence).abs()
        };
        Calibration {
            avg_confidence_calibration: mean(self.distance).map(|distance| 1.0 - distance),
            ece: mean(bins.iter().map(gap).sum()),
            brier: mean(self.squares),
            bins,
        }
    }
}

/// Whether a claim is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConfidenceRates {
    Right,
    Wrong,
}
