//! The outcome of each known problem and each finding of a case, with both texts side by side.

use super::tables::label;
use crate::case::KnownProblem;
use crate::record::Prediction;
use crate::view::{CaseView, ClaimView, ProblemView};
use mala_domain::render::at_most;
use maud::{Markup, html};

/// How many outcomes of one case are shown.
const MAX_OUTCOMES: usize = 60;
/// The most characters of a text.
const MAX_TEXT: usize = 3_000;

/// The outcomes of a case.
pub(super) struct OutcomeSection {
    pub(super) items: Markup,
    pub(super) n_hidden: usize,
}

/// Hits and misses in the order of the case, then the findings that hit nothing.
pub(super) fn outcomes(view: &CaseView) -> OutcomeSection {
    let record = &view.record;
    let known = record.truths.iter().zip(&view.truths);
    let others =
        record.predictions.iter().zip(&view.claims).filter(|(_, claim)| claim.hits.is_none());
    let n_all = record.truths.len() + others.clone().count();
    let known = known.map(|(truth, outcome)| {
        let claim = outcome.found_by.and_then(|at| record.predictions.get(at));
        problem(truth, claim, outcome, record.could_not_review.is_some())
    });
    let others = others.map(|(claim, outcome)| {
        let repeated = outcome.repeats.and_then(|at| record.rejected.get(at));
        alarm(claim, repeated, outcome)
    });
    let items = html! { @for item in known.chain(others).take(MAX_OUTCOMES) { (item) } };
    OutcomeSection { items, n_hidden: n_all.saturating_sub(MAX_OUTCOMES) }
}

fn problem(
    truth: &KnownProblem,
    claim: Option<&Prediction>,
    outcome: &ProblemView,
    is_unreviewed: bool,
) -> Markup {
    let (class, word) = match (claim, is_unreviewed) {
        (Some(_), _) => ("found", "Found"),
        (None, false) => ("missed", "Missed"),
        (None, true) => ("unreviewed", "Not reviewed"),
    };
    let severity = truth.severity.map_or("severity unknown", |severity| severity.name());
    let place = format!("{}:{}", truth.file, truth.span());
    let kind = format!("{}, {severity}", truth.category);
    let title = truth.title.as_deref().unwrap_or_default();
    let texts = html! {
        (side("Known problem", title, &truth.description))
        @if let Some(claim) = claim { (side(&reviewer(claim), &claim.title, &claim.body)) }
    };
    item((class, word), &place, &kind, &outcome.why, texts)
}

fn alarm(claim: &Prediction, repeated: Option<&KnownProblem>, outcome: &ClaimView) -> Markup {
    let (class, word) = match outcome.counts {
        true => ("alarm", "False alarm"),
        false => ("ignored", "Does not count"),
    };
    let place = format!("{}:{}", claim.file, claim.span());
    let kind = format!("{}, {}", claim.category, claim.severity.name());
    let texts = html! {
        (side(&reviewer(claim), &claim.title, &claim.body))
        @if let Some(wrong) = repeated { (side("Judged wrong by people", "", &wrong.description)) }
    };
    item((class, word), &place, &kind, &outcome.why, texts)
}

fn item((class, word): (&str, &str), place: &str, kind: &str, why: &str, texts: Markup) -> Markup {
    html! {
        li class=(class) {
            p class="head" {
                span class={ "chip " (class) } { (word) }
                " "
                code { bdi { (label(place)) } }
                " "
                span class="kind" { (kind) }
            }
            p class="why" { (label(why)) }
            div class="texts" { (texts) }
        }
    }
}

fn reviewer(claim: &Prediction) -> String {
    format!("{}, confidence {:.2}", label(claim.origin()), claim.confidence)
}

/// One side: its source, its title, its text.
fn side(source: &str, title: &str, text: &str) -> Markup {
    let (title, text) = (title.trim(), text.trim());
    html! {
        div class="said" {
            p class="who" { (source) }
            @if title.is_empty() && text.is_empty() { p class="nothing" { "No text." } }
            @if !title.is_empty() { p class="title" { (label(title)) } }
            @if !text.is_empty() { p class="body" { (at_most(text, MAX_TEXT)) } }
        }
    }
}
