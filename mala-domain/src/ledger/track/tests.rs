//! Every state and standing of a finding, in rounds of the whole change and of a delta.

use super::*;
use crate::change::{Change, parse};
use crate::finding::{Category, Verification, identity};
use crate::ledger::delta::ReviewedLines;
use crate::ledger::waiver::{SharedWaiver, Waiver};
use crate::ports::Blob;

const SUBJECT: &str = "topic against main, by codex";

fn finding(evidence: &str, line: u32, priority: Priority) -> Finding {
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

fn known(state: FindingState, standing: Standing, subject: &str) -> LedgerFinding {
    let finding = finding("return a / b", 2, Priority::P1);
    let waiver = Waiver {
        reason: "known".to_owned(),
        by: "ann".to_owned(),
        at: String::new(),
        until: None,
        code: code_hash(&finding.evidence_snippet),
    };
    LedgerFinding {
        id: FindingId("1".repeat(16)),
        finding,
        state,
        subject: subject.to_owned(),
        standing,
        first_seen: "review1".to_owned(),
        first_seen_at: String::new(),
        last_seen_at: String::new(),
        n_occurrences: 1,
        waiver: (state == FindingState::Waived).then_some(waiver),
    }
}

/// Lines 1 to 4 of a new file; line 4 is new since the last review when there is a delta.
fn delta() -> Delta {
    let lines = |texts: &[&str]| {
        let body: String = texts.iter().map(|line| format!("+{line}\n")).collect();
        let n = texts.len();
        let diff = format!(
            "diff --git a/a.py b/a.py\nnew file mode 100644\n--- /dev/null\n+++ b/a.py\n@@ -0,0 +1,{n} @@\n{body}"
        );
        ReviewedLines::of(&Change { files: parse(diff.as_bytes()).unwrap() })
    };
    let before = lines(&["def f(a, b):", "    return a / b", "x = 1"]);
    let after = lines(&["def f(a, b):", "    return a / b", "x = 1", "y = 2"]);
    Delta::between(&before, &after, &BTreeMap::new())
}

struct Case {
    known: Vec<LedgerFinding>,
    is_reported_before: bool,
    delta: Option<Delta>,
    bar: Threshold,
    texts: FileTexts,
    waivers: SharedWaivers,
}

impl Case {
    fn of(known: Vec<LedgerFinding>) -> Self {
        Self {
            known,
            is_reported_before: true,
            delta: None,
            bar: Threshold::P3,
            texts: FileTexts::default(),
            waivers: SharedWaivers::default(),
        }
    }

    fn track(&self, finding: Finding) -> (Standing, Option<FindingEvent>) {
        let ids = self.known.iter().map(|it| it.id.clone());
        let reported_before: BTreeSet<FindingId> = match self.is_reported_before {
            true => ids.collect(),
            false => BTreeSet::new(),
        };
        let facts = TrackingFacts {
            subject: SUBJECT,
            known: &self.known,
            reported_before: &reported_before,
            renames: &BTreeMap::new(),
            moved: self.delta.as_ref(),
            delta: self.delta.as_ref(),
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
fn a_known_finding_has_a_standing_by_its_state() {
    use FindingEvent as Event;
    use FindingState as State;
    let rows = [
        (State::Open, SUBJECT, Standing::StillOpen, None),
        (State::Regressed, SUBJECT, Standing::Regressed, None),
        (State::Fixed, SUBJECT, Standing::Regressed, Some(Event::Reported)),
        (State::Fixed, "other", Standing::StillOpen, Some(Event::Reopened)),
        (State::Waived, SUBJECT, Standing::Waived, None),
        (State::Disputed, SUBJECT, Standing::Disputed, None),
        (State::Duplicate, SUBJECT, Standing::StillOpen, None),
    ];
    for (state, subject, standing, event) in rows {
        let case = Case::of(vec![known(state, Standing::New, subject)]);
        let got = case.track(finding("return a / b", 2, Priority::P1));
        assert_eq!(got, (standing, event), "{state:?} in {subject}");
    }
}

#[test]
fn a_waiver_and_a_dispute_end_with_the_code() {
    let changed = || finding("return total_amount / number_of_items + 1", 2, Priority::P1);
    let known = |state, standing, subject| LedgerFinding {
        finding: finding("return total_amount / number_of_items", 2, Priority::P1),
        ..known(state, standing, subject)
    };
    let text = "def f():\n    return total_amount / number_of_items + 1\n".to_owned();
    let head = [(FilePath::from("a.py"), Blob::Text(text))].into_iter().collect();
    let texts = FileTexts { head, ..FileTexts::default() };
    let waived = Case {
        texts: texts.clone(),
        ..Case::of(vec![known(FindingState::Waived, Standing::New, SUBJECT)])
    };
    assert_eq!(waived.track(changed()), (Standing::StillOpen, Some(FindingEvent::WaiverExpired)));
    let disputed = |delta| Case {
        delta,
        texts: texts.clone(),
        ..Case::of(vec![known(FindingState::Disputed, Standing::New, SUBJECT)])
    };
    let reopened = (Standing::StillOpen, Some(FindingEvent::ReportedWithNewEvidence));
    assert_eq!(disputed(None).track(changed()), reopened);
    assert_eq!(disputed(Some(delta())).track(changed()), (Standing::Disputed, None));
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
    let late = |delta| Case {
        delta,
        ..Case::of(vec![known(FindingState::Open, Standing::Late, SUBJECT)])
    };
    let again = || finding("return a / b", 2, Priority::P1);
    assert_eq!(late(Some(delta())).track(again()).0, Standing::Late);
    assert_eq!(late(None).track(again()).0, Standing::StillOpen);
    let elsewhere = Case {
        is_reported_before: false,
        delta: Some(delta()),
        ..Case::of(vec![known(FindingState::Open, Standing::New, "other")])
    };
    assert_eq!(elsewhere.track(again()).0, Standing::Late, "new in this change");
}

#[test]
fn the_shared_file_waives_by_identity_and_code() {
    let wanted = finding("return a / b", 2, Priority::P1);
    let waiver = |code: String| SharedWaivers {
        version: 1,
        waivers: vec![SharedWaiver {
            finding: wanted.dedupe_key.clone(),
            file: wanted.file.clone(),
            title: wanted.title.clone(),
            reason: "accepted".to_owned(),
            by: "ann".to_owned(),
            until: None,
            code,
        }],
    };
    for (code, expected) in
        [(code_hash("return a / b"), Standing::Waived), (code_hash("other"), Standing::New)]
    {
        let case = Case { waivers: waiver(code), ..Case::of(Vec::new()) };
        assert_eq!(case.track(wanted.clone()).0, expected);
    }
}

#[test]
fn only_a_verified_p0_blocks_late() {
    let tracked = |priority, standing, verification| TrackedFinding {
        finding: Finding { verification, ..finding("x = 1", 3, priority) },
        id: None,
        standing,
        matched: String::new(),
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
    let text = "def f(a, b):\n\n      return a / b\n";
    let line = LineSpan::line(3);
    let rows = [
        (model(), Some(text), false, false, OpenFindingCheck::Unchanged(line)),
        (model(), Some(text), true, true, OpenFindingCheck::AskVerifier(line)),
        (model(), None, false, false, OpenFindingCheck::Fixed("its file is gone")),
        (rule(), Some(text), false, false, OpenFindingCheck::NotReviewed),
    ];
    for (open, text, file_changed, symbol_changed, expected) in rows {
        assert_eq!(check_open_finding(&open, text, file_changed, |_| symbol_changed), expected);
    }
    let other = Some("def f(a, b):\n    return a // b\n");
    let gone = check_open_finding(&model(), other, true, |_| true);
    assert!(matches!(gone, OpenFindingCheck::Fixed(_)), "{gone:?}");
    let silent = check_open_finding(&rule(), Some(text), true, |_| false);
    assert!(matches!(silent, OpenFindingCheck::Fixed(_)), "{silent:?}");
}

#[test]
fn evidence_is_found_by_lines_or_within_a_line() {
    let text = "a\nb\n\n  c\nb\nif x and danger(y):\n";
    for (evidence, near, expected) in [
        ("b", 1, Some((2, 2))),
        ("b", 9, Some((5, 5))),
        ("b\nc", 1, Some((2, 4))),
        ("danger(y)", 1, Some((6, 6))),
        ("missing", 1, None),
        ("", 1, None),
    ] {
        let found = locate_evidence(text, evidence, near).map(|it| (it.start(), it.end()));
        assert_eq!(found, expected, "{evidence:?}");
    }
}
