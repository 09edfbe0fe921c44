//! Every exit code, with one, two and three lanes, by every rule.

use super::bench::GateWorld;
use insta::assert_snapshot;

/// The lanes, then the exit codes by unanimous, majority, any and quorum:2.
const TABLE: [(&str, [i32; 4]); 17] = [
    ("pass", [0, 0, 0, 4]),
    ("fail", [1, 1, 1, 1]),
    ("needs", [1, 1, 1, 1]),
    ("prose", [2, 2, 2, 2]),
    ("never", [3, 3, 3, 3]),
    ("missing", [4, 4, 4, 4]),
    ("pass,pass2", [0, 0, 0, 0]),
    ("pass,fail", [1, 1, 0, 1]),
    ("pass,prose", [2, 2, 0, 2]),
    ("pass,never", [3, 3, 0, 3]),
    ("pass,missing", [4, 4, 0, 4]),
    ("fail,prose", [1, 1, 1, 1]),
    ("pass,pass2,pass3", [0, 0, 0, 0]),
    ("pass,pass2,fail", [1, 0, 0, 0]),
    ("pass,pass2,prose", [2, 0, 0, 0]),
    ("pass,fail,never", [1, 1, 0, 1]),
    ("pass,prose,never", [2, 2, 0, 2]),
];

const RULES: [&str; 4] = ["unanimous", "majority", "any", "quorum:2"];

// Rows 001-002, 001-010, 001-023, 001-043, 001-045, 001-046, 001-047, 001-048, 001-050,
// 001-051, 001-053, 001-076, 001-077, 001-079, 001-082, 001-149.
#[test]
fn every_exit_code_by_every_rule() {
    let bench = GateWorld::new();
    let next = std::sync::atomic::AtomicUsize::new(0);
    let rows: Vec<(&str, &str, i32)> = TABLE
        .iter()
        .flat_map(|(lanes, codes)| {
            RULES.iter().zip(codes).map(move |(rule, code)| (*lanes, *rule, *code))
        })
        .collect();
    // Side by side, in one repository: sessions do not know of each other.
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some((lanes, rule, code)) = rows.get(at).copied() else { return };
                    let args = ["--lanes", lanes, "--consensus", rule, "--timeout", "2"];
                    let spawned = bench.spawn_apart(&args);
                    let ended = bench.wait(spawned["session_key"].as_str().unwrap());
                    let case = format!("{lanes} by {rule}: {:#}", ended.json);
                    assert_eq!(ended.code, code, "{case}");
                    let (status, verdict) = match code {
                        0 => ("resolved", "PASS"),
                        1 if lanes.contains("needs") => ("resolved", "NEEDS_WORK"),
                        1 => ("resolved", "FAIL"),
                        3 => ("timeout", "no_reviewers"),
                        _ => ("error", "no_reviewers"),
                    };
                    assert_eq!(ended.json["status"], status, "{case}");
                    assert_eq!(ended.verdict(), verdict, "{case}");
                    assert_eq!(ended.json["consensus"]["rule"], rule, "{case}");
                    if lanes != "missing" {
                        assert_eq!(
                            ended.json["reviewers"].as_object().unwrap().len(),
                            lanes.split(',').count(),
                            "{case}"
                        );
                    }
                    ended.assert_nothing_left();
                }
            });
        }
    });
}

// Rows 001-049, 001-052, 001-056, 001-060, 001-068, 001-069, 001-070, 001-071, 001-073,
// 001-074.
#[test]
fn the_json_has_all_fields_of_the_contract() {
    let ended = GateWorld::new().review("fail,fail2", &[]);
    assert_eq!(ended.code, 1);
    let json = &ended.json;
    assert_eq!((&json["schema_version"], &json["status"]), (&1.into(), &"resolved".into()));
    assert_eq!(json["consensus"]["iteration"], 1);
    for lane in ["fail", "fail2"] {
        let lane = &json["reviewers"][lane];
        assert_eq!(lane["verdict"], "FAIL");
        assert!(lane["summary"].is_string() && lane["error"].is_null());
        assert_eq!(lane["issues"].as_array().unwrap().len(), 1);
    }
    let issues = json["issues"].as_array().unwrap();
    assert_eq!(issues.len(), 1, "what both say is there once");
    let issue = &issues[0];
    assert_eq!((&issue["file"], &issue["line_start"]), (&"a.py".into(), &2.into()));
    assert_eq!((&issue["line_end"], &issue["priority"]), (&2.into(), &1.into()));
    assert_eq!(issue["title"], "[P1] breaks on None");
    assert_eq!(issue["body"], "when x is None it fails");
    assert_eq!(
        (&issue["reviewer"], &issue["also_reported_by"][0]),
        (&"fail".into(), &"fail2".into())
    );
    assert_eq!(issue["verification"]["how"], "found by fail and fail2");
    assert_eq!(json["parse_errors"], serde_json::json!([]));
}

#[test]
fn a_panel_that_is_too_small_for_its_rule_says_so() {
    let ended = GateWorld::new().review("pass", &["--consensus", "quorum:2"]);
    assert_eq!(ended.code, 4, "{:#}", ended.json);
    let errors = serde_json::json!(["quorum:2 needs 2 passes, and the panel has 1"]);
    assert_eq!(ended.json["parse_errors"], errors);
}

#[test]
fn a_blocking_finding_is_checked_by_a_lane_that_did_not_make_it() {
    let bench = GateWorld::new();
    let ended = bench.review("fail,pass", &[]);
    assert_eq!((ended.code, ended.verdict()), (1, "FAIL"));
    assert_eq!(ended.json["issues"][0]["verification"]["how"], "pass: looked");
    let check = &ended.json["report"]["checks"][0];
    assert_eq!((&check["found_by"][0], &check["checked_by"]), (&"fail".into(), &"pass".into()));
    assert_eq!(check["outcome"], "verified");
    // 001-032: location, title, body and reviewers.
    let (_, shown, _) = bench.run(&["wait"]);
    assert_snapshot!(bench.world.clean(&shown), @"
    FAIL (unanimous: 1 of 2 needed passes)
      HEAD~1..HEAD at [COMMIT], started [TIME]
      fail: FAIL
      pass: PASS
    a.py:2: [P1] breaks on None
        when x is None it fails
        found by fail, confirmed by pass
    [WORK]/.mala/gate/[KEY]
    ");
}

/// 001-058
#[test]
fn an_objection_that_was_refuted_is_not_shown_as_a_pass() {
    let bench = GateWorld::new();
    let ended = bench.review("fail,refuter", &[]);
    assert_eq!((ended.code, ended.verdict()), (0, "PASS"), "{:#}", ended.json);
    let lane = &ended.json["reviewers"]["fail"];
    assert_eq!((&lane["verdict"], &lane["error"]), (&"FAIL".into(), &serde_json::Value::Null));
    let details = &ended.json["report"]["reviewers"]["fail"];
    assert_eq!(details["refuted_by"], serde_json::json!(["refuter"]));
    let (_, shown, _) = bench.run(&["wait"]);
    assert_snapshot!(bench.world.clean(&shown), @"
    PASS (unanimous: 2 of 2 needed passes)
      HEAD~1..HEAD at [COMMIT], started [TIME]
      fail: objected, refuted by refuter
      refuter: PASS
    a.py:2: [P1] breaks on None
        when x is None it fails
        found by fail, refuted by refuter
    [WORK]/.mala/gate/[KEY]
    ");
    let report = ended.json["report"]["session_dir"].as_str().unwrap().to_owned() + "/report.md";
    let report = std::fs::read_to_string(report).unwrap();
    assert_snapshot!(bench.world.clean(&report), @"
    ## mala: PASS

    **PASS (unanimous: 2 of 2 needed passes)**

    - fail: objected, refuted by refuter FAIL by [HOME]/bin/lane
    - refuter: PASS PASS by [HOME]/bin/lane

    ## Refuted

    ### `a.py`

    <details><summary><b>P1 high</b> &#91;P1&#93; breaks on None, line 2</summary>

    when x is None it fails

    ```python
        return x + 1
    ```

    <sub>`fail/bug` · bug · by fail · refuted by refuter: looked · confidence 0.70</sub>

    </details>

    ## Checks

    - a.py:2: found by fail, refuted by refuter
    ");
    assert_eq!(ended.json["issues"], serde_json::json!([]));
    let refuted = &ended.refuted()[0];
    assert_eq!(refuted["verification"]["how"], "refuter: looked");

    let ended = bench.review("fail", &[]);
    assert_eq!(ended.code, 1, "alone, it is checked by looking");
    let how = ended.json["issues"][0]["verification"]["how"].as_str().unwrap();
    assert!(how.starts_with("no other lane to ask"), "{how}");
}
