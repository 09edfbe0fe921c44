//! Precision against recall by confidence, with the run itself and the floor.

use super::frame::{
    Plot, PlotAxis, PlotPoint, at, circle, diamond, legend, line, nothing, path, text, titled,
};
use super::tables::{GridCell, HtmlGrid, numbers};
use crate::EvalResult;
use crate::curve::CurvePoint;
use crate::matching::MatchMode;
use crate::render::rate;
use crate::scores::{ModeScores, ScoreRates};
use maud::{Markup, html};

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
    let rings =
        [(MatchMode::Semantic, 12.0), (MatchMode::Location, 9.5), (MatchMode::Grouped, 7.0)];
    let marks = html! {
        (same_f1())
        (confidence(curve))
        (rated("floor", "floor", &strict.floor, |point| diamond("", point, 6.0)))
        @for (mode, radius) in rings {
            @let rates = &result.scores.of(mode).rates;
            (rated("ring", mode.name(), rates, |point| circle("", point, radius)))
        }
        (this_run(strict))
    };
    let is_judged = result.scores.semantic.is_some();
    let others = if is_judged { "grouped, location, semantic" } else { "grouped, location" };
    let signs = [
        ("run", "this run (strict), with 95 % intervals".to_owned()),
        ("ring", format!("the same run: {others}")),
        ("floor", "floor".to_owned()),
        ("curve", "only findings of at least some confidence".to_owned()),
    ];
    let below = html! {
        (legend(signs))
        (best(curve, rates))
        (numbers(table(curve)))
    };
    let spoken = |of: Option<f64>| of.map_or_else(|| "undefined".to_owned(), |of| rate(Some(of)));
    let description = format!(
        "By the strict rule recall is {} and precision is {}. The floor's recall is {}, its precision {}.",
        spoken(rates.recall),
        spoken(rates.precision),
        spoken(strict.floor.recall),
        spoken(strict.floor.precision)
    );
    let (x, y) = (PlotAxis::rate("recall"), PlotAxis::rate("precision"));
    Plot { id: ID, title: TITLE, description, x, y, marks, below }.figure()
}

/// Lines along which F1 is the same.
fn same_f1() -> Markup {
    let points = |f1: f64, first: f64| -> Vec<PlotPoint> {
        (0..=32)
            .map(|step| first + (1.0 - first) * (f64::from(step) / 32.0).powi(3))
            .map(|recall| at(recall, f1 * recall / (2.0 * recall - f1)))
            .collect()
    };
    html! {
        @for f1 in [0.2, 0.4, 0.6, 0.8] {
            @let first = f1 / (2.0 - f1);
            @let end = at(1.0, first);
            (path("isof1", &points(f1, first)))
            (text("faint end", PlotPoint { x: end.x - 3.0, y: end.y - 4.0 }, format!("F1 {f1:.1}")))
        }
    }
}

fn place(rates: &ScoreRates) -> Option<PlotPoint> {
    Some(at(rates.recall?, rates.precision?))
}

fn confidence(curve: &[CurvePoint]) -> Markup {
    let places: Vec<PlotPoint> = curve.iter().filter_map(|point| place(&point.rates)).collect();
    let title = |point: &CurvePoint| {
        format!(
            "confidence {:.2} and more: recall {}, precision {}, F1 {}",
            point.threshold,
            rate(point.rates.recall),
            rate(point.rates.precision),
            rate(point.rates.f1)
        )
    };
    html! {
        (path("curve line", &places))
        @for point in curve {
            @if let Some(place) = place(&point.rates) {
                (titled("curve dot", &title(point), circle("", place, 3.0)))
            }
        }
    }
}

/// A mark at the recall and precision of some rates, when both are defined.
fn rated(
    class: &str,
    name: &str,
    rates: &ScoreRates,
    mark: impl Fn(PlotPoint) -> Markup,
) -> Markup {
    let (recall, precision) = (rate(rates.recall), rate(rates.precision));
    html! {
        @if let Some(place) = place(rates) {
            (titled(class, &format!("{name}: recall {recall}, precision {precision}"), mark(place)))
        }
    }
}

fn this_run(scores: &ModeScores) -> Markup {
    let ModeScores { rates, intervals, .. } = scores;
    let (Some(recall), Some(precision)) = (rates.recall, rates.precision) else {
        return Markup::default();
    };
    let title = format!(
        "this run (strict): recall {}, precision {}, F1 {}",
        rate(rates.recall),
        rate(rates.precision),
        rate(rates.f1)
    );
    html! {
        @if let Some(of) = intervals.recall {
            (line("interval", at(of.low, precision), at(of.high, precision)))
        }
        @if let Some(of) = intervals.precision {
            (line("interval", at(recall, of.low), at(recall, of.high)))
        }
        (titled("run", &title, circle("", at(recall, precision), 5.0)))
    }
}

/// The point of the curve with the best F1, when it is better than the run.
fn best(curve: &[CurvePoint], run: &ScoreRates) -> Markup {
    let of = |point: &CurvePoint| point.rates.f1.unwrap_or_default();
    let best = curve.iter().max_by(|a, b| of(a).total_cmp(&of(b)));
    let best = best.filter(|best| of(best) > run.f1.unwrap_or_default() + 0.0005);
    html! {
        @if let Some(best) = best {
            p class="note" {
                (format!(
                    "F1 would be {:.3} with only the findings of confidence {:.2} and more.",
                    of(best),
                    best.threshold
                ))
            }
        }
    }
}

fn table(curve: &[CurvePoint]) -> HtmlGrid {
    let mut grid = HtmlGrid::new(
        "Rates by least confidence",
        &["confidence from", "recall", "precision", "F1", "findings"],
    );
    for CurvePoint { threshold, rates } in curve {
        grid.row([
            GridCell::of(html! { (format!("{threshold:.2}")) }),
            GridCell::rate(rates.recall),
            GridCell::rate(rates.precision),
            GridCell::rate(rates.f1),
            GridCell::text(rates.findings),
        ]);
    }
    grid
}
