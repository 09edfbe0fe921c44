//! Confidence intervals by bootstrap: cases are resampled with replacement, and the interval is the middle
//! 95 % of the results. Cases are resampled, not findings, because the findings of a case are correlated.

use super::random::SeededRandom;
use super::scores::MatchCounts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The number of bootstrap samples.
pub const SAMPLES: usize = 1_000;

/// A 95 % confidence interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConfidenceInterval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The intervals of the three rates; null where a rate is not there or there are fewer than two cases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RateIntervals {
    /// Of recall.
    pub recall: Option<ConfidenceInterval>,
    /// Of precision.
    pub precision: Option<ConfidenceInterval>,
    /// Of F1.
    pub f1: Option<ConfidenceInterval>,
}

/// The intervals over these cases.
pub fn intervals(
    cases: &[MatchCounts],
    samples: usize,
    random: &mut SeededRandom,
) -> RateIntervals {
    if cases.len() < 2 {
        return RateIntervals::default();
    }
    let mut drawn: [Vec<f64>; 3] = Default::default();
    for _ in 0..samples {
        let mut sum = MatchCounts::default();
        for _ in 0..cases.len() {
            sum += cases.get(random.below(cases.len())).copied().unwrap_or_default();
        }
        for (values, value) in drawn.iter_mut().zip([sum.recall(), sum.precision(), sum.f1()]) {
            values.extend(value);
        }
    }
    let [recall, precision, f1] = drawn.map(middle);
    RateIntervals { recall, precision, f1 }
}

/// From the 2.5th to the 97.5th percentile.
fn middle(mut values: Vec<f64>) -> Option<ConfidenceInterval> {
    values.sort_by(f64::total_cmp);
    Some(ConfidenceInterval { low: percentile(&values, 0.025)?, high: percentile(&values, 0.975)? })
}

/// The value at this part of a sorted list, between its two neighbours.
pub(super) fn percentile(sorted: &[f64], part: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = part.clamp(0.0, 1.0) * last as f64;
    // Truncation is intended: the place is between two items.
    let below = place as usize;
    let (low, high) = (*sorted.get(below)?, *sorted.get((below + 1).min(last))?);
    Some(low + (high - low) * (place - below as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(found: u64, truths: u64, findings: u64) -> MatchCounts {
        MatchCounts { findings, right: found, truths, found }
    }

    #[test]
    fn the_same_seed_gives_the_same_intervals_around_the_rate() {
        let cases: Vec<MatchCounts> = (0..100).map(|at| counts(at % 2, 1, 1)).collect();
        let once = intervals(&cases, SAMPLES, &mut SeededRandom::new(3));
        assert_eq!(once, intervals(&cases, SAMPLES, &mut SeededRandom::new(3)));
        assert_ne!(once, intervals(&cases, SAMPLES, &mut SeededRandom::new(4)));
        let recall = once.recall.unwrap();
        // The standard error of a half over 100 is 0.05.
        assert!((0.38..0.43).contains(&recall.low) && (0.57..0.62).contains(&recall.high));
    }

    #[test]
    fn there_is_no_interval_without_a_rate() {
        let silent = vec![counts(0, 1, 0); 10];
        let found = intervals(&silent, SAMPLES, &mut SeededRandom::new(0));
        assert_eq!(found.precision, None);
        assert_eq!(found.recall, Some(ConfidenceInterval { low: 0.0, high: 0.0 }));
        assert_eq!(
            intervals(&silent[..1], SAMPLES, &mut SeededRandom::new(0)),
            RateIntervals::default()
        );
    }

    #[test]
    fn percentiles_lie_between_neighbours() {
        for (part, expected) in [(0.0, 1.0), (0.5, 2.5), (1.0, 4.0), (0.25, 1.75)] {
            assert_eq!(percentile(&[1.0, 2.0, 3.0, 4.0], part), Some(expected));
        }
        assert_eq!(percentile(&[], 0.5), None);
    }
}
