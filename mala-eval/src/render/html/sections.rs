//! The sections between the plots and the cases: all scores, the breakdown, failed reviews, and the method.

use super::tables::{GridCell, HtmlGrid, label};
use crate::EvalResult;
use crate::matching::MatchMode;
use crate::render::plural;
use crate::render::result::planted;
use crate::scores::{ModeScores, ScoreRates, SeverityAgreement};
use maud::{Markup, html};
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

/// How scores are computed.
const METHOD: &str = "A finding hits a known problem when file and category are the same and the lines \
    overlap within three, one to one, in the way that gives the most hits. Grouped treats bug, logic and \
    error_handling as one category; location ignores the category; semantic asks a judge model. \
    Intervals are 95 %, from 1,000 bootstrap samples of the cases; those of rules and of confidence are \
    Wilson intervals. Reviews that failed are in no rate. A dash means that there is nothing to count.";

/// All match modes with their floors.
pub(super) fn scores(result: &EvalResult) -> Markup {
    let columns = ["rule", "recall", "precision", "F1", "found", "right"];
    let mut grid = HtmlGrid::new("Rates with 95 % intervals, and the floor of each rule", &columns);
    let semantic = result.scores.semantic.as_ref().map(|_| MatchMode::Semantic);
    for mode in MatchMode::ALL.into_iter().chain(semantic) {
        let ModeScores { rates, intervals, floor, .. } = result.scores.of(mode);
        grid.row([
            GridCell::of(html! { strong { (mode.name()) } }),
            GridCell::interval(rates.recall, intervals.recall),
            GridCell::interval(rates.precision, intervals.precision),
            GridCell::interval(rates.f1, intervals.f1),
            GridCell::text(format!("{} of {}", rates.found, rates.truths)),
            GridCell::text(format!("{} of {}", rates.right, rates.findings)),
        ]);
        grid.row([
            GridCell::of(html! { span class="floor" { "floor" } }),
            GridCell::rate(floor.recall),
            GridCell::rate(floor.precision),
            GridCell::rate(floor.f1),
            GridCell::text(format!("{} of {}", floor.found, floor.truths)),
            GridCell::text(format!("{} of {}", floor.right, floor.findings)),
        ]);
    }
    html! {
        (grid.markup())
        ul class="plain" { @for fact in facts(result) { li { (fact) } } }
    }
}

fn facts(result: &EvalResult) -> Vec<String> {
    let (strict, cases) = (&result.scores.strict, &result.scores.cases);
    let mut facts = vec![
        "The floor is the score of one bug finding per changed region. A score at the floor means \
         nothing."
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
            "{} of {} claims that people rejected are repeated.",
            rejected.repeated, rejected.given
        ));
    }
    if let (true, Some(recall)) = (cases.could_not_review > 0, strict.recall_if_unreviewed_missed) {
        facts.push(format!("Recall is {recall:.3} when failed reviews count as missed."));
    }
    if let Some(recall) = strict.recall_with_notes {
        facts.push(format!("Recall is {recall:.3} when notes count like findings."));
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
    let planted = planted(&result.scores.grouped);
    // One set is the run itself.
    let has_rows = |name: &str, n_slices: usize| n_slices > usize::from(name == "Set");
    let parts = html! {
        @if !planted.is_empty() {
            (slice("Planted defect", MatchMode::Grouped, &planted, MAX_ROWS))
        }
        @for (name, slices) in tables.into_iter().filter(|(name, rows)| has_rows(name, rows.len())) {
            (slice(name, MatchMode::Strict, slices, MAX_ROWS))
        }
        @if strict.severity.pairs > 0 { (severity(&strict.severity)) }
        @if !strict.by_tag.is_empty() {
            (slice("Tag", MatchMode::Strict, &strict.by_tag, MAX_TAGS))
        }
    };
    html! {
        @if parts.0.is_empty() {
            p class="nothing" { "Nothing was reviewed, so there is no breakdown." }
        } @else {
            div class="parts" { (parts) }
        }
    }
}

/// Those with the most to count first; severities as they are ranked.
fn slice(
    name: &str,
    mode: MatchMode,
    slices: &BTreeMap<String, ScoreRates>,
    most: usize,
) -> Markup {
    let noun = name.to_lowercase();
    let columns = [noun.as_str(), "recall", "precision", "F1", "found", "right"];
    let mut grid = HtmlGrid::new(format!("By {noun} ({mode})"), &columns);
    let mut rows: Vec<(&String, &ScoreRates)> = slices.iter().collect();
    let rank = |name: &str| {
        SEVERITIES.iter().position(|severity| *severity == name).unwrap_or(SEVERITIES.len())
    };
    rows.sort_by_key(|(name, rates)| (rank(name), Reverse(rates.truths.max(rates.findings))));
    for (name, rates) in rows.into_iter().take(most) {
        grid.row([
            GridCell::label(name),
            GridCell::rate(rates.recall),
            GridCell::rate(rates.precision),
            GridCell::rate(rates.f1),
            GridCell::text(format!("{} of {}", rates.found, rates.truths)),
            GridCell::text(format!("{} of {}", rates.right, rates.findings)),
        ]);
    }
    let more = slices.len().saturating_sub(most);
    html! {
        section {
            h3 { (name) }
            (grid.markup())
            @if more > 0 { p class="note" { (more) " more are not shown." } }
        }
    }
}

/// The severities of hits: known against claimed.
fn severity(of: &SeverityAgreement) -> Markup {
    let mut grid = HtmlGrid::new(
        "Severity of hits: known (rows) and claimed (columns)",
        &["known", "critical", "high", "medium", "low"],
    );
    for (row, name) in SEVERITIES.iter().enumerate() {
        let counts = of.matrix.get(row).copied().unwrap_or_default();
        let cells = counts.into_iter().enumerate().map(|(column, count)| {
            let class = if row == column { "n same" } else { "n" };
            let cell = if count == 0 {
                GridCell::of(html! { span class="zero" { "0" } })
            } else {
                GridCell::text(count)
            };
            cell.with_class(class)
        });
        grid.row(std::iter::once(GridCell::of(html! { (name) })).chain(cells));
    }
    html! {
        section {
            h3 { "Severity agreement" }
            (grid.markup())
            p class="note" {
                (of.equal) " of " (of.pairs) " agree, " (of.within_one)
                " are at most one step apart."
            }
        }
    }
}

/// The cases that could not be reviewed; `None` if there are none.
pub(super) fn unreviewed(result: &EvalResult) -> Option<Markup> {
    let all = &result.scores.unreviewed;
    if all.is_empty() {
        return None;
    }
    let mut grid =
        HtmlGrid::new("Failed reviews; they are in no rate", &["case", "set", "trial", "why"]);
    for one in all.iter().take(MAX_UNREVIEWED) {
        grid.row([
            GridCell::label(&one.case),
            GridCell::label(&one.set),
            GridCell::text(one.trial),
            GridCell::label(&one.why),
        ]);
    }
    Some(html! {
        (grid.markup())
        @if all.len() > MAX_UNREVIEWED {
            p class="note" { (all.len() - MAX_UNREVIEWED) " more are not shown." }
        }
    })
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
    html! {
        p { (METHOD) }
        dl {
            @for (name, value) in rows {
                div { dt { (name) } dd { bdi { (label(&value)) } } }
            }
        }
    }
}
