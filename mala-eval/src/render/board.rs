//! The leaderboard: runs ranked by F1.

use super::document::{Document, TextTable};
use super::{dollars, plural, rate, seconds, with_interval};
use crate::matching::MatchMode;
use crate::scores::Scores;
use crate::{EvalResult, RunHeader};
use mala_domain::render::short_line;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// The most characters of a reviewer's name.
const MAX_REVIEWER: usize = 40;

/// A run on a board.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LeaderboardRow {
    /// The run.
    pub run: RunHeader,
    /// Its scores.
    pub scores: Scores,
    /// Whether every selected case was run.
    pub is_complete: bool,
}

impl From<EvalResult> for LeaderboardRow {
    fn from(result: EvalResult) -> Self {
        Self { run: result.run, scores: result.scores, is_complete: result.is_complete }
    }
}

/// One table for each collection of cases: runs over other cases cannot be compared.
pub fn board(mut rows: Vec<LeaderboardRow>, mode: MatchMode) -> Document {
    let key = |row: &LeaderboardRow| -> Vec<(String, String)> {
        row.run.sets.iter().map(|set| (set.name.clone(), set.sha256.clone())).collect()
    };
    let f1 = |row: &LeaderboardRow| row.scores.of(mode).rates.f1.unwrap_or(-1.0);
    rows.sort_by(|a, b| {
        let by_score = f1(b).total_cmp(&f1(a));
        key(a).cmp(&key(b)).then(by_score).then(a.run.run_id.cmp(&b.run.run_id))
    });
    let mut document = Document::default();
    let mut rest = rows.as_slice();
    while let Some(first) = rest.first() {
        let same = rest.iter().take_while(|row| key(row).cmp(&key(first)) == Ordering::Equal);
        let (group, others) = rest.split_at_checked(same.count()).unwrap_or((rest, &[]));
        document.heading(title(first, mode));
        document.table(table(group, mode));
        rest = others;
    }
    document
}

fn title(row: &LeaderboardRow, mode: MatchMode) -> String {
    let sets: Vec<String> = row
        .run
        .sets
        .iter()
        .map(|set| format!("{} ({})", set.name, plural(set.cases as u64, "case")))
        .collect();
    format!("{}: {mode}, floor F1 {}", sets.join(", "), rate(row.scores.of(mode).floor.f1))
}

fn table(rows: &[LeaderboardRow], mode: MatchMode) -> TextTable {
    let columns = [
        "#",
        "reviewer",
        "F1",
        "recall",
        "precision",
        "ECE",
        "alarms/1,000",
        "not done",
        "cost",
        "per review",
        "run",
    ];
    let mut table = TextTable { n_names: 2, ..TextTable::new(&columns) };
    for (rank, row) in (1..).zip(rows) {
        let (scores, cases) = (row.scores.of(mode), &row.scores.cases);
        let unfinished = if row.is_complete { "" } else { ", unfinished" };
        table.row([
            rank.to_string(),
            short_line(&row.run.reviewer.to_string(), MAX_REVIEWER),
            with_interval(scores.rates.f1, scores.intervals.f1),
            rate(scores.rates.recall),
            rate(scores.rates.precision),
            rate(scores.calibration.ece),
            scores.clean.per_1000_lines.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.2}")),
            format!("{}{unfinished}", cases.could_not_review),
            dollars(row.scores.spent.cost_usd),
            seconds(row.scores.spent.seconds_mean),
            row.run.run_id.clone(),
        ]);
    }
    table
}
