//! The result of a run: the JSON document that `mala eval` prints and stores.

use super::record::{RunHeader, SCHEMA_VERSION};
use super::scores::Scores;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "EvalResult")]
pub struct EvalResult {
    /// The version of this format.
    pub schema_version: u32,
    /// The fraction of known problems that were found (strict); null if there are none.
    pub recall: Option<f64>,
    /// The fraction of findings that are right (strict); null if there are none.
    pub precision: Option<f64>,
    /// The harmonic mean of the two (strict); null if there is nothing to count.
    pub f1: Option<f64>,
    /// 1 less the mean distance between a finding's confidence and its worth; null without findings.
    pub avg_confidence_calibration: Option<f64>,
    /// Dollars in all; null when a review did not report it.
    pub cost_usd: Option<f64>,
    /// Mean seconds per review; null if nothing was reviewed.
    pub latency_seconds: Option<f64>,
    /// Whether every selected case was run; the scores of an incomplete run cover only the finished
    /// cases.
    pub is_complete: bool,
    /// Selected reviews that were not run.
    pub not_run: u64,
    /// Notes to read before the numbers.
    pub notes: Vec<String>,
    /// The header of the run.
    pub run: RunHeader,
    /// All scores.
    pub scores: Scores,
}

impl EvalResult {
    /// The result of a run with these scores.
    pub fn of(run: RunHeader, scores: Scores) -> Self {
        let selected: u64 = run.sets.iter().map(|set| set.cases as u64).sum();
        let wanted = selected * u64::from(run.trials);
        let not_run = wanted.saturating_sub(scores.cases.reviewed + scores.cases.could_not_review);
        let strict = &scores.strict;
        Self {
            schema_version: SCHEMA_VERSION,
            recall: strict.rates.recall,
            precision: strict.rates.precision,
            f1: strict.rates.f1,
            avg_confidence_calibration: strict.calibration.avg_confidence_calibration,
            cost_usd: scores.spent.cost_usd,
            latency_seconds: scores.spent.seconds_mean,
            is_complete: not_run == 0,
            not_run,
            notes: notes(&scores, not_run),
            run,
            scores,
        }
    }
}

fn notes(scores: &Scores, not_run: u64) -> Vec<String> {
    let rates = &scores.strict.rates;
    let cases = &scores.cases;
    let all = cases.reviewed + cases.could_not_review;
    let mut notes = Vec::new();
    let mut say = |when: bool, text: String| notes.extend(when.then_some(text));
    say(
        cases.could_not_review > 0,
        format!(
            "{} of {all} reviews could not be done: they are in no rate",
            cases.could_not_review
        ),
    );
    let undecided = scores.judge.map_or(0, |judge| judge.undecided);
    say(undecided > 0, format!("the judge left {undecided} pairs undecided: they are no hits"));
    say(not_run > 0, format!("{not_run} reviews were not run"));
    say(cases.reviewed == 0, "nothing was reviewed, so there are no rates".to_owned());
    say(
        cases.reviewed > 0 && rates.precision.is_none(),
        "precision is undefined: nothing was found".to_owned(),
    );
    say(
        cases.reviewed > 0 && rates.recall.is_none(),
        "recall is undefined: there is nothing to find".to_owned(),
    );
    say(
        !scores.strict.is_closest || !scores.location.is_closest,
        "thousands of problems share lines: hits are as many as can be, but not the closest"
            .to_owned(),
    );
    notes
}

/// The JSON Schema of a result.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(EvalResult)
}
