//! The sections between the plots and the cases: all scores, their parts, what could not be reviewed,
//! and how it was measured.

use super::markup::{Markup, tag};
use super::tables::{Cell, Grid, label};
use crate::EvalResult;
use crate::matching::Mode;
use crate::render::numbers::plural;
use crate::render::result::planted;
use crate::scores::{ModeScores, Rates, SeverityAgreement};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// How many rows a table of parts has.
const MAX_ROWS: usize = 60;
/// How many tags are listed.
const MAX_TAGS: usize = 15;
/// The worst first.
const SEVERITIES: [&str; 4] = ["critical", "high", "medium", "low"];
/// How many cases that could not be reviewed are listed.
const MAX_UNREVIEWED: usize = 50;

/// All three modes with their floors.
pub(super) fn scores(result: &EvalResult) -> Markup {
    let columns = ["rule", "recall", "precision", "F1", "found", "right"];
    let mut grid = Grid::new("Rates with 95 % intervals, and the floor of each rule", &columns);
    let semantic = result.scores.semantic.as_ref().map(|_| Mode::Semantic);
    for mode in Mode::ALL.into_iter().chain(semantic) {
        let ModeScores { rates, intervals, floor, .. } = result.scores.of(mode);
        grid.row([
            Cell::of(tag("strong").text(mode)),
            Cell::interval(rates.recall, intervals.recall),
            Cell::interval(rates.precision, intervals.precision),
            Cell::interval(rates.f1, intervals.f1),
            Cell::text(format!("{} of {}", rates.found, rates.truths)),
            Cell::text(format!("{} of {}", rates.right, rates.findings)),
        ]);
        grid.row([
            Cell::of(tag("span").class("floor").text("floor")),
            Cell::rate(floor.recall),
            Cell::rate(floor.precision),
            Cell::rate(floor.f1),
            Cell::text(format!("{} of {}", floor.found, floor.truths)),
            Cell::text(format!("{} of {}", floor.right, floor.findings)),
        ]);
    }
    let mut out = grid.markup();
    out.push(
        tag("ul")
            .class("plain")
            .children(facts(result).into_iter().map(|fact| tag("li").text(fact))),
    );
    out
}

fn facts(result: &EvalResult) -> Vec<String> {
    let (strict, cases) = (&result.scores.strict, &result.scores.cases);
    let mut facts = vec![
        "The floor is what one finding per changed region, of category bug, scores by the same rule. \
         A score that is not above it says nothing."
            .to_owned(),
    ];
    let clean = &strict.clean;
    if clean.cases > 0 {
        facts.push(format!(
            "Of {}, {} had no false alarm.",
            plural(clean.cases, "clean case"),
            clean.without_alarm
        ));
    }
    let rejected = &strict.rejected;
    if rejected.given > 0 {
        facts.push(format!(
            "{} of {} claims that people judged to be wrong are made again.",
            rejected.repeated, rejected.given
        ));
    }
    if let (true, Some(recall)) = (cases.could_not_review > 0, strict.recall_if_unreviewed_missed) {
        facts
            .push(format!("Recall is {recall:.3} if what could not be reviewed counts as missed."));
    }
    if let Some(spread) = &strict.trials.f1
        && let Some(deviation) = spread.deviation
    {
        let (mean, min, max) = (spread.mean, spread.min, spread.max);
        facts.push(format!(
            "Over {} trials F1 is {mean:.3} with a standard deviation of {deviation:.3} ({min:.3} to {max:.3}).",
            result.run.trials
        ));
    }
    facts
}

/// The same scores by category, severity, language, set and tag, as far as there are several.
pub(super) fn slices(result: &EvalResult) -> Markup {
    let strict = &result.scores.strict;
    let tables = [
        ("Category", &strict.by_category),
        ("Severity", &strict.by_severity),
        ("Language", &strict.by_language),
        ("Set", &strict.by_set),
    ];
    let mut parts = Markup::default();
    let planted = planted(&result.scores.grouped);
    if !planted.is_empty() {
        parts.push(slice("Planted defect", Mode::Grouped, &planted, MAX_ROWS));
    }
    for (name, slices) in tables {
        // One set is the run itself.
        if slices.len() > usize::from(name == "Set") {
            parts.push(slice(name, Mode::Strict, slices, MAX_ROWS));
        }
    }
    if strict.severity.pairs > 0 {
        parts.push(severity(&strict.severity));
    }
    if !strict.by_tag.is_empty() {
        parts.push(slice("Tag", Mode::Strict, &strict.by_tag, MAX_TAGS));
    }
    match parts.is_empty() {
        true => {
            tag("p").class("nothing").text("Nothing was reviewed, so there are no parts.").into()
        }
        false => tag("div").class("parts").child(parts).into(),
    }
}

/// Those with the most to count first; severities as they are ranked.
fn slice(name: &str, mode: Mode, slices: &BTreeMap<String, Rates>, most: usize) -> Markup {
    let noun = name.to_lowercase();
    let columns = [noun.as_str(), "recall", "precision", "F1", "found", "right"];
    let mut grid = Grid::new(format!("By {noun} ({mode})"), &columns);
    let mut rows: Vec<(&String, &Rates)> = slices.iter().collect();
    let rank = |name: &str| {
        SEVERITIES.iter().position(|severity| *severity == name).unwrap_or(SEVERITIES.len())
    };
    rows.sort_by_key(|(name, rates)| (rank(name), Reverse(rates.truths.max(rates.findings))));
    for (name, rates) in rows.into_iter().take(most) {
        grid.row([
            Cell::label(name),
            Cell::rate(rates.recall),
            Cell::rate(rates.precision),
            Cell::rate(rates.f1),
            Cell::text(format!("{} of {}", rates.found, rates.truths)),
            Cell::text(format!("{} of {}", rates.right, rates.findings)),
        ]);
    }
    let mut out = tag("section").child(tag("h3").text(name)).child(grid.markup());
    let more = slices.len().saturating_sub(most);
    if more > 0 {
        out = out.child(tag("p").class("note").text(format!("{more} more are not shown.")));
    }
    out.into()
}

/// The severities of hits: known against claimed.
fn severity(of: &SeverityAgreement) -> Markup {
    let mut grid = Grid::new(
        "Severity of hits: known (rows) and claimed (columns)",
        &["known", "critical", "high", "medium", "low"],
    );
    for (row, name) in SEVERITIES.iter().enumerate() {
        let counts = of.matrix.get(row).copied().unwrap_or_default();
        let cells = counts.into_iter().enumerate().map(|(column, count)| {
            let class = if row == column { "n same" } else { "n" };
            let cell = if count == 0 {
                Cell::of(tag("span").class("zero").text(0))
            } else {
                Cell::number(count)
            };
            cell.with_class(class)
        });
        grid.row(std::iter::once(Cell::name(name)).chain(cells));
    }
    let text = format!(
        "{} of {} agree, {} are at most one step apart.",
        of.equal, of.pairs, of.within_one
    );
    tag("section")
        .child(tag("h3").text("Severity agreement"))
        .child(grid.markup())
        .child(tag("p").class("note").text(text))
        .into()
}

/// What could not be reviewed, apart from everything else; nothing when there is none.
pub(super) fn unreviewed(result: &EvalResult) -> Option<Markup> {
    let all = &result.scores.unreviewed;
    if all.is_empty() {
        return None;
    }
    let mut grid = Grid::new(
        "Reviews that could not be done: they are in no rate",
        &["case", "set", "trial", "why"],
    );
    for one in all.iter().take(MAX_UNREVIEWED) {
        grid.row([
            Cell::label(&one.case),
            Cell::label(&one.set),
            Cell::number(u64::from(one.trial)),
            Cell::label(&one.why),
        ]);
    }
    let mut out = grid.markup();
    if all.len() > MAX_UNREVIEWED {
        let text = format!("{} more are not shown.", all.len() - MAX_UNREVIEWED);
        out.push(tag("p").class("note").text(text));
    }
    Some(out)
}

/// How it was measured.
pub(super) fn method(result: &EvalResult) -> Markup {
    let run = &result.run;
    let mut rows = vec![
        ("reviewer", run.reviewer.to_string()),
        ("mala", run.mala_version.clone()),
        ("run", run.run_id.clone()),
        ("trials", run.trials.to_string()),
        ("seed", run.seed.to_string()),
        ("lines of a finding that count", run.max_span.to_string()),
    ];
    rows.extend(run.reviewer.version.clone().map(|version| ("reviewer version", version)));
    rows.extend(run.judge.as_ref().map(|judge| ("judge", judge.model.clone())));
    rows.extend(run.max_cost_usd.map(|most| ("budget", format!("${most:.2}"))));
    for set in run.sets.iter().take(MAX_ROWS) {
        rows.push((
            "set",
            format!("{}: {}, SHA-256 {}", set.name, plural(set.cases as u64, "case"), set.sha256),
        ));
    }
    let words = |list: &[String]| list.iter().take(20).cloned().collect::<Vec<_>>().join(", ");
    let selection = &run.selection;
    for (name, list) in [
        ("languages", &selection.languages),
        ("tags", &selection.tags),
        ("cases", &selection.cases),
    ] {
        rows.extend((!list.is_empty()).then(|| (name, words(list))));
    }
    let rows = rows.into_iter().map(|(name, value)| {
        let value = tag("dd").child(tag("bdi").text(label(&value)));
        tag("div").child(tag("dt").text(name)).child(value)
    });
    let text = "A finding hits a known problem when file and category are the same and the lines overlap \
                within three, one to one, in the way that makes the most hits. Grouped takes bug, logic and \
                error_handling for one category; location leaves the category out; semantic goes by the word of a judge \
                model. Intervals are 95 %, by \
                drawing cases 1,000 times; those of rules and of confidence are Wilson's. Reviews that could \
                not be done are in no rate. A dash means that there is nothing to count.";
    let mut out = Markup::from(tag("p").text(text));
    out.push(tag("dl").children(rows));
    out
}
