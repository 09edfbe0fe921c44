//! Who may check what a lane claims, and that every claim that blocks is checked.

use super::bench::{GateWorld, Verdict};
use insta::assert_snapshot;

/// How each issue was checked.
fn how(ended: &Verdict) -> Vec<&str> {
    let issues = ended.json["issues"].as_array().unwrap();
    issues.iter().map(|issue| issue["verification"]["how"].as_str().unwrap_or_default()).collect()
}

#[test]
fn a_lane_without_a_vote_refutes_nothing() {
    let bench = GateWorld::new();
    for (lanes, rule, checked) in [
        ("fail,lazy_refuter", "any", "no other lane to ask"),
        ("fail,lost_refuter", "any", "no other lane to ask"),
        ("fail,prose", "any", "no other lane to ask"),
        ("lazy_refuter,pass,fail", "majority", "pass: looked"),
        ("lost_refuter,pass,fail", "majority", "pass: looked"),
    ] {
        let ended = bench.review(lanes, &["--consensus", rule]);
        let case = format!("{lanes}: {:#}", ended.json);
        assert_eq!((ended.code, ended.verdict()), (1, "FAIL"), "{case}");
        let all = how(&ended);
        assert!(all.iter().any(|how| how.starts_with(checked)), "{case}");
    }
}

#[test]
fn one_that_writes_while_it_checks_refutes_nothing_and_is_named() {
    let ended = GateWorld::new().review("fail,writing_refuter", &["--consensus", "any"]);
    let case = format!("{:#}", ended.json);
    assert_eq!(how(&ended), ["not checked: writing_refuter wrote to the tree"], "{case}");
    assert_snapshot!(ended.json["report"]["warnings"], @r#"["writing_refuter: wrote new.py","1 blocking finding is not checked: writing_refuter wrote to the tree"]"#);
}

#[test]
fn where_one_lane_gives_no_answer_the_next_is_asked() {
    let bench = GateWorld::new();
    for first in ["writing_refuter", "mute_refuter"] {
        let ended = bench.review(&format!("{first},fail,pass,fail2"), &[]);
        let case = format!("{first}: {:#}", ended.json);
        assert_eq!((ended.code, how(&ended)), (1, vec!["found by fail and fail2"]), "{case}");
        let ended = bench.review(&format!("{first},fail,pass"), &[]);
        let case = format!("{first}: {:#}", ended.json);
        assert_eq!((ended.code, how(&ended)), (1, vec!["pass: looked"]), "{case}");
        assert!(!ended.json["report"]["warnings"].to_string().contains("not checked"), "{case}");
    }
}

#[test]
fn every_claim_that_blocks_is_checked() {
    let bench = GateWorld::new();
    let ended = bench.review("many,refuter", &[]);
    let case = format!("{:#}", ended.json);
    assert_eq!((ended.code, ended.verdict()), (0, "PASS"), "{case}");
    assert_eq!(ended.refuted().len(), 35, "{case}");
    assert_eq!(ended.json["report"]["warnings"], serde_json::json!([]), "{case}");
    let folder = std::path::Path::new(ended.json["report"]["session_dir"].as_str().unwrap());
    assert!(folder.join("lanes/refuter/check/answer.json").is_file());
    assert!(folder.join("lanes/refuter/check-2/answer.json").is_file());
}

#[test]
fn what_there_is_no_time_to_check_blocks_and_says_so() {
    let bench = GateWorld::new();
    let ended = bench.review("many,slow_refuter", &["--timeout", "8"]);
    let case = format!("{:#}", ended.json);
    assert_eq!((ended.code, ended.verdict()), (1, "FAIL"), "{case}");
    assert_eq!(ended.refuted().len(), 30, "{case}");
    assert_eq!(how(&ended).len(), 5, "{case}");
    let why = "not checked: slow_refuter: no answer within";
    assert!(how(&ended).iter().all(|how| how.starts_with(why)), "{case}");
    let warnings = ended.json["report"]["warnings"].to_string();
    assert!(warnings.contains("5 blocking findings are not checked: slow_refuter"), "{case}");
    ended.assert_nothing_left();
}

#[test]
fn what_the_file_refutes_takes_nothing_else_along() {
    let bench = GateWorld::new();
    let ended = bench.review("absent,absent_if", &[]);
    let case = format!("{:#}", ended.json);
    assert_eq!((ended.code, ended.verdict()), (1, "FAIL"), "{case}");
    let refuted = ended.refuted();
    assert_eq!(refuted[0]["verification"]["how"], "`f` is there: line 1", "{case}");
    assert_eq!(refuted[0]["reviewer"], "absent", "{case}");
    assert_eq!(ended.json["issues"][0]["reviewer"], "absent_if", "{case}");
}
