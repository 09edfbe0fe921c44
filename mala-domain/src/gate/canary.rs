//! Canaries: planted defects that measure the recall of each lane of a panel. They are reviewed
//! separately from the change and never count in its verdict.

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The number of runs that are kept.
const MAX_RUNS: usize = 50;

/// The schedule and the limits of canary runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CanaryPlan {
    /// Days from one run to the next.
    pub every_days: u32,
    /// The number of defects in a run.
    pub count: u32,
    /// A run stops when the lanes report this cost.
    pub max_cost_usd: f64,
}

/// The stored results of all runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CanaryBook {
    /// The signature of the clone that wrote it.
    #[serde(rename = "stamp", default)]
    pub signature: String,
    /// The version of this file.
    pub schema_version: u32,
    /// When the schedule started, in seconds since 1970.
    pub since: Option<i64>,
    /// The runs, the newest last.
    #[serde(default)]
    pub runs: Vec<CanaryRun>,
}

/// One run of canaries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CanaryRun {
    /// When it started.
    pub at: String,
    /// The seed that the defects were chosen by.
    pub seed: u64,
    /// The result of each lane.
    pub lanes: BTreeMap<String, LaneTally>,
}

/// The result of a lane in one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LaneTally {
    /// The version of its program, if it is known.
    pub version: Option<String>,
    /// The defects it found, by kind.
    pub by_kind: BTreeMap<String, CanaryHits>,
    /// The number of canaries it did not review.
    pub could_not_review: u32,
    /// The cost; null if it is unknown for one of the canaries.
    pub cost_usd: Option<f64>,
}

/// How many planted defects were found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanaryHits {
    /// The defects that were found.
    pub found: u32,
    /// The defects that were planted.
    pub planted: u32,
}

/// The measured recall of a lane on planted defects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// How many planted defects it found.
    pub found: u32,
    /// How many it was given, and reviewed.
    pub planted: u32,
    /// How many it was given, and did not review.
    pub could_not_review: u32,
    /// `found` divided by `planted`; null if none were planted.
    pub recall: Option<f64>,
    /// The day of the last run, as `2026-11-15`.
    pub date: String,
    /// The version of its program in these runs, if it reports one.
    pub version: Option<String>,
    /// The cost of these runs; null if unknown.
    pub cost_usd: Option<f64>,
}

impl Measured {
    /// A line such as `found 7 of 9 planted, 2026-11-15`.
    pub fn shown(&self) -> String {
        let lost = match self.could_not_review {
            0 => String::new(),
            n => format!(" ({n} not reviewed)"),
        };
        format!("found {} of {} planted{lost}, {}", self.found, self.planted, self.date)
    }
}

impl LaneTally {
    /// Counts a canary that the lane reviewed.
    pub fn reviewed(&mut self, kind: &str, is_found: bool) {
        let hits = self.by_kind.entry(kind.to_owned()).or_default();
        hits.planted = hits.planted.saturating_add(1);
        hits.found = hits.found.saturating_add(u32::from(is_found));
    }

    /// Adds the cost of a canary.
    pub fn pay(&mut self, cost_usd: Option<f64>) {
        self.cost_usd = self.cost_usd.zip(cost_usd).map(|(sum, more)| sum + more);
    }
}

impl CanaryBook {
    /// Whether the next run is due. Without a start of the schedule no run is due, so that temporary
    /// checkouts never run canaries.
    pub fn is_due(&self, now: i64, plan: &CanaryPlan) -> bool {
        let every = i64::from(plan.every_days).saturating_mul(86_400);
        self.since.is_some_and(|since| now.saturating_sub(since) >= every)
    }

    /// The book with one more run.
    #[must_use]
    pub fn with(mut self, run: CanaryRun) -> Self {
        self.runs.push(run);
        let n_old = self.runs.len().saturating_sub(MAX_RUNS);
        self.runs.drain(..n_old);
        self
    }

    /// The results of a lane over all runs with its latest version; `None` if it was never measured.
    pub fn measured(&self, lane: &str) -> Option<Measured> {
        let mut tries = self.runs.iter().rev().filter_map(|run| Some((run, run.lanes.get(lane)?)));
        let (last, newest) = tries.next()?;
        let same = tries.map(|(_, tally)| tally).take_while(|it| it.version == newest.version);
        let all: Vec<&LaneTally> = std::iter::once(newest).chain(same).collect();
        let hits = || all.iter().flat_map(|tally| tally.by_kind.values());
        let found = sum(hits().map(|hits| hits.found));
        let planted = sum(hits().map(|hits| hits.planted));
        Some(Measured {
            found,
            planted,
            could_not_review: sum(all.iter().map(|tally| tally.could_not_review)),
            recall: (planted > 0).then(|| f64::from(found) / f64::from(planted)),
            date: last.at.get(..10).unwrap_or(&last.at).to_owned(),
            version: newest.version.clone(),
            cost_usd: all.iter().map(|tally| tally.cost_usd).sum(),
        })
    }
}

fn sum(numbers: impl Iterator<Item = u32>) -> u32 {
    numbers.fold(0, u32::saturating_add)
}
