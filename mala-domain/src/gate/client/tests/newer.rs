//! The newer shape: it prints how the gate stands, and its reviewers write files.

use super::*;

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
