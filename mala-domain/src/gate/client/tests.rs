//! One row per row of the contract's table, per shape that others print, and per way to contradict
//! oneself.

use super::*;
use crate::change::{Change, FilePath, LineSpan, parse};
use crate::finding::{Priority, VerificationOutcome};
use crate::review::admit::{SymbolIndex, admit};
use crate::review::consensus::ConsensusRule;
use crate::review::decide::{DecisionPolicy, votes};
use crate::review::{Coverage, FileTexts, Opinion, Opinions, ReviewerOpinion};
use crate::verdict::Threshold;
use serde_json::{Value, json};

mod newer;
mod ours;

const RUN: &str = "run-1";

fn issue() -> Value {
    json!({"reviewer": "codex", "file": "a.py", "line_start": 2, "line_end": 2, "priority": 1,
           "title": "Missing null check", "body": "when x is None it fails"})
}

fn contract(status: &str, verdict: &str, issues: &[Value]) -> Value {
    let own = if verdict == "PASS" { "PASS" } else { "FAIL" };
    json!({"status": status, "consensus": {"verdict": verdict, "iteration": 1},
           "reviewers": {"codex": {"verdict": own, "summary": "", "issues": issues, "error": null}},
           "issues": issues, "parse_errors": []})
}

fn first(status: &str, verdict: Value, findings: &[Value]) -> Value {
    json!({"status": status, "consensus_verdict": verdict,
           "reviewers": {"codex": {"verdict": verdict, "summary": "", "findings": findings}},
           "aggregated_findings": findings, "parse_errors": [], "session_dir": "/s"})
}

fn first_finding() -> Value {
    json!({"reviewer": "codex", "file_path": "a.py", "line_start": null, "line_end": null,
           "priority": null, "title": "T", "body": "B"})
}

fn with(mut value: Value, pointer: &str, new: Value) -> Value {
    match value.pointer_mut(pointer) {
        Some(place) => *place = new,
        None => {
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            let parent = value.pointer_mut(parent).unwrap().as_object_mut().unwrap();
            parent.insert(key.to_owned(), new);
        }
    }
    value
}

/// A change to a field of an answer, by its JSON pointer, and why the answer is no review then.
type Refusal = (&'static str, Value, &'static str);

/// Changes one field after the other; each change alone makes the answer useless.
#[track_caller]
fn check_refusals(code: i32, base: &Value, prefix: &str, rows: &[Refusal]) {
    for (pointer, wrong, why) in rows {
        let json = with(base.clone(), pointer, wrong.clone());
        assert_eq!(outcome(code, &json), Err(says(&format!("{prefix}{why}"))), "{json}");
    }
}

/// Removes one field after the other.
#[track_caller]
fn check_missing(code: i32, base: &Value, parent: &str, keys: &[&str]) {
    for key in keys {
        let mut json = base.clone();
        json.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(*key).unwrap();
        assert_eq!(outcome(code, &json), Err(says(&format!("missing field: {key}"))), "{json}");
    }
}

fn read(code: i32, stdout: &str) -> Result<GateAnswer, ReviewerFailure> {
    let started = StartedSession { key: Some("k".into()), reviewers: vec!["codex".into()] };
    read_wait_output(&CommandEnd { code: Some(code), stdout, stderr: "" }, &started, RUN)
}

/// The verdict and the number of claims, or the failure.
fn outcome(code: i32, json: &Value) -> Result<(Verdict, usize), ReviewerFailure> {
    match read(code, &json.to_string())? {
        GateAnswer::Panel(word) => Ok((word.verdict, word.claims.len())),
        GateAnswer::State(state) => panic!("{state:?}"),
    }
}

fn says(words: &str) -> ReviewerFailure {
    ReviewerFailure::Unreadable(words.to_owned())
}

#[test]
fn every_row_of_the_table_of_exit_codes() {
    use ReviewerFailure::{Broken, Crashed, Unavailable};
    let errors = json!({"status": "error", "parse_errors": ["gemini: malformed JSON response"]});
    let rows = [
        (0, contract("resolved", "PASS", &[]), Ok((Verdict::Pass, 0))),
        (1, contract("resolved", "FAIL", &[issue()]), Ok((Verdict::Fail, 1))),
        (1, contract("resolved", "NEEDS_WORK", &[issue()]), Ok((Verdict::NeedsWork, 1))),
        (2, errors.clone(), Err(says("gemini: malformed JSON response"))),
        (2, json!(null), Err(says("the gate could not read its reviewers"))),
        (3, contract("timeout", "no_reviewers", &[]), Err(ReviewerFailure::timeout())),
        (4, contract("error", "no_reviewers", &[]), Err(Unavailable("no reviewers".into()))),
        (5, errors, Err(Broken("gemini: malformed JSON response".into()))),
        (5, json!(null), Err(Broken("the gate failed".into()))),
        (9, json!(null), Err(Crashed("exit 9: the gate says nothing".into()))),
    ];
    for (code, json, expected) in rows {
        assert_eq!(outcome(code, &json), expected, "{code} {json}");
    }
    let killed = CommandEnd { code: None, stdout: "", stderr: "cannot go on\n" };
    let failure = read_wait_output(&killed, &StartedSession::default(), RUN).unwrap_err();
    assert_eq!(failure, Crashed("killed: cannot go on".into()));
}

#[test]
fn an_exit_code_and_a_verdict_that_disagree_are_no_review() {
    for (code, json, why) in [
        (1, contract("resolved", "PASS", &[]), "exit 1 with resolved and PASS"),
        (0, contract("resolved", "FAIL", &[issue()]), "exit 0 with resolved and FAIL"),
        (0, contract("timeout", "PASS", &[]), "exit 0 with timeout and PASS"),
        (0, contract("resolved", "no_reviewers", &[]), "exit 0 with resolved and no_reviewers"),
        (0, contract("resolved", "APPROVED", &[]), "APPROVED"),
        (0, contract("resolved", "pass", &[]), "pass"),
        (0, contract("resolved", "PASS", &[issue()]), "PASS with findings"),
        (1, contract("resolved", "FAIL", &[]), "FAIL without findings"),
        (1, contract("resolved", "NEEDS_WORK", &[]), "NEEDS_WORK without findings"),
    ] {
        let expected = Err(says(&format!("invalid verdict: {why}")));
        assert_eq!(outcome(code, &json), expected, "{code} {json}");
    }
}

#[test]
fn a_pass_needs_every_reviewer() {
    let pass = contract("resolved", "PASS", &[]);
    let other = json!({"other": pass["reviewers"]["codex"]});
    check_refusals(
        0,
        &pass,
        "invalid verdict: PASS ",
        &[
            ("/reviewers", json!({}), "without reviewers"),
            ("/reviewers", other, "though codex was started and says nothing"),
            ("/reviewers/codex/verdict", json!("FAIL"), "though codex says: FAIL"),
            ("/reviewers/codex/verdict", json!(null), "though codex says: no verdict"),
            ("/reviewers/codex/error", json!("died"), "though codex says: died"),
            ("/reviewers/codex/issues", json!([issue()]), "though codex names issues"),
            ("/reviewers/codex/findings", json!([{}]), "though codex names findings"),
            ("/reviewers/codex/fatal_error", json!(true), "though codex names fatal_error"),
            ("/parse_errors", json!(["gemini: x"]), "though gemini: x"),
            // What another shape would say against it.
            ("/aggregated_findings", json!([{}]), "though the gate names aggregated_findings"),
            ("/findings", json!([issue()]), "though the gate names findings"),
            ("/consensus_verdict", json!("FAIL"), "though the gate names consensus_verdict"),
            ("/verdict", json!("fail"), "though the gate names verdict"),
            ("/passed", json!(false), "though the gate names passed"),
            ("/parse_error", json!("x"), "though the gate names parse_error"),
            ("/fatal_error", json!(true), "though the gate names fatal_error"),
            ("/error", json!("boom"), "though the gate names error"),
        ],
    );
    let maybe = [("/reviewers/codex/verdict", json!("maybe"), "maybe")];
    check_refusals(0, &pass, "invalid verdict: ", &maybe);
}

#[test]
fn an_answer_with_a_missing_or_malformed_field_is_no_review() {
    let pass = contract("resolved", "PASS", &[]);
    let fail = contract("resolved", "FAIL", &[issue()]);
    for (code, base) in [(0, &pass), (1, &fail)] {
        let fields = ["status", "issues", "reviewers", "consensus", "parse_errors"];
        check_missing(code, base, "", &fields);
        let fields = ["verdict", "summary", "issues", "error"];
        check_missing(code, base, "/reviewers/codex", &fields);
    }
    check_missing(0, &pass, "/consensus", &["iteration"]);
    let fields = ["reviewer", "file", "line_start", "line_end", "priority", "title", "body"];
    check_missing(1, &fail, "/issues/0", &fields);
    let wrong = |rows: &[(&'static str, Value)]| -> Vec<Refusal> {
        rows.iter().map(|(pointer, value)| (*pointer, value.clone(), "invalid format")).collect()
    };
    let of_pass = wrong(&[
        ("/consensus/iteration", json!("x")),
        ("/consensus/iteration", json!(-1)),
        ("/session_key", json!(1)),
        ("/parse_errors", json!("boom")),
        ("/parse_errors", json!({"a": 1})),
        ("/reviewers/codex/issues", json!({"a": 1})),
        ("/reviewers/codex", json!("PASS")),
    ]);
    check_refusals(0, &pass, "", &of_pass);
    let of_issue = wrong(&[
        ("/issues/0/line_start", json!(0)),
        ("/issues/0/line_end", json!(1)),
        ("/issues/0/line_start", json!("2")),
        ("/issues/0/line_start", json!(-1)),
        ("/issues/0/priority", json!(4)),
        ("/issues/0/priority", json!("P1")),
        ("/issues/0/file", json!(" ")),
        ("/issues/0/title", json!(["x"])),
    ]);
    check_refusals(1, &fail, "", &of_issue);
    let json = contract("resolved", "FAIL", &[with(issue(), "/priority", json!(null))]);
    assert_eq!(outcome(1, &json), Ok((Verdict::Fail, 1)), "a priority may be null");
    let twice = pass.to_string();
    let twice = twice.replacen(r#""verdict":"PASS""#, r#""verdict":"FAIL","verdict":"PASS""#, 1);
    let said = read(0, &twice).unwrap_err().to_string();
    assert!(said.contains("a key is there twice"), "{said}");
    for (code, text) in
        [(0, ""), (0, "PASS"), (0, "[]"), (0, "{}"), (1, "\u{0}"), (0, "{\"status\"")]
    {
        assert!(matches!(read(code, text), Err(ReviewerFailure::Unreadable(_))), "{code} {text:?}");
    }
}

#[test]
fn the_older_shape() {
    let fail = first("complete", json!("FAIL"), &[first_finding()]);
    let rows = [
        (0, first("complete", json!("PASS"), &[]), Ok((Verdict::Pass, 0))),
        (0, fail.clone(), Ok((Verdict::Fail, 1))),
        (1, fail, Err(says("invalid verdict: exit 1 with complete"))),
        (0, first("timeout", json!(null), &[]), Err(says("invalid verdict: exit 0 with timeout"))),
        (0, first("complete", json!(null), &[]), Err(says("missing field: consensus_verdict"))),
        (
            2,
            first("error", json!(null), &[]),
            Err(ReviewerFailure::Broken("the gate failed".into())),
        ),
        (3, first("timeout", json!(null), &[]), Err(ReviewerFailure::timeout())),
        (
            4,
            first("no_reviewers", json!(null), &[]),
            Err(ReviewerFailure::Unavailable("no reviewers".into())),
        ),
    ];
    for (code, json, expected) in rows {
        assert_eq!(outcome(code, &json), expected, "{code} {json}");
    }
}

#[test]
fn a_pass_in_the_older_shape_needs_every_reviewer() {
    let pass = first("complete", json!("PASS"), &[]);
    let other = json!({"other": {"verdict": "PASS", "summary": "", "findings": []}});
    let no_json = json!([{"reviewer": "gemini", "error": "no JSON"}]);
    check_refusals(
        0,
        &pass,
        "invalid verdict: PASS though ",
        &[
            ("/parse_errors", no_json, "gemini: no JSON"),
            ("/reviewers/codex/findings", json!([first_finding()]), "codex names findings"),
            ("/reviewers/codex/verdict", json!("ERROR"), "codex says: ERROR"),
            ("/reviewers", other, "codex was started and says nothing"),
        ],
    );
    let malformed = [
        ("/parse_errors", json!("boom"), "invalid format"),
        ("/reviewers/codex", json!({"verdict": "PASS"}), "missing field: summary"),
    ];
    check_refusals(0, &pass, "", &malformed);
}

const DIFF: &str = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n def f(x):\n-    return x\n+    return x + 1\n";

struct Nowhere;

impl SymbolIndex for Nowhere {
    fn symbol_at(&self, _: &FilePath, _: u32) -> Option<String> {
        None
    }
}

fn change() -> Change {
    Change { files: parse(DIFF.as_bytes()).unwrap() }
}

fn opinion_of(json: &Value) -> Opinion {
    let Ok(GateAnswer::Panel(word)) =
        read(i32::from(json["issues"] != json!([])), &json.to_string())
    else {
        panic!("{json}")
    };
    opinion("cerberus", *word, &change())
}

/// Why the gate has no vote on a change.
fn no_vote(opinion: Opinion, change: &Change) -> Option<String> {
    let admission = admit(opinion.claims.clone(), change, &FileTexts::default(), &Nowhere);
    let given = ReviewerOpinion { reviewer: "cerberus".to_owned(), opinion: Ok(opinion) };
    let policy = DecisionPolicy {
        fail_on: Threshold::P3,
        fail_on_objection: Threshold::P3,
        rule: ConsensusRule::Unanimous,
        panel: Vec::new(),
    };
    votes(&Opinions(vec![given]), &admission, change, &policy).remove(0).vote.error
}

#[test]
fn what_a_panel_says_is_said_by_its_reviewers_of_the_whole_change() {
    let opinion = opinion_of(&contract("resolved", "FAIL", &[issue()]));
    assert_eq!(opinion.claims[0].reviewer, "codex");
    assert_eq!(opinion.members[0].name, "codex");
    assert!(Coverage::over(&change(), &opinion.accounted).is_complete());
    assert_eq!(opinion.warnings.len(), 1, "that it says nothing of parts is said");
    assert_eq!(no_vote(opinion, &change()), None);
}

#[test]
fn an_objection_to_what_is_not_there_is_no_vote() {
    for (pointer, elsewhere) in [
        ("/file", json!("nowhere.py")),
        ("/file", json!("/etc/passwd")),
        ("/file", json!("../a.py")),
        ("/line_end", json!(900)),
    ] {
        let mut off = with(issue(), pointer, elsewhere.clone());
        if pointer == "/line_end" {
            off = with(off, "/line_start", elsewhere);
        }
        let error = no_vote(opinion_of(&contract("resolved", "FAIL", &[off.clone()])), &change());
        let error = error.unwrap_or_default();
        assert!(error.starts_with("it says FAIL for a finding that cannot be placed: "), "{off}");
        // What is left is to say as much as what is lost.
        for (priority, is_vote) in [(0, true), (1, true), (2, false), (3, false)] {
            let left = with(issue(), "/priority", json!(priority));
            let opinion = opinion_of(&contract("resolved", "FAIL", &[left, off.clone()]));
            assert_eq!(no_vote(opinion, &change()).is_none(), is_vote, "{off} {priority}");
        }
    }
}

#[test]
fn what_spawn_prints() {
    let spawned =
        |code, stdout: &str, stderr: &str| read_spawn_output(&CommandEnd { code, stdout, stderr });
    let json = r#"{"session_key": "k", "reviewers_spawned": ["codex", "gemini"]}"#;
    let both = vec!["codex".to_owned(), "gemini".to_owned()];
    assert_eq!(
        spawned(Some(0), json, ""),
        Ok(StartedSession { key: Some("k".into()), reviewers: both })
    );
    assert_eq!(spawned(Some(0), "started codex\n", ""), Ok(StartedSession::default()));
    let crashed = |why: &str| Err(ReviewerFailure::Crashed(format!("spawn failed: {why}")));
    assert_eq!(spawned(Some(1), "", "note: x\nno such range\n"), crashed("no such range"));
    assert_eq!(spawned(None, json, ""), crashed("killed"));
    assert_eq!(spawned(Some(0), "{}", ""), Err(says("missing field: session_key")));
    for key in ["", "--all", "a\\nb"] {
        let json = format!(r#"{{"session_key": "{key}", "reviewers_spawned": []}}"#);
        assert_eq!(spawned(Some(0), &json, ""), Err(says("invalid format")), "{key:?}");
    }
    let without = r#"{"session_key": "k"}"#;
    assert_eq!(spawned(Some(0), without, ""), Err(says("missing field: reviewers_spawned")));
    for names in [r#""codex,gemini""#, r#"[{"name": "codex"}]"#, r#"["codex", 1]"#, "{}"] {
        let json = format!(r#"{{"session_key": "k", "reviewers_spawned": {names}}}"#);
        assert_eq!(spawned(Some(0), &json, ""), Err(says("invalid format")), "{names}");
    }
    assert!(matches!(spawned(Some(0), "{", ""), Err(ReviewerFailure::Unreadable(_))));
}

#[test]
fn the_contracts_answer_needs_a_session() {
    let pass = contract("resolved", "PASS", &[]).to_string();
    let heard = |stdout: &str, started: &StartedSession| {
        read_wait_output(&CommandEnd { code: Some(0), stdout, stderr: "" }, started, RUN)
            .map(|_| ())
    };
    let unknown = "the gate named no session: the result may be of another one";
    assert_eq!(heard(&pass, &StartedSession::default()), Err(says(unknown)));
    let older = first("complete", json!("PASS"), &[]);
    assert_eq!(heard(&older.to_string(), &StartedSession::default()), Ok(()), "it prints words");
    let k = StartedSession { key: Some("k".into()), reviewers: vec!["codex".into()] };
    for (session, started, is_ours) in [
        ("k", &k, true),
        (RUN, &k, false),
        ("other", &k, false),
        (RUN, &StartedSession::default(), true),
        ("other", &StartedSession::default(), false),
    ] {
        let json = with(older.clone(), "/session_key", json!(session));
        let expected =
            if is_ours { Ok(()) } else { Err(says("the gate answers for another session")) };
        assert_eq!(heard(&json.to_string(), started), expected, "{session} {started:?}");
    }
}

#[test]
fn a_reviewer_that_was_started_must_answer() {
    let all = [("codex#1", None), ("codex#2", None), ("claude", None)];
    let votes: Vec<votes::MemberVote> = all
        .map(|(name, verdict)| {
            (GateMember { name: name.to_owned(), ..GateMember::default() }, verdict)
        })
        .to_vec();
    for (started, unheard) in [
        (&[][..], None),
        (&["codex", "claude"], None),
        (&["codex", "codex"], None),
        (&["codex#2"], None),
        (&["codex", "codex", "codex"], Some("codex")),
        (&["claude", "claude"], Some("claude")),
        (&["codex#3"], Some("codex#3")),
        (&["gemini"], Some("gemini")),
        (&["code"], Some("code")),
    ] {
        let reviewers = started.iter().map(|name| (*name).to_owned()).collect();
        let expected = unheard.map(|name| format!("{name} was started and says nothing"));
        let started = StartedSession { key: None, reviewers };
        assert_eq!(votes::missing(&started, &votes), expected, "{started:?}");
    }
    let without_reviewers = StartedSession { key: Some("k".into()), reviewers: Vec::new() };
    assert_eq!(
        votes::missing(&without_reviewers, &votes).as_deref(),
        Some("no reviewer was started")
    );
}

/// What an objection accounts for: the change, or nothing, and why.
fn account(json: &Value) -> GateAccount {
    match read(i32::from(json.get("consensus").is_some()), &json.to_string()) {
        Ok(GateAnswer::Panel(word)) => word.account,
        other => panic!("{json} {other:?}"),
    }
}

#[test]
fn an_objection_of_some_says_nothing_of_the_rest() {
    let entry = |verdict: Value, error: Value| json!({"verdict": verdict, "summary": "", "issues": [], "error": error});
    let fail = || contract("resolved", "FAIL", &[issue()]);
    let older = || first("complete", json!("FAIL"), &[first_finding()]);
    assert_eq!(account(&fail()), GateAccount::Whole);
    assert_eq!(account(&older()), GateAccount::Whole);
    let second =
        |verdict: Value, error: Value| with(fail(), "/reviewers/gemini", entry(verdict, error));
    assert_eq!(account(&second(json!("PASS"), json!(null))), GateAccount::Whole);
    let no_key = json!({"verdict": "ERROR", "summary": "no key", "findings": []});
    for (json, why) in [
        (second(json!(null), json!("died")), "gemini says: died"),
        (second(json!("PASS"), json!("died")), "gemini says: died"),
        (second(json!(null), json!(null)), "gemini says: no verdict"),
        (second(json!("FAIL"), json!(null)), "gemini says FAIL and names nothing"),
        (with(fail(), "/parse_errors", json!(["gemini: no JSON"])), "gemini: no JSON"),
        (with(fail(), "/reviewers", json!({})), "codex was started and says nothing"),
        (with(fail(), "/fatal_error", json!(true)), "the gate names fatal_error"),
        (with(fail(), "/reviewers/codex/parse_error", json!("x")), "codex names parse_error"),
        (with(older(), "/error", json!("timeout")), "the gate names error"),
        (with(older(), "/reviewers/gemini", no_key), "gemini says: no key"),
    ] {
        assert_eq!(account(&json), GateAccount::Nothing(why.to_owned()), "{json}");
    }
    let word = PanelAnswer {
        account: GateAccount::Nothing("x".to_owned()),
        ..PanelAnswer::whole(Verdict::Fail)
    };
    let heard = opinion("cerberus", word.clone(), &change());
    assert!(!Coverage::over(&change(), &heard.accounted).is_complete());
    assert_eq!((heard.warnings.len(), heard.failure), (1, None));
    let moved =
        "diff --git a/a.py b/b.py\nsimilarity index 100%\nrename from a.py\nrename to b.py\n";
    let moved = Change { files: parse(moved.as_bytes()).unwrap() };
    let heard = opinion("cerberus", word, &moved);
    assert_eq!(heard.failure, Some(says("x")), "no line could be left over");
}

#[test]
fn what_is_named_beside_the_claims_is_no_worse() {
    let small = || contract("resolved", "NEEDS_WORK", &[with(issue(), "/priority", json!(2))]);
    for (key, beside, is_worse) in [
        ("issues", json!([{"priority": 2}]), false),
        ("issues", json!([{"priority": 3}, {}, "words", null]), false),
        ("issues", json!([{"priority": 3}, {"priority": 1}]), true),
        ("issues", json!([{"priority": "P0"}]), true),
        ("issues", json!([{"priority": 3, "severity": "Critical"}]), true),
        ("findings", json!([{"priority": 0}]), true),
    ] {
        let json = with(small(), &format!("/reviewers/codex/{key}"), beside);
        let words = format!("invalid verdict: NEEDS_WORK though codex names worse {key}");
        let expected = if is_worse { Err(says(&words)) } else { Ok((Verdict::NeedsWork, 1)) };
        assert_eq!(outcome(1, &json), expected, "{json}");
    }
    let json = with(small(), "/findings", json!([{"priority": 0}]));
    let words = "invalid verdict: NEEDS_WORK though the gate names worse findings";
    assert_eq!(outcome(1, &json), Err(says(words)));
    for (severity, priority) in
        [("blocking", 1), ("high", 1), ("critical", 0), ("low", 3), ("medium", 3)]
    {
        let issue = with(with(issue(), "/priority", json!(3)), "/severity", json!(severity));
        let json = contract("resolved", "FAIL", &[issue]);
        let Ok(GateAnswer::Panel(word)) = read(1, &json.to_string()) else { panic!("{json}") };
        let said = word.claims[0].candidate.priority;
        assert_eq!(said, Priority::from_number(priority), "{severity}");
    }
}
