//! Whether hits have the severity of the known problem. It does not affect hits.

use super::counts::ratio;
use mala_domain::finding::Severity;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The agreement of severities of hits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SeverityAgreement {
    /// Hits whose known problem has a severity.
    pub pairs: u64,
    /// Pairs with equal severities.
    pub equal: u64,
    /// Pairs at most one step apart.
    pub within_one: u64,
    /// The fraction of pairs with equal severities; null if there are no pairs.
    pub agreement: Option<f64>,
    /// How many steps the reviewer is above (positive) or below (negative) on average.
    pub mean_shift: Option<f64>,
    /// Counts by known severity (rows) and claimed severity (columns): critical, high, medium, low.
    pub matrix: [[u64; 4]; 4],
}

impl SeverityAgreement {
    pub(super) fn add(&mut self, known: Severity, claimed: Severity) {
        let (row, column) = (rank(known), rank(claimed));
        self.pairs += 1;
        self.equal += u64::from(row == column);
        self.within_one += u64::from(row.abs_diff(column) <= 1);
        if let Some(cell) = self.matrix.get_mut(row).and_then(|cells| cells.get_mut(column)) {
            *cell += 1;
        }
        self.agreement = ratio(self.equal, self.pairs);
        self.mean_shift = Some(self.shift() as f64 / self.pairs as f64);
    }

    fn shift(&self) -> i64 {
        let rows = self.matrix.iter().zip(0_i64..);
        let cells = rows.flat_map(|(cells, row)| {
            cells.iter().zip(0_i64..).map(move |(count, column)| (row - column) * *count as i64)
        });
        cells.sum()
    }
}

fn rank(severity: Severity) -> usize {
    match severity {
        Severity::Critical => 0,
        Severity::High => 1,
        Severity::Medium => 2,
        Severity::Low => 3,
    }
}
