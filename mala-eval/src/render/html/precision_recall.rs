//! Precision against recall by confidence, with the run itself and the floor.

use super::frame::{
    Axis, Place, Plot, at, circle, diamond, legend, line, nothing, path, told, words,
};
use super::markup::{Markup, tag};
use super::tables::{Cell, Grid, numbers};
use crate::EvalResult;
use crate::curve::CurvePoint;
use crate::matching::Mode;
use crate::render::numbers::rate;
use crate::scores::{ModeScores, Rates};

const ID: &str = "precision-recall";
const TITLE: &str = "Precision and recall";

/// The plot of a run with its curve.
pub(super) fn plot(result: &EvalResult, curve: &[CurvePoint]) -> Markup {
    let strict = &result.scores.strict;
    let rates = &strict.rates;
    if rates.truths == 0 || curve.is_empty() {
        let why = match (result.scores.cases.reviewed, rates.truths) {
            (0, _) => "Nothing was reviewed, so there is no curve.",
            (_, 0) => {
                "There is nothing to find in these cases, so there is no recall and no curve."
            }
            _ => "The reviewer found nothing, so there is no precision and no curve.",
        };
        return nothing(ID, TITLE, why);
    }
    let mut marks = same_f1();
    marks.push(confidence(curve));
    marks.push(floor(&strict.floor));
    let rings = [(Mode::Semantic, 12.0), (Mode::Location, 9.5), (Mode::Grouped, 7.0)];
    for (mode, radius) in rings {
        marks.push(other_mode(mode, result.scores.of(mode), radius));
    }
    let is_judged = result.scores.semantic.is_some();
    let others = if is_judged { "grouped, location, semantic" } else { "grouped, location" };
    marks.push(this_run(strict));
    let mut below = legend([
        ("run", "this run (strict), with 95 % intervals".to_owned()),
        ("ring", format!("the same run: {others}")),
        ("floor", "floor".to_owned()),
        ("curve", "only findings of at least some confidence".to_owned()),
    ]);
    below.push(best(curve, rates));
    below.push(numbers(table(curve)));
    let spoken = |of: Option<f64>| of.map_or_else(|| "undefined".to_owned(), |of| rate(Some(of)));
    let description = format!(
        "By the strict rule recall is {} and precision is {}. The floor's recall is {}, its precision {}.",
        spoken(rates.recall),
        spoken(rates.precision),
        spoken(strict.floor.recall),
        spoken(strict.floor.precision)
    );
    let (x, y) = (Axis::rate("recall"), Axis::rate("precision"));
    Plot { id: ID, title: TITLE, description, x, y, marks, below }.figure()
}

/// Lines along which F1 is the same.
fn same_f1() -> Markup {
    let mut marks = Markup::default();
    for f1 in [0.2, 0.4, 0.6, 0.8] {
        let first = f1 / (2.0 - f1);
        let places: Vec<Place> = (0..=32)
            .map(|step| first + (1.0 - first) * (f64::from(step) / 32.0).powi(3))
            .map(|recall| at(recall, f1 * recall / (2.0 * recall - f1)))
            .collect();
        marks.push(path(&places).class("isof1"));
        let end = at(1.0, first);
        let label = Place { x: end.x - 3.0, y: end.y - 4.0 };
        marks.push(words(label, format!("F1 {f1:.1}")).class("faint end"));
    }
    marks
}

fn place(rates: &Rates) -> Option<Place> {
    Some(at(rates.recall?, rates.precision?))
}

fn confidence(curve: &[CurvePoint]) -> Markup {
    let places: Vec<Place> = curve.iter().filter_map(|point| place(&point.rates)).collect();
    let mut marks = Markup::from(path(&places).class("curve line"));
    for point in curve {
        let Some(place) = place(&point.rates) else { continue };
        let title = format!(
            "confidence {:.2} and more: recall {}, precision {}, F1 {}",
            point.threshold,
            rate(point.rates.recall),
            rate(point.rates.precision),
            rate(point.rates.f1)
        );
        marks.push(told(circle(place, 3.0), "curve dot", title));
    }
    marks
}

fn floor(rates: &Rates) -> Option<Markup> {
    let title =
        format!("floor: recall {}, precision {}", rate(rates.recall), rate(rates.precision));
    Some(told(diamond(place(rates)?, 6.0), "floor", title).into())
}

fn other_mode(mode: Mode, scores: &ModeScores, radius: f64) -> Option<Markup> {
    let rates = &scores.rates;
    let title =
        format!("{mode}: recall {}, precision {}", rate(rates.recall), rate(rates.precision));
    Some(told(circle(place(rates)?, radius), "ring", title).into())
}

fn this_run(scores: &ModeScores) -> Option<Markup> {
    let ModeScores { rates, intervals, .. } = scores;
    let (recall, precision) = (rates.recall?, rates.precision?);
    let mut marks = Markup::default();
    if let Some(of) = intervals.recall {
        marks.push(line(at(of.low, precision), at(of.high, precision)).class("interval"));
    }
    if let Some(of) = intervals.precision {
        marks.push(line(at(recall, of.low), at(recall, of.high)).class("interval"));
    }
    let title = format!(
        "this run (strict): recall {}, precision {}, F1 {}",
        rate(rates.recall),
        rate(rates.precision),
        rate(rates.f1)
    );
    marks.push(told(circle(at(recall, precision), 5.0), "run", title));
    Some(marks)
}

/// Where on the curve F1 is best, when that is not where the run is.
fn best(curve: &[CurvePoint], run: &Rates) -> Option<Markup> {
    let of = |point: &CurvePoint| point.rates.f1.unwrap_or_default();
    let best = curve.iter().max_by(|a, b| of(a).total_cmp(&of(b)))?;
    (of(best) > run.f1.unwrap_or_default() + 0.0005).then(|| {
        let text = format!(
            "F1 would be {:.3} with only the findings of confidence {:.2} and more.",
            of(best),
            best.threshold
        );
        tag("p").class("note").text(text).into()
    })
}

fn table(curve: &[CurvePoint]) -> Grid {
    let mut grid = Grid::new(
        "Rates by least confidence",
        &["confidence from", "recall", "precision", "F1", "findings"],
    );
    for CurvePoint { threshold, rates } in curve {
        grid.row([
            Cell::name(format!("{threshold:.2}")),
            Cell::rate(rates.recall),
            Cell::rate(rates.precision),
            Cell::rate(rates.f1),
            Cell::number(rates.findings),
        ]);
    }
    grid
}
