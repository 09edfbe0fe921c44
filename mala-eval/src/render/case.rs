//! One reviewed case: every hit and miss, both texts, and the diff.

use super::document::Document;
use crate::case::KnownProblem;
use crate::record::Prediction;
use crate::view::{CaseView, ClaimView, ProblemView};

/// One reviewed case.
pub fn case(view: &CaseView) -> Document {
    let record = &view.record;
    let mut document = Document::default();
    document.heading(format!("{} ({}, trial {})", record.case, record.set, record.trial));
    if !record.title.is_empty() {
        document.line(record.title.clone());
    }
    if let Some(why) = &record.could_not_review {
        document.line(format!("review failed: {why}"));
    }
    document.items(record.notes.clone());
    document.heading(format!("Known problems ({})", view.mode));
    if record.truths.is_empty() {
        document.line("None: this is a clean case.");
    }
    for (truth, outcome) in record.truths.iter().zip(&view.truths) {
        document.line(known(truth, outcome));
        document.items(both(truth, outcome.found_by.and_then(|at| record.predictions.get(at))));
    }
    document.heading(format!("Findings ({})", view.mode));
    if record.predictions.is_empty() {
        document.line("None.");
    }
    for (claim, outcome) in record.predictions.iter().zip(&view.claims) {
        document.line(claimed(claim, outcome));
        let repeated = outcome.repeats.and_then(|at| record.rejected.get(at));
        let mut items = vec![format!("it says: {}", said(claim))];
        items
            .extend(repeated.map(|wrong| format!("judged wrong by people: {}", wrong.description)));
        document.items(items);
    }
    document.heading("Change");
    document.code(&record.diff);
    document
}

fn known(truth: &KnownProblem, outcome: &ProblemView) -> String {
    let word = if outcome.found_by.is_some() { "FOUND " } else { "MISSED" };
    let severity = truth.severity.map_or("", |severity| severity.name());
    let place = format!("{}:{}", truth.file, truth.span());
    format!("{word} {place} {} {severity} ({})", truth.category, outcome.why)
}

fn both(truth: &KnownProblem, claim: Option<&Prediction>) -> Vec<String> {
    let title = truth.title.as_deref().unwrap_or_default();
    let mut items = vec![format!("known: {}", joined(title, &truth.description))];
    items.extend(claim.map(|claim| format!("found: {}", said(claim))));
    items
}

fn claimed(claim: &Prediction, outcome: &ClaimView) -> String {
    let word = match (outcome.counts, outcome.hits) {
        (false, _) => "IGNORED",
        (true, Some(_)) => "RIGHT",
        (true, None) => "WRONG",
    };
    let place = format!("{}:{}", claim.file, claim.span());
    let (category, severity) = (claim.category, claim.severity.name());
    let (origin, confidence) = (claim.origin(), claim.confidence);
    format!("{word} {place} {category} {severity} {origin} {confidence:.2} ({})", outcome.why)
}

fn said(claim: &Prediction) -> String {
    joined(&claim.title, &claim.body)
}

fn joined(title: &str, text: &str) -> String {
    match (title.trim(), text.trim()) {
        ("", "") => "(no text)".to_owned(),
        (title, "") => title.to_owned(),
        ("", text) => text.to_owned(),
        (title, text) => format!("{title}. {text}"),
    }
}
