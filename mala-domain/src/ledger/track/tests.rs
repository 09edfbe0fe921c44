//! Every state and standing of a finding, in rounds of the whole change and of a delta.

use super::*;
use crate::change::{Change, parse};
use crate::finding::{Category, Priority, Verification, identity};
use crate::ledger::delta::ReviewedLines;
use crate::ledger::waiver::{SharedWaiver, Waiver};
use crate::ports::Blob;

pub(crate) fn finding(evidence: &str, line: u32, priority: Priority) -> Finding {
    let file = FilePath::from("a.py");
    Finding {
        dedupe_key: identity(&file, Some("f"), evidence, Category::Bug, 0),
        file,
        line_start: line,
        line_end: line,
        priority: Some(priority),
        severity: priority.severity(),
        category: Category::Bug,
        title: "Division by zero".to_owned(),
        body: "When b is 0, it fails.".to_owned(),
        suggestion: None,
        evidence_snippet: evidence.to_owned(),
        confidence: 0.9,
        language: None,
        reviewer: "codex".to_owned(),
        rule: None,
        symbol: Some("f".to_owned()),
        verification: Verification::verified("gemini"),
        state: FindingState::Open,
        first_seen: None,
        also_reported_by: Vec::new(),
        on_changed_lines: true,
        also_at: Vec::new(),
        is_note: false,
    }
}

fn known(state: FindingState, standing: impl Into<Option<Standing>>) -> LedgerFinding {
    let finding = finding("return a / b", 2, Priority::P1);
    let waiver = Waiver {
        reason: "known".to_owned(),
        by: "ann".to_owned(),
        at: String::new(),
        until: None,
        code: code_hash(&finding.evidence_snippet),
        quote: Some(finding.evidence_snippet.clone()),
    };
    LedgerFinding {
        id: FindingId("1".repeat(16)),
        finding,
        state,
        subject: "topic against main".to_owned(),
        standing: standing.into(),
        first_seen: "review1".to_owned(),
        first_seen_at: String::new(),
        last_seen_at: String::new(),
        n_occurrences: 1,
        waiver: (state == FindingState::Waived).then_some(waiver),
        paths: Vec::new(),
        code: None,
    }
}

/// Lines 1 to 4 of a new file; line 4 is new since the last review when there is a delta.
fn delta() -> Delta {
    let before = added(&["def f(a, b):", "    return a / b", "x = 1"]);
    let after = added(&["def f(a, b):", "    return a / b", "x = 1", "y = 2"]);
    Delta::between(&before, &after, &BTreeMap::new())
}

/// The lines of a change that adds this file.
fn added(texts: &[&str]) -> ReviewedLines {
    let body: String = texts.iter().map(|line| format!("+{line}\n")).collect();
    let n = texts.len();
    let diff = format!(
        "diff --git a/a.py b/a.py\nnew file mode 100644\n--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,{n} @@\n{body}"
    );
    ReviewedLines::of(&Change { files: parse(diff.as_bytes()).unwrap() })
}

struct Case {
    known: Vec<LedgerFinding>,
    delta: Option<Delta>,
    bar: Threshold,
    added: ReviewedLines,
    texts: FileTexts,
    waivers: SharedWaivers,
    renames: BTreeMap<FilePath, FilePath>,
}

impl Case {
    fn of(known: Vec<LedgerFinding>) -> Self {
        Self {
            known,
            delta: None,
            bar: Threshold::P3,
            added: ReviewedLines::default(),
            texts: FileTexts::default(),
            waivers: SharedWaivers::default(),
            renames: BTreeMap::new(),
        }
    }

    fn with_text(self, text: &str) -> Self {
        let head = [(FilePath::from("a.py"), Blob::Text(text.to_owned()))].into_iter().collect();
        Self { texts: FileTexts { head, ..FileTexts::default() }, ..self }
    }

    fn track(&self, finding: Finding) -> (Standing, Option<FindingEvent>) {
        let facts = TrackingFacts {
            known: &self.known,
            renames: &self.renames,
            moved: self.delta.as_ref(),
            delta: self.delta.as_ref(),
            added: &self.added,
            texts: &self.texts,
            bar: self.bar,
            shared_waivers: &self.waivers,
            today: "2026-01-02",
        };
        let result = track(vec![finding], &facts);
        (result.tracked[0].standing, result.events.first().map(|it| it.event))
    }
}

#[test]
fn a_known_finding_has_a_standing_by_its_state_and_what_this_change_had_of_it() {
    use FindingEvent as Event;
    use FindingState as State;
    let rows = [
        (State::Open, Some(Standing::New), Standing::StillOpen, None),
        (State::Open, Some(Standing::Waived), Standing::StillOpen, None),
        (State::Open, Some(Standing::Fixed), Standing::Regressed, Some(Event::Reported)),
        (State::Open, None, Standing::StillOpen, None),
        (State::Regressed, Some(Standing::Regressed), Standing::Regressed, None),
        (State::Regressed, None, Standing::StillOpen, None),
        (State::Fixed, Some(Standing::Fixed), Standing::Regressed, Some(Event::Reported)),
        (State::Fixed, Some(Standing::New), Standing::StillOpen, Some(Event::Reopened)),
        (State::Fixed, None, Standing::StillOpen, Some(Event::Reopened)),
        (State::Waived, Some(Standing::New), Standing::Waived, None),
        (State::Waived, None, Standing::Waived, None),
        (State::Disputed, Some(Standing::New), Standing::Disputed, None),
        (State::Duplicate, Some(Standing::New), Standing::StillOpen, Some(Event::Reported)),
    ];
    for (state, here, standing, event) in rows {
        let case = Case::of(vec![known(state, here)]);
        let got = case.track(finding("return a / b", 2, Priority::P1));
        assert_eq!(got, (standing, event), "{state:?}, here {here:?}");
    }
}

#[test]
fn a_finding_blocks_until_it_is_fixed_here_or_a_person_decides() {
    use FindingState as State;
    let p0 = Finding { ..finding("return a / b", 2, Priority::P0) };
    let rows = [
        (State::Open, Some(Standing::New), true),
        (State::Open, Some(Standing::StillOpen), true),
        (State::Open, Some(Standing::Waived), true),
        (State::Open, Some(Standing::Late), false),
        (State::Open, Some(Standing::BelowBar), false),
        (State::Open, Some(Standing::Fixed), false),
        (State::Open, None, false),
        (State::Regressed, Some(Standing::Regressed), true),
        (State::Fixed, Some(Standing::New), true),
        (State::Fixed, Some(Standing::Fixed), false),
        (State::Waived, Some(Standing::Waived), false),
        (State::Disputed, Some(Standing::Disputed), false),
    ];
    for (state, standing, expected) in rows {
        assert_eq!(
            known(state, standing).still_blocks("2026-01-02"),
            expected,
            "{state:?} {standing:?}"
        );
    }
    let late = LedgerFinding { finding: p0, ..known(State::Open, Standing::Late) };
    assert!(late.still_blocks("2026-01-02"), "a verified P0");
    let mut dated = known(State::Waived, Standing::Waived);
    for (until, expected) in [("2026-01-02", false), ("2026-01-01", true)] {
        dated.waiver.as_mut().unwrap().until = Some(until.to_owned());
        assert_eq!(dated.still_blocks("2026-01-02"), expected, "{until}");
    }
}

#[test]
fn a_refutation_fixes_only_what_changed_and_never_what_a_person_decided() {
    use FindingState as State;
    let refuted = || Finding {
        verification: Verification::refuted("gemini"),
        ..finding("return a / b", 2, Priority::P1)
    };
    let fixed = (Standing::Fixed, Some(FindingEvent::ConfirmedFixed));
    let text = "def f(a, b):\n    return a / b\n";
    let other = "def f(a, b):\n    assert b\n    return a / b\n";
    let rows = [
        (State::Open, Some(other), fixed),
        (State::Open, Some(text), (Standing::StillOpen, None)),
        (State::Open, None, (Standing::StillOpen, None)),
        (State::Waived, Some(other), (Standing::Waived, None)),
        (State::Disputed, Some(other), (Standing::Disputed, None)),
    ];
    for (state, reported_in, expected) in rows {
        let code = reported_in
            .map(|text| FileAtHead::of(&"a.py".into(), text).code_at(LineSpan::between(1, 9)));
        let known = LedgerFinding { code, ..known(state, Standing::New) };
        let case = Case::of(vec![known]).with_text(text);
        assert_eq!(case.track(refuted()), expected, "{state:?} {reported_in:?}");
    }
}

#[test]
fn a_waiver_and_a_dispute_end_with_the_code() {
    let code = "return total_amount / number_of_items";
    let text = "def f():\n    return total_amount / number_of_items + 1\n";
    let changed = || finding("return total_amount / number_of_items + 1", 2, Priority::P1);
    let known = |state| {
        let mut known = known(state, Standing::New);
        known.finding = finding(code, 2, Priority::P1);
        if let Some(waiver) = &mut known.waiver {
            (waiver.code, waiver.quote) = (code_hash(code), None);
        }
        known
    };
    let waived = Case::of(vec![known(FindingState::Waived)]).with_text(text);
    assert_eq!(waived.track(changed()), (Standing::StillOpen, Some(FindingEvent::WaiverExpired)));
}

/// A decision about a nit says nothing about a blocker on the same line, which matches it by its code.
#[test]
fn a_decision_does_not_hold_for_a_more_urgent_finding() {
    use FindingState::{Disputed, Waived};
    let reported = |priority| finding("return a / b", 2, priority);
    let (expired, evidence) =
        (Some(FindingEvent::WaiverExpired), Some(FindingEvent::ReportedWithNewEvidence));
    let note = Finding { is_note: true, ..reported(Priority::P0) };
    let refuted = Finding { verification: Verification::refuted("x"), ..reported(Priority::P0) };
    let rows = [
        (Waived, reported(Priority::P0), (Standing::StillOpen, expired)),
        (Waived, reported(Priority::P1), (Standing::Waived, None)),
        (Waived, reported(Priority::P3), (Standing::Waived, None)),
        (Waived, note, (Standing::Waived, None)),
        (Waived, refuted, (Standing::Waived, None)),
        (Disputed, reported(Priority::P0), (Standing::StillOpen, evidence)),
        (Disputed, reported(Priority::P2), (Standing::Disputed, None)),
    ];
    for (state, reported, expected) in rows {
        let case = Case::of(vec![known(state, Standing::New)]);
        assert_eq!(case.track(reported.clone()), expected, "{state:?} {reported:?}");
    }
    let shared = Case { waivers: shared(None), ..Case::of(Vec::new()) };
    for (priority, expected) in [(Priority::P0, Standing::New), (Priority::P2, Standing::Waived)] {
        assert_eq!(shared.track(reported(priority)).0, expected, "shared, {priority}");
    }
}

#[test]
fn waivers_and_disputes_hold_however_many_lines_are_quoted() {
    let text = "def f(a, b):\n    return a / b\n# end\n";
    let longer = || Finding {
        line_start: 1,
        line_end: 3,
        ..finding("def f(a, b):\n    return a / b\n# end", 1, Priority::P1)
    };
    for (state, expected) in
        [(FindingState::Waived, Standing::Waived), (FindingState::Disputed, Standing::Disputed)]
    {
        let case = Case::of(vec![known(state, Standing::New)]).with_text(text);
        assert_eq!(case.track(longer()), (expected, None), "{state:?}");
    }
}

#[test]
fn a_decision_belongs_to_its_own_copy_of_the_code() {
    // Line 3 is the copy that was waived elsewhere; line 2 is added above it.
    let text = "def f(a, b):\n    return a / b\n    return a / b\n";
    let diff = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,3 @@\n def f(a, b):\n+    return a / b\n     return a / b\n";
    let lines = || ReviewedLines::of(&Change { files: parse(diff.as_bytes()).unwrap() });
    let second = || {
        let mut second = finding("return a / b", 3, Priority::P1);
        second.dedupe_key =
            identity(&second.file, Some("f"), "return a / b", Category::Bug, occurrence(1, 0));
        second
    };
    let local = Case { added: lines(), ..Case::of(vec![known(FindingState::Waived, None)]) };
    let local = local.with_text(text);
    assert_eq!(local.track(finding("return a / b", 2, Priority::P1)).0, Standing::New);
    let shared = Case { added: lines(), waivers: shared(None), ..Case::of(Vec::new()) };
    let shared = shared.with_text(text);
    assert_eq!(shared.track(finding("return a / b", 2, Priority::P1)).0, Standing::New);
    assert_eq!(shared.track(second()).0, Standing::Waived, "the old copy keeps its waiver");
}

/// The shared file with a waiver of the finding that the tests report.
fn shared(code: Option<&str>) -> SharedWaivers {
    let wanted = finding("return a / b", 2, Priority::P1);
    let waiver = SharedWaiver {
        finding: wanted.dedupe_key,
        file: wanted.file,
        title: wanted.title,
        reason: "accepted".to_owned(),
        by: "ann".to_owned(),
        until: None,
        priority: Some(Priority::P1),
        code: code_hash(code.unwrap_or("return a / b")),
        quote: Some(code.unwrap_or("return a / b").to_owned()),
    };
    SharedWaivers { version: 1, waivers: vec![waiver] }
}

#[test]
fn the_shared_file_waives_by_identity_and_code() {
    let text = "def f(a, b):\n    return a / b\n# end\n";
    let wanted = || finding("return a / b", 2, Priority::P1);
    let longer = Finding {
        line_start: 1,
        line_end: 3,
        ..finding("def f(a, b):\n    return a / b\n# end", 1, Priority::P1)
    };
    let renamed = || {
        let file = FilePath::from("b.py");
        let key = identity(&file, Some("f"), "return a / b", Category::Bug, 0);
        Finding { file, dedupe_key: key, ..wanted() }
    };
    let style = Finding {
        category: Category::Style,
        dedupe_key: identity(&"a.py".into(), Some("f"), "return a / b", Category::Style, 0),
        ..wanted()
    };
    let rows = [
        (None, wanted(), Standing::Waived),
        (None, longer, Standing::Waived),
        (None, renamed(), Standing::Waived),
        (None, style, Standing::New),
        (Some("other"), wanted(), Standing::New),
    ];
    for (code, reported, expected) in rows {
        let renames = BTreeMap::from([(FilePath::from("a.py"), FilePath::from("b.py"))]);
        let case = Case { waivers: shared(code), renames, ..Case::of(Vec::new()) }.with_text(text);
        assert_eq!(case.track(reported.clone()).0, expected, "{code:?} {reported:?}");
    }
}

#[test]
fn a_new_finding_counts_by_its_lines_and_its_urgency() {
    let rows = [
        (None, Threshold::P3, "x = 1", 3, Priority::P3, None, Standing::New),
        (Some(delta()), Threshold::P3, "x = 1", 3, Priority::P1, None, Standing::Late),
        (Some(delta()), Threshold::P3, "x = 1", 3, Priority::P1, Some("rule"), Standing::New),
        (Some(delta()), Threshold::P3, "y = 2", 4, Priority::P1, None, Standing::New),
        (Some(delta()), Threshold::P2, "y = 2", 4, Priority::P3, None, Standing::BelowBar),
        (Some(delta()), Threshold::P2, "y = 2", 4, Priority::P3, Some("rule"), Standing::New),
        (Some(delta()), Threshold::P2, "y = 2", 4, Priority::P2, None, Standing::New),
    ];
    for (delta, bar, evidence, line, priority, rule, expected) in rows {
        let case = Case { delta, bar, ..Case::of(Vec::new()) };
        let found = Finding { rule: rule.map(str::to_owned), ..finding(evidence, line, priority) };
        assert_eq!(case.track(found), (expected, None), "{evidence} {priority} {bar:?}");
    }
}

#[test]
fn what_was_late_stays_late_until_its_lines_change() {
    let late = |delta| Case { delta, ..Case::of(vec![known(FindingState::Open, Standing::Late)]) };
    let again = || finding("return a / b", 2, Priority::P1);
    assert_eq!(late(Some(delta())).track(again()).0, Standing::Late);
    assert_eq!(late(None).track(again()).0, Standing::StillOpen);
    let elsewhere =
        Case { delta: Some(delta()), ..Case::of(vec![known(FindingState::Open, None)]) };
    assert_eq!(elsewhere.track(again()).0, Standing::Late, "new in this change");
}

#[test]
fn only_a_verified_p0_blocks_late() {
    let tracked = |priority, standing, verification| TrackedFinding {
        finding: Finding { verification, ..finding("x = 1", 3, priority) },
        id: None,
        standing,
        matched: String::new(),
        reason: None,
        code: None,
    };
    let verified = || Verification::verified("codex");
    let rows = [
        (Priority::P0, Standing::Late, verified(), true),
        (Priority::P0, Standing::Late, Verification::default(), false),
        (Priority::P1, Standing::Late, verified(), false),
        (Priority::P3, Standing::New, verified(), true),
        (Priority::P0, Standing::Waived, verified(), false),
        (Priority::P0, Standing::Disputed, verified(), false),
        (Priority::P0, Standing::BelowBar, verified(), false),
    ];
    for (priority, standing, verification, expected) in rows {
        let tracked = tracked(priority, standing, verification);
        assert_eq!(takes_part(&tracked), expected, "{priority} {standing:?}");
    }
}

#[test]
fn an_open_finding_that_is_not_reported_is_compared_with_its_file() {
    let model = || finding("return a / b", 2, Priority::P1);
    let rule = || Finding { rule: Some("r".to_owned()), ..model() };
    let same = "def f(a, b):\n\n      return a / b\n";
    let broken = "def f(a, b):\n    return a /\n        b\n";
    let other = "def f(a, b):\n    return a // b\n";
    let silent =
        SilentReview { is_covered: true, is_told: true, has_run_rules: true, is_in_change: true };
    let uncovered = SilentReview { is_covered: false, ..silent };
    let untold = SilentReview { is_told: false, ..silent };
    let left = SilentReview { is_in_change: false, ..silent };
    let by_others = SilentReview { has_run_rules: false, ..silent };
    let rows = [
        (model(), Some(same), silent, false, "open 3"),
        (model(), Some(same), by_others, true, "fixed"),
        (model(), Some(same), silent, true, "fixed"),
        (model(), Some(same), uncovered, true, "open 3"),
        (model(), Some(same), untold, true, "open 3"),
        (model(), Some(same), left, true, "not reviewed"),
        (model(), Some(broken), silent, false, "open 2"),
        (model(), Some(other), silent, false, "fixed"),
        (model(), Some(other), left, false, "fixed"),
        (model(), Some(other), uncovered, true, "unknown"),
        (model(), Some(other), untold, true, "unknown"),
        (model(), Some(other), SilentReview { is_told: false, ..left }, true, "not reviewed"),
        (model(), None, silent, true, "fixed"),
        (model(), None, uncovered, true, "unknown"),
        (rule(), Some(same), silent, false, "not reviewed"),
        (rule(), Some(same), silent, true, "fixed"),
        (rule(), Some(same), untold, true, "fixed"),
        (rule(), Some(same), uncovered, true, "unknown"),
        (rule(), Some(same), by_others, true, "open 3"),
        (rule(), Some(other), by_others, true, "fixed"),
        (rule(), Some(other), SilentReview { is_told: false, ..by_others }, true, "unknown"),
    ];
    for (open, text, review, is_changed, expected) in rows {
        let file = text.map(|text| FileAtHead::of(&open.file, text));
        let got = match check_open_finding(&open, file.as_ref(), review, |_| is_changed) {
            OpenFindingCheck::StillOpen(lines) => format!("open {}", lines.start()),
            OpenFindingCheck::Fixed(_) => "fixed".to_owned(),
            OpenFindingCheck::Unknown => "unknown".to_owned(),
            OpenFindingCheck::NotReviewed => "not reviewed".to_owned(),
        };
        assert_eq!(got, expected, "{text:?} {review:?} {is_changed} {:?}", open.rule);
    }
}

#[test]
fn a_known_finding_that_is_merged_with_another_is_a_duplicate() {
    let (kept, gone) = (FindingId("1".repeat(16)), FindingId("2".repeat(16)));
    let merged =
        Finding { reviewer: "gemini".to_owned(), ..finding("return a / b", 2, Priority::P1) };
    let rows = [
        ("merged", 2, Standing::StillOpen, "gemini", 1),
        ("reported by another reviewer only", 2, Standing::StillOpen, "claude", 0),
        ("on other lines", 9, Standing::StillOpen, "gemini", 0),
        ("does not take part", 2, Standing::Waived, "gemini", 0),
    ];
    for (name, line, standing, also, n_duplicates) in rows {
        let own = finding("return a / b", line, Priority::P1);
        let recognised = [(kept.clone(), own.clone()), (gone.clone(), merged.clone())];
        let tracked = [TrackedFinding {
            finding: Finding { also_reported_by: vec![also.to_owned()], ..own },
            id: Some(kept.clone()),
            standing,
            matched: String::new(),
            reason: None,
            code: None,
        }];
        let events = duplicates(&recognised, &tracked);
        let of_gone = events.iter().all(|it| it.id == gone && it.reason.ends_with(&kept.0));
        assert!(of_gone && events.len() == n_duplicates, "{name}: {events:?}");
    }
}
