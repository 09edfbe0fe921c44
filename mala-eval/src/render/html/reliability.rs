//! Whether confidence says what findings are worth: how many are right, by how sure the reviewer is.

use super::bars::likely;
use super::frame::{Axis, Plot, at, circle, legend, line, nothing, told, unit};
use super::markup::{Markup, tag};
use super::tables::{Cell, Grid, numbers};
use crate::EvalResult;
use crate::render::numbers::plural;
use crate::render::numbers::rate;
use crate::scores::Bin;

const ID: &str = "reliability";
const TITLE: &str = "Reliability of confidence";
/// How much of the height the largest bar of counts takes.
const COUNTS: f64 = 0.22;

/// The reliability curve of a run.
pub(super) fn plot(result: &EvalResult) -> Markup {
    let calibration = &result.scores.strict.calibration;
    let bins = &calibration.bins;
    if bins.is_empty() {
        return nothing(ID, TITLE, "There are no findings, so there is no confidence to check.");
    }
    let most = bins.iter().map(|bin| bin.findings).max().unwrap_or(1).max(1) as f64;
    let mut marks: Markup = bins.iter().map(|bin| count(bin, most)).collect();
    marks.push(line(at(0.0, 0.0), at(1.0, 1.0)).class("even"));
    marks.push(bins.iter().map(|bin| dot(bin, most)).collect::<Markup>());
    let mut below = legend([
        ("bin", "findings of one tenth of the scale, with 95 % intervals".to_owned()),
        ("even", "as sure as right".to_owned()),
    ]);
    let text = format!(
        "ECE {} (0 is best), Brier {} (0 is best), calibration {} (1 is best)",
        rate(calibration.ece),
        rate(calibration.brier),
        rate(calibration.avg_confidence_calibration)
    );
    below.push(tag("p").class("note").text(text));
    below.push(numbers(table(bins)));
    let description = format!(
        "Expected calibration error {}. A point above the diagonal is more often right than its \
         reviewer is sure; bars at the bottom say how many findings there are.",
        rate(calibration.ece)
    );
    let (x, y) = (Axis::rate("confidence"), Axis::rate("part that is right"));
    Plot { id: ID, title: TITLE, description, x, y, marks, below }.figure()
}

fn count(bin: &Bin, most: f64) -> Markup {
    let (low, high) = (at(bin.from, 0.0), at(bin.to, COUNTS * bin.findings as f64 / most));
    tag("rect")
        .class("count")
        .attr("x", unit(low.x + 1.0))
        .attr("y", unit(high.y))
        .attr("width", unit(high.x - low.x - 2.0))
        .attr("height", unit(low.y - high.y))
        .into()
}

fn dot(bin: &Bin, most: f64) -> Markup {
    let (sure, right) = (bin.mean_confidence, bin.precision);
    let n_right = (right * bin.findings as f64).round() as u64;
    let mut marks = Markup::from(line(at(sure, sure), at(sure, right)).class("gap"));
    if let Some(of) = likely(n_right, bin.findings) {
        marks.push(line(at(sure, of.low), at(sure, of.high)).class("bin interval"));
    }
    let title = format!(
        "{} of confidence {:.1} to {:.1}: {right:.3} are right, {sure:.3} is claimed",
        plural(bin.findings, "finding"),
        bin.from,
        bin.to
    );
    let radius = 3.5 + 4.5 * (bin.findings as f64 / most).sqrt();
    marks.push(told(circle(at(sure, right), radius), "bin", title));
    marks
}

fn table(bins: &[Bin]) -> Grid {
    let columns = ["confidence", "findings", "mean confidence", "part that is right"];
    let mut grid = Grid::new("Findings by confidence", &columns);
    for bin in bins {
        grid.row([
            Cell::name(format!("{:.1} to {:.1}", bin.from, bin.to)),
            Cell::number(bin.findings),
            Cell::rate(Some(bin.mean_confidence)),
            Cell::rate(Some(bin.precision)),
        ]);
    }
    grid
}
