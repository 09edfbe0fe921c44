//! A run as one page that needs nothing else: plots, tables and cases in a file that opens without a
//! network. It has no script, and its policy forbids any; what it is made of is bounded, and what is
//! left out is said. All text in it is hostile: see `markup`.

mod bars;
mod cases;
mod cost;
mod diff;
mod frame;
mod head;
mod markup;
mod outcomes;
mod precision_recall;
mod reliability;
mod runs;
mod sections;
mod tables;
#[cfg(test)]
mod tests;
mod trend;

use super::BoardRow;
use crate::curve::Curve;
use crate::matching::{Mode, Rule};
use crate::{CaseRecord, EvalResult, RunHeader};
use bars::Bars;
use cases::Cases;
use markup::{Markup, tag};
pub use runs::MAX_RUNS;
use runs::Runs;

const STYLE: &str = include_str!("html/page.css");

/// What a page takes from the records of its run, as they come.
pub struct Gathered {
    curve: Curve,
    cases: Cases,
}

impl Gathered {
    /// Nothing yet of this run.
    pub fn new(run: &RunHeader) -> Self {
        let rule = Rule { max_span: run.max_span, ..Rule::of(Mode::Strict) };
        Self { curve: Curve::new(rule), cases: Cases::new(rule) }
    }

    /// Takes a record in.
    pub fn add(&mut self, record: &CaseRecord) {
        self.curve.add(record);
        self.cases.add(record);
    }
}

/// The page of a run. The kept runs are those over the same cases, this one among them.
pub fn page(result: &EvalResult, gathered: Gathered, kept: &[BoardRow]) -> String {
    let runs = Runs::new(result, kept);
    let strict = &result.scores.strict;
    let plots = [
        precision_recall::plot(result, &gathered.curve.points()),
        reliability::plot(result),
        trend::plot(&runs),
        cost::plot(&runs),
    ];
    let location = &result.scores.location;
    let rules = Bars {
        id: "by-rule",
        title: "By rule",
        noun: "rule",
        scores: &strict.by_rule,
        by_location: &location.by_rule,
    };
    let reviewers = Bars {
        id: "by-reviewer",
        title: "By reviewer",
        noun: "reviewer",
        scores: &strict.by_reviewer,
        by_location: &location.by_reviewer,
    };
    let mut main = section("scores", "Scores", head::tiles(result));
    main.push(section("modes", "All scores", sections::scores(result)));
    main.push(section("plots", "Plots", tag("div").class("plots").children(plots).into()));
    main.push(section("slices", "Breakdown", sections::slices(result)));
    main.push(section(
        "rules",
        "Rules and reviewers",
        [rules.plot(), reviewers.plot()].into_iter().collect(),
    ));
    main.push(
        sections::unreviewed(result).map(|table| section("unreviewed", "Not reviewed", table)),
    );
    main.push(section("runs", "Runs", runs.table()));
    main.push(section("cases", "Cases", gathered.cases.section()));
    main.push(section("method", "Method", sections::method(result)));
    document(&head::title(result), head::header(result), main)
}

fn section(id: &'static str, title: &str, content: Markup) -> Markup {
    tag("section").attr("id", id).child(tag("h2").text(title)).child(content).into()
}

/// Everything of a page that is always the same. The policy allows nothing but the style in it.
fn document(title: &str, header: Markup, main: Markup) -> String {
    let mut out = Markup::ours(concat!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; ",
        "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n",
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
        "<meta name=\"color-scheme\" content=\"light dark\">\n",
        "<meta name=\"referrer\" content=\"no-referrer\">\n",
        "<link rel=\"icon\" href=\"data:,\">\n"
    ));
    out.push(tag("title").text(title));
    out.push(Markup::ours("\n<style>\n"));
    out.push(Markup::ours(STYLE));
    out.push(Markup::ours("</style>\n</head>\n<body>\n"));
    out.push(header);
    out.push(tag("main").child(main));
    out.push(Markup::ours("\n</body>\n</html>\n"));
    out.into_string()
}
