//! The kept runs over the same cases: who ran them, and how they are told apart.

use super::markup::{Markup, tag};
use super::tables::{Cell, Grid, label};
use crate::dummy::Dummy;
use crate::render::BoardRow;
use crate::render::numbers::{dollars, seconds};
use crate::{EvalResult, RunHeader};
use std::cmp::Reverse;

/// How many runs a page shows, the newest.
pub const MAX_RUNS: usize = 40;
/// How many reviewers have a colour of their own.
const MAX_SERIES: usize = 6;

/// Runs in the order of time, with the one that the page is about.
pub(super) struct Runs<'a> {
    rows: Vec<&'a BoardRow>,
    this: &'a RunHeader,
    /// The reviewers, that of this run first.
    reviewers: Vec<String>,
    n_older: usize,
    floor: Option<f64>,
}

impl<'a> Runs<'a> {
    pub(super) fn new(result: &'a EvalResult, kept: &'a [BoardRow]) -> Self {
        let this = &result.run;
        let mut rows: Vec<&BoardRow> = kept.iter().collect();
        let when = |row: &BoardRow| (row.run.started_at.clone(), row.run.run_id.clone());
        // The newest, but never without the one that the page is about.
        rows.sort_by_key(|row| (row.run.run_id != this.run_id, Reverse(when(row))));
        let n_older = rows.len().saturating_sub(MAX_RUNS);
        rows.truncate(MAX_RUNS);
        rows.sort_by_key(|row| when(row));
        let mut reviewers = vec![this.reviewer.to_string()];
        for name in rows.iter().filter(|row| !pretends(row)).map(|row| row.run.reviewer.to_string())
        {
            if !reviewers.contains(&name) {
                reviewers.push(name);
            }
        }
        let floor = result.scores.strict.floor.f1;
        Self { rows, this, reviewers, n_older, floor }
    }

    /// The floor of F1, which is that of the cases.
    pub(super) fn floor(&self) -> Option<f64> {
        self.floor
    }

    pub(super) fn is_this(&self, row: &BoardRow) -> bool {
        row.run.run_id == self.this.run_id
    }

    /// The runs that plots show, in the order of time: without reviewers that only pretend, unless the
    /// page is about one.
    pub(super) fn plotted(&self) -> impl Iterator<Item = &'a BoardRow> {
        let is_plotted =
            |row: &&&BoardRow| !pretends(row) || row.run.reviewer == self.this.reviewer;
        self.rows.iter().filter(is_plotted).copied()
    }

    /// The class of a run's reviewer.
    pub(super) fn class(&self, row: &BoardRow) -> String {
        let name = row.run.reviewer.to_string();
        let place = self.reviewers.iter().position(|known| *known == name);
        series(place.unwrap_or(MAX_SERIES))
    }

    /// The reviewers that plots show, with their classes.
    pub(super) fn legend(&self) -> Vec<(String, String)> {
        let mut rows: Vec<(String, String)> = self
            .reviewers
            .iter()
            .take(MAX_SERIES)
            .enumerate()
            .map(|(place, name)| (series(place), label(name)))
            .collect();
        if self.reviewers.len() > MAX_SERIES {
            let text = format!("{} other reviewers", self.reviewers.len() - MAX_SERIES);
            rows.push((series(MAX_SERIES), text));
        }
        rows
    }

    /// All runs, the newest first.
    pub(super) fn table(&self) -> Markup {
        let columns = [
            "reviewer",
            "F1",
            "recall",
            "precision",
            "ECE",
            "alarms per 1,000 lines",
            "not done",
            "cost",
            "per review",
            "started",
            "run",
        ];
        let mut grid = Grid::new("Kept runs over the same cases (strict)", &columns);
        for row in self.rows.iter().rev() {
            grid.row(self.cells(row));
        }
        let mut out = grid.markup();
        if self.n_older > 0 {
            let text = format!("{} older runs are not shown.", self.n_older);
            out.push(tag("p").class("note").text(text));
        }
        out
    }

    fn cells(&self, row: &BoardRow) -> [Cell; 11] {
        let (strict, spent) = (&row.scores.strict, &row.scores.spent);
        let mut who = tag("bdi").text(label(&row.run.reviewer.to_string()));
        if self.is_this(row) {
            who = who.child(tag("span").class("chip").text("this run"));
        }
        let not_done = row.scores.cases.could_not_review;
        let unfinished = if row.is_complete { "" } else { ", unfinished" };
        let alarms = strict.clean.per_1000_lines.map(|rate| format!("{rate:.2}"));
        let time = row.run.started_at.get(..16).unwrap_or(&row.run.started_at).replace('T', " ");
        [
            Cell::of(who),
            Cell::interval(strict.rates.f1, strict.intervals.f1),
            Cell::rate(strict.rates.recall),
            Cell::rate(strict.rates.precision),
            Cell::rate(strict.calibration.ece),
            Cell::known(alarms, "no changed lines in clean cases"),
            Cell::text(format!("{not_done}{unfinished}")),
            Cell::known(spent.cost_usd.map(|cost| dollars(Some(cost))), "unknown"),
            Cell::known(spent.seconds_mean.map(|mean| seconds(Some(mean))), "nothing was reviewed"),
            Cell::text(label(&time)),
            Cell::label(&row.run.run_id).with_class("code"),
        ]
    }
}

fn series(place: usize) -> String {
    format!("s{}", place.min(MAX_SERIES))
}

fn pretends(row: &BoardRow) -> bool {
    Dummy::ALL.iter().any(|dummy| dummy.name() == row.run.reviewer.name)
}

/// What a run is, in a few words.
pub(super) fn told_of(row: &BoardRow) -> String {
    let f1 = super::super::numbers::with_interval(
        row.scores.strict.rates.f1,
        row.scores.strict.intervals.f1,
    );
    format!("{}, run {}: F1 {f1}", label(&row.run.reviewer.to_string()), label(&row.run.run_id))
}
