//! Whether confidence matches precision: the fraction of right findings by claimed confidence.

use super::bars::likely;
use super::frame::{Plot, PlotAxis, PlotPoint, at, circle, legend, line, nothing, rect, titled};
use super::tables::{GridCell, HtmlGrid, numbers};
use crate::EvalResult;
use crate::render::{plural, rate};
use crate::scores::CalibrationBin;
use maud::{Markup, html};

const ID: &str = "reliability";
const TITLE: &str = "Reliability of confidence";
/// The share of the height for the largest bar of counts.
const COUNTS: f64 = 0.22;

/// The reliability curve of a run.
pub(super) fn plot(result: &EvalResult) -> Markup {
    let calibration = &result.scores.strict.calibration;
    let bins = &calibration.bins;
    if bins.is_empty() {
        return nothing(ID, TITLE, "There are no findings, so there is no confidence to check.");
    }
    let most = bins.iter().map(|bin| bin.findings).max().unwrap_or(1).max(1) as f64;
    let marks = html! {
        @for bin in bins { (count(bin, most)) }
        (line("even", at(0.0, 0.0), at(1.0, 1.0)))
        @for bin in bins { (dot(bin, most)) }
    };
    let signs = [
        ("bin", "findings of one tenth of the scale, with 95 % intervals".to_owned()),
        ("even", "as confident as right".to_owned()),
    ];
    let below = html! {
        (legend(signs))
        p class="note" {
            "ECE " (rate(calibration.ece)) " (0 is best), Brier " (rate(calibration.brier))
            " (0 is best), calibration " (rate(calibration.avg_confidence_calibration))
            " (1 is best)"
        }
        (numbers(table(bins)))
    };
    let description = format!(
        "Expected calibration error {}. A point above the diagonal is more often right than its \
         reviewer claims; the bars at the bottom count the findings.",
        rate(calibration.ece)
    );
    let (x, y) = (PlotAxis::rate("confidence"), PlotAxis::rate("fraction that is right"));
    Plot { id: ID, title: TITLE, description, x, y, marks, below }.figure()
}

fn count(bin: &CalibrationBin, most: f64) -> Markup {
    let (low, high) = (at(bin.from, 0.0), at(bin.to, COUNTS * bin.findings as f64 / most));
    let corner = PlotPoint { x: low.x + 1.0, y: high.y };
    rect("count", corner, high.x - low.x - 2.0, low.y - high.y)
}

fn dot(bin: &CalibrationBin, most: f64) -> Markup {
    let (claimed, right) = (bin.mean_confidence, bin.precision);
    let n_right = (right * bin.findings as f64).round() as u64;
    let title = format!(
        "{} of confidence {:.1} to {:.1}: {right:.3} are right, {claimed:.3} is claimed",
        plural(bin.findings, "finding"),
        bin.from,
        bin.to
    );
    let radius = 3.5 + 4.5 * (bin.findings as f64 / most).sqrt();
    html! {
        (line("gap", at(claimed, claimed), at(claimed, right)))
        @if let Some(of) = likely(n_right, bin.findings) {
            (line("bin interval", at(claimed, of.low), at(claimed, of.high)))
        }
        (titled("bin", &title, circle("", at(claimed, right), radius)))
    }
}

fn table(bins: &[CalibrationBin]) -> HtmlGrid {
    let columns = ["confidence", "findings", "mean confidence", "fraction that is right"];
    let mut grid = HtmlGrid::new("Findings by confidence", &columns);
    for bin in bins {
        grid.row([
            GridCell::of(html! { (format!("{:.1} to {:.1}", bin.from, bin.to)) }),
            GridCell::text(bin.findings),
            GridCell::rate(Some(bin.mean_confidence)),
            GridCell::rate(Some(bin.precision)),
        ]);
    }
    grid
}
