//! The reviewed cases, collapsed: every hit, miss and false alarm with both texts. The size is limited, cases
//! with misses or false alarms come first, and the rest is counted.

use super::diff;
use super::outcomes::{OutcomeSection, outcomes};
use super::tables::label;
use crate::matching::MatchRule;
use crate::record::CaseRecord;
use crate::render::{dollars, plural, seconds};
use crate::scores::{MatchCounts, judge};
use crate::view::CaseView;
use maud::{Markup, html};

/// Maximum bytes of markup for cases with errors, and for the others.
const ROOM_WRONG: SizeBudget = SizeBudget { cases: 1_000, bytes: 6 << 20 };
const ROOM_OTHER: SizeBudget = SizeBudget { cases: 500, bytes: 2 << 20 };
/// With more possible pairs than this, a case is shown without details.
const MAX_PAIRS: usize = 4_000_000;

/// The remaining space.
#[derive(Debug, Clone, Copy)]
struct SizeBudget {
    cases: usize,
    bytes: usize,
}

impl SizeBudget {
    /// Takes this number of bytes, if they are left.
    fn take(&mut self, n_bytes: usize) -> bool {
        let is_enough = self.cases > 0 && self.bytes >= n_bytes;
        if is_enough {
            self.cases -= 1;
            self.bytes -= n_bytes;
        }
        is_enough
    }
}

/// The cases of a page, as records come.
pub(super) struct CaseSection {
    rule: MatchRule,
    shown: Vec<Markup>,
    room_wrong: SizeBudget,
    room_other: SizeBudget,
    hidden_wrong: u64,
    hidden_other: u64,
}

impl CaseSection {
    pub(super) fn new(rule: MatchRule) -> Self {
        Self {
            rule,
            shown: Vec::new(),
            room_wrong: ROOM_WRONG,
            room_other: ROOM_OTHER,
            hidden_wrong: 0,
            hidden_other: 0,
        }
    }

    pub(super) fn add(&mut self, record: &CaseRecord) {
        let judged = judge(&self.rule, record).counts();
        let is_wrong = record.could_not_review.is_some()
            || judged.found < judged.truths
            || judged.right < judged.findings;
        let (room, hidden) = match is_wrong {
            true => (&mut self.room_wrong, &mut self.hidden_wrong),
            false => (&mut self.room_other, &mut self.hidden_other),
        };
        // Nothing is put together that cannot be shown anyway.
        let markup = (room.cases > 0 && room.bytes > 0)
            .then(|| case(&self.rule, record, judged))
            .filter(|markup| room.take(markup.0.len()));
        match markup {
            Some(markup) => self.shown.push(markup),
            None => *hidden += 1,
        }
    }

    /// The section.
    pub(super) fn section(self) -> Markup {
        if self.shown.is_empty() && self.hidden_wrong + self.hidden_other == 0 {
            return html! { p class="nothing" { "No case was run." } };
        }
        let hidden = [
            (self.hidden_wrong, "with something missed or wrong"),
            (self.hidden_other, "without anything missed or wrong"),
        ];
        html! {
            @for (number, which) in hidden.into_iter().filter(|(number, _)| *number > 0) {
                p class="notice" {
                    (plural(number, "review")) " " (which)
                    " not shown: the page is full. \u{2018}mala eval show\u{2019} shows each."
                }
            }
            (filters())
            div class="cases" { @for case in &self.shown { (case) } }
        }
    }
}

/// Filters without a script: the page's style hides the cases that are not chosen.
fn filters() -> Markup {
    let choices = [
        ("only-all", "All"),
        ("only-missed", "With misses"),
        ("only-alarm", "With false alarms"),
        ("only-unreviewed", "Not reviewed"),
        ("only-clean", "Clean cases"),
    ];
    html! {
        fieldset class="filters" {
            legend class="hidden" { "Which cases to show" }
            @for (id, name) in choices {
                input type="radio" name="only" id=(id) checked[id == "only-all"];
                label for=(id) class="choice" { (name) }
            }
        }
    }
}

fn case(rule: &MatchRule, record: &CaseRecord, counts: MatchCounts) -> Markup {
    let (missed, wrong) = (counts.truths - counts.found, counts.findings - counts.right);
    let unreviewed = record.could_not_review.as_deref();
    let pairs = record.predictions.len().saturating_mul(record.truths.len().max(1));
    let OutcomeSection { items, n_hidden } = match pairs > MAX_PAIRS {
        true => OutcomeSection { items: Markup::default(), n_hidden: record.predictions.len() },
        false => outcomes(&CaseView::of(rule, record)),
    };
    html! {
        details.case.missed[missed > 0].alarm[wrong > 0].unreviewed[unreviewed.is_some()]
            .clean[record.is_clean()] {
            summary {
                span class="id" {
                    bdi { (label(&record.case)) }
                    @if record.trial > 1 { ", trial " (record.trial) }
                }
                (chips(record, counts))
            }
            (facts(record))
            @if let Some(why) = unreviewed {
                p class="notice" { "Review failed: " (label(why)) }
            }
            @for note in record.notes.iter().take(5) { p class="note" { (label(note)) } }
            ol class="outcomes" { (items) }
            @if n_hidden > 0 {
                p class="note" { (plural(n_hidden as u64, "outcome")) " more not shown." }
            }
            @if let Some(change) = diff::change(&record.diff) { (change) }
        }
    }
}

/// A short summary of the result.
fn chips(record: &CaseRecord, counts: MatchCounts) -> Markup {
    let (missed, wrong) = (counts.truths - counts.found, counts.findings - counts.right);
    html! {
        span class="chips" {
            @if record.could_not_review.is_some() {
                span class="chip unreviewed" { "not reviewed" }
            } @else {
                @if record.is_clean() { span class="chip plain" { "clean" } }
                @if counts.found > 0 { span class="chip found" { (counts.found) " found" } }
                @if missed > 0 { span class="chip missed" { (missed) " missed" } }
                @if wrong > 0 { span class="chip alarm" { (plural(wrong, "false alarm")) } }
                @if record.is_clean() && wrong == 0 { span class="chip found" { "no alarm" } }
            }
        }
    }
}

fn facts(record: &CaseRecord) -> Markup {
    let mut facts = vec![label(&record.set), label(&record.language)];
    let lines = record.changed_lines.added + record.changed_lines.removed;
    facts.push(plural(lines as u64, "changed line"));
    facts.push(seconds(Some(record.spent.seconds)));
    facts.extend(record.spent.cost_usd.filter(|cost| *cost > 0.0).map(|cost| dollars(Some(cost))));
    html! {
        @if !record.title.is_empty() { p class="title" { bdi { (label(&record.title)) } } }
        p class="facts" { (facts.join(" · ")) }
    }
}
