//! The reviewed cases: every hit, miss and false alarm with both texts, to open. A page has room for so
//! much of them, first for those with something wrong; what is left out is counted.

use super::diff;
use super::markup::{Markup, Tag, tag};
use super::outcomes::{Outcomes, outcomes};
use super::tables::label;
use crate::matching::Rule;
use crate::record::CaseRecord;
use crate::render::numbers::plural;
use crate::render::numbers::{dollars, seconds};
use crate::scores::{Counts, judge};
use crate::view::CaseView;

/// The most bytes of markup for cases with something wrong, and for the others.
const ROOM_WRONG: Room = Room { cases: 1_000, bytes: 6 << 20 };
const ROOM_OTHER: Room = Room { cases: 500, bytes: 2 << 20 };
/// With more possible pairs than this, a case is not taken apart.
const MAX_PAIRS: usize = 4_000_000;

/// What there is still room for.
#[derive(Debug, Clone, Copy)]
struct Room {
    cases: usize,
    bytes: usize,
}

impl Room {
    /// Takes so many bytes of it, when there are so many.
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
pub(super) struct Cases {
    rule: Rule,
    shown: Markup,
    n_shown: usize,
    room_wrong: Room,
    room_other: Room,
    hidden_wrong: u64,
    hidden_other: u64,
}

impl Cases {
    pub(super) fn new(rule: Rule) -> Self {
        Self {
            rule,
            shown: Markup::default(),
            n_shown: 0,
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
            .filter(|markup| room.take(markup.n_bytes()));
        match markup {
            Some(markup) => {
                self.shown.push(markup);
                self.n_shown += 1;
            }
            None => *hidden += 1,
        }
    }

    /// The section.
    pub(super) fn section(self) -> Markup {
        if self.shown.is_empty() && self.hidden_wrong + self.hidden_other == 0 {
            return tag("p").class("nothing").text("No case was run.").into();
        }
        let mut out = Markup::default();
        let hidden = [
            (self.hidden_wrong, "with something missed or wrong"),
            (self.hidden_other, "without anything missed or wrong"),
        ];
        for (number, which) in hidden.iter().filter(|(number, _)| *number > 0) {
            let text = format!(
                "{} {which} not shown: a page has no room for more. \u{2018}mala eval show\u{2019} shows each.",
                if *number == 1 { "1 review".to_owned() } else { format!("{number} reviews") }
            );
            out.push(tag("p").class("notice").text(text));
        }
        out.push(filters());
        out.push(tag("div").class("cases").child(self.shown));
        out
    }
}

/// Choices that need no script: the page's style hides what is not chosen.
fn filters() -> Markup {
    let choices = [
        ("all", "All"),
        ("missed", "With misses"),
        ("alarm", "With false alarms"),
        ("unreviewed", "Not reviewed"),
        ("clean", "Clean cases"),
    ];
    let mut set = tag("fieldset").class("filters");
    set = set.child(tag("legend").class("hidden").text("Which cases to show"));
    for (id, name) in choices {
        let mut label = tag("label").attr("for", format!("only-{id}")).text(name);
        label = label.class("choice");
        set = set.child(choice(id)).child(label);
    }
    set.into()
}

fn choice(id: &str) -> Markup {
    Markup::ours(match id {
        "all" => r#"<input type="radio" name="only" id="only-all" checked>"#,
        "missed" => r#"<input type="radio" name="only" id="only-missed">"#,
        "alarm" => r#"<input type="radio" name="only" id="only-alarm">"#,
        "unreviewed" => r#"<input type="radio" name="only" id="only-unreviewed">"#,
        _ => r#"<input type="radio" name="only" id="only-clean">"#,
    })
}

fn case(rule: &Rule, record: &CaseRecord, counts: Counts) -> Markup {
    let (missed, wrong) = (counts.truths - counts.found, counts.findings - counts.right);
    let unreviewed = record.could_not_review.as_deref();
    let mut classes = String::from("case");
    let mut say = |when: bool, class: &str| classes.push_str(if when { class } else { "" });
    say(missed > 0, " missed");
    say(wrong > 0, " alarm");
    say(unreviewed.is_some(), " unreviewed");
    say(record.is_clean(), " clean");
    let trial = if record.trial > 1 { format!(", trial {}", record.trial) } else { String::new() };
    let name = tag("span").class("id").child(tag("bdi").text(label(&record.case))).text(trial);
    let summary = tag("summary").child(name).child(chips(record, counts));
    let mut out = tag("details").class(classes).child(summary).child(facts(record));
    if let Some(why) = unreviewed {
        out = out
            .child(tag("p").class("notice").text(format!("Could not be reviewed: {}", label(why))));
    }
    let notes = record.notes.iter().take(5).map(|note| tag("p").class("note").text(label(note)));
    out = out.children(notes);
    let pairs = record.predictions.len().saturating_mul(record.truths.len().max(1));
    let Outcomes { items, n_hidden } = match pairs > MAX_PAIRS {
        true => Outcomes { items: Markup::default(), n_hidden: record.predictions.len() },
        false => outcomes(&CaseView::of(rule, record)),
    };
    out = out.child(tag("ol").class("outcomes").child(items));
    if n_hidden > 0 {
        let text = format!("{} more not shown.", plural(n_hidden as u64, "outcome"));
        out = out.child(tag("p").class("note").text(text));
    }
    out.child(diff::change(&record.diff)).into()
}

/// What came of it, in words.
fn chips(record: &CaseRecord, counts: Counts) -> Tag {
    let mut chips = tag("span").class("chips");
    let mut chip = |class: &str, text: String| {
        let one = tag("span").class(format!("chip {class}")).text(text);
        chips = std::mem::replace(&mut chips, tag("span")).child(one);
    };
    if record.could_not_review.is_some() {
        chip("unreviewed", "not reviewed".to_owned());
        return chips;
    }
    let (missed, wrong) = (counts.truths - counts.found, counts.findings - counts.right);
    if record.is_clean() {
        chip("plain", "clean".to_owned());
    }
    if counts.found > 0 {
        chip("found", format!("{} found", counts.found));
    }
    if missed > 0 {
        chip("missed", format!("{missed} missed"));
    }
    if wrong > 0 {
        chip("alarm", plural(wrong, "false alarm"));
    }
    if record.is_clean() && wrong == 0 {
        chip("found", "no alarm".to_owned());
    }
    chips
}

fn facts(record: &CaseRecord) -> Markup {
    let mut facts = vec![label(&record.set), label(&record.language)];
    let lines = record.changed_lines.added + record.changed_lines.removed;
    facts.push(plural(lines as u64, "changed line"));
    facts.push(seconds(Some(record.spent.seconds)));
    facts.extend(record.spent.cost_usd.filter(|cost| *cost > 0.0).map(|cost| dollars(Some(cost))));
    let title = tag("p").class("title").child(tag("bdi").text(label(&record.title)));
    let mut out = if record.title.is_empty() { Markup::default() } else { title.into() };
    out.push(tag("p").class("facts").text(facts.join(" · ")));
    out
}
