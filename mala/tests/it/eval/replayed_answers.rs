//! The starter cases with kept answers of a model: what merging, checks and the edit make of them. The answers
//! hang on the claims and not on the words of the prompts, so that both can be changed.

use super::*;
use mala_domain::agent::prompts;
use mala_testkit::model_server::{ModelAnswer, ModelRequest, ModelServer};
use std::path::PathBuf;

const ANSWERS: &str = include_str!("starter_answers.json");

/// The claims of all cases, by the case.
fn kept() -> serde_json::Map<String, Value> {
    serde_json::from_str(ANSWERS).unwrap()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn case_folder(case: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../eval/data/starter")).join(case)
}

/// The draft: the claims of the case whose title the request has.
fn draft(request: &ModelRequest) -> Value {
    let told = request.user_text();
    let is_told = |case: &str| {
        let text = std::fs::read_to_string(case_folder(case).join("case.json")).unwrap();
        let case: Value = serde_json::from_str(&text).unwrap();
        told.contains(case["pr_title"].as_str().unwrap())
    };
    let kept = kept();
    let (case, claims) = kept.iter().find(|(case, _)| is_told(case)).unwrap();
    let findings: Vec<Value> =
        claims.as_array().unwrap().iter().map(|claim| finding(case, claim)).collect();
    let worst = findings.iter().filter_map(|it| it["priority"].as_u64()).min();
    let verdict = if worst <= Some(1) { "FAIL" } else { "NEEDS_WORK" };
    json!({"verdict": verdict, "findings": findings})
}

/// A claim at the line that has its evidence.
fn finding(case: &str, claim: &Value) -> Value {
    let (file, evidence) = (text(claim, "file"), text(claim, "evidence"));
    let head = std::fs::read_to_string(case_folder(case).join("head").join(file)).unwrap();
    let line = head.lines().position(|line| line == evidence).unwrap_or_else(|| {
        panic!("{case}: {file} has no line {evidence}");
    }) + 1;
    let confidence = if claim["tier"] == "note" { 0.2 } else { 0.8 };
    json!({
        "file_path": file, "line_start": line, "line_end": line, "priority": claim["priority"],
        "title": format!("[P{}] {}", claim["priority"], text(claim, "title")),
        "body": claim["body"], "category": claim["category"], "when": "as said",
        "then": "as said", "evidence": evidence, "suggestion": "", "confidence": confidence,
    })
}

/// The claims that a request asks about: their ids, and what is kept of them.
fn asked(request: &ModelRequest) -> Vec<(String, Value)> {
    let told = request.user_text();
    let all: Vec<Value> =
        kept().values().flat_map(|claims| claims.as_array().unwrap().clone()).collect();
    let lines: Vec<&str> = told.lines().collect();
    let is_id = |id: &str| id.strip_prefix('c').is_some_and(|n| n.parse::<usize>().is_ok());
    lines
        .windows(2)
        .filter_map(|pair| {
            let (id, _) = pair[0].split_once(": ").filter(|(id, _)| is_id(id))?;
            let title = pair[1].strip_prefix("[P")?.get(3..)?;
            let claim = all.iter().find(|claim| text(claim, "title") == title);
            Some((id.to_owned(), claim.unwrap_or_else(|| panic!("{title}")).clone()))
        })
        .collect()
}

fn cause(claim: &Value) -> &str {
    text(claim, "cause")
}

fn worth(claim: &Value) -> u8 {
    if claim["tier"] == "note" { 10 } else { 80 }
}

fn answer(request: &ModelRequest) -> Value {
    let system = request.system();
    if system == prompts::SYSTEM {
        return draft(request);
    }
    let asked = asked(request);
    let first = |claim: &Value| asked.iter().find(|(_, it)| cause(it) == cause(claim)).unwrap();
    if system == prompts::VERIFY {
        let checks = asked.iter().map(|(id, claim)| {
            json!({"id": id, "outcome": claim["check"], "why": "kept", "worth": worth(claim),
                   "consequence": "", "priority": claim["priority"]})
        });
        json!({"checks": checks.collect::<Vec<_>>()})
    } else if system == prompts::SAME_CAUSE {
        let mut groups: Vec<Vec<&str>> = Vec::new();
        for (id, claim) in &asked {
            let start = first(claim).0.as_str();
            match groups.iter_mut().find(|group| group[0] == start) {
                Some(group) => group.push(id),
                None => groups.push(vec![id]),
            }
        }
        json!({"groups": groups})
    } else {
        let findings = asked.iter().map(|(id, claim)| {
            let same_as = Some(&first(claim).0).filter(|first| *first != id);
            json!({"id": id, "same_as": same_as, "title": claim["title"], "body": claim["body"],
                   "worth": worth(claim)})
        });
        json!({"findings": findings.collect::<Vec<_>>()})
    }
}

#[test]
fn the_kept_answers_keep_their_score_and_no_cause_is_reported_twice() {
    for (profile, least_f1) in [("lean", 0.85), ("standard", 0.95), ("thorough", 0.95)] {
        let server =
            ModelServer::new(|request| ModelAnswer::text(answer(request).to_string()).into());
        let world = super::agent::with_server(world(), &server);
        let args = ["--set", "starter", "--reviewer", "agent_sdk", "--model", "haiku"];
        let (code, result) = ran(&world, &[&args[..], &["--profile", profile]].concat());
        assert_eq!(code, 0, "{result:#}");
        assert_eq!(result["scores"]["cases"]["reviewed"], 12, "{result:#}");
        let rates = &result["scores"]["grouped"]["rates"];
        let f1 = rates["f1"].as_f64().unwrap_or_default();
        assert!(f1 >= least_f1, "{profile}: F1 is {f1}: {rates:#}");
        if profile != "lean" {
            let reported = rates["findings"].as_u64().unwrap_or_default();
            let kept = kept();
            let causes: std::collections::BTreeSet<(&str, &str)> = kept
                .iter()
                .flat_map(|(case, claims)| {
                    claims.as_array().unwrap().iter().map(move |it| (case, it))
                })
                .filter(|(_, claim)| claim["tier"] == "finding" && claim["check"] == "holds")
                .map(|(case, claim)| (case.as_str(), cause(claim)))
                .collect();
            // A built-in rule reports the shared default list, and a model does not repeat hints.
            let n_causes = u64::try_from(causes.len()).unwrap() + 1;
            assert_eq!(reported, n_causes, "one finding per cause");
        }
    }
}
