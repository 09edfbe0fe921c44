//! The result of a run.

use super::document::{Document, TextTable};
use super::{dollars, plural, rate, seconds, with_interval};
use crate::EvalResult;
use crate::matching::MatchMode;
use crate::plant::DefectKind;
use crate::scores::{ModeScores, ScoreRates};
use std::collections::BTreeMap;

/// How many rules are listed.
const MAX_RULES: usize = 40;
/// How many cases that could not be reviewed are listed.
const MAX_UNREVIEWED: usize = 20;

/// The result of a run.
pub fn result(result: &EvalResult) -> Document {
    let mut document = Document::default();
    document.heading(format!("{} on {}", result.run.reviewer, sets(result)));
    document.line(counted(result));
    document.items(result.notes.clone());
    modes(result).into_iter().for_each(|table| document.table(table));
    document.items(facts(result));
    let strict = &result.scores.strict;
    document.table(slices("category (strict)", &strict.by_category));
    if strict.by_severity.len() > 1 {
        document.table(slices("severity (strict)", &strict.by_severity));
    }
    if strict.by_language.len() > 1 {
        document.table(slices("language (strict)", &strict.by_language));
    }
    if strict.by_set.len() > 1 {
        document.table(slices("set (strict)", &strict.by_set));
    }
    let planted = planted(&result.scores.grouped);
    if !planted.is_empty() {
        document.table(slices("planted (grouped)", &planted));
    }
    document.table(rules(&result.scores.location, &result.scores.grouped));
    document.items(unreviewed(result));
    document.line(format!("run {}", result.run.run_id));
    document
}

/// The kinds of defects that were planted into the cases, by their tags.
pub(super) fn planted(scores: &ModeScores) -> BTreeMap<String, ScoreRates> {
    let is_kind = |tag: &str| tag.parse::<DefectKind>().is_ok();
    let tags = scores.by_tag.iter().filter(|(tag, _)| is_kind(tag));
    tags.map(|(tag, rates)| (tag.clone(), *rates)).collect()
}

pub(super) fn sets(result: &EvalResult) -> String {
    let names: Vec<&str> = result.run.sets.iter().map(|set| set.name.as_str()).collect();
    names.join(", ")
}

pub(super) fn counted(result: &EvalResult) -> String {
    let cases = &result.scores.cases;
    let trials = match result.run.trials {
        1 => String::new(),
        trials => format!(" in {trials} trials"),
    };
    format!(
        "{}{trials}: {} reviewed ({} clean), {} failed, {} not run",
        plural(cases.cases, "case"),
        cases.reviewed,
        cases.clean,
        cases.could_not_review,
        result.not_run
    )
}

/// The rates by each rule, and in a second table the numbers that explain them, because a row has
/// to fit on a screen.
fn modes(result: &EvalResult) -> [TextTable; 2] {
    let mut all = TextTable::new(&["", "recall", "precision", "F1"]);
    let has_notes = result.scores.strict.recall_with_notes.is_some();
    let mut columns = vec!["", "found", "right", "floor recall", "floor precision", "floor F1"];
    columns.extend(has_notes.then_some("recall + notes"));
    let mut beside = TextTable::new(&columns);
    let semantic = result.scores.semantic.as_ref().map(|_| MatchMode::Semantic);
    for mode in MatchMode::ALL.into_iter().chain(semantic) {
        let ModeScores { rates, intervals, floor, recall_with_notes, .. } = result.scores.of(mode);
        all.row([
            mode.to_string(),
            with_interval(rates.recall, intervals.recall),
            with_interval(rates.precision, intervals.precision),
            with_interval(rates.f1, intervals.f1),
        ]);
        let mut row = vec![
            mode.to_string(),
            format!("{}/{}", rates.found, rates.truths),
            format!("{}/{}", rates.right, rates.findings),
            rate(floor.recall),
            rate(floor.precision),
            rate(floor.f1),
        ];
        row.extend(has_notes.then(|| rate(*recall_with_notes)));
        beside.row(row);
    }
    [all, beside]
}

fn facts(result: &EvalResult) -> Vec<String> {
    let scores = &result.scores;
    let (strict, spent) = (&scores.strict, &scores.spent);
    let calibration = &strict.calibration;
    let mut facts = vec![
        "floor: one bug finding per changed region".to_owned(),
        format!(
            "calibration {} (1 is best), ECE {}, Brier {}",
            rate(calibration.avg_confidence_calibration),
            rate(calibration.ece),
            rate(calibration.brier)
        ),
        format!(
            "severity of hits agrees in {} of {} ({}), within one step in {}",
            strict.severity.equal,
            strict.severity.pairs,
            rate(strict.severity.agreement),
            strict.severity.within_one
        ),
    ];
    let (clean, rejected) = (&strict.clean, &strict.rejected);
    if clean.cases > 0 {
        facts.push(format!(
            "clean cases: {} in {}, {} per 1,000 changed lines",
            plural(clean.false_alarms, "false alarm"),
            clean.cases,
            clean.per_1000_lines.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.2}"))
        ));
    }
    if rejected.given > 0 {
        facts.push(format!(
            "repeats {} of {} claims that people rejected (by location: {})",
            rejected.repeated, rejected.given, scores.location.rejected.repeated
        ));
    }
    if scores.cases.could_not_review > 0 {
        let missed = rate(strict.recall_if_unreviewed_missed);
        facts.push(format!("recall is {missed} when failed reviews count as missed"));
    }
    if let Some(f1) = &strict.trials.f1
        && let Some(deviation) = f1.deviation
    {
        facts.push(format!("F1 over trials: {:.3} +- {deviation:.3}", f1.mean));
    }
    facts.extend(judged(result));
    facts.push(format!(
        "cost {}, {} tokens, {} model calls, {} per review (median {}, 95 % {})",
        dollars(spent.cost_usd),
        spent.tokens_used.map_or_else(|| "?".to_owned(), |tokens| tokens.to_string()),
        spent.llm_calls,
        seconds(spent.seconds_mean),
        seconds(spent.seconds_p50),
        seconds(spent.seconds_p95)
    ));
    facts
}

/// The numbers of the judge, if there is one.
fn judged(result: &EvalResult) -> Option<String> {
    let (judge, used) = (result.scores.judge.as_ref()?, result.run.judge.as_ref()?);
    Some(format!(
        "{} judged {} pairs: {} the same, {} undecided, {} left out, cost {}",
        used.model,
        judge.pairs,
        judge.same,
        judge.undecided,
        judge.left_out,
        dollars(judge.cost_usd)
    ))
}

fn slices(name: &str, slices: &BTreeMap<String, ScoreRates>) -> TextTable {
    let mut table = TextTable::new(&[name, "recall", "precision", "F1", "found", "right"]);
    for (slice, rates) in slices {
        table.row([
            slice.clone(),
            rate(rates.recall),
            rate(rates.precision),
            rate(rates.f1),
            format!("{}/{}", rates.found, rates.truths),
            format!("{}/{}", rates.right, rates.findings),
        ]);
    }
    table
}

/// The rules with the most wrong findings first.
fn rules(location: &ModeScores, grouped: &ModeScores) -> TextTable {
    let mut table = TextTable::new(&["rule (location)", "right", "wrong", "precision", "grouped"]);
    let mut rows: Vec<_> = location.by_rule.iter().collect();
    rows.sort_by_key(|(name, score)| (std::cmp::Reverse(score.findings - score.right), *name));
    let n_more = rows.len().saturating_sub(MAX_RULES);
    for (name, score) in rows.into_iter().take(MAX_RULES) {
        let other = grouped.by_rule.get(name).and_then(|score| score.precision);
        table.row([
            name.clone(),
            score.right.to_string(),
            (score.findings - score.right).to_string(),
            rate(score.precision),
            rate(other),
        ]);
    }
    if n_more > 0 {
        table.row([format!("and {n_more} more")]);
    }
    table
}

fn unreviewed(result: &EvalResult) -> Vec<String> {
    let all = &result.scores.unreviewed;
    let mut items: Vec<String> = all
        .iter()
        .take(MAX_UNREVIEWED)
        .map(|one| format!("failed: {}: {}", one.case, one.why))
        .collect();
    if all.len() > MAX_UNREVIEWED {
        items.push(format!("and {} more", all.len() - MAX_UNREVIEWED));
    }
    items
}
