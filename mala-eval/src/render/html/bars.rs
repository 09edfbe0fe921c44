//! The precision of each rule or reviewer: a bar each, with its interval.

use super::frame::{PlotPoint, figure, nothing, rect};
use super::tables::{GridCell, HtmlGrid, label};
use crate::bootstrap::ConfidenceInterval;
use crate::render::plural;
use crate::scores::RuleScore;
use maud::{Markup, html};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// How many bars are drawn.
const MAX_BARS: usize = 40;

/// One chart.
pub(super) struct BarChart<'a> {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    /// The noun for one bar, such as `rule`.
    pub(super) noun: &'static str,
    pub(super) scores: &'a BTreeMap<String, RuleScore>,
    /// The same scores by the match mode that ignores categories.
    pub(super) by_location: &'a BTreeMap<String, RuleScore>,
}

impl BarChart<'_> {
    /// The chart, the bars with the most findings first.
    pub(super) fn plot(&self) -> Markup {
        if self.scores.is_empty() {
            return nothing(self.id, self.title, "There are no findings.");
        }
        let columns = [self.noun, "precision", "", "right", "location", "in clean cases"];
        let mut grid = HtmlGrid::new("Precision (strict), with 95 % intervals", &columns);
        let mut rows: Vec<_> = self.scores.iter().collect();
        rows.sort_by_key(|(name, score)| (Reverse(score.findings), *name));
        for (name, score) in rows.iter().take(MAX_BARS) {
            let other = self.by_location.get(*name).and_then(|score| score.precision);
            grid.row([
                GridCell::label(name),
                GridCell::of(bar(score)).with_class("wide"),
                GridCell::rate(score.precision),
                GridCell::text(format!("{} of {}", score.right, score.findings)),
                GridCell::rate(other),
                GridCell::text(score.in_clean_cases),
            ]);
        }
        let more = rows.len().saturating_sub(MAX_BARS);
        let below = html! {
            @if more > 0 {
                p class="note" {
                    (plural(more as u64, self.noun)) " with fewer findings are not shown."
                }
            }
        };
        figure(self.id, self.title, grid.markup(), below)
    }
}

/// A bar as long as the precision, with a line for the interval.
fn bar(score: &RuleScore) -> Markup {
    let part = score.precision.unwrap_or_default();
    let ConfidenceInterval { low, high } =
        likely(score.right, score.findings).unwrap_or(ConfidenceInterval { low: part, high: part });
    let piece = |class: &str, from: f64, to: f64, (y, height): (f64, f64)| {
        rect(class, PlotPoint { x: from * 100.0, y }, (to - from) * 100.0, height)
    };
    let title =
        format!("{} of {} right, between {low:.2} and {high:.2}", score.right, score.findings);
    html! {
        svg class="bar" viewBox="0 0 100 12" preserveAspectRatio="none" role="img" {
            title { (label(&title)) }
            (piece("track", 0.0, 1.0, (1.0, 10.0)))
            (piece("right", 0.0, part, (1.0, 10.0)))
            (piece("likely", low, high, (5.0, 2.0)))
        }
    }
}

/// The 95 % Wilson interval of a fraction, which is also valid for few cases.
pub(super) fn likely(part: u64, all: u64) -> Option<ConfidenceInterval> {
    const Z: f64 = 1.959_963_984_540_054;
    if all == 0 {
        return None;
    }
    let n = all as f64;
    let rate = (part.min(all)) as f64 / n;
    let spread = Z * (rate * (1.0 - rate) / n + Z * Z / (4.0 * n * n)).sqrt();
    let (middle, scale) = (rate + Z * Z / (2.0 * n), 1.0 + Z * Z / n);
    Some(ConfidenceInterval {
        low: ((middle - spread) / scale).clamp(0.0, 1.0),
        high: ((middle + spread) / scale).clamp(0.0, 1.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_findings_leave_much_open() {
        assert_eq!(likely(0, 0), None);
        // Computed by hand: for 1 of 1, the lower end is 1 / (1 + z * z).
        let one = likely(1, 1).unwrap_or(ConfidenceInterval { low: 0.0, high: 0.0 });
        assert!((one.low - 0.206_549_3).abs() < 1e-6 && one.high == 1.0, "{one:?}");
        let half = likely(50, 100).unwrap_or(one);
        assert!((half.low - 0.403_831_5).abs() < 1e-6, "{half:?}");
        assert!((half.low + half.high - 1.0).abs() < 1e-12, "{half:?}");
    }
}
