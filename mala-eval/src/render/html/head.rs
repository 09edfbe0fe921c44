//! The top of a page: what was measured, and the numbers to know first.

use super::frame::unit;
use super::markup::{Markup, Tag, tag};
use super::tables::label;
use crate::EvalResult;
use crate::bootstrap::Interval;
use crate::render::numbers::{dollars, rate, seconds};
use crate::render::result::{counted, sets};

/// The name of the page.
pub(super) fn title(result: &EvalResult) -> String {
    label(&format!("{} on {}", result.run.reviewer, sets(result)))
}

/// The header.
pub(super) fn header(result: &EvalResult) -> Markup {
    let started = result.run.started_at.get(..16).unwrap_or_default().replace('T', " ");
    let links = [
        ("scores", "Scores"),
        ("plots", "Plots"),
        ("slices", "Breakdown"),
        ("rules", "Rules"),
        ("runs", "Runs"),
        ("cases", "Cases"),
        ("method", "Method"),
    ];
    let links = links.map(|(id, name)| tag("a").attr("href", format!("#{id}")).text(name));
    let mut out = tag("header")
        .child(tag("p").class("kicker").text("mala eval"))
        .child(tag("h1").child(tag("bdi").text(title(result))))
        .child(tag("p").class("facts").text(counted(result)))
        .child(tag("p").class("facts").text(format!(
            "{} UTC · {}",
            label(&started),
            label(&result.run.run_id)
        )));
    for note in &result.notes {
        out = out.child(tag("p").class("notice").text(label(note)));
    }
    out.child(tag("nav").attr("aria-label", "On this page").children(links)).into()
}

/// The numbers to know first.
pub(super) fn tiles(result: &EvalResult) -> Markup {
    let strict = &result.scores.strict;
    let (rates, floor, of) = (&strict.rates, &strict.floor, &strict.intervals);
    let found = format!("{} of {} known problems found", rates.found, rates.truths);
    let right = format!("{} of {} findings right", rates.right, rates.findings);
    let main = [
        rated("F1", rates.f1, of.f1, floor.f1, "strict: file, category and lines"),
        rated("Recall", rates.recall, of.recall, floor.recall, &found),
        rated("Precision", rates.precision, of.precision, floor.precision, &right),
    ];
    let clean = &strict.clean;
    let spent = &result.scores.spent;
    let no_alarms = match clean.cases {
        0 => "there are no clean cases",
        _ => "the clean cases change no lines",
    };
    let alarms = clean.per_1000_lines.map(|rate| format!("{rate:.1}"));
    let in_clean =
        format!("{} in {} clean cases, per 1,000 changed lines", clean.false_alarms, clean.cases);
    let cost =
        spent.cost_usd.map(|cost| if cost == 0.0 { "$0".to_owned() } else { dollars(Some(cost)) });
    let mean = spent.seconds_mean.map(|mean| seconds(Some(mean)));
    let slow =
        format!("median {}, 95 % {}", seconds(spent.seconds_p50), seconds(spent.seconds_p95));
    let ece = strict.calibration.ece.map(|ece| rate(Some(ece)));
    let calls = format!("in all; {} model calls", spent.llm_calls);
    let not_done = result.scores.cases.could_not_review;
    let more = [
        plain("False alarms", alarms, no_alarms, &in_clean),
        plain("Calibration error", ece, "there are no findings", "ECE: 0 is best"),
        plain("Cost", cost, "a review did not say what it cost", &calls),
        plain("Time per review", mean, "nothing was reviewed", &slow),
        plain("Not reviewed", Some(not_done.to_string()), "", "counted apart, in no rate"),
    ];
    let mut out: Markup = tag("div").class("tiles main").children(main).into();
    out.push(tag("div").class("tiles").children(more));
    out
}

fn rated(
    name: &'static str,
    value: Option<f64>,
    interval: Option<Interval>,
    floor: Option<f64>,
    about: &str,
) -> Tag {
    let range = match (value, interval) {
        (Some(_), Some(Interval { low, high })) => format!("95 %: {low:.2} to {high:.2}"),
        (Some(_), None) => "no interval: too few cases".to_owned(),
        (None, _) => "undefined: there is nothing to count".to_owned(),
    };
    let floor_text =
        floor.map_or_else(|| "no floor".to_owned(), |floor| format!("floor {floor:.3}"));
    let number = value.map_or_else(|| "—".to_owned(), |value| format!("{value:.3}"));
    tag("div")
        .class("tile")
        .child(tag("p").class("name").text(name))
        .child(tag("p").class("value").text(number))
        .child(gauge(value, interval, floor))
        .child(tag("p").class("about").text(range).text(" · ").text(floor_text))
        .child(tag("p").class("about").text(about))
}

/// A value on a line from 0 to 1, with where it may lie and the floor.
fn gauge(value: Option<f64>, interval: Option<Interval>, floor: Option<f64>) -> Tag {
    let piece = |class: &str, from: f64, to: f64, (y, height): (f64, f64)| {
        tag("rect")
            .class(class)
            .attr("x", unit(from.clamp(0.0, 1.0) * 200.0))
            .attr("y", unit(y))
            .attr("width", unit(((to - from) * 200.0).max(2.0)))
            .attr("height", unit(height))
    };
    let mut svg = tag("svg")
        .class("gauge")
        .attr("viewBox", "0 0 202 14")
        .attr("preserveAspectRatio", "none")
        .attr("aria-hidden", "true")
        .child(piece("track", 0.0, 1.0, (5.0, 4.0)));
    if let (Some(_), Some(Interval { low, high })) = (value, interval) {
        svg = svg.child(piece("likely", low, high, (5.0, 4.0)));
    }
    if let Some(floor) = floor {
        svg = svg.child(piece("floor", floor, floor, (1.0, 12.0)));
    }
    match value {
        Some(value) => svg.child(piece("mark", value, value, (1.0, 12.0))),
        None => svg,
    }
}

fn plain(name: &'static str, value: Option<String>, otherwise: &'static str, about: &str) -> Tag {
    let text = if value.is_some() { about } else { otherwise };
    let number = value.unwrap_or_else(|| "—".to_owned());
    tag("div")
        .class("tile")
        .child(tag("p").class("name").text(name))
        .child(tag("p").class("value").text(number))
        .child(tag("p").class("about").text(text))
}
