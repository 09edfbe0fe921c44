//! F1 against the cost of a review, over the kept runs.

use super::frame::{
    Plot, PlotAxis, PlotPoint, at, circle, floor, legend, line, moved_apart, nothing, path, text,
    titled,
};
use super::runs::{RunsSection, run_summary};
use crate::render::LeaderboardRow;
use crate::render::plural;
use mala_domain::render::short_line;
use maud::{Markup, html};

const ID: &str = "cost";
const TITLE: &str = "Cost and F1";
/// From this ratio of costs on, the axis is logarithmic.
const FAR_APART: f64 = 20.0;
/// How much of a reviewer's name has room beside its point.
const MAX_NAME: usize = 20;
/// The start of the costs on an axis with a separate place for free runs.
const AFTER_FREE: f64 = 0.14;

/// A run with a known cost and an F1.
struct CostPoint<'a> {
    row: &'a LeaderboardRow,
    dollars: f64,
    f1: f64,
}

/// The runs by cost per review.
pub(super) fn plot(runs: &RunsSection<'_>) -> Markup {
    let all: Vec<&LeaderboardRow> = runs.plotted().collect();
    let mut points: Vec<CostPoint<'_>> = all.iter().filter_map(|row| point(row)).collect();
    if points.is_empty() {
        return nothing(ID, TITLE, "No run over these cases has a known cost and an F1.");
    }
    points.sort_by(|a, b| a.dollars.total_cmp(&b.dollars).then(b.f1.total_cmp(&a.f1)));
    let scale = LogScale::of(&points);
    let front = front(&points, &scale);
    let has_front = front.is_some();
    let marks = html! {
        (floor(runs.floor()))
        @if let Some(front) = front { (front) }
        @for point in &points { (dot(runs, point, &scale)) }
        (names(runs, &points, &scale))
    };
    let series = runs.legend();
    let mut rows: Vec<(&str, String)> =
        series.iter().map(|(class, name)| (class.as_str(), name.clone())).collect();
    rows.extend(has_front.then(|| ("front", "no cheaper run is better".to_owned())));
    rows.extend(runs.floor().map(|_| ("even", "floor of F1".to_owned())));
    let unknown = all.len() - points.len();
    let below = html! {
        (legend(rows))
        @if unknown > 0 {
            p class="note" {
                "Not drawn: " (plural(unknown as u64, "run")) " without a known cost or F1."
            }
        }
    };
    let description = format!(
        "F1 by the strict rule against dollars per review, for {}.",
        plural(points.len() as u64, "run")
    );
    let x = PlotAxis { name: "dollars per review", ticks: scale.ticks() };
    Plot { id: ID, title: TITLE, description, x, y: PlotAxis::rate("F1"), marks, below }.figure()
}

fn point(row: &LeaderboardRow) -> Option<CostPoint<'_>> {
    let cases = &row.scores.cases;
    let reviews = cases.reviewed + cases.could_not_review;
    let dollars = row.scores.spent.cost_usd? / reviews.max(1) as f64;
    let is_sound = dollars.is_finite() && dollars >= 0.0;
    is_sound.then_some(CostPoint { row, dollars, f1: row.scores.strict.rates.f1? })
}

/// The scale of the cost axis.
enum LogScale {
    /// Equal steps from 0 to this.
    Even(f64),
    /// Logarithmic between these powers, after a place for free runs.
    Factors { from: i32, to: i32 },
}

impl LogScale {
    fn of(points: &[CostPoint<'_>]) -> Self {
        let paid = || points.iter().map(|point| point.dollars).filter(|dollars| *dollars > 0.0);
        let most = paid().fold(0.0, f64::max);
        let least = paid().fold(most, f64::min);
        if most > 0.0 && most / least >= FAR_APART {
            let (from, to) = (least.log10().floor() as i32, most.log10().ceil() as i32);
            return Self::Factors { from, to: to.max(from + 1) };
        }
        Self::Even(if most > 0.0 { rounded_up(most) } else { 0.01 })
    }

    fn part(&self, dollars: f64) -> f64 {
        match self {
            Self::Even(most) => dollars / most,
            Self::Factors { .. } if dollars <= 0.0 => 0.0,
            Self::Factors { from, to } => {
                let part = (dollars.log10() - f64::from(*from)) / f64::from(to - from);
                AFTER_FREE + (1.0 - AFTER_FREE) * part
            }
        }
    }

    fn ticks(&self) -> Vec<(f64, String)> {
        match self {
            Self::Even(most) => (0..=4)
                .map(|quarter| most * f64::from(quarter) / 4.0)
                .map(|dollars| (self.part(dollars), shown(dollars)))
                .collect(),
            Self::Factors { from, to } => {
                let powers = (*from..=*to).map(|power| 10_f64.powi(power));
                let ticks = powers.map(|dollars| (self.part(dollars), shown(dollars)));
                std::iter::once((0.0, "0".to_owned())).chain(ticks).collect()
            }
        }
    }
}

/// The next of 1, 2, 4 or 8 times a power of ten.
fn rounded_up(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 4.0, 8.0, 10.0].map(|step| step * power);
    steps.into_iter().find(|step| *step >= value).unwrap_or(value)
}

fn shown(dollars: f64) -> String {
    if dollars == 0.0 {
        return "0".to_owned();
    }
    let digits = (2 - dollars.log10().floor() as i32).clamp(0, 6) as usize;
    let text = format!("{dollars:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A line through the runs that no cheaper one beats.
fn front(points: &[CostPoint<'_>], scale: &LogScale) -> Option<Markup> {
    let mut best = f64::NEG_INFINITY;
    let mut places: Vec<PlotPoint> = Vec::new();
    for point in points {
        if point.f1 > best {
            let place = at(scale.part(point.dollars), point.f1);
            if let Some(last) = places.last().copied() {
                places.push(PlotPoint { x: place.x, ..last });
            }
            places.push(place);
            best = point.f1;
        }
    }
    match places.last().copied() {
        Some(last) if places.len() > 1 => {
            places.push(PlotPoint { x: at(1.0, 0.0).x, ..last });
            Some(path("front", &places))
        }
        _ => None,
    }
}

fn dot(runs: &RunsSection<'_>, point: &CostPoint<'_>, scale: &LogScale) -> Markup {
    let x = scale.part(point.dollars);
    let class = runs.class(point.row);
    let title = format!("{}, ${} per review", run_summary(point.row), shown(point.dollars));
    let radius = if runs.is_this(point.row) { 5.5 } else { 4.0 };
    html! {
        @if let Some(of) = point.row.scores.strict.intervals.f1 {
            (line(&format!("interval {class}"), at(x, of.low), at(x, of.high)))
        }
        (titled(&format!("dot {class}"), &title, circle("", at(x, point.f1), radius)))
    }
}

/// The name of each reviewer beside its newest run.
fn names(runs: &RunsSection<'_>, points: &[CostPoint<'_>], scale: &LogScale) -> Markup {
    let mut newest: Vec<&CostPoint<'_>> = Vec::new();
    for point in points {
        let same = newest.iter_mut().find(|known| known.row.run.reviewer == point.row.run.reviewer);
        match same {
            Some(known) if known.row.run.started_at < point.row.run.started_at => *known = point,
            Some(_) => {}
            None => newest.push(point),
        }
    }
    let heights: Vec<f64> = newest.iter().map(|point| at(0.0, point.f1).y).collect();
    html! {
        @for (point, y) in newest.iter().zip(moved_apart(&heights)) {
            @let x = scale.part(point.dollars);
            @let (by, side) = if x < 0.4 { (9.0, "") } else { (-9.0, " end") };
            @let beside = PlotPoint { x: at(x, 0.0).x + by, y: y + 4.0 };
            @let class = format!("name {}{side}", runs.class(point.row));
            (text(&class, beside, short_line(&point.row.run.reviewer.to_string(), MAX_NAME)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_shown_short() {
        let rows = [
            (0.0, "0"),
            (0.0025, "0.0025"),
            (0.01, "0.01"),
            (0.5, "0.5"),
            (20.0, "20"),
            (400.0, "400"),
        ];
        for (dollars, expected) in rows {
            assert_eq!(shown(dollars), expected);
        }
        let rows = [(0.0031, 0.004), (0.7, 0.8), (9.0, 10.0), (1.0, 1.0)];
        for (value, expected) in rows {
            assert!((rounded_up(value) - expected).abs() < 1e-9, "{value}");
        }
    }

    #[test]
    fn what_is_free_has_a_place_on_an_axis_of_factors() {
        let scale = LogScale::Factors { from: -3, to: 0 };
        assert_eq!(scale.part(0.0), 0.0);
        assert!((scale.part(0.001) - AFTER_FREE).abs() < 1e-9);
        assert!((scale.part(1.0) - 1.0).abs() < 1e-9);
        let labels: Vec<String> = scale.ticks().into_iter().map(|(_, label)| label).collect();
        assert_eq!(labels, ["0", "0.001", "0.01", "0.1", "1"]);
    }
}
