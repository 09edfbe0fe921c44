//! The comparison of two runs.

use super::document::{Document, TextTable};
use super::{difference, plural, rate};
use crate::compare::{Comparison, Difference};

/// How many cases are listed.
const MAX_CASES: usize = 50;

/// How two runs differ.
pub fn comparison(found: &Comparison) -> Document {
    let mut document = Document::default();
    document.heading(format!("{} -> {}", found.before, found.after));
    document.line(format!("{}, {}", plural(found.cases, "common case"), found.mode));
    let mut table = TextTable::new(&["", "before", "after", "difference", "p"]);
    let mut row = |name: &str, before: Option<f64>, after: Option<f64>, by: &Difference| {
        table.row([
            name.to_owned(),
            rate(before),
            rate(after),
            difference(by.by),
            by.p_value.map_or_else(|| "-".to_owned(), |p| format!("{p:.4}")),
        ]);
    };
    let (before, after) = (&found.rates_before, &found.rates_after);
    row("recall", before.recall, after.recall, &found.recall);
    row("precision", before.precision, after.precision, &found.precision);
    row("F1", before.f1, after.f1, &found.f1);
    document.table(table);
    document.line("p: probability of such a difference by chance (paired randomization test)");
    let mut table =
        TextTable::new(&["case", "newly found", "newly missed", "wrong before", "after"]);
    for case in found.changed.iter().take(MAX_CASES) {
        table.row([
            case.case.clone(),
            case.newly_found.len().to_string(),
            case.newly_missed.len().to_string(),
            case.wrong_before.to_string(),
            case.wrong_after.to_string(),
        ]);
    }
    if found.changed.len() > MAX_CASES {
        table.row([format!("and {} more", found.changed.len() - MAX_CASES)]);
    }
    document.table(table);
    document.items(only(&found.before, &found.only_before, &found.after, &found.only_after));
    document
}

fn only(before: &str, in_before: &[String], after: &str, in_after: &[String]) -> Vec<String> {
    [(before, in_before), (after, in_after)]
        .into_iter()
        .filter(|(_, cases)| !cases.is_empty())
        .map(|(run, cases)| {
            format!("only {run} reviewed {}", plural(cases.len() as u64, "more case"))
        })
        .collect()
}
