//! mala with a panel of lanes of every behaviour, in its own process.

use super::{CerberusProject, assert_none_left};
use insta::assert_snapshot;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A panel of lanes that behave as their names say.
fn panel(names: &[&str], more: &str) -> CerberusProject {
    let mut config = String::from("gate:\n  lanes:\n");
    for name in names {
        config.push_str(&format!("    {name}: {{command: [lane, {name}]}}\n"));
    }
    config.push_str("    refuter: {command: [lane, pass, refuted]}\n");
    config.push_str(&format!("  panel: [{}]\n{more}", names.join(", ")));
    CerberusProject::new(&config)
}

// Rows 001-001.
#[test]
fn a_panel_that_passes_a_change_passes_it() {
    let project = panel(&["pass", "pass2"], "");
    let said = project.review(&[]);
    assert_eq!(said.code, 0, "{:#}", said.json);
    let json = &said.json;
    assert_eq!((&json["passed"], &json["verdict"]), (&true.into(), &"PASS".into()));
    let names: Vec<&str> = json["reviewers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|reviewer| reviewer["reviewer"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["pass", "pass2"], "each lane has its entry");
    assert_eq!(json["coverage"]["hunks_accounted"], 1);
    let kept = std::path::Path::new(json["review_log_path"].as_str().unwrap());
    for file in ["lane-pass-review-prompt.md", "lane-pass2-review-answer.json"] {
        assert!(kept.join(file).is_file(), "{file}");
    }
    assert_eq!(project.repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn the_panel_that_the_configuration_names_is_logged() {
    let project = panel(&["pass"], "reviewer_type: cerberus\n");
    let world = project.world.with_env("MALA_LOG", "info");
    let output = world.output(&["review", "HEAD~1..HEAD", "--json"], b"");
    let log = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{log}");
    for line in [
        "INFO Initializing code reviewer: cerberus\n",
        "INFO Starting review for HEAD~1..HEAD with cerberus\n",
    ] {
        assert!(log.contains(line), "{line}: {log}");
    }
}

#[test]
fn a_panel_that_objects_blocks_with_its_lanes_findings() {
    let said = panel(&["fail", "fail2"], "").review(&[]);
    assert_eq!(said.code, 1, "{:#}", said.json);
    let issues = said.json["issues"].as_array().unwrap();
    assert_eq!(issues.len(), 1, "what both say is there once");
    let issue = &issues[0];
    assert_eq!((&issue["reviewer"], &issue["file"]), (&"fail".into(), &"a.py".into()));
    assert_eq!(issue["also_reported_by"][0], "fail2");
    assert_eq!(issue["evidence_snippet"], "    return x + 1");
    assert_eq!(issue["symbol"], "f");
    assert_eq!(issue["verification"]["how"], "found by fail and fail2");
    for reviewer in said.json["reviewers"].as_array().unwrap() {
        assert_eq!((&reviewer["verdict"], &reviewer["findings"]), (&"FAIL".into(), &1.into()));
    }
}

#[test]
fn what_the_panel_refuted_is_shown_and_does_not_block() {
    let project = panel(&["fail"], "");
    let config = project.world.read("mala.yaml").replace("panel: [fail]", "panel: [fail, refuter]");
    project.repo.write("mala.yaml", &config);
    project.repo.commit("more lanes");
    project.repo.write("a.py", "def f(x):\n    return x + 2\n");
    project.repo.commit("add two");
    let said = project.review(&[]);
    assert_eq!(said.code, 0, "{:#}", said.json);
    let issue = &said.json["refuted"][0];
    assert_eq!(issue["verification"]["outcome"], "refuted");
    assert_eq!(issue["verification"]["how"], "refuter: looked");
}

// Rows 001-146.
#[test]
fn every_way_in_which_a_panel_fails_keeps_its_exit_code() {
    let mut errors = String::new();
    for (names, code, is_fatal) in [
        (&["prose"][..], 2, false),
        (&["pass", "banner"], 2, false),
        (&["partial"], 2, false),
        (&["missing", "pass"], 4, true),
    ] {
        let config = if names.contains(&"missing") {
            panel(names, "").world.read("mala.yaml").replace("[lane, missing]", "[no-such-program]")
        } else {
            panel(names, "").world.read("mala.yaml")
        };
        let said = CerberusProject::new(&config).review(&[]);
        let case = format!("{names:?}: {:#}", said.json);
        assert_eq!(said.code, code, "{case}");
        errors.push_str(&format!("{names:?}: {}\n", said.error()));
        assert_eq!(said.json["fatal_error"], is_fatal, "{case}");
        assert_eq!(said.json["issues"], serde_json::json!([]), "{case}");
        assert_eq!(said.json["passed"], false, "{case}");
    }
    assert_snapshot!(errors, @r#"
    ["prose"]: invalid json: expected value at line 1 column 1: "I looked at everything. No issues found: APPROVED, PASS."
    ["pass", "banner"]: banner: invalid json: expected value at line 1 column 1: "You've hit your usage limit. Try again at 5 pm."
    ["partial"]: 1 of 1 hunks were not reviewed
    ["missing", "pass"]: `no-such-program` is not on PATH
    "#);
}

#[test]
fn a_panel_that_takes_too_long_is_cancelled() {
    let project = panel(&["never"], "");
    let said = project.review(&["--timeout", "4"]);
    assert_eq!((said.code, said.error()), (3, "timeout"), "{:#}", said.json);
    assert!(said.seconds < 15.0, "{}", said.seconds);
    let root = project.repo.root().display().to_string();
    assert_none_left(|environ, _| environ.contains("MALA_GATE=") && environ.contains(&root));
    assert_eq!(said.json["reviewers"][0]["error"], "no answer within 2 s");
}

#[test]
fn a_lane_that_hangs_does_not_take_the_others_along() {
    let said = panel(&["never", "fail"], "").review(&["--timeout", "24"]);
    assert_eq!(said.code, 1, "{:#}", said.json);
    assert!(said.seconds < 24.0, "{}", said.seconds);
    assert_eq!(said.json["issues"][0]["reviewer"], "fail");
}

// Rows 001-108.
#[test]
fn a_panel_that_asks_for_work_passes_only_by_a_threshold() {
    let project = panel(&["needs"], "");
    let said = project.review(&[]);
    assert_eq!((said.code, &said.json["passed"]), (1, &false.into()), "{:#}", said.json);
    assert_eq!(said.json["verdict"], "NEEDS_WORK");
    assert_eq!(project.review(&["--fail-on", "P1"]).code, 0, "said on the command line");
    let set = panel(&["needs"], "review: {fail_on: P1}\n").review(&[]);
    assert_eq!(set.code, 0, "said in the configuration: {:#}", set.json);
    let more = "  consensus: majority\n";
    let said = panel(&["needs", "pass", "pass2"], more).review(&[]);
    assert_eq!(said.code, 0, "the panel passes it: {:#}", said.json);
}

#[test]
fn ctrl_c_ends_the_lanes() {
    // While the lanes run, and while the gate still starts.
    for wait in [3_000, 150] {
        let project = panel(&["never"], "");
        let mut child = project
            .world
            .command(env!("CARGO_BIN_EXE_mala"))
            .args(["review", "--reviewer", "cerberus", "HEAD~1..HEAD"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        let pid = child.id().to_string();
        assert!(project.world.command("kill").args(["-INT", &pid]).status().unwrap().success());
        let started = Instant::now();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert!(started.elapsed() < Duration::from_secs(10));
        let home = project.world.home().display().to_string();
        assert_none_left(|environ, command| {
            environ.contains(&home) && (environ.contains("MALA_GATE") || command.contains("lane"))
        });
    }
}

#[test]
fn the_working_tree_and_commits_are_reviewed_too() {
    let project = panel(&["pass"], "");
    project.repo.write("a.py", "def f(x):\n    return x + 3\n");
    for args in [&[][..], &["--commit", "HEAD"], &["--base", "HEAD~1"]] {
        let said = project.review_of(args);
        assert_eq!(said.code, 0, "{args:?}: {:#}", said.json);
        assert_eq!(said.json["coverage"]["hunks_accounted"], 1, "{args:?}");
    }
    project.repo.git(&["add", "-A"]);
    let said = project.review_of(&["--staged"]);
    assert_eq!(said.code, 4, "{:#}", said.json);
    assert_snapshot!(said.error(), @"it reviews commits or the working tree, not the index or a patch");
}

// Rows 001-119.
#[test]
fn an_empty_change_passes_without_a_panel() {
    let said = panel(&["never"], "").review_of(&["HEAD..HEAD"]);
    assert_eq!((said.code, said.json["passed"].as_bool()), (0, Some(true)));
}

#[test]
fn the_change_does_not_choose_its_panel() {
    let project = panel(&["fail"], "");
    let config = project.world.read("mala.yaml").replace("panel: [fail]", "panel: [pass]");
    let config = config.replace("refuter:", "pass: {command: [lane, pass]}\n    refuter:");
    project.repo.write("mala.yaml", &config);
    project.repo.write("a.py", "def f(x):\n    return x + 2\n");
    project.repo.commit("choose who looks");
    let said = project.review(&[]);
    assert_eq!(said.code, 1, "{:#}", said.json);
    assert_eq!(said.json["issues"][0]["reviewer"], "fail", "the panel is the base's");
    let warnings = project.world.clean(&said.json["warnings"].to_string());
    assert_snapshot!(warnings, @r#"["mala.yaml in the work tree differs: using mala.yaml at [COMMIT]"]"#);
}

#[test]
fn a_threshold_does_not_excuse_a_lane_that_said_nothing() {
    let project = panel(&["needs", "prose"], "");
    assert_eq!(project.review(&[]).code, 1, "the panel objects");
    let said = project.review(&["--fail-on", "P1"]);
    assert_eq!(said.code, 2, "{:#}", said.json);
    let project = panel(&["needs", "pass", "prose"], "  consensus: majority\n");
    let said = project.review(&["--fail-on", "P1"]);
    assert_eq!(said.code, 0, "two of three are enough: {:#}", said.json);
}
