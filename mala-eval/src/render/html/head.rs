//! The top of a page: the reviewer, the cases, and the most important numbers.

use super::frame::{PlotPoint, rect};
use super::tables::label;
use crate::EvalResult;
use crate::bootstrap::ConfidenceInterval;
use crate::render::result::{counted, sets};
use crate::render::{dollars, rate, seconds};
use maud::{Markup, html};

/// The sections with a link at the top.
const LINKS: [(&str, &str); 7] = [
    ("#scores", "Scores"),
    ("#plots", "Plots"),
    ("#slices", "Breakdown"),
    ("#rules", "Rules"),
    ("#runs", "Runs"),
    ("#cases", "Cases"),
    ("#method", "Method"),
];

/// The name of the page.
pub(super) fn title(result: &EvalResult) -> String {
    label(&format!("{} on {}", result.run.reviewer, sets(result)))
}

/// The header.
pub(super) fn header(result: &EvalResult) -> Markup {
    let started = result.run.started_at.get(..16).unwrap_or_default().replace('T', " ");
    html! {
        header {
            p class="kicker" { "mala eval" }
            h1 { bdi { (title(result)) } }
            p class="facts" { (counted(result)) }
            p class="facts" { (label(&started)) " UTC · " (label(&result.run.run_id)) }
            @for note in &result.notes {
                p class="notice" { (label(note)) }
            }
            nav aria-label="On this page" {
                @for (target, name) in LINKS {
                    a href=(target) { (name) }
                }
            }
        }
    }
}

/// The most important numbers.
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
        plain("Cost", cost, "a review did not report its cost", &calls),
        plain("Time per review", mean, "nothing was reviewed", &slow),
        plain("Not reviewed", Some(not_done.to_string()), "", "in no rate"),
    ];
    html! {
        div class="tiles main" { @for tile in main { (tile) } }
        div class="tiles" { @for tile in more { (tile) } }
    }
}

fn rated(
    name: &'static str,
    value: Option<f64>,
    interval: Option<ConfidenceInterval>,
    floor: Option<f64>,
    about: &str,
) -> Markup {
    let range = match (value, interval) {
        (Some(_), Some(ConfidenceInterval { low, high })) => format!("95 %: {low:.2} to {high:.2}"),
        (Some(_), None) => "no interval: too few cases".to_owned(),
        (None, _) => "undefined: there is nothing to count".to_owned(),
    };
    let floor_text =
        floor.map_or_else(|| "no floor".to_owned(), |floor| format!("floor {floor:.3}"));
    let number = value.map_or_else(|| "—".to_owned(), |value| format!("{value:.3}"));
    html! {
        div class="tile" {
            p class="name" { (name) }
            p class="value" { (number) }
            (gauge(value, interval, floor))
            p class="about" { (range) " · " (floor_text) }
            p class="about" { (about) }
        }
    }
}

/// A value on a line from 0 to 1, with its interval and the floor.
fn gauge(value: Option<f64>, interval: Option<ConfidenceInterval>, floor: Option<f64>) -> Markup {
    let piece = |class: &str, from: f64, to: f64, (y, height): (f64, f64)| {
        let corner = PlotPoint { x: from.clamp(0.0, 1.0) * 200.0, y };
        rect(class, corner, ((to - from) * 200.0).max(2.0), height)
    };
    html! {
        svg class="gauge" viewBox="0 0 202 14" preserveAspectRatio="none" aria-hidden="true" {
            (piece("track", 0.0, 1.0, (5.0, 4.0)))
            @if let (Some(_), Some(ConfidenceInterval { low, high })) = (value, interval) {
                (piece("likely", low, high, (5.0, 4.0)))
            }
            @if let Some(floor) = floor { (piece("floor", floor, floor, (1.0, 12.0))) }
            @if let Some(value) = value { (piece("mark", value, value, (1.0, 12.0))) }
        }
    }
}

fn plain(
    name: &'static str,
    value: Option<String>,
    otherwise: &'static str,
    about: &str,
) -> Markup {
    let text = if value.is_some() { about } else { otherwise };
    let number = value.unwrap_or_else(|| "—".to_owned());
    html! {
        div class="tile" {
            p class="name" { (name) }
            p class="value" { (number) }
            p class="about" { (text) }
        }
    }
}
