//! The decision as tables, and every answer as it is printed.

use super::*;
use crate::gate::session::SessionEnd;
use insta::assert_snapshot;
use proptest::prelude::*;
use std::collections::BTreeSet;

const MAX: u32 = 3;

fn stop(is_continued: Option<bool>) -> Stop {
    Stop { is_continued, ..Stop::default() }
}

fn state(commit: &str) -> RepositoryState {
    RepositoryState { commits: BTreeSet::from([commit.to_owned()]), ..RepositoryState::default() }
}

fn hashes(hash: &str) -> BTreeSet<String> {
    BTreeSet::from([hash.to_owned()])
}

fn work(hash: &str) -> HookWork {
    let tips = BTreeSet::from([format!("tip {hash}")]);
    HookWork { hashes: hashes(hash), tips, state: state(&format!("head {hash}")) }
}

fn judged(hash: &str, findings: &[&str]) -> HookFacts {
    HookFacts::JudgedWork(JudgedWork {
        work: work(hash),
        passes: findings.is_empty(),
        is_reviewed: true,
        passed_by: vec!["claude".to_owned()],
        objections: Vec::new(),
        not_blocking: Vec::new(),
        findings: findings.iter().map(|line| (*line).to_owned()).collect(),
        left_out: Vec::new(),
        escalation: None,
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
    let mut record = ConversationRecord::default();
    let mut played = String::new();
    for word in stops.split_whitespace() {
        let is_first = word.ends_with('!');
        let (what, work) = word.trim_end_matches('!').split_at(1);
        let found = match what {
            "f" => judged(work, &["a.py:1: bad (codex)"]),
            "n" => not_reviewed(Some(work).filter(|work| *work != "?")),
            _ => judged(work, &[]),
        };
        let decision = decide(&found, &stop(Some(!is_first)), Some(&record), max_blocks);
        played.push(if decision.answer.blocks() { 'B' } else { '.' });
        record = decision.record.unwrap_or(record);
    }
    played
}

#[test]
fn an_agent_is_blocked_a_bounded_number_of_times() {
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
        ("n1! n1 n1 n1 n1!", "BBB..", "work that is not reviewed blocks, but not forever"),
        ("n?! n? n? n? n?!", "BBB..", "also when the work is unknown"),
        ("n1! f1 n1 f1", "BBB.", "both count together"),
        ("n1! n1 n1 n1 n2!", "BBB.B", "other work arms it"),
        ("f1! f1 f1 f1 n?! f1! n?! f1!", "BBB.....", "an error is no other work"),
        ("f1! f1 f1 f1 n?! f2!", "BBB..B", "nor does it hide what is"),
        ("n?! n? n? n? f1! f1", "BBB.BB", "errors use up nothing of work that is known later"),
        ("n1! p1", "B.", "tried again, it passes"),
    ] {
        assert_eq!(play(stops, MAX), expected, "{stops}: {why}");
    }
    assert_eq!(play("f1! f2! n3!", 0), "...", "a limit of 0 only tells");
    assert_eq!(play("f1! f2 f3", 1), "B.B", "a limit of 1 lets go in between");
}

#[test]
fn without_a_record_only_the_first_stop_is_blocked() {
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
fn nothing_to_decide_blocks_no_agent_and_changes_nothing() {
    let rows = [
        (HookFacts::InsideGate, "{}"),
        (HookFacts::ReleasedWork, "{}"),
        (
            HookFacts::Off("MALA_HOOK=off".to_owned()),
            r#"{"systemMessage":"mala: the stop hook is off (MALA_HOOK=off): nothing was reviewed"}"#,
        ),
        (
            HookFacts::NoRepository,
            r#"{"systemMessage":"mala: not in a git repository: nothing was reviewed"}"#,
        ),
        (HookFacts::Interrupted, r#"{"systemMessage":"mala: interrupted: nothing was reviewed"}"#),
    ];
    for (found, expected) in rows {
        let decision =
            decide(&found, &stop(Some(false)), Some(&ConversationRecord::default()), MAX);
        assert_eq!(serde_json::to_string(&decision.answer).unwrap(), expected);
        assert_eq!(decision.record, None);
    }
}

#[test]
fn a_pass_names_what_was_not_reviewed() {
    let names: Vec<String> =
        (1..=7).map(|n| format!("{n}.lock is not reviewed: lock file")).collect();
    for (count, expected) in [
        (0, "mala: the review passed (claude)"),
        (1, "mala: the review passed (claude); 1.lock is not reviewed: lock file"),
    ] {
        let HookFacts::JudgedWork(pass) = judged("1", &[]) else { panic!("it is judged") };
        let pass = JudgedWork { left_out: names[..count].to_vec(), ..pass };
        let printed = serde_json::to_value(HookAnswer::passed(&pass)).unwrap();
        assert_eq!(printed["systemMessage"], expected);
    }
    let HookFacts::JudgedWork(pass) = judged("1", &[]) else { panic!("it is judged") };
    for (passed_by, is_reviewed, expected) in [
        (pass.passed_by.clone(), true, "the review passed (claude); not blocking: 1 late"),
        (Vec::new(), true, "the review passed; not blocking: 1 late"),
        (Vec::new(), false, "warning: nothing was reviewed; not blocking: 1 late"),
    ] {
        let not_blocking = vec!["1 late".to_owned()];
        let pass = JudgedWork { passed_by, is_reviewed, not_blocking, ..pass.clone() };
        let printed = serde_json::to_value(HookAnswer::passed(&pass)).unwrap();
        assert_eq!(printed["systemMessage"], format!("mala: {expected}. Report: /r/report.md"));
    }
    let objections = vec!["codex: objected, refuted by claude".to_owned()];
    let overruled = HookAnswer::passed(&JudgedWork { objections, ..pass.clone() });
    let expected = "mala: the review passed (claude); codex: objected, refuted by claude. Report: /r/report.md";
    assert_eq!(overruled.message(), Some(expected));
    let printed =
        serde_json::to_value(HookAnswer::passed(&JudgedWork { left_out: names, ..pass })).unwrap();
    let printed = printed["systemMessage"].as_str().unwrap();
    assert!(printed.ends_with("; and 2 more. Report: /r/report.md"), "{printed}");
}

#[test]
fn every_answer_says_what_it_is_about() {
    let armed = ConversationRecord::default();
    let spent =
        ConversationRecord { work: hashes("1"), blocks: MAX, ..ConversationRecord::default() };
    let first = stop(Some(false));
    let say = |found: &HookFacts, record: &ConversationRecord| {
        shown(&decide(found, &first, Some(record), MAX))
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
      "systemMessage": "mala: the review passed (claude)"
    }
    {
      "decision": "block",
      "reason": "The review of your work did not pass: 1 finding.\n- a.py:2: [P1] breaks (codex)\nFull report: /r/report.md\nFix the findings that are right. For those that are wrong, say why. Then stop again.",
      "systemMessage": "mala: 1 finding, block 1 of 3. Report: /r/report.md. To stop anyway: mala hook accept, mala hook off, or MALA_HOOK=off."
    }
    {
      "decision": "block",
      "reason": "The review of your work did not pass: 7 findings.\n- a.py:1: bad (codex)\n- a.py:2: bad (codex)\n- a.py:3: bad (codex)\n- a.py:4: bad (codex)\n- a.py:5: bad (codex)\n- and 2 more\nFull report: /r/report.md\nFix the findings that are right. For those that are wrong, say why. Then stop again.",
      "systemMessage": "mala: 7 findings, block 1 of 3. Report: /r/report.md. To stop anyway: mala hook accept, mala hook off, or MALA_HOOK=off."
    }
    {
      "systemMessage": "mala: warning: stopping with 7 unresolved findings: blocked 3 times for this work. Report: /r/report.md"
    }
    {
      "decision": "block",
      "reason": "Your work could not be reviewed: codex: usage limit. More: /r/report.md.\nThis says nothing about the work. Change only what the reason asks for and stop again: the review is repeated.",
      "systemMessage": "mala: not reviewed, block 1 of 3: codex: usage limit. More: /r/report.md. To stop anyway: mala hook accept, mala hook off, or MALA_HOOK=off."
    }
    {
      "systemMessage": "mala: warning: stopping without a review: codex: usage limit; blocked 3 times for this work. More: /r/report.md."
    }
    {
      "decision": "block",
      "reason": "Your work could not be reviewed: git is broken.\nThis says nothing about the work. Change only what the reason asks for and stop again: the review is repeated.",
      "systemMessage": "mala: not reviewed, block 1 of 3: git is broken. To stop anyway: mala hook accept, mala hook off, or MALA_HOOK=off."
    }
    "#);
}

#[test]
fn only_the_person_is_told_the_ways_out() {
    for found in [judged("1", &["x"]), not_reviewed(None)] {
        let decision =
            decide(&found, &stop(Some(false)), Some(&ConversationRecord::default()), MAX);
        let printed = serde_json::to_value(&decision.answer).unwrap();
        assert!(printed["systemMessage"].as_str().unwrap().contains(SWITCH));
        assert!(!printed["reason"].as_str().unwrap().contains(SWITCH));
    }
}

#[test]
fn what_passes_is_where_later_work_starts() {
    let mut record = ConversationRecord::default();
    let mut play = |found: HookFacts| {
        let decision = decide(&found, &stop(Some(true)), Some(&record), MAX);
        record = decision.record.unwrap_or_else(|| record.clone());
        let commits = record.start.clone().unwrap_or_default().commits;
        (commits.into_iter().collect::<Vec<_>>().join(", "), decision.released)
    };
    let row = |commits: &str, released: Option<&str>| {
        (commits.to_owned(), released.map(hashes).unwrap_or_default())
    };
    assert_eq!(play(not_reviewed(None)), row("", None));
    assert_eq!(play(HookFacts::NothingChanged(state("here"))), row("here", None));
    assert_eq!(play(HookFacts::NothingChanged(state("there"))), row("here", None));
    assert_eq!(play(judged("1", &[])), row("head 1, here", None), "a pass");
    for _ in 0..MAX {
        assert_eq!(play(judged("2", &["x"])), row("head 1, here", None), "a block");
    }
    assert_eq!(play(judged("2", &["x"])), row("head 1, here", Some("2")), "a release");
}

#[test]
fn the_person_is_told_once_that_no_reviewer_can_be_used() {
    let why = "nothing was reviewed: `codex` is not on PATH";
    let found = HookFacts::NoReviewer(why.to_owned());
    let first = decide(&found, &stop(Some(false)), Some(&ConversationRecord::default()), MAX);
    assert_snapshot!(shown(&first), @r#"
    {
      "systemMessage": "mala: warning: nothing was reviewed: `codex` is not on PATH. Run `review-gate lanes` to see why"
    }
    "#);
    let later = decide(&found, &stop(Some(false)), first.record.as_ref(), MAX);
    assert_eq!((shown(&later).as_str(), later.record), ("{}", None));
    assert!(!decide(&found, &stop(Some(false)), None, MAX).answer.blocks());
}

#[test]
fn work_that_did_not_pass_and_is_gone_is_reported() {
    let blocked = ConversationRecord { blocks: 1, ..ConversationRecord::default() };
    for (record, expected) in [
        (Some(&blocked), "not on disk or on a local branch any more"),
        (Some(&ConversationRecord::default()), "{}"),
        (None, "{}"),
    ] {
        let decision =
            decide(&HookFacts::NothingChanged(state("a")), &stop(Some(true)), record, MAX);
        assert!(shown(&decision).contains(expected), "{record:?}: {}", shown(&decision));
        assert!(!decision.answer.blocks());
    }
}

#[test]
fn work_without_a_recorded_start_is_told_once() {
    let found = HookFacts::NothingChanged(state("a")).with_left_out(vec!["commits".to_owned()]);
    let first = decide(&found, &stop(Some(false)), Some(&ConversationRecord::default()), MAX);
    assert_eq!(first.answer.message(), Some("mala: warning: commits"));
    assert_eq!(first.record.unwrap().start, Some(state("a")), "later work starts here");
    let none = HookFacts::NothingChanged(state("a")).with_left_out(Vec::new());
    assert_eq!(none, HookFacts::NothingChanged(state("a")));
}

#[test]
fn accepted_work_is_told_once() {
    let blocked = ConversationRecord { blocks: 2, ..ConversationRecord::default() };
    let told = "work that did not pass was accepted";
    for (found, words) in [
        (HookFacts::NothingChanged(state("a")), ""),
        (HookFacts::ReleasedWork, ""),
        (judged("1", &[]), "the review passed"),
        (judged("1", &["a.py:1: bad (codex)"]), "1 finding, block 1 of 3"),
    ] {
        let accepted = blocked.clone().with_accepted_work();
        let first = decide(&found, &stop(Some(false)), Some(&accepted), MAX);
        let message = first.answer.message().unwrap();
        assert!(message.contains(told) && message.contains(words), "{message}");
        let later = decide(&found, &stop(Some(false)), first.record.as_ref(), MAX);
        assert!(!later.answer.message().unwrap_or_default().contains(told), "{found:?}");
    }
}

#[test]
fn one_part_that_does_not_pass_is_enough() {
    let part = |state| PartResult { state, branch: None, report: "r".to_owned() };
    let failed = SessionEnd::Failed("no\u{1b}[2J\nreviewers".to_owned());
    for (state, why) in [
        (SessionState::Ended(failed), "no<U+001B>[2J reviewers"),
        (SessionState::Ended(SessionEnd::Cancelled), "the session was cancelled"),
        (SessionState::Dead, "the supervisor of the session died"),
        (SessionState::Running(7), "no result within 7 s"),
    ] {
        let HookFacts::UnreviewedWork(found) =
            HookFacts::of_sessions(&work("w"), &[part(state.clone())])
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
        transcript: None,
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
    fn no_agent_is_blocked_forever(works in proptest::collection::vec(0_u8..4, 40), max in 0_u32..6) {
        let mut record = ConversationRecord::default();
        let mut in_a_row = 0;
        for work in works {
            let work = work.to_string();
            let found = if work == "0" { not_reviewed(None) } else { judged(&work, &["x"]) };
            let decision = decide(&found, &stop(Some(true)), Some(&record), max);
            in_a_row = if decision.answer.blocks() { in_a_row + 1 } else { 0 };
            prop_assert!(in_a_row <= max);
            record = decision.record.unwrap();
        }
    }
}

#[test]
fn a_released_agent_hears_why_a_person_decides() {
    let HookFacts::JudgedWork(judged) = judged("b", &["a.py:1: x (codex)"]) else { unreachable!() };
    let escalation = Some("nothing changed since the last review".to_owned());
    let facts = HookFacts::JudgedWork(JudgedWork { escalation, ..judged });
    let stop = Stop { is_continued: Some(true), ..Stop::default() };
    for (blocks, is_blocked) in [(0, true), (2, true), (3, false)] {
        let record = ConversationRecord { blocks, work: hashes("b"), ..Default::default() };
        let decision = decide(&facts, &stop, Some(&record), 3);
        assert_eq!(decision.answer.blocks(), is_blocked, "{blocks}");
        let message = decision.answer.message().unwrap();
        let says_why = message.contains("a person decides: nothing changed since the last review");
        assert_eq!(says_why, !is_blocked, "{message}");
        assert_eq!(decision.released.is_empty(), is_blocked);
    }
}

#[test]
fn a_push_is_refused_without_a_review_and_never_counted() {
    let unreviewed = HookFacts::UnreviewedWork(UnreviewedWork::because("git is broken"));
    let none = HookFacts::NoReviewer("nothing was reviewed: no reviewer is usable".to_owned());
    let left_out = HookFacts::NothingChanged(state("a")).with_left_out(vec!["left out".to_owned()]);
    for (facts, max_blocks, is_refused, words) in [
        (judged("1", &["a.py:1: bad (codex)"]), MAX, true, "1 finding\n- a.py:1: bad (codex)\n"),
        (judged("1", &["a.py:1: bad (codex)"]), 0, false, "warning: the review of the push"),
        (judged("1", &[]), MAX, false, "the review passed (claude)"),
        (unreviewed, MAX, true, "could not be reviewed: git is broken"),
        (HookFacts::Interrupted, 0, true, "interrupted: nothing was reviewed"),
        (HookFacts::ReleasedWork, MAX, false, "released or accepted before"),
        (none, MAX, false, "warning: nothing was reviewed: no reviewer is usable"),
        (HookFacts::NothingChanged(state("a")), MAX, false, ""),
        (left_out, MAX, false, "mala: warning: left out"),
        (HookFacts::InsideGate, MAX, false, ""),
    ] {
        let (refused, said) = match push::decide_push(&facts, max_blocks) {
            push::PushDecision::Allowed(said) => (false, said.unwrap_or_default()),
            push::PushDecision::Refused(why) => (true, why),
        };
        assert_eq!(refused, is_refused, "{facts:?}");
        let (blocks, tips) = match &facts {
            HookFacts::JudgedWork(judged) if !judged.passes => (1, judged.work.tips.clone()),
            HookFacts::UnreviewedWork(_) => (1, BTreeSet::new()),
            _ => (0, BTreeSet::new()),
        };
        let record = push::push_record(&facts);
        assert_eq!((record.blocks, record.tips), (blocks, tips), "what can be accepted: {facts:?}");
        assert!(said.contains(words) && said.is_empty() == words.is_empty(), "{said}");
    }
}

#[test]
fn every_line_of_a_push_is_read_or_refused() {
    let (id, zeros) = ("1".repeat(40), "0".repeat(40));
    let line = |local: &str, new: &str| format!("{local} {new} refs/heads/x {zeros}\n");
    for (input, expected) in [
        (String::new(), Some(0)),
        (line("refs/heads/x", &id), Some(1)),
        (line("HEAD^{/my bug}", &id), Some(1)),
        (line("main@{1 hour ago}", &id), Some(1)),
        (line("(delete)", &zeros), Some(0)),
        (line("refs/heads/x", "HEAD"), None),
        ("odd\n".to_owned(), None),
    ] {
        let pushed = push::pushed_refs(&input);
        assert_eq!(pushed.as_ref().ok().map(|it| it.len()), expected, "{input}: {pushed:?}");
        assert!(pushed.is_err() || pushed.unwrap().values().all(|it| *it == id), "{input}");
    }
}
