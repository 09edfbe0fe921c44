//! What our own gate prints, whole and with one thing changed: it is believed only when all of it fits
//! together.

use super::*;
use crate::finding::Finding;
use crate::gate::session::SessionState;
use crate::render::gate::{GateResultJson, GateReviewerJson, PanelVerdict, SessionFacts, status};
use crate::review::consensus::{VoteStatus, by_rule};
use crate::scope::HeadState;
use crate::verdict::{NotReviewedReason, Outcome};

fn finding(reviewer: &str, priority: u32) -> Finding {
    let issue = with(issue(), "/priority", json!(priority));
    let json = contract("resolved", "FAIL", &[with(issue, "/reviewer", json!(reviewer))]);
    let Ok(GateAnswer::Panel(word)) = read(1, &json.to_string()) else { panic!("{json}") };
    let claims = word.claims.into_iter().map(|claim| claim.candidate).collect();
    admit(claims, &change(), &FileTexts::default(), &Nowhere).findings.remove(0)
}

fn lane(verdict: Option<Verdict>, issues: Vec<Finding>) -> GateReviewerJson {
    GateReviewerJson {
        verdict,
        summary: String::new(),
        issues,
        error: verdict.is_none().then(|| "no answer".to_owned()),
    }
}

/// A lane and its verdict.
type LaneVerdict = (&'static str, Option<Verdict>);

/// What our gate makes of lanes with these verdicts. One that objects has a finding of its own.
fn decided(rule: ConsensusRule, lanes: &[LaneVerdict]) -> Value {
    let lanes = lanes.iter().map(|(name, verdict)| {
        let own = match verdict {
            Some(Verdict::Fail) => vec![finding(name, 1)],
            Some(Verdict::NeedsWork) => vec![finding(name, 3)],
            _ => Vec::new(),
        };
        ((*name).to_owned(), lane(*verdict, own))
    });
    let mut waited = GateResultJson::of(&SessionState::Dead, &SessionFacts::default());
    waited.reviewers = lanes.collect();
    let vote = |lane: &GateReviewerJson| match lane.verdict {
        Some(Verdict::Pass) => VoteStatus::Passes,
        Some(verdict) => VoteStatus::Objects(verdict),
        None => VoteStatus::Absent(NotReviewedReason::Incomplete),
    };
    let decision = by_rule(rule, &waited.reviewers.values().map(vote).collect::<Vec<_>>());
    waited.status = status(decision.outcome);
    waited.consensus.verdict = PanelVerdict::from(decision.verdict);
    waited.consensus.rule = rule;
    waited.consensus.passes = decision.passes;
    waited.consensus.needed = decision.needed;
    waited.parse_errors = Vec::new();
    waited.report.not_reviewed = match decision.outcome {
        Outcome::CouldNotReview(obstacle) => Some(obstacle),
        _ => None,
    };
    waited.issues = waited.reviewers.values().flat_map(|lane| lane.issues.clone()).collect();
    waited.report.session_key = Some("k".to_owned());
    waited.report.scope = Some(ScopeSummary {
        repository: None,
        target: String::new(),
        base: None,
        head: HeadState::Commit("b".to_owned()),
        diff_hash: String::new(),
        files: 1,
        hunks: 1,
        lines: Default::default(),
    });
    serde_json::to_value(waited).unwrap()
}

/// The same with a pass in all places that say what was decided.
fn forged(mut json: Value) -> Value {
    json["consensus"]["verdict"] = json!("PASS");
    json["consensus"]["passes"] = json["consensus"]["needed"].clone();
    json
}

const PASS: Option<Verdict> = Some(Verdict::Pass);
const FAIL: Option<Verdict> = Some(Verdict::Fail);
const NEEDS: Option<Verdict> = Some(Verdict::NeedsWork);

#[test]
fn what_our_gate_says_is_believed() {
    use ConsensusRule::{Any, Majority, Unanimous};
    let files = || GateAccount::Files(Vec::new());
    let few = |words: &str| GateAccount::Nothing(words.to_owned());
    let rows: [(ConsensusRule, &[LaneVerdict], Verdict, GateAccount); 8] = [
        (Unanimous, &[("codex", PASS)], Verdict::Pass, files()),
        (Unanimous, &[("codex", FAIL), ("b", PASS)], Verdict::Fail, files()),
        (
            Unanimous,
            &[("codex", NEEDS), ("b", None)],
            Verdict::NeedsWork,
            few("1 gave a verdict, and unanimous needs 2"),
        ),
        (Majority, &[("codex", PASS), ("b", PASS), ("c", FAIL)], Verdict::Pass, files()),
        (Majority, &[("codex", PASS), ("b", NEEDS), ("c", None)], Verdict::NeedsWork, files()),
        (
            Majority,
            &[("codex", NEEDS), ("b", None), ("c", None)],
            Verdict::NeedsWork,
            few("1 gave a verdict, and majority needs 2"),
        ),
        (Any, &[("codex", PASS), ("b", None)], Verdict::Pass, files()),
        (Any, &[("codex", NEEDS), ("b", None)], Verdict::NeedsWork, files()),
    ];
    for (rule, lanes, verdict, account) in rows {
        let json = decided(rule, lanes);
        let code = i32::from(verdict != Verdict::Pass);
        let Ok(GateAnswer::Panel(word)) = read(code, &json.to_string()) else {
            panic!("{lanes:?} {:?}", read(code, &json.to_string()))
        };
        assert_eq!((word.verdict, word.account), (verdict, account), "{rule} {lanes:?}");
    }
}

#[test]
fn what_does_not_fit_together_is_not() {
    use ConsensusRule::{Majority, Unanimous};
    let pass = || decided(Unanimous, &[("codex", PASS)]);
    let fail = || decided(Unanimous, &[("codex", FAIL), ("b", PASS)]);
    let split = || decided(Majority, &[("codex", PASS), ("b", PASS), ("c", FAIL)]);
    let another = serde_json::to_value(finding("codex", 0)).unwrap();
    for (json, why) in [
        (
            with(pass(), "/report/session_key", json!("other")),
            "the gate answers for another session",
        ),
        (with(pass(), "/report/scope", json!(null)), "missing field: scope"),
        (
            with(fail(), "/consensus/verdict", json!("PASS")),
            "invalid verdict: exit 0 with Resolved Pass",
        ),
        (forged(fail()), "invalid verdict: PASS with findings"),
        (
            with(forged(fail()), "/issues", json!([])),
            "invalid verdict: PASS though codex says: FAIL",
        ),
        (
            with(split(), "/reviewers/b/verdict", json!("FAIL")),
            "invalid verdict: b says FAIL, its issues PASS",
        ),
        (
            with(split(), "/reviewers/c/verdict", json!("PASS")),
            "invalid verdict: c says PASS, its issues FAIL",
        ),
        (
            with(split(), "/reviewers/b", split()["reviewers"]["c"].clone()),
            "invalid verdict: PASS, which by majority does not follow from the votes",
        ),
        (
            with(split(), "/issues", json!([])),
            "invalid verdict: c names a.py:2, and the panel does not",
        ),
        (
            with(fail(), "/issues/0/verification/outcome", json!("refuted")),
            "invalid verdict: codex names a.py:2, and the panel does not",
        ),
        (
            with(with(fail(), "/issues/0/priority", json!(3)), "/issues/0/severity", json!("low")),
            "invalid verdict: codex names a.py:2, and the panel does not",
        ),
        (
            with(fail(), "/reviewers/codex/issues/0/verification/outcome", json!("refuted")),
            "invalid verdict: FAIL, which by unanimous does not follow from the votes",
        ),
        (
            with(pass(), "/reviewers/codex/issues", json!([another])),
            "invalid verdict: codex says PASS, its issues FAIL",
        ),
        (
            with(pass(), "/reviewers", json!({"b": pass()["reviewers"]["codex"]})),
            "invalid verdict: PASS though codex was started and says nothing",
        ),
    ] {
        let code = i32::from(json["consensus"]["verdict"] != "PASS");
        assert_eq!(outcome(code, &json), Err(says(why)), "{why}");
    }
}
