//! The kept runs over the same cases, with a color for each reviewer.

use super::tables::{GridCell, HtmlGrid, label};
use crate::dummy::DummyReviewer;
use crate::render::LeaderboardRow;
use crate::render::{dollars, seconds, with_interval};
use crate::{EvalResult, RunHeader};
use maud::{Markup, html};
use std::cmp::Reverse;

/// How many runs a page shows, the newest.
pub const MAX_RUNS: usize = 40;
/// How many reviewers have a colour of their own.
const MAX_SERIES: usize = 6;

/// Runs in the order of time, with the one that the page is about.
pub(super) struct RunsSection<'a> {
    rows: Vec<&'a LeaderboardRow>,
    this: &'a RunHeader,
    /// The reviewers, that of this run first.
    reviewers: Vec<String>,
    n_older: usize,
    floor: Option<f64>,
}

impl<'a> RunsSection<'a> {
    pub(super) fn new(result: &'a EvalResult, kept: &'a [LeaderboardRow]) -> Self {
        let this = &result.run;
        let mut rows: Vec<&LeaderboardRow> = kept.iter().collect();
        let when = |row: &LeaderboardRow| (row.run.started_at.clone(), row.run.run_id.clone());
        // The newest, but never without the one that the page is about.
        rows.sort_by_key(|row| (row.run.run_id != this.run_id, Reverse(when(row))));
        let n_older = rows.len().saturating_sub(MAX_RUNS);
        rows.truncate(MAX_RUNS);
        rows.sort_by_key(|row| when(row));
        let mut reviewers = vec![this.reviewer.to_string()];
        for name in rows.iter().filter(|row| !is_dummy(row)).map(|row| row.run.reviewer.to_string())
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

    pub(super) fn is_this(&self, row: &LeaderboardRow) -> bool {
        row.run.run_id == self.this.run_id
    }

    /// The runs that plots show, in the order of time: without dummy reviewers, unless the
    /// page is about one.
    pub(super) fn plotted(&self) -> impl Iterator<Item = &'a LeaderboardRow> {
        let is_plotted =
            |row: &&&LeaderboardRow| !is_dummy(row) || row.run.reviewer == self.this.reviewer;
        self.rows.iter().filter(is_plotted).copied()
    }

    /// The class of a run's reviewer.
    pub(super) fn class(&self, row: &LeaderboardRow) -> String {
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
        let mut grid = HtmlGrid::new("Kept runs over the same cases (strict)", &columns);
        for row in self.rows.iter().rev() {
            grid.row(self.cells(row));
        }
        html! {
            (grid.markup())
            @if self.n_older > 0 {
                p class="note" { (self.n_older) " older runs are not shown." }
            }
        }
    }

    fn cells(&self, row: &LeaderboardRow) -> [GridCell; 11] {
        let (strict, spent) = (&row.scores.strict, &row.scores.spent);
        let reviewer = html! {
            bdi {
                (label(&row.run.reviewer.to_string()))
                @if self.is_this(row) { span class="chip" { "this run" } }
            }
        };
        let not_done = row.scores.cases.could_not_review;
        let unfinished = if row.is_complete { "" } else { ", unfinished" };
        let alarms = strict.clean.per_1000_lines.map(|rate| format!("{rate:.2}"));
        let time = row.run.started_at.get(..16).unwrap_or(&row.run.started_at).replace('T', " ");
        [
            GridCell::of(reviewer),
            GridCell::interval(strict.rates.f1, strict.intervals.f1),
            GridCell::rate(strict.rates.recall),
            GridCell::rate(strict.rates.precision),
            GridCell::rate(strict.calibration.ece),
            GridCell::known(alarms, "no changed lines in clean cases"),
            GridCell::text(format!("{not_done}{unfinished}")),
            GridCell::known(spent.cost_usd.map(|cost| dollars(Some(cost))), "unknown"),
            GridCell::known(
                spent.seconds_mean.map(|mean| seconds(Some(mean))),
                "nothing was reviewed",
            ),
            GridCell::text(label(&time)),
            GridCell::label(&row.run.run_id).with_class("code"),
        ]
    }
}

fn series(place: usize) -> String {
    format!("s{}", place.min(MAX_SERIES))
}

fn is_dummy(row: &LeaderboardRow) -> bool {
    DummyReviewer::ALL.iter().any(|dummy| dummy.name() == row.run.reviewer.name)
}

/// A run in a few words.
pub(super) fn run_summary(row: &LeaderboardRow) -> String {
    let f1 = with_interval(row.scores.strict.rates.f1, row.scores.strict.intervals.f1);
    format!("{}, run {}: F1 {f1}", label(&row.run.reviewer.to_string()), label(&row.run.run_id))
}
