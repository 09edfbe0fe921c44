//! How much of what each rule or reviewer says is right: a bar each, with how sure that is.

use super::frame::{figure, nothing, unit};
use super::markup::{Markup, tag};
use super::tables::{Cell, Grid, label};
use crate::bootstrap::Interval;
use crate::render::numbers::plural;
use crate::scores::RuleScore;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// How many bars are drawn.
const MAX_BARS: usize = 40;

/// What the bars of one plot stand for.
pub(super) struct Bars<'a> {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    /// What one bar is about, such as `rule`.
    pub(super) noun: &'static str,
    pub(super) scores: &'a BTreeMap<String, RuleScore>,
    /// The same by the rule that ignores categories.
    pub(super) by_location: &'a BTreeMap<String, RuleScore>,
}

impl Bars<'_> {
    /// The plot: those with the most findings first.
    pub(super) fn plot(&self) -> Markup {
        if self.scores.is_empty() {
            return nothing(self.id, self.title, "There are no findings.");
        }
        let columns = [self.noun, "precision", "", "right", "location", "in clean cases"];
        let mut grid = Grid::new("Precision (strict), with 95 % intervals", &columns);
        let mut rows: Vec<_> = self.scores.iter().collect();
        rows.sort_by_key(|(name, score)| (Reverse(score.findings), *name));
        for (name, score) in rows.iter().take(MAX_BARS) {
            let other = self.by_location.get(*name).and_then(|score| score.precision);
            grid.row([
                Cell::label(name),
                Cell::of(bar(score)).with_class("wide"),
                Cell::rate(score.precision),
                Cell::text(format!("{} of {}", score.right, score.findings)),
                Cell::rate(other),
                Cell::number(score.in_clean_cases),
            ]);
        }
        let more = rows.len().saturating_sub(MAX_BARS);
        let below = (more > 0).then(|| {
            let text =
                format!("{} with fewer findings are not shown.", plural(more as u64, self.noun));
            tag("p").class("note").text(text).into()
        });
        figure(self.id, self.title, grid.markup(), below.into())
    }
}

/// The bar of one: filled as far as it is right, with a line from low to high.
fn bar(score: &RuleScore) -> Markup {
    let part = score.precision.unwrap_or_default();
    let Interval { low, high } =
        likely(score.right, score.findings).unwrap_or(Interval { low: part, high: part });
    let piece = |class: &str, from: f64, to: f64, (y, height): (f64, f64)| {
        tag("rect")
            .class(class)
            .attr("x", unit(from * 100.0))
            .attr("y", unit(y))
            .attr("width", unit((to - from) * 100.0))
            .attr("height", unit(height))
    };
    let title =
        format!("{} of {} right, between {low:.2} and {high:.2}", score.right, score.findings);
    tag("svg")
        .class("bar")
        .attr("viewBox", "0 0 100 12")
        .attr("preserveAspectRatio", "none")
        .attr("role", "img")
        .child(tag("title").text(label(&title)))
        .child(piece("track", 0.0, 1.0, (1.0, 10.0)))
        .child(piece("right", 0.0, part, (1.0, 10.0)))
        .child(piece("likely", low, high, (5.0, 2.0)))
        .into()
}

/// The 95 % interval of a part after Wilson, which is honest about few.
pub(super) fn likely(part: u64, all: u64) -> Option<Interval> {
    const Z: f64 = 1.959_963_984_540_054;
    if all == 0 {
        return None;
    }
    let n = all as f64;
    let rate = (part.min(all)) as f64 / n;
    let spread = Z * (rate * (1.0 - rate) / n + Z * Z / (4.0 * n * n)).sqrt();
    let (middle, scale) = (rate + Z * Z / (2.0 * n), 1.0 + Z * Z / n);
    Some(Interval {
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
        let one = likely(1, 1).unwrap_or(Interval { low: 0.0, high: 0.0 });
        assert!((one.low - 0.206_549_3).abs() < 1e-6 && one.high == 1.0, "{one:?}");
        let half = likely(50, 100).unwrap_or(one);
        assert!((half.low - 0.403_831_5).abs() < 1e-6, "{half:?}");
        assert!((half.low + half.high - 1.0).abs() < 1e-12, "{half:?}");
    }
}
