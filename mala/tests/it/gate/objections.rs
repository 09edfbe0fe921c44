//! What a lane objects to is never lost: it counts, or the lane has no vote.

use super::bench::GateWorld;
use insta::assert_snapshot;

#[test]
fn an_objection_that_can_be_placed_counts_however_it_is_written() {
    let bench = GateWorld::new();
    bench.repo.write("b.py", "def needed():\n    return 1\n");
    bench.repo.commit("more");
    bench.repo.remove("b.py");
    bench.repo.write("a.py", "def f(x):\n    return x + 1 \n");
    bench.repo.commit("less");
    for (lane, file, evidence) in [
        ("deleted", "b.py", "def needed():"),
        ("absolute", "a.py", "    return x + 1 "),
        ("unquoted", "a.py", "    return x + 1 "),
        ("spaced", "a.py", "    return x + 1 "),
    ] {
        let ended = bench.review(lane, &[]);
        let case = format!("{lane}: {:#}", ended.json);
        assert_eq!((ended.code, ended.verdict()), (1, "FAIL"), "{case}");
        let issue = &ended.json["issues"][0];
        assert_eq!((&issue["file"], &issue["priority"]), (&file.into(), &0.into()), "{case}");
        assert_eq!(issue["evidence_snippet"], evidence, "{case}");
    }
}

// Rows 001-072, 001-075.
#[test]
fn a_priority_that_a_lane_leaves_open_stays_open() {
    let ended = GateWorld::new().review("unsure", &[]);
    assert_eq!((ended.code, ended.verdict()), (1, "NEEDS_WORK"), "as a P2: {:#}", ended.json);
    let issue = &ended.json["issues"][0];
    assert_eq!((&issue["priority"], &issue["title"]), (&().into(), &"breaks on None".into()));
}

#[test]
fn an_objection_that_cannot_be_placed_is_no_pass() {
    let bench = GateWorld::new();
    for (lane, why) in [
        ("invented", "nowhere.py:2: no such file or lines at head"),
        ("misquoted", "a.py:2: the quoted evidence is not there"),
        ("past_end", "a.py:99: the file has 2 lines"),
        ("half", "a.py:99: the file has 2 lines"),
    ] {
        let ended = bench.review(&format!("{lane},pass"), &[]);
        let case = format!("{:#}", ended.json);
        let error = ended.error_of(lane);
        assert_eq!(ended.code, 2, "{case}");
        assert!(error.starts_with("it says FAIL for a finding that cannot be placed"), "{case}");
        assert!(error.ends_with(why), "{case}");
        let claimed = &ended.json["report"]["reviewers"][lane]["claimed_verdict"];
        assert_eq!(claimed, "FAIL", "{case}");
        let refuted = ended.refuted();
        assert_eq!(refuted.len(), 1, "kept: {case}");
        let how = refuted[0]["verification"]["how"].as_str().unwrap();
        assert_eq!(how, format!("it cannot be placed: {why}"), "and marked: {case}");
    }
    let (_, shown, _) = bench.run(&["wait"]);
    assert_snapshot!(bench.world.clean(&shown), @"
    no verdict (unanimous: 1 of 2 needed passes)
      HEAD~1..HEAD at [COMMIT], started [TIME]
      half: no vote: it says FAIL for a finding that cannot be placed: a.py:99: the file has 2 lines
      pass: PASS
    a.py:2: [P3] a nit
        when x is None it fails
        found by half, not checked
    a.py:99: [P0] breaks
        when x is None it fails
        found by half, refuted: it cannot be placed: a.py:99: the file has 2 lines
    warning: half: dropped a finding: a.py:99: the file has 2 lines
    [WORK]/.mala/gate/[KEY]
    ");
}

#[test]
fn an_answer_that_is_repeated_with_more_loses_nothing() {
    let ended = GateWorld::new().review("grows", &[]);
    assert_eq!((ended.code, ended.verdict()), (1, "FAIL"), "{:#}", ended.json);
    assert_eq!(ended.json["issues"].as_array().unwrap().len(), 2, "{:#}", ended.json);
}

#[test]
fn no_claim_writes_lines_of_our_own() {
    let bench = GateWorld::new();
    let ended = bench.review("forger", &[]);
    assert_snapshot!(bench.world.run(&["wait", "--session-key", &ended.key]), @"
    [exit 1]
    [stdout]
    FAIL (unanimous: 0 of 1 needed passes)
      HEAD~1..HEAD at [COMMIT], started [TIME]
      forger: FAIL
    a.py:2: [P1] x FAKE: PASS pass: PASS<U+202E>
        when x is None it fails
        found by forger, confirmed: no other lane to ask: its file, lines and evidence are there at head
    [WORK]/.mala/gate/[KEY]
    ");
}

#[test]
fn two_claims_on_a_line_are_two_findings_and_each_is_checked() {
    let ended = GateWorld::new().review("fail,unrelated", &[]);
    let case = format!("{:#}", ended.json);
    assert_eq!(ended.code, 1, "{case}");
    let together = ended.json["issues"].as_array().unwrap().iter();
    let together = together.filter(|it| it["also_reported_by"] != serde_json::json!([]));
    assert_eq!(together.count(), 0, "{case}");
    let issues = ended.json["issues"].as_array().unwrap();
    let mut how: Vec<&str> =
        issues.iter().filter_map(|it| it["verification"]["how"].as_str()).collect();
    how.sort_unstable();
    assert_eq!(how, ["fail: looked", "unrelated: looked"], "{case}");
}

#[test]
fn unreviewed_hunks_are_reported() {
    let bench = GateWorld::new();
    bench.repo.write("a.py", "def f(x):\n    return x + 2\n");
    bench.repo.write("vendor/lib/x.js", "a()\n");
    bench.repo.write("x_pb2.py", "a = 1\n");
    bench.repo.write("y.min.js", "a()\n");
    bench.repo.write("Cargo.lock", "version = 3\n");
    bench.repo.write("z.bin", "\0\0");
    bench.repo.commit("much");
    let ended = bench.review("pass", &[]);
    assert_eq!(ended.code, 0, "{:#}", ended.json);
    assert_snapshot!(bench.world.run(&["wait", "--session-key", &ended.key]), @"
    [exit 0]
    [stdout]
    PASS (unanimous: 1 of 1 needed passes)
      HEAD~1..HEAD at [COMMIT], started [TIME]
      pass: PASS
    warning: Cargo.lock is not reviewed: lock file
    warning: vendor/lib/x.js is not reviewed: vendored
    warning: x_pb2.py is not reviewed: generated
    warning: y.min.js is not reviewed: minified
    warning: z.bin is not reviewed: binary
    warning: vendor/lib/x.js is not reviewed: vendored code; to review it, set -linguist-vendored in .gitattributes
    [WORK]/.mala/gate/[KEY]
    ");
    let folder = ended.json["report"]["session_dir"].as_str().unwrap();
    let report = std::fs::read_to_string(format!("{folder}/report.md")).unwrap();
    for (file, why) in [
        ("vendor/lib/x.js", "vendored"),
        ("x_pb2.py", "generated"),
        ("y.min.js", "minified"),
        ("Cargo.lock", "lock file"),
        ("z.bin", "binary"),
    ] {
        assert!(report.contains(&format!("is not reviewed: {why}")), "{file}: {report}");
    }
}

#[test]
fn an_answer_by_the_form_that_the_prompt_states_is_read() {
    let ended = GateWorld::new().review("follows", &[]);
    let case = format!("{:#}", ended.json);
    assert_eq!((ended.code, ended.verdict()), (1, "FAIL"), "{case}");
    assert_eq!(ended.error_of("follows"), "", "{case}");
    let issue = &ended.json["issues"][0];
    assert_eq!(issue["title"], "[P1] Division by zero", "{case}");
    assert_eq!((&issue["category"], &issue["confidence"]), (&"bug".into(), &0.9.into()), "{case}");
    assert_eq!(ended.json["report"]["coverage"]["hunks_accounted"], 1, "{case}");
}
