//! The decision as tables, and every answer as it is printed.

use super::*;
use crate::gate::session::SessionEnd;
use insta::assert_snapshot;
use proptest::prelude::*;

const MAX: u32 = 3;

fn stop(is_continued: Option<bool>) -> Stop {
    Stop { is_continued, ..Stop::default() }
}

fn commit(name: &str) -> WorkStart {
    WorkStart::Commit(name.to_owned())
}

fn place(start: WorkStart, head: &str) -> WorkLocation {
    WorkLocation {
        start,
        is_after_accepted: true,
        head: Some(head.to_owned()),
        is_committed: true,
        elsewhere: BTreeMap::new(),
    }
}

fn work(hash: &str) -> HookWork {
    let start = WorkStart::Commit(format!("before {hash}"));
    HookWork { hash: hash.to_owned(), place: place(start, &format!("head {hash}")) }
}

fn nothing() -> HookFacts {
    HookFacts::NothingChanged(place(commit("here"), "here"))
}

fn judged(hash: &str, findings: &[&str]) -> HookFacts {
    HookFacts::JudgedWork(JudgedWork {
        work: work(hash),
        passes: findings.is_empty(),
        passed_by: vec!["claude".to_owned()],
        findings: findings.iter().map(|line| (*line).to_owned()).collect(),
        left_out: Vec::new(),
        report: "/r/report.md".to_owned(),
    })
}

fn not_reviewed(hash: Option<&str>) -> HookFacts {
    HookFacts::UnreviewedWork(UnreviewedWork {
        work: hash.map(work),
        why: "codex: usage limit".to_owned(),
        report: Some("/r/report.md".to_owned()),
    })
}

fn shown(decision: &HookDecision) -> String {
    serde_json::to_string_pretty(&decision.answer).unwrap()
}

/// Stops one after the other: `<what><work>` with `f` for findings, `n` for not reviewed and `p` for a
/// pass, and `!` for a stop that no hook brought about. Gives `B` where it is kept and `.` where not.
fn play(stops: &str, max_blocks: u32) -> String {
    let mut memory = ConversationMemory::default();
    let mut played = String::new();
    for word in stops.split_whitespace() {
        let is_first = word.ends_with('!');
        let (what, work) = word.trim_end_matches('!').split_at(1);
        let found = match what {
            "f" => judged(work, &["a.py:1: bad (codex)"]),
            "n" => not_reviewed(Some(work).filter(|work| *work != "?")),
            _ => judged(work, &[]),
        };
        let decision = decide(&found, &stop(Some(!is_first)), Some(&memory), max_blocks);
        played.push(if decision.answer.blocks() { 'B' } else { '.' });
        memory = decision.memory.unwrap_or(memory);
    }
    played
}

#[test]
fn an_agent_is_kept_a_bounded_number_of_times() {
    for (stops, expected, why) in [
        ("p1!", ".", "what passes may stop"),
        ("f1! p2", "B.", "until it is fixed"),
        ("f1! f1 f1 f1 f1", "BBB..", "the same work three times"),
        ("f1! f2 f3 f4", "BBB.", "other work does not start the count anew in between"),
        ("f1! f1 f1 f1 f1! f1!", "BBB...", "the same work arms nothing"),
        ("f1! f1 f1 f1 f2!", "BBB.B", "other work does"),
        ("f1! f1 f1 f1 f2 f2 f2 f2", "BBB.BBB.", "even when another hook keeps the agent"),
        ("f1! f2!", "BB", "a new turn with other work"),
        ("f1! f1! f1! f1!", "BBB.", "new turns with the same work are counted"),
        ("f1! f1 f2! f2 f2 f2", "BBBBB.", "a new turn with other work has its own three"),
        ("f1! p2 f3", "B.B", "a pass starts the count anew"),
        ("n1! n1 n1 n1 n1!", "BBB..", "what nobody reviewed fails closed, not for ever"),
        ("n?! n? n? n? n?!", "BBB..", "nor when nobody knows what the work is"),
        ("n1! f1 n1 f1", "BBB.", "both count together"),
        ("n1! n1 n1 n1 n2!", "BBB.B", "other work arms it"),
        ("f1! f1 f1 f1 n?! f1! n?! f1!", "BBB.....", "an error is no other work"),
        ("f1! f1 f1 f1 n?! f2!", "BBB..B", "nor does it hide what is"),
        ("n?! n? n? n? f1! f2!", "BBB..B", "work that nobody knew is no other work either"),
        ("n1! p1", "B.", "tried again, it passes"),
    ] {
        assert_eq!(play(stops, MAX), expected, "{stops}: {why}");
    }
    assert_eq!(play("f1! f2! n3!", 0), "...", "a limit of 0 only tells");
    assert_eq!(play("f1! f2 f3", 1), "B.B", "a limit of 1 lets go in between");
}

#[test]
fn without_a_memory_only_what_is_sure_to_be_the_first_stop_is_kept() {
    for found in [judged("1", &["x"]), not_reviewed(None)] {
        for (is_continued, expected) in [(Some(false), true), (Some(true), false), (None, false)] {
            let decision = decide(&found, &stop(is_continued), None, MAX);
            assert_eq!(decision.answer.blocks(), expected, "{is_continued:?}");
            let printed = shown(&decision);
            let said = if expected { "block 1 of 1" } else { "cannot be counted here" };
            assert!(printed.contains(said), "{printed}");
        }
    }
}

#[test]
fn nothing_to_decide_keeps_nobody_and_forgets_nothing() {
    let rows = [
        (HookFacts::InsideGate, "{}"),
        (
            HookFacts::Off("MALA_HOOK=off".to_owned()),
            r#"{"systemMessage":"mala: the stop hook is off (MALA_HOOK=off): nothing was reviewed"}"#,
        ),
        (
            HookFacts::NoRepository,
            r#"{"systemMessage":"mala: this is no git repository: nothing was reviewed"}"#,
        ),
        (HookFacts::Interrupted, r#"{"systemMessage":"mala: interrupted: nothing was reviewed"}"#),
    ];
    for (found, expected) in rows {
        let decision =
            decide(&found, &stop(Some(false)), Some(&ConversationMemory::default()), MAX);
        assert_eq!(serde_json::to_string(&decision.answer).unwrap(), expected);
        assert_eq!(decision.memory, None);
    }
}

#[test]
fn what_is_accepted_is_where_it_began_and_where_it_passed() {
    let mut memory = ConversationMemory::default();
    let mut play = |found: HookFacts| {
        let decision = decide(&found, &stop(Some(true)), Some(&memory), MAX);
        memory = decision.memory.unwrap_or_else(|| memory.clone());
        (memory.accepted.clone(), memory.open.join(", "))
    };
    let row = |accepted: &[&str], open: &str| {
        (accepted.iter().map(|name| commit(name)).collect::<Vec<_>>(), open.to_owned())
    };
    assert_eq!(play(not_reviewed(None)), row(&[], ""), "nobody came so far");
    assert_eq!(play(nothing()), row(&["here"], ""), "where it began");
    assert_eq!(play(judged("1", &["x"])), row(&["here"], "head 1"));
    assert_eq!(play(not_reviewed(None)), row(&["here"], "head 1"), "an error moves nothing");
    assert_eq!(play(nothing()), row(&["here"], "head 1"), "nor does work that is elsewhere");
    assert_eq!(play(judged("2", &["x"])), row(&["here"], "head 1, head 2"), "nor does letting go");
    assert_eq!(play(judged("3", &[])), row(&["here", "head 3"], ""), "it passed");
    assert_eq!(play(not_reviewed(Some("4"))), row(&["here", "head 3"], "head 4"));
    for n in 5..40 {
        play(judged(&n.to_string(), &[]));
    }
    let (accepted, _) = play(judged("39", &[]));
    assert_eq!(accepted.len(), MAX_COMMITS);
    assert_eq!(
        [&accepted[0], &accepted[1], &accepted[15]],
        [&commit("here"), &commit("head 25"), &commit("head 39")]
    );
}

#[test]
fn a_conversation_may_begin_with_a_pass() {
    let decision =
        decide(&judged("1", &[]), &stop(None), Some(&ConversationMemory::default()), MAX);
    assert_eq!(decision.memory.unwrap().accepted, [commit("before 1"), commit("head 1")]);
}

#[test]
fn a_pass_accepts_only_what_it_looked_at() {
    let on_top = WorkLocation { is_after_accepted: false, ..place(commit("a"), "head") };
    assert_eq!(on_top.accepted_by_pass(), None);
    let on_disk = WorkLocation { is_committed: false, ..place(commit("a"), "head") };
    assert_eq!(on_disk.accepted_by_pass(), None);
    assert_eq!(place(commit("a"), "head").accepted_by_pass(), Some(commit("head")));
    let empty = WorkLocation { head: None, ..place(WorkStart::Nothing, "") };
    assert_eq!(empty.accepted_by_pass(), None);
    let open = ConversationMemory { open: vec!["bad".to_owned()], ..ConversationMemory::default() };
    let passed = open.passed(&HookWork { hash: "1".to_owned(), place: on_disk });
    assert_eq!((passed.open, passed.accepted), (open.open, vec![commit("a")]));
}

#[test]
fn work_on_disk_is_in_no_commit() {
    let disk = HookFacts::UnreviewedWork(UnreviewedWork {
        work: Some(HookWork { hash: "1".to_owned(), place: place(commit("a"), "a") }),
        ..UnreviewedWork::because("no")
    });
    let decision = decide(&disk, &stop(None), Some(&ConversationMemory::default()), MAX);
    assert_eq!(decision.memory.unwrap().open, [""; 0]);
}

#[test]
fn a_conversation_begins_once() {
    let begun = ConversationMemory::default().begun(&place(commit("a"), "b")).unwrap();
    let began_at = Some("b".to_owned());
    assert_eq!(
        begun,
        ConversationMemory {
            accepted: vec![commit("a")],
            began_at,
            ..ConversationMemory::default()
        }
    );
    assert_eq!(begun.begun(&place(commit("b"), "c")), None);
}

#[test]
fn work_that_did_not_pass_is_not_gone_without_a_word() {
    let kept = ConversationMemory {
        blocks: 1,
        accepted: vec![commit("a")],
        ..ConversationMemory::default()
    };
    let released = ConversationMemory { is_released: true, ..kept.clone() };
    let none = BTreeMap::new();
    let elsewhere = BTreeMap::from([("bad".to_owned(), "topic".to_owned())]);
    let undone = "nothing to review. The work before did not pass: it is undone, or elsewhere";
    let there = "nothing to review here; EARLIER WORK DID NOT PASS and is still on topic";
    for (memory, elsewhere, told) in [
        (Some(&kept), &none, undone),
        (Some(&kept), &elsewhere, there),
        (Some(&released), &elsewhere, there),
        (Some(&released), &none, undone),
        (Some(&ConversationMemory::default()), &none, ""),
        (None, &none, ""),
    ] {
        let place = WorkLocation { elsewhere: elsewhere.clone(), ..place(commit("a"), "a") };
        let found = HookFacts::NothingChanged(place);
        let decision = decide(&found, &stop(Some(true)), memory, MAX);
        let printed = serde_json::to_value(&decision.answer).unwrap();
        let said = printed["systemMessage"].as_str().unwrap_or_default();
        assert_eq!(said.trim_start_matches("mala: "), told, "{memory:?}");
        assert!(!decision.answer.blocks());
    }
}

#[test]
fn a_pass_tells_what_did_not() {
    let names = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let open =
        ConversationMemory { open: names(&["a", "b", "c", "d"]), ..ConversationMemory::default() };
    for (elsewhere, left, said) in [
        (&[][..], &[][..], "mala: this work passes (claude)"),
        (
            &[("a", "one\u{1b}"), ("b", "two"), ("d", "two")],
            &["a", "b", "d"],
            "mala: this work passes (claude); EARLIER WORK DID NOT PASS and is still on \
             one<U+001B>, two",
        ),
    ] {
        let HookFacts::JudgedWork(mut pass) = judged("1", &[]) else { panic!("it is judged") };
        let elsewhere = elsewhere.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
        pass.work.place.elsewhere = elsewhere.collect();
        let decision = decide(&HookFacts::JudgedWork(pass), &stop(Some(true)), Some(&open), MAX);
        let printed = serde_json::to_value(&decision.answer).unwrap();
        assert_eq!(printed["systemMessage"], said);
        assert_eq!(decision.memory.unwrap().open, names(left));
    }
}

#[test]
fn what_nobody_looked_at_is_named_with_a_pass() {
    let names: Vec<String> =
        (1..=7).map(|n| format!("{n}.lock is not reviewed: lock file")).collect();
    for (count, expected) in [
        (0, "mala: this work passes (claude)"),
        (1, "mala: this work passes (claude); 1.lock is not reviewed: lock file"),
    ] {
        let HookFacts::JudgedWork(pass) = judged("1", &[]) else { panic!("it is judged") };
        let pass = JudgedWork { left_out: names[..count].to_vec(), ..pass };
        let printed = serde_json::to_value(HookAnswer::passed(&pass)).unwrap();
        assert_eq!(printed["systemMessage"], expected);
    }
    let HookFacts::JudgedWork(pass) = judged("1", &[]) else { panic!("it is judged") };
    let printed =
        serde_json::to_value(HookAnswer::passed(&JudgedWork { left_out: names, ..pass })).unwrap();
    let printed = printed["systemMessage"].as_str().unwrap();
    assert!(printed.ends_with("; and 2 more. Report: /r/report.md"), "{printed}");
}

#[test]
fn every_answer_says_what_it_is_about() {
    let armed = ConversationMemory::default();
    let spent = ConversationMemory {
        work: Some("1".to_owned()),
        blocks: MAX,
        ..ConversationMemory::default()
    };
    let first = stop(Some(false));
    let say = |found: &HookFacts, memory: &ConversationMemory| {
        shown(&decide(found, &first, Some(memory), MAX))
    };
    let many: Vec<String> = (1..=7).map(|n| format!("a.py:{n}: bad (codex)")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let bare = HookFacts::UnreviewedWork(UnreviewedWork::because("git is broken"));
    let answers = [
        say(&judged("1", &[]), &armed),
        say(&judged("1", &["a.py:2: [P1] breaks (codex)"]), &armed),
        say(&judged("1", &many), &armed),
        say(&judged("1", &many), &spent),
        say(&not_reviewed(Some("1")), &armed),
        say(&not_reviewed(Some("1")), &spent),
        say(&bare, &armed),
    ];
    assert_snapshot!(answers.join("\n"), @r#"
    {
      "systemMessage": "mala: this work passes (claude)"
    }
    {
      "decision": "block",
      "reason": "The review of your work does not pass: 1 finding.\n- a.py:2: [P1] breaks (codex)\nFull report: /r/report.md\nFix what is right, say of the rest why it is wrong, then stop again.",
      "systemMessage": "mala: 1 finding, block 1 of 3. Report: /r/report.md. To let it stop anyway: mala hook off, or MALA_HOOK=off."
    }
    {
      "decision": "block",
      "reason": "The review of your work does not pass: 7 findings.\n- a.py:1: bad (codex)\n- a.py:2: bad (codex)\n- a.py:3: bad (codex)\n- a.py:4: bad (codex)\n- a.py:5: bad (codex)\n- and 2 more\nFull report: /r/report.md\nFix what is right, say of the rest why it is wrong, then stop again.",
      "systemMessage": "mala: 7 findings, block 1 of 3. Report: /r/report.md. To let it stop anyway: mala hook off, or MALA_HOOK=off."
    }
    {
      "systemMessage": "mala: LET GO WITH 7 FINDINGS: it was kept from stopping 3 times for this. Report: /r/report.md"
    }
    {
      "decision": "block",
      "reason": "Your work could not be reviewed: codex: usage limit.\nMore: /r/report.md.\nThis says nothing about the work. Change nothing that the reason does not ask for and stop again: the review is tried again.",
      "systemMessage": "mala: NOT REVIEWED, block 1 of 3: codex: usage limit. More: /r/report.md. To let it stop anyway: mala hook off, or MALA_HOOK=off."
    }
    {
      "systemMessage": "mala: NOTHING WAS REVIEWED: codex: usage limit. Let go: it was kept from stopping 3 times for this. More: /r/report.md."
    }
    {
      "decision": "block",
      "reason": "Your work could not be reviewed: git is broken.\nThis says nothing about the work. Change nothing that the reason does not ask for and stop again: the review is tried again.",
      "systemMessage": "mala: NOT REVIEWED, block 1 of 3: git is broken. To let it stop anyway: mala hook off, or MALA_HOOK=off."
    }
    "#);
}

#[test]
fn only_the_person_is_told_the_ways_out() {
    for found in [judged("1", &["x"]), not_reviewed(None)] {
        let decision =
            decide(&found, &stop(Some(false)), Some(&ConversationMemory::default()), MAX);
        let printed = serde_json::to_value(&decision.answer).unwrap();
        assert!(printed["systemMessage"].as_str().unwrap().contains(SWITCH));
        assert!(!printed["reason"].as_str().unwrap().contains(SWITCH));
    }
}

#[test]
fn sessions_become_findings_or_reasons() {
    let failed = SessionEnd::Failed("no\u{1b}[2J\nreviewers".to_owned());
    for (state, why) in [
        (SessionState::Ended(failed), "no<U+001B>[2J reviewers"),
        (SessionState::Ended(SessionEnd::Cancelled), "the session was cancelled"),
        (SessionState::Dead, "the supervisor of the session died"),
        (SessionState::Running(7), "no result within 7 s"),
    ] {
        let HookFacts::UnreviewedWork(found) =
            HookFacts::of_session(&work("w"), &state, "r".to_owned())
        else {
            panic!("{state:?} is no review");
        };
        assert_eq!(found.why, why);
        assert_eq!((found.work, found.report.as_deref()), (Some(work("w")), Some("r")));
    }
}

#[test]
fn a_host_may_leave_out_what_it_likes() {
    let full = br#"{"session_id":"s","transcript_path":null,"cwd":"/w","hook_event_name":"Stop",
        "stop_hook_active":true,"last_assistant_message":"done","more":[1,{}]}"#;
    let (stop, problem) = Stop::read(full);
    assert_eq!(problem, None);
    let expected = Stop {
        session: Some("s".to_owned()),
        is_continued: Some(true),
        folder: Some("/w".to_owned()),
    };
    assert_eq!(stop, expected);
    for (text, is_fine) in [
        ("{}", true),
        (r#"{"session_id":7,"cwd":"relative","stop_hook_active":"yes"}"#, true),
        (r#"{"session_id":"","cwd":null,"stop_hook_active":null}"#, true),
        ("", false),
        ("[]", false),
        ("null", false),
        (r#"{"session_id":"s""#, false),
        ("\u{feff}{}", false),
    ] {
        let (stop, problem) = Stop::read(text.as_bytes());
        assert_eq!(stop, Stop::default(), "{text}");
        assert_eq!(problem.is_none(), is_fine, "{text}");
    }
    let (_, problem) = Stop::read("[".repeat(1_000_000).as_bytes());
    assert!(problem.is_some(), "deep input is refused, not followed");
}

proptest! {
    #[test]
    fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        Stop::read(&bytes);
    }

    /// Whatever happens, an agent that is kept again and again is let go in the end.
    #[test]
    fn nobody_is_kept_for_ever(works in proptest::collection::vec(0_u8..4, 40), max in 0_u32..6) {
        let mut memory = ConversationMemory::default();
        let mut in_a_row = 0;
        for work in works {
            let work = work.to_string();
            let found = if work == "0" { not_reviewed(None) } else { judged(&work, &["x"]) };
            let decision = decide(&found, &stop(Some(true)), Some(&memory), max);
            in_a_row = if decision.answer.blocks() { in_a_row + 1 } else { 0 };
            prop_assert!(in_a_row <= max);
            memory = decision.memory.unwrap();
        }
    }
}
