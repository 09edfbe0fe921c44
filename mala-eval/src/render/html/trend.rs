//! F1 from run to run, over the same cases.

use super::frame::{
    Axis, Place, Plot, at, circle, floor, legend, line, moved_apart, nothing, path, told, words,
};
use super::markup::{Markup, tag};
use super::runs::{Runs, told_of};
use crate::render::BoardRow;
use crate::render::numbers::plural;
use crate::scores::Rates;

const ID: &str = "trend";
const TITLE: &str = "From run to run";
/// How many runs have a date.
const MAX_DATES: usize = 6;
/// How much of the width is left to labels.
const FIRST: f64 = 0.04;
const LAST: f64 = 0.78;

/// One of the rates.
type OneRate = fn(&Rates) -> Option<f64>;

/// F1 of the runs, in the order of time.
pub(super) fn plot(runs: &Runs<'_>) -> Markup {
    let rows: Vec<&BoardRow> = runs.plotted().collect();
    let defined = rows.iter().filter(|row| row.scores.strict.rates.f1.is_some()).count();
    if defined == 0 {
        return nothing(ID, TITLE, "No run over these cases has an F1.");
    }
    let mut marks = floor(runs.floor());
    marks.push(lines(runs, &rows));
    marks.push(parts_of_this(runs, &rows));
    for (at, row) in rows.iter().enumerate() {
        marks.push(point(runs, row, step(at, rows.len())));
    }
    let names = runs.legend();
    let signs = names.iter().map(|(class, name)| (class.as_str(), name.clone()));
    let mut below = legend(signs.chain(runs.floor().map(|_| ("even", "floor of F1".to_owned()))));
    below.push(note(rows.len(), rows.len() - defined));
    let description = format!(
        "F1 by the strict rule over {}, the newest to the right, with 95 % intervals.",
        plural(rows.len() as u64, "run")
    );
    let x = Axis { name: "runs, by time", ticks: dates(&rows) };
    Plot { id: ID, title: TITLE, description, x, y: Axis::rate("F1"), marks, below }.figure()
}

fn note(n_runs: usize, n_undefined: usize) -> Markup {
    let text = match (n_runs, n_undefined) {
        (1, _) => "One run is kept over these cases: a trend needs two.".to_owned(),
        (_, 0) => "F1 (strict) with 95 % intervals; thin lines: recall and precision.".to_owned(),
        (_, n) => format!("F1 (strict) with 95 % intervals; {n} runs without an F1 are not drawn."),
    };
    tag("p").class("note").text(text).into()
}

/// Where a run lies on the axis of time.
fn step(at: usize, all: usize) -> f64 {
    match all {
        0 | 1 => (FIRST + LAST) / 2.0,
        _ => FIRST + (LAST - FIRST) * at as f64 / (all - 1) as f64,
    }
}

/// The days, or the times when all is of one day.
fn dates(rows: &[&BoardRow]) -> Vec<(f64, String)> {
    let day = |row: &BoardRow| row.run.started_at.get(5..10).unwrap_or_default().to_owned();
    let time = |row: &BoardRow| row.run.started_at.get(11..16).unwrap_or_default().to_owned();
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
fn lines(runs: &Runs<'_>, rows: &[&BoardRow]) -> Markup {
    let mut names: Vec<String> = rows.iter().map(|row| row.run.reviewer.to_string()).collect();
    names.sort_unstable();
    names.dedup();
    let mut marks = Markup::default();
    for name in names {
        let of_name = |row: &BoardRow| row.run.reviewer.to_string() == name;
        let places = places(rows, of_name, |rates| rates.f1);
        if let Some(row) = rows.iter().find(|row| of_name(row)) {
            marks.push(path(&places).class(format!("line {}", runs.class(row))));
        }
    }
    marks
}

fn places(rows: &[&BoardRow], takes: impl Fn(&BoardRow) -> bool, of: OneRate) -> Vec<Place> {
    let placed =
        rows.iter().enumerate().filter(|(_, row)| takes(row)).filter_map(|(place, row)| {
            Some(at(step(place, rows.len()), of(&row.scores.strict.rates)?))
        });
    placed.collect()
}

/// Recall and precision of the reviewer that the page is about, with the names of all three at the end.
fn parts_of_this(runs: &Runs<'_>, rows: &[&BoardRow]) -> Markup {
    let Some(this) = rows.iter().find(|row| runs.is_this(row)) else { return Markup::default() };
    let is_same = |row: &BoardRow| row.run.reviewer == this.run.reviewer;
    let of: [(&str, OneRate); 3] = [
        ("F1", |rates| rates.f1),
        ("recall", |rates| rates.recall),
        ("precision", |rates| rates.precision),
    ];
    let all = of.map(|(name, of)| (name, places(rows, is_same, of)));
    let mut marks = Markup::default();
    for (name, places) in &all {
        if *name != "F1" {
            marks.push(path(places).class("line part s0"));
            // No line goes through a single run.
            if let [only] = places[..] {
                marks.push(circle(only, 3.0).class("dot s0"));
            }
        }
    }
    let ends: Vec<(&str, Place)> =
        all.iter().filter_map(|(name, places)| Some((*name, *places.last()?))).collect();
    let heights: Vec<f64> = ends.iter().map(|(_, place)| place.y).collect();
    for ((name, place), y) in ends.iter().zip(moved_apart(&heights)) {
        let beside = Place { x: place.x + 9.0, y: y + 4.0 };
        marks.push(words(beside, name).class("name s0"));
    }
    marks
}

fn point(runs: &Runs<'_>, row: &BoardRow, x: f64) -> Option<Markup> {
    let strict = &row.scores.strict;
    let f1 = strict.rates.f1?;
    let class = runs.class(row);
    let mut marks = Markup::default();
    if let Some(of) = strict.intervals.f1 {
        let whisker = line(at(x, of.low), at(x, of.high));
        marks.push(whisker.class(format!("interval {class}")));
    }
    let radius = if runs.is_this(row) { 5.5 } else { 4.0 };
    marks.push(told(circle(at(x, f1), radius), &format!("dot {class}"), told_of(row)));
    Some(marks)
}
