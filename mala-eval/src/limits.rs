//! Limits of a run, for CI: minimum rates, the most that F1 may drop below a baseline, and how many reviews
//! may fail.

use crate::matching::MatchMode;
use crate::result::EvalResult;
use crate::scores::ScoreRates;

/// The limits that a run is checked against.
#[derive(Debug, Clone, Default)]
pub struct EvalLimits {
    /// Minimum F1.
    pub min_f1: Option<f64>,
    /// Minimum recall.
    pub min_recall: Option<f64>,
    /// Minimum precision.
    pub min_precision: Option<f64>,
    /// Maximum drop of F1 below the baseline.
    pub max_drop: Option<f64>,
    /// Maximum number of failed reviews.
    pub max_unreviewed: u64,
}

/// The facts of a run that limits are about.
#[derive(Debug, Clone, Default)]
pub struct LimitFacts {
    /// The rates.
    pub rates: ScoreRates,
    /// How many reviews were not run.
    pub not_run: u64,
    /// How many reviews failed.
    pub could_not_review: u64,
    /// The hashes of the sets.
    pub sets: Vec<String>,
}

impl LimitFacts {
    /// The facts of a result in this match mode.
    pub fn of(result: &EvalResult, mode: MatchMode) -> Self {
        Self {
            rates: result.scores.of(mode).rates,
            not_run: result.not_run,
            could_not_review: result.scores.cases.could_not_review,
            sets: result.run.sets.iter().map(|set| set.sha256.clone()).collect(),
        }
    }
}

/// A rate and its minimum.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitCheck {
    /// The name of the rate.
    pub name: &'static str,
    /// The rate; `None` if it is undefined.
    pub found: Option<f64>,
    /// The minimum.
    pub least: f64,
}

/// Why limits cannot be checked.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// There is no limit.
    #[error("no limit given")]
    NoLimit,
    /// The baseline is about other cases.
    #[error("the two runs have different cases")]
    DifferentCases,
    /// The baseline has no F1 to compare with.
    #[error("the baseline has no F1")]
    NoBaselineRate,
    /// Some cases were not run.
    #[error("{0} reviews were not run")]
    NotRun(u64),
    /// More reviews failed than the limits allow.
    #[error("{failed} reviews failed, at most {most} are allowed")]
    TooManyFailed {
        /// How many failed.
        failed: u64,
        /// How many may fail.
        most: u64,
    },
}

/// Checks a run against limits. The checks are in the order in which they are shown.
pub fn check(
    limits: &EvalLimits,
    run: &LimitFacts,
    baseline: Option<&LimitFacts>,
) -> Result<Vec<LimitCheck>, LimitError> {
    let wanted = [
        ("F1", run.rates.f1, limits.min_f1),
        ("recall", run.rates.recall, limits.min_recall),
        ("precision", run.rates.precision, limits.min_precision),
    ];
    let mut checks: Vec<LimitCheck> = wanted
        .into_iter()
        .filter_map(|(name, found, least)| Some(LimitCheck { name, found, least: least? }))
        .collect();
    if let (Some(drop), Some(baseline)) = (limits.max_drop, baseline) {
        if run.sets != baseline.sets {
            return Err(LimitError::DifferentCases);
        }
        let least = baseline.rates.f1.ok_or(LimitError::NoBaselineRate)? - drop;
        checks.push(LimitCheck { name: "F1 against the baseline", found: run.rates.f1, least });
    }
    if checks.is_empty() {
        return Err(LimitError::NoLimit);
    }
    if run.not_run > 0 {
        return Err(LimitError::NotRun(run.not_run));
    }
    match (run.could_not_review, limits.max_unreviewed) {
        (failed, most) if failed > most => Err(LimitError::TooManyFailed { failed, most }),
        _ => Ok(checks),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(f1: Option<f64>, not_run: u64, could_not_review: u64, set: &str) -> LimitFacts {
        let rates = ScoreRates { f1, recall: Some(0.5), ..ScoreRates::default() };
        LimitFacts { rates, not_run, could_not_review, sets: vec![set.to_owned()] }
    }

    #[test]
    fn limits_hold_fail_or_cannot_be_checked() {
        let f1 = |least| EvalLimits { min_f1: Some(least), ..EvalLimits::default() };
        let drop = |most| EvalLimits { max_drop: Some(most), ..EvalLimits::default() };
        let lenient = EvalLimits { max_unreviewed: 2, ..f1(0.5) };
        let good = || facts(Some(0.75), 0, 0, "a");
        let failed = |failed, most| Err(LimitError::TooManyFailed { failed, most });
        let rows = [
            (EvalLimits::default(), good(), None, Err(LimitError::NoLimit)),
            (f1(0.75), good(), None, Ok(vec![(Some(0.75), 0.75)])),
            (f1(0.5), facts(None, 0, 0, "a"), None, Ok(vec![(None, 0.5)])),
            (f1(0.5), facts(Some(1.0), 3, 0, "a"), None, Err(LimitError::NotRun(3))),
            (f1(0.5), facts(Some(1.0), 0, 1, "a"), None, failed(1, 0)),
            (lenient.clone(), facts(Some(1.0), 0, 2, "a"), None, Ok(vec![(Some(1.0), 0.5)])),
            (lenient, facts(Some(1.0), 0, 3, "a"), None, failed(3, 2)),
            (drop(0.25), good(), None, Err(LimitError::NoLimit)),
            (drop(0.25), good(), Some(good()), Ok(vec![(Some(0.75), 0.5)])),
            (
                drop(0.25),
                good(),
                Some(facts(Some(1.0), 0, 0, "b")),
                Err(LimitError::DifferentCases),
            ),
            (drop(0.25), good(), Some(facts(None, 0, 0, "a")), Err(LimitError::NoBaselineRate)),
        ];
        for (limits, run, baseline, expected) in rows {
            let got = check(&limits, &run, baseline.as_ref());
            let got = got.map(|all| all.iter().map(|it| (it.found, it.least)).collect::<Vec<_>>());
            assert_eq!(got, expected, "{limits:?} {run:?}");
        }
    }

    #[test]
    fn rates_are_checked_in_one_order() {
        let limits = EvalLimits {
            min_f1: Some(0.1),
            min_recall: Some(0.2),
            min_precision: Some(0.3),
            max_drop: Some(0.0),
            max_unreviewed: 0,
        };
        let run = facts(Some(1.0), 0, 0, "a");
        let names: Vec<&str> =
            check(&limits, &run, Some(&run)).unwrap().iter().map(|it| it.name).collect();
        assert_eq!(names, ["F1", "recall", "precision", "F1 against the baseline"]);
    }
}
