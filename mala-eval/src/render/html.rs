//! A run as one HTML page without external resources: plots, tables and cases. The page has no script,
//! and its content security policy forbids any. Its size is limited, and it says what it leaves out. All
//! text is untrusted: maud escapes it, and `spell_hidden` makes control characters visible.

mod bars;
mod cases;
mod cost;
mod diff;
mod frame;
mod head;
mod outcomes;
mod precision_recall;
mod reliability;
mod runs;
mod sections;
mod tables;
#[cfg(test)]
mod tests;
mod trend;

use super::LeaderboardRow;
use crate::curve::Curve;
use crate::matching::{MatchMode, MatchRule};
use crate::{CaseRecord, EvalResult, RunHeader};
use bars::BarChart;
use cases::CaseSection;
use mala_domain::render::visible;
use maud::{DOCTYPE, Markup, PreEscaped, html};
pub use runs::MAX_RUNS;
use runs::RunsSection;
use std::borrow::Cow;

const STYLE: &str = include_str!("html/page.css");

/// The data of a page from the records of its run, collected one by one.
pub struct PageCases {
    curve: Curve,
    cases: CaseSection,
}

impl PageCases {
    /// Nothing yet of this run.
    pub fn new(run: &RunHeader) -> Self {
        let rule = MatchRule { max_span: run.max_span, ..MatchRule::of(MatchMode::Strict) };
        Self { curve: Curve::new(rule), cases: CaseSection::new(rule) }
    }

    /// Adds a record.
    pub fn add(&mut self, record: &CaseRecord) {
        self.curve.add(record);
        self.cases.add(record);
    }
}

/// The page of a run. The kept runs are those over the same cases, this one among them.
pub fn page(result: &EvalResult, gathered: PageCases, kept: &[LeaderboardRow]) -> String {
    let runs = RunsSection::new(result, kept);
    let strict = &result.scores.strict;
    let plots = [
        precision_recall::plot(result, &gathered.curve.points()),
        reliability::plot(result),
        trend::plot(&runs),
        cost::plot(&runs),
    ];
    let location = &result.scores.location;
    let rules = BarChart {
        id: "by-rule",
        title: "By rule",
        noun: "rule",
        scores: &strict.by_rule,
        by_location: &location.by_rule,
    };
    let reviewers = BarChart {
        id: "by-reviewer",
        title: "By reviewer",
        noun: "reviewer",
        scores: &strict.by_reviewer,
        by_location: &location.by_reviewer,
    };
    let main = html! {
        (section("scores", "Scores", head::tiles(result)))
        (section("modes", "All scores", sections::scores(result)))
        (section("plots", "Plots", html! { div class="plots" { @for plot in plots { (plot) } } }))
        (section("slices", "Breakdown", sections::slices(result)))
        (section("rules", "Rules and reviewers", html! { (rules.plot()) (reviewers.plot()) }))
        @if let Some(table) = sections::unreviewed(result) {
            (section("unreviewed", "Not reviewed", table))
        }
        (section("runs", "Runs", runs.table()))
        (section("cases", "Cases", gathered.cases.section()))
        (section("method", "Method", sections::method(result)))
    };
    spell_hidden(document(&head::title(result), head::header(result), main).into_string())
}

fn section(id: &'static str, title: &str, content: Markup) -> Markup {
    html! { section id=(id) { h2 { (title) } (content) } }
}

/// The page around its content. The policy allows only the inline style.
fn document(title: &str, header: Markup, main: Markup) -> Markup {
    const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
        base-uri 'none'; form-action 'none'";
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                link rel="icon" href="data:,";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { (header) main { (main) } }
        }
    }
}

/// Spells out control characters and characters that hide or reorder text, such as `<U+202E>`.
fn spell_hidden(page: String) -> String {
    if matches!(visible(&page), Cow::Borrowed(_)) {
        return page;
    }
    let mut out = String::with_capacity(page.len() + 64);
    let mut rest = page.chars().peekable();
    while let Some(c) = rest.next() {
        let mut buffer = [0; 4];
        match visible(c.encode_utf8(&mut buffer)) {
            _ if c == '\r' && rest.peek() == Some(&'\n') => {}
            Cow::Borrowed(shown) => out.push_str(shown),
            Cow::Owned(spelled) => {
                out.push_str(&spelled.replace('<', "&lt;").replace('>', "&gt;"));
            }
        }
    }
    out
}
