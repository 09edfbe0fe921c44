//! What a reviewer says where there is nothing to say.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// The part that it makes; null when there are none.
    pub rate: Option<f64>,
}

impl RejectedScore {
    pub(super) fn add(&mut self, given: u64, repeated: u64) {
        self.given += given;
        self.repeated += repeated;
        self.rate = super::counts::ratio(self.repeated, self.given);
    }
}
