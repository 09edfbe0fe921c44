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

fn without(mut value: Value, key: &str) -> Value {
    value.as_object_mut().unwrap().remove(key).unwrap();
    value
}

fn read(code: i32, stdout: &str) -> Result<GateAnswer, ReviewerFailure> {
    let started = StartedSession { key: Some("k".into()), reviewers: vec!["codex".into()] };
    waited(&CommandEnd { code: Some(code), stdout, stderr: "" }, &started, RUN)
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
    let failure = waited(&killed, &StartedSession::default(), RUN).unwrap_err();
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
fn a_pass_that_not_everybody_gave_is_none() {
    let pass = || contract("resolved", "PASS", &[]);
    for (json, why) in [
        (with(pass(), "/reviewers", json!({})), "PASS without reviewers"),
        (with(pass(), "/reviewers/codex/verdict", json!("FAIL")), "PASS though codex says: FAIL"),
        (
            with(pass(), "/reviewers/codex/verdict", json!(null)),
            "PASS though codex says: no verdict",
        ),
        (with(pass(), "/reviewers/codex/error", json!("died")), "PASS though codex says: died"),
        (with(pass(), "/parse_errors", json!(["gemini: x"])), "PASS though gemini: x"),
        (
            with(pass(), "/reviewers/codex/issues", json!([issue()])),
            "PASS though codex names issues",
        ),
        (
            with(pass(), "/reviewers/codex/findings", json!([{}])),
            "PASS though codex names findings",
        ),
        (
            with(pass(), "/reviewers", json!({"other": pass()["reviewers"]["codex"]})),
            "PASS though codex was started and says nothing",
        ),
        (with(pass(), "/reviewers/codex/verdict", json!("maybe")), "maybe"),
        // What another shape would say against it.
        (
            with(pass(), "/aggregated_findings", json!([issue()])),
            "PASS though the gate names aggregated_findings",
        ),
        (with(pass(), "/findings", json!([issue()])), "PASS though the gate names findings"),
        (
            with(pass(), "/consensus_verdict", json!("FAIL")),
            "PASS though the gate names consensus_verdict",
        ),
        (with(pass(), "/verdict", json!("fail")), "PASS though the gate names verdict"),
        (with(pass(), "/passed", json!(false)), "PASS though the gate names passed"),
        (with(pass(), "/parse_error", json!("x")), "PASS though the gate names parse_error"),
        (
            with(pass(), "/reviewers/codex/fatal_error", json!(true)),
            "PASS though codex names fatal_error",
        ),
        (with(pass(), "/fatal_error", json!(true)), "PASS though the gate names fatal_error"),
        (with(pass(), "/error", json!("boom")), "PASS though the gate names error"),
    ] {
        let expected = Err(says(&format!("invalid verdict: {why}")));
        assert_eq!(outcome(0, &json), expected, "{json}");
    }
}

#[test]
fn what_is_missing_or_malformed_is_no_review() {
    for key in ["status", "issues", "reviewers", "consensus", "parse_errors"] {
        let json = without(contract("resolved", "FAIL", &[issue()]), key);
        let missing = Err(says(&format!("missing field: {key}")));
        assert_eq!(outcome(1, &json), missing, "{key}");
        let json = without(contract("resolved", "PASS", &[]), key);
        assert_eq!(outcome(0, &json), missing, "{key}");
    }
    for key in ["verdict", "summary", "issues", "error"] {
        for (code, word, issues) in [(0, "PASS", vec![]), (1, "FAIL", vec![issue()])] {
            let mut json = contract("resolved", word, &issues);
            json["reviewers"]["codex"].as_object_mut().unwrap().remove(key).unwrap();
            assert_eq!(outcome(code, &json), Err(says(&format!("missing field: {key}"))), "{key}");
        }
    }
    let json = with(contract("resolved", "PASS", &[]), "/consensus", json!({"verdict": "PASS"}));
    assert_eq!(outcome(0, &json), Err(says("missing field: iteration")));
    for (pointer, wrong) in [
        ("/consensus/iteration", json!("x")),
        ("/consensus/iteration", json!(-1)),
        ("/session_key", json!(1)),
        ("/parse_errors", json!("boom")),
        ("/parse_errors", json!({"a": 1})),
        ("/reviewers/codex/issues", json!({"a": 1})),
        ("/reviewers/codex", json!("PASS")),
    ] {
        let json = with(contract("resolved", "PASS", &[]), pointer, wrong);
        assert_eq!(outcome(0, &json), Err(says("invalid format")), "{json}");
    }
    let twice = contract("resolved", "PASS", &[]).to_string();
    let twice = twice.replacen(r#""verdict":"PASS""#, r#""verdict":"FAIL","verdict":"PASS""#, 1);
    let said = read(0, &twice).unwrap_err().to_string();
    assert!(said.contains("a key is there twice"), "{said}");
    for key in ["reviewer", "file", "line_start", "line_end", "priority", "title", "body"] {
        let json = contract("resolved", "FAIL", &[without(issue(), key)]);
        assert_eq!(outcome(1, &json), Err(says(&format!("missing field: {key}"))), "{key}");
    }
    for (pointer, wrong) in [
        ("/line_start", json!(0)),
        ("/line_end", json!(1)),
        ("/line_start", json!("2")),
        ("/line_start", json!(-1)),
        ("/priority", json!(4)),
        ("/priority", json!("P1")),
        ("/file", json!(" ")),
        ("/title", json!(["x"])),
    ] {
        let json = contract("resolved", "FAIL", &[with(issue(), pointer, wrong)]);
        assert_eq!(outcome(1, &json), Err(says("invalid format")), "{json}");
    }
    let json = contract("resolved", "FAIL", &[with(issue(), "/priority", json!(null))]);
    assert_eq!(outcome(1, &json), Ok((Verdict::Fail, 1)), "a priority may be null");
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
fn a_pass_in_the_older_shape_is_everybodys() {
    let pass = || first("complete", json!("PASS"), &[]);
    let entry = json!({"verdict": "PASS", "summary": "", "findings": []});
    for (pointer, wrong, why) in [
        (
            "/parse_errors",
            json!([{"reviewer": "gemini", "error": "no JSON"}]),
            "invalid verdict: PASS though gemini: no JSON",
        ),
        (
            "/reviewers/codex/findings",
            json!([first_finding()]),
            "invalid verdict: PASS though codex names findings",
        ),
        ("/parse_errors", json!("boom"), "invalid format"),
        (
            "/reviewers/codex/verdict",
            json!("ERROR"),
            "invalid verdict: PASS though codex says: ERROR",
        ),
        ("/reviewers/codex", json!({"verdict": "PASS"}), "missing field: summary"),
        (
            "/reviewers",
            json!({ "other": entry }),
            "invalid verdict: PASS though codex was started and says nothing",
        ),
    ] {
        let json = with(pass(), pointer, wrong);
        assert_eq!(outcome(0, &json), Err(says(why)), "{json}");
    }
}

fn state_of(code: i32, json: &Value) -> Result<GateState, ReviewerFailure> {
    match read(code, &json.to_string())? {
        GateAnswer::State(state) => Ok(state),
        GateAnswer::Panel(word) => panic!("{word:?}"),
    }
}

#[test]
fn the_newer_shape_tells_how_the_gate_stands() {
    let state = |status: &str, verdict: Value| json!({"schema_version": 1, "run_key": RUN, "status": status, "verdict": verdict});
    let is = |verdict| Ok((verdict, String::new(), None));
    let rows = [
        (0, state("resolved", json!("pass")), is(Some(Verdict::Pass))),
        (0, state("resolved", json!("needs_work")), is(Some(Verdict::NeedsWork))),
        (0, state("resolved", json!("requires_decision")), is(None)),
        (0, state("resolved", json!(null)), Err(says("missing field: verdict"))),
        (0, state("resolved", json!("fine")), Err(says("invalid verdict: fine"))),
        (0, state("pending", json!(null)), Err(ReviewerFailure::timeout())),
        (1, state("resolved", json!("pass")), Err(says("invalid verdict: exit 1 with resolved"))),
        (
            0,
            with(state("resolved", json!("pass")), "/run_key", json!("another")),
            Err(says("the gate answers for another run")),
        ),
        (
            0,
            json!({"status": "no_active_gate"}),
            Err(ReviewerFailure::Unavailable("no active gate".into())),
        ),
    ];
    for (code, json, expected) in rows {
        let state = state_of(code, &json).map(|it| (it.verdict, it.reason, it.iteration));
        assert_eq!(state, expected, "{code} {json}");
    }
    let json = with(state("resolved", json!("pass")), "/current_iteration", json!(3));
    assert_eq!(state_of(0, &json).unwrap().iteration, Some(3));
    let json = with(json, "/current_iteration", json!("3"));
    assert_eq!(state_of(0, &json), Err(says("invalid format")));
}

fn gate_state(verdict: Option<Verdict>, reason: &str) -> GateState {
    let reason = reason.to_owned();
    GateState { verdict, reason, iteration: Some(1), told: JsonObject::new() }
}

fn round(opinions: &[ReviewerFile]) -> GateRound {
    GateRound { iteration: Some(1), opinions: opinions.to_vec() }
}

fn file(reviewer: &str, text: Option<Value>) -> ReviewerFile {
    ReviewerFile { reviewer: reviewer.to_owned(), text: text.map(|text| text.to_string()) }
}

#[test]
fn the_newer_shape_passes_only_with_all_of_its_reviewers_files() {
    let state = |verdict| gate_state(verdict, "two against one");
    let words = StartedSession::default();
    let pass = || json!({"verdict": "PASS", "summary": "", "findings": []});
    let fail = || {
        json!({"verdict": "FAIL", "summary": "", "findings": [
        {"file_path": "a.py", "line_start": 2, "line_end": 2, "priority": 0, "title": "T", "body": "B", "confidence": 0.9}]})
    };
    let heard = |verdict, opinions: &[ReviewerFile]| {
        let word = panel(&state(verdict), &round(opinions), &words)?;
        Ok::<_, ReviewerFailure>((word.verdict, word.claims.len()))
    };
    let good = file("codex#1", Some(pass()));
    let passes = |others: &[ReviewerFile]| heard(Some(Verdict::Pass), others);
    assert_eq!(passes(std::slice::from_ref(&good)), Ok((Verdict::Pass, 0)));
    for (bad, why) in [
        (vec![], "PASS without reviewers"),
        (vec![file("codex#1", None)], "PASS though codex#1 says: its output is missing"),
        (
            vec![good.clone(), file("g", Some(json!({})))],
            "PASS though g says: missing field: verdict",
        ),
        (vec![good.clone(), file("g", Some(fail()))], "PASS with findings"),
    ] {
        assert_eq!(passes(&bad), Err(says(&format!("invalid verdict: {why}"))), "{bad:?}");
    }
    let empty = "invalid verdict: requires_decision without reviewers";
    assert_eq!(heard(None, &[]), Err(says(empty)));
    let bad = [good.clone(), file("gemini#1", Some(fail()))];
    assert_eq!(heard(Some(Verdict::Fail), &bad), Ok((Verdict::Fail, 1)));
    assert_eq!(
        heard(Some(Verdict::Fail), &[good]),
        Err(says("invalid verdict: FAIL without findings"))
    );
    let word = panel(&state(None), &round(&bad), &words).unwrap();
    assert_eq!((word.verdict, word.decision.as_deref()), (Verdict::Fail, Some("two against one")));
    assert_eq!(word.account, GateAccount::Nothing("the gate came to no verdict".to_owned()));
    assert_eq!(word.claims[0].candidate.reviewer, "gemini#1");
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

fn heard(json: &Value) -> Opinion {
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
    let opinion = heard(&contract("resolved", "FAIL", &[issue()]));
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
        let error = no_vote(heard(&contract("resolved", "FAIL", &[off.clone()])), &change());
        let error = error.unwrap_or_default();
        assert!(error.starts_with("it says FAIL for a finding that cannot be placed: "), "{off}");
        // What is left is to say as much as what is lost.
        for (priority, is_vote) in [(0, true), (1, true), (2, false), (3, false)] {
            let left = with(issue(), "/priority", json!(priority));
            let opinion = heard(&contract("resolved", "FAIL", &[left, off.clone()]));
            assert_eq!(no_vote(opinion, &change()).is_none(), is_vote, "{off} {priority}");
        }
    }
}

#[test]
fn a_decision_that_a_person_is_to_make_blocks() {
    let pass = json!({"verdict": "requires_decision", "findings": []});
    let round = round(&[file("codex#1", Some(pass))]);
    let word = panel(&gate_state(None, ""), &round, &StartedSession::default()).unwrap();
    let opinion = opinion("cerberus", word, &change());
    let claim = &opinion.claims[0];
    assert_eq!((claim.priority, claim.span), (Some(Priority::P1), LineSpan::line(2)));
    assert_eq!(claim.file, FilePath::from("a.py"));
    assert_eq!(claim.verification.outcome, VerificationOutcome::Verified);
}

#[test]
fn what_spawn_prints() {
    let spawned = |code, stdout: &str, stderr: &str| started(&CommandEnd { code, stdout, stderr });
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
        waited(&CommandEnd { code: Some(0), stdout, stderr: "" }, started, RUN).map(|_| ())
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
fn whoever_was_started_is_to_be_heard() {
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
        (
            with(
                older(),
                "/reviewers/gemini",
                json!({"verdict": "ERROR", "summary": "no key", "findings": []}),
            ),
            "gemini says: no key",
        ),
    ] {
        assert_eq!(account(&json), GateAccount::Nothing(why.to_owned()), "{json}");
    }
    let word = PanelWord {
        account: GateAccount::Nothing("x".to_owned()),
        ..PanelWord::whole(Verdict::Fail)
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

#[test]
fn the_files_are_those_of_the_state() {
    let pass = || file("codex#1", Some(json!({"verdict": "pass", "findings": []})));
    let state = |iteration, told: Value| GateState {
        iteration,
        told: told.as_object().unwrap().clone(),
        ..gate_state(Some(Verdict::Pass), "")
    };
    let heard = |state: &GateState, reviewers: &[&str]| {
        let reviewers = reviewers.iter().map(|name| (*name).to_owned()).collect();
        panel(state, &round(&[pass()]), &StartedSession { key: None, reviewers })
            .map(|word| word.verdict)
    };
    assert_eq!(heard(&state(None, json!({})), &["codex"]), Ok(Verdict::Pass));
    let rows: [(GateState, &[&str], &str); 5] = [
        (state(Some(2), json!({})), &[], "iteration 2, and what its reviewers said is of 1"),
        (
            state(None, json!({})),
            &["codex", "gemini"],
            "PASS though gemini was started and says nothing",
        ),
        (state(None, json!({"issues": [{}]})), &[], "PASS though the gate names issues"),
        (
            state(None, json!({"parse_errors": ["x"]})),
            &[],
            "PASS though the gate names parse_errors",
        ),
        (
            state(None, json!({"reviewers": {"gemini": {"verdict": "fail"}}})),
            &[],
            "PASS though gemini names verdict",
        ),
    ];
    for (state, started, why) in rows {
        assert_eq!(heard(&state, started), Err(says(&format!("invalid verdict: {why}"))));
    }
}

#[test]
fn a_decision_has_a_place_wherever_there_is_one() {
    let gone = "diff --git a/a.py b/a.py\ndeleted file mode 100644\n--- a/a.py\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-x = 1\n";
    let change = Change { files: parse(gone.as_bytes()).unwrap() };
    let small = json!({"verdict": "FAIL", "findings": [first_finding()]});
    let round = round(&[file("codex#1", Some(small))]);
    let word = panel(&gate_state(None, ""), &round, &StartedSession::default()).unwrap();
    let opinion = opinion("cerberus", word, &change);
    assert_eq!(opinion.claims.len(), 2);
    let error = no_vote(Opinion { accounted: Vec::new(), ..opinion }, &change);
    assert_eq!(error, None);
}
