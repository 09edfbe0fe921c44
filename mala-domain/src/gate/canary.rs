//! Canaries: planted defects that the lanes of a panel are given, so that it is known what each of them
//! finds. What they find of them says nothing about the change under review, and never counts in it.

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// So many runs are kept.
const MAX_RUNS: usize = 50;

/// When and how lanes are given canaries.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CanaryPlan {
    /// Days from one run to the next.
    pub every_days: u32,
    /// How many defects a run has.
    pub count: u32,
    /// When the lanes say that they cost this much, no further one is given.
    pub max_cost_usd: f64,
}

/// What is kept of all runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CanaryBook {
    /// What shows that this clone wrote it down.
    #[serde(default)]
    pub stamp: String,
    /// The version of this file.
    pub schema_version: u32,
    /// The time, in seconds since 1970, from which on a schedule counts.
    pub since: Option<i64>,
    /// The runs, the newest last.
    #[serde(default)]
    pub runs: Vec<CanaryRun>,
}

/// Canaries that were given to some lanes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CanaryRun {
    /// When, in words.
    pub at: String,
    /// The seed that the defects were chosen by.
    pub seed: u64,
    /// What each lane made of them.
    pub lanes: BTreeMap<String, LaneTally>,
}

/// What a lane made of canaries.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LaneTally {
    /// The version of its program, when it says one.
    pub version: Option<String>,
    /// What it found, by kind: how many of how many.
    pub by_kind: BTreeMap<String, CanaryHits>,
    /// How many it did not review.
    pub could_not_review: u32,
    /// What it cost; null when it did not say so of one of them.
    pub cost_usd: Option<f64>,
}

/// How many of how many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanaryHits {
    /// What was found.
    pub found: u32,
    /// What there was.
    pub planted: u32,
}

/// What a lane finds of planted defects, as far as that was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// How many planted defects it found.
    pub found: u32,
    /// How many it was given, and reviewed.
    pub planted: u32,
    /// How many it was given, and did not review.
    pub could_not_review: u32,
    /// `found` of `planted`; null when there were none.
    pub recall: Option<f64>,
    /// The day of the last run, as `2026-11-15`.
    pub date: String,
    /// The version of its program in these runs, when it says one.
    pub version: Option<String>,
    /// What these runs cost; null when that is not known.
    pub cost_usd: Option<f64>,
}

impl Measured {
    /// In words, such as `found 7 of 9 planted, 2026-11-15`.
    pub fn shown(&self) -> String {
        let lost = match self.could_not_review {
            0 => String::new(),
            n => format!(" ({n} not reviewed)"),
        };
        format!("found {} of {} planted{lost}, {}", self.found, self.planted, self.date)
    }
}

impl LaneTally {
    /// Counts one canary that it reviewed.
    pub fn reviewed(&mut self, kind: &str, is_found: bool) {
        let hits = self.by_kind.entry(kind.to_owned()).or_default();
        hits.planted = hits.planted.saturating_add(1);
        hits.found = hits.found.saturating_add(u32::from(is_found));
    }

    /// Adds what a canary cost.
    pub fn pay(&mut self, cost_usd: Option<f64>) {
        self.cost_usd = self.cost_usd.zip(cost_usd).map(|(sum, more)| sum + more);
    }
}

impl CanaryBook {
    /// Whether the next run is due. A book that knows no beginning begins now: a throw-away checkout is
    /// never due.
    pub fn is_due(&self, now: i64, plan: &CanaryPlan) -> bool {
        let every = i64::from(plan.every_days).saturating_mul(86_400);
        self.since.is_some_and(|since| now.saturating_sub(since) >= every)
    }

    /// With one more run.
    #[must_use]
    pub fn with(mut self, run: CanaryRun) -> Self {
        self.runs.push(run);
        let n_old = self.runs.len().saturating_sub(MAX_RUNS);
        self.runs.drain(..n_old);
        self
    }

    /// What a lane finds, over all runs with the version that it had last; `None` when it was never measured.
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
