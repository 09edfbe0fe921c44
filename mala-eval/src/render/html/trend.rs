//! F1 from run to run, over the same cases.

use super::frame::{
    Plot, PlotAxis, PlotPoint, at, circle, floor, legend, line, moved_apart, nothing, path, text,
    titled,
};
use super::runs::{RunsSection, run_summary};
use crate::render::LeaderboardRow;
use crate::render::plural;
use crate::scores::ScoreRates;
use maud::{Markup, html};

const ID: &str = "trend";
const TITLE: &str = "From run to run";
/// How many runs have a date.
const MAX_DATES: usize = 6;
/// How much of the width is left to labels.
const FIRST: f64 = 0.04;
const LAST: f64 = 0.78;

/// One of the rates.
type RateSeries = fn(&ScoreRates) -> Option<f64>;

/// F1 of the runs, in the order of time.
pub(super) fn plot(runs: &RunsSection<'_>) -> Markup {
    let rows: Vec<&LeaderboardRow> = runs.plotted().collect();
    let defined = rows.iter().filter(|row| row.scores.strict.rates.f1.is_some()).count();
    if defined == 0 {
        return nothing(ID, TITLE, "No run over these cases has an F1.");
    }
    let marks = html! {
        (floor(runs.floor()))
        (lines(runs, &rows))
        (parts_of_this(runs, &rows))
        @for (at, row) in rows.iter().enumerate() { (point(runs, row, step(at, rows.len()))) }
    };
    let names = runs.legend();
    let signs = names.iter().map(|(class, name)| (class.as_str(), name.clone()));
    let signs = signs.chain(runs.floor().map(|_| ("even", "floor of F1".to_owned())));
    let below = html! {
        (legend(signs))
        p class="note" { (note(rows.len(), rows.len() - defined)) }
    };
    let description = format!(
        "F1 by the strict rule over {}, the newest to the right, with 95 % intervals.",
        plural(rows.len() as u64, "run")
    );
    let x = PlotAxis { name: "runs, by time", ticks: dates(&rows) };
    Plot { id: ID, title: TITLE, description, x, y: PlotAxis::rate("F1"), marks, below }.figure()
}

fn note(n_runs: usize, n_undefined: usize) -> String {
    match (n_runs, n_undefined) {
        (1, _) => "One run is kept over these cases: a trend needs two.".to_owned(),
        (_, 0) => "F1 (strict) with 95 % intervals; thin lines: recall and precision.".to_owned(),
        (_, n) => format!("F1 (strict) with 95 % intervals; {n} runs without an F1 are not drawn."),
    }
}

/// The position of a run on the time axis.
fn step(at: usize, all: usize) -> f64 {
    match all {
        0 | 1 => (FIRST + LAST) / 2.0,
        _ => FIRST + (LAST - FIRST) * at as f64 / (all - 1) as f64,
    }
}

/// The days, or the times when all is of one day.
fn dates(rows: &[&LeaderboardRow]) -> Vec<(f64, String)> {
    let day = |row: &LeaderboardRow| row.run.started_at.get(5..10).unwrap_or_default().to_owned();
    let time = |row: &LeaderboardRow| row.run.started_at.get(11..16).unwrap_or_default().to_owned();
    let of_one_day = rows.windows(2).all(|pair| match pair {
        [a, b] => day(a) == day(b),
        _ => true,
    });
    let every = rows.len().div_ceil(MAX_DATES).max(1);
    rows.iter()
        .enumerate()
        .filter(|(at, _)| (rows.len() - 1 - at).is_multiple_of(every))
        .map(|(at, row)| (step(at, rows.len()), if of_one_day { time(row) } else { day(row) }))
        .collect()
}

/// A line through the runs of each reviewer.
fn lines(runs: &RunsSection<'_>, rows: &[&LeaderboardRow]) -> Markup {
    let mut names: Vec<String> = rows.iter().map(|row| row.run.reviewer.to_string()).collect();
    names.sort_unstable();
    names.dedup();
    html! {
        @for name in names {
            @let of_name = |row: &LeaderboardRow| row.run.reviewer.to_string() == name;
            @if let Some(row) = rows.iter().find(|row| of_name(row)) {
                @let class = format!("line {}", runs.class(row));
                (path(&class, &places(rows, of_name, |rates| rates.f1)))
            }
        }
    }
}

fn places(
    rows: &[&LeaderboardRow],
    takes: impl Fn(&LeaderboardRow) -> bool,
    of: RateSeries,
) -> Vec<PlotPoint> {
    let placed =
        rows.iter().enumerate().filter(|(_, row)| takes(row)).filter_map(|(place, row)| {
            Some(at(step(place, rows.len()), of(&row.scores.strict.rates)?))
        });
    placed.collect()
}

/// Recall and precision of the reviewer that the page is about, with the names of all three at the end.
fn parts_of_this(runs: &RunsSection<'_>, rows: &[&LeaderboardRow]) -> Markup {
    let Some(this) = rows.iter().find(|row| runs.is_this(row)) else { return Markup::default() };
    let is_same = |row: &LeaderboardRow| row.run.reviewer == this.run.reviewer;
    let of: [(&str, RateSeries); 3] = [
        ("F1", |rates| rates.f1),
        ("recall", |rates| rates.recall),
        ("precision", |rates| rates.precision),
    ];
    let all = of.map(|(name, of)| (name, places(rows, is_same, of)));
    let ends: Vec<(&str, PlotPoint)> =
        all.iter().filter_map(|(name, places)| Some((*name, *places.last()?))).collect();
    let heights: Vec<f64> = ends.iter().map(|(_, place)| place.y).collect();
    html! {
        @for (_, places) in all.iter().filter(|(name, _)| *name != "F1") {
            (path("line part s0", places))
            // A single run has no line.
            @if let [only] = places[..] { (circle("dot s0", only, 3.0)) }
        }
        @for ((name, place), y) in ends.iter().zip(moved_apart(&heights)) {
            (text("name s0", PlotPoint { x: place.x + 9.0, y: y + 4.0 }, name))
        }
    }
}

fn point(runs: &RunsSection<'_>, row: &LeaderboardRow, x: f64) -> Markup {
    let strict = &row.scores.strict;
    let Some(f1) = strict.rates.f1 else { return Markup::default() };
    let class = runs.class(row);
    let radius = if runs.is_this(row) { 5.5 } else { 4.0 };
    html! {
        @if let Some(of) = strict.intervals.f1 {
            (line(&format!("interval {class}"), at(x, of.low), at(x, of.high)))
        }
        (titled(&format!("dot {class}"), &run_summary(row), circle("", at(x, f1), radius)))
    }
}
