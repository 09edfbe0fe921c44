//! Counts of findings and known problems, and the rates that follow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Counts of findings and known problems, and of hits among them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MatchCounts {
    /// Findings.
    pub findings: u64,
    /// Findings that hit a known problem.
    pub right: u64,
    /// Known problems.
    pub truths: u64,
    /// Known problems that are hit.
    pub found: u64,
}

impl MatchCounts {
    /// The fraction of known problems that were found.
    pub fn recall(&self) -> Option<f64> {
        ratio(self.found, self.truths)
    }

    /// The fraction of findings that are right.
    pub fn precision(&self) -> Option<f64> {
        ratio(self.right, self.findings)
    }

    /// The harmonic mean of the two. It is 0 if there is something to find and nothing is found,
    /// although the precision is undefined then. It is absent if there is nothing to find and no
    /// finding, and for a part of a run whose hits count under another part.
    pub fn f1(&self) -> Option<f64> {
        match (self.recall(), self.precision()) {
            (None, None) => None,
            (None, Some(_)) if self.right > 0 => None,
            (Some(_), None) if self.found > 0 => None,
            (None, Some(_)) | (Some(_), None) => Some(0.0),
            (Some(0.0), Some(_)) | (Some(_), Some(0.0)) => Some(0.0),
            (Some(recall), Some(precision)) => {
                Some(2.0 * recall * precision / (recall + precision))
            }
        }
    }
}

impl AddAssign for MatchCounts {
    fn add_assign(&mut self, other: Self) {
        self.findings += other.findings;
        self.right += other.right;
        self.truths += other.truths;
        self.found += other.found;
    }
}

/// The part of a number in another one; absent when that is 0.
pub(super) fn ratio(part: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| part as f64 / all as f64)
}

/// Recall, precision and F1, with the counts behind them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScoreRates {
    /// The fraction of known problems that were found; null if there are none.
    pub recall: Option<f64>,
    /// The fraction of findings that are right; null if there are none.
    pub precision: Option<f64>,
    /// The harmonic mean of the two; null if there is nothing to count.
    pub f1: Option<f64>,
    /// Findings.
    pub findings: u64,
    /// Findings that hit a known problem.
    pub right: u64,
    /// Known problems.
    pub truths: u64,
    /// Known problems that are hit.
    pub found: u64,
}

impl From<MatchCounts> for ScoreRates {
    fn from(counts: MatchCounts) -> Self {
        Self {
            recall: counts.recall(),
            precision: counts.precision(),
            f1: counts.f1(),
            findings: counts.findings,
            right: counts.right,
            truths: counts.truths,
            found: counts.found,
        }
    }
}

/// The precision of a rule or a reviewer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RuleScore {
    /// Its findings.
    pub findings: u64,
    /// Those that hit a known problem.
    pub right: u64,
    /// The fraction that is right.
    pub precision: Option<f64>,
    /// Those in clean cases.
    pub in_clean_cases: u64,
}

impl RuleScore {
    /// Adds one finding: how many hits and how many clean cases it counts for, which is 0 or 1.
    pub(super) fn add(&mut self, right: u64, in_clean_cases: u64) {
        self.findings += 1;
        self.right += right;
        self.in_clean_cases += in_clean_cases;
        self.precision = ratio(self.right, self.findings);
    }
}

/// False alarms on clean cases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CleanScore {
    /// Clean cases that were reviewed.
    pub cases: u64,
    /// Lines that they add and remove.
    pub changed_lines: u64,
    /// Findings in them.
    pub false_alarms: u64,
    /// Clean cases without any finding.
    pub without_alarm: u64,
    /// False alarms per 1,000 changed lines; null when there are no such lines.
    pub per_1000_lines: Option<f64>,
}

impl CleanScore {
    pub(super) fn add(&mut self, changed_lines: u64, findings: u64) {
        self.cases += 1;
        self.changed_lines += changed_lines;
        self.false_alarms += findings;
        self.without_alarm += u64::from(findings == 0);
        self.per_1000_lines = (self.changed_lines > 0)
            .then(|| self.false_alarms as f64 * 1000.0 / self.changed_lines as f64);
    }
}

/// Claims that people judged to be wrong, and that the reviewer makes again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RejectedScore {
    /// Such claims in the reviewed cases.
    pub given: u64,
    /// Those that it makes.
    pub repeated: u64,
    /// The fraction; null if there are none.
    pub rate: Option<f64>,
}

impl RejectedScore {
    pub(super) fn add(&mut self, given: u64, repeated: u64) {
        self.given += given;
        self.repeated += repeated;
        self.rate = super::counts::ratio(self.repeated, self.given);
    }
}
