//! What came of each known problem and each finding of a case, with both texts side by side.

use super::markup::{Markup, Tag, tag};
use super::tables::label;
use crate::case::Truth;
use crate::record::Prediction;
use crate::view::{CaseView, ClaimView, TruthView};
use mala_domain::render::at_most;

/// How many outcomes of one case are shown.
const MAX_OUTCOMES: usize = 60;
/// The most characters of a text.
const MAX_TEXT: usize = 3_000;

/// The outcomes of a case.
pub(super) struct Outcomes {
    pub(super) items: Markup,
    pub(super) n_hidden: usize,
}

/// Hits and misses in the order of the case, then the findings that hit nothing.
pub(super) fn outcomes(view: &CaseView) -> Outcomes {
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
    let items = known.chain(others).take(MAX_OUTCOMES).collect();
    Outcomes { items, n_hidden: n_all.saturating_sub(MAX_OUTCOMES) }
}

fn problem(
    truth: &Truth,
    claim: Option<&Prediction>,
    outcome: &TruthView,
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
    let texts = tag("div")
        .class("texts")
        .child(said("Known problem", title, &truth.description))
        .children(claim.map(|claim| said(&who(claim), &claim.title, &claim.body)));
    item(class, word, &place, &kind).child(why(&outcome.why)).child(texts).into()
}

fn alarm(claim: &Prediction, repeated: Option<&Truth>, outcome: &ClaimView) -> Markup {
    let (class, word) = match outcome.counts {
        true => ("alarm", "False alarm"),
        false => ("ignored", "Does not count"),
    };
    let place = format!("{}:{}", claim.file, claim.span());
    let kind = format!("{}, {}", claim.category, claim.severity.name());
    let texts = tag("div")
        .class("texts")
        .child(said(&who(claim), &claim.title, &claim.body))
        .children(repeated.map(|wrong| said("Judged wrong by people", "", &wrong.description)));
    item(class, word, &place, &kind).child(why(&outcome.why)).child(texts).into()
}

fn item(class: &str, word: &str, place: &str, kind: &str) -> Tag {
    let head = tag("p")
        .class("head")
        .child(tag("span").class(format!("chip {class}")).text(word))
        .text(" ")
        .child(tag("code").child(tag("bdi").text(label(place))))
        .text(" ")
        .child(tag("span").class("kind").text(kind));
    tag("li").class(class).child(head)
}

fn why(why: &str) -> Tag {
    tag("p").class("why").text(label(why))
}

fn who(claim: &Prediction) -> String {
    format!("{}, confidence {:.2}", label(claim.origin()), claim.confidence)
}

/// One side: who says it, its title, its text.
fn said(who: &str, title: &str, text: &str) -> Tag {
    let mut out = tag("div").class("said").child(tag("p").class("who").text(who));
    if title.trim().is_empty() && text.trim().is_empty() {
        return out.child(tag("p").class("nothing").text("No text."));
    }
    if !title.trim().is_empty() {
        out = out.child(tag("p").class("title").text(label(title)));
    }
    if !text.trim().is_empty() {
        out = out.child(tag("p").class("body").text(at_most(text.trim(), MAX_TEXT)));
    }
    out
}
