//! What a review says, and where.

use super::{FLAW, repo, review};
use insta::assert_snapshot;
use std::path::Path;

#[test]
fn all_formats_come_out_of_one_run() {
    let world = repo();
    world.write("app.py", FLAW);
    let outputs = [
        "markdown=o/r.md",
        "json=o/r.json",
        "sarif=o/r.sarif",
        "rdjson=o/r.rdjson",
        "gitlab=o/cq.json",
        "junit=o/r.xml",
        "github=o/r.github",
        "text=o/r.txt",
    ];
    std::fs::create_dir(world.folder().join("o")).unwrap();
    world.write(".gitignore", "o/\n");
    let mut args = vec!["review"];
    for output in outputs {
        args.extend(["--output", output]);
    }
    let shown = world.run(&args);
    assert!(shown.starts_with("[exit 1]"), "{shown}");
    for output in outputs {
        let (format, file) = output.split_once('=').unwrap();
        let text = without_times(&world.clean(&world.read(file)));
        assert_snapshot!(format!("as_{format}"), text);
    }
}

/// The text without the time that the review took.
fn without_times(text: &str) -> String {
    let timeless = |line: &str| match line.split_once("latency_seconds_e2e\": ") {
        Some((before, _)) => format!("{before}latency_seconds_e2e\": [SECONDS],\n"),
        None => format!("{line}\n"),
    };
    text.lines().map(timeless).collect()
}

/// 002-012
#[test]
fn the_json_is_what_the_schema_says() {
    let world = repo();
    world.write("app.py", FLAW).write("Cargo.lock", "x\n");
    let (_, report) = review(&world, &[]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let schema = std::fs::read_to_string(root.join("schemas/review-result.schema.json")).unwrap();
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let problems: Vec<String> = validator.iter_errors(&report).map(|e| e.to_string()).collect();
    assert!(problems.is_empty(), "{problems:#?}");
    assert_eq!(report["schema_version"], 1);
}

#[test]
fn the_terminal_shows_frames_and_the_verdict() {
    let world = repo();
    world.write("app.py", FLAW);
    assert_snapshot!(world.run(&["review", "--no-save"]), @"
    [exit 1]
    [stdout]
    Built-in analyzers only: no model key is set. builtin reviewed 1 hunk in 1 file:
    1 finding (1 P1).

    app.py  1 finding (1 P1)

    P1 high  Breakpoint left in [debug/python-breakpoint]
      ╭▸ app.py:2 in ask
    1 │ def ask():
    2 │     breakpoint()
      │     ━━━━━━━━━━━━
    3 │     return 1
      ╰╴
      When this line runs, the process stops and waits on standard input; in a
      server or a job it hangs, or fails with bdb.BdbQuit.
      fix: Remove the line.

    coverage:  reviewed 1 of 1 hunk in 1 file
    scope:  the working tree against HEAD ([COMMIT] to the working tree), 1
            file, 1 hunk, +1 -0

    FAIL  1 finding at or above P1 (1 P1)
    ");
}

#[test]
fn the_threshold_decides_the_exit_code() {
    let world = repo();
    world.write("app.rs", "fn f() {\n    dbg!(1);\n}\n");
    for (threshold, code) in [("P0", 0), ("P1", 0), ("P2", 1), ("P3", 1), ("none", 0)] {
        let (got, report) = review(&world, &["--fail-on", threshold]);
        assert_eq!((got, &report["verdict"]), (code, &"NEEDS_WORK".into()), "{threshold}");
        assert_eq!(report["passed"], code == 0);
    }
}

#[test]
fn a_comment_with_a_reason_sets_a_finding_aside() {
    let world = repo();
    let line = "    breakpoint()  # mala: ignore[debug/python-breakpoint] the tutorial needs it\n";
    world.write("app.py", format!("def ask():\n{line}    return 1\n"));
    let (code, report) = review(&world, &[]);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(report["suppressed"].as_array().unwrap().len(), 1);
    assert_eq!(report["suppressed"][0]["reason"], "the tutorial needs it");
}

/// 002-008, 002-009
#[test]
fn files_of_a_review_are_kept_and_listed() {
    let world = repo();
    world.write("app.py", FLAW);
    let (_, report) = review(&world, &[]);
    let folder = report["review_log_path"].as_str().unwrap();
    for file in ["review.md", "review.json", "telemetry.json"] {
        assert!(Path::new(folder).join(file).is_file(), "{file}");
    }
    let kept = world.output(&["runs", "show", "--format", "json"], b"");
    let kept = String::from_utf8_lossy(&kept.stdout);
    assert!(kept.contains(report["review_id"].as_str().unwrap()), "{kept}");
    let status = world.command("git").args(["status", "--short"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&status.stdout), " M app.py\n", "git does not see .mala");
}

#[test]
fn secrets_are_redacted_everywhere() {
    let world = repo();
    let key = ["AKIA", "Z7VRSQ5TJN2XMPLT"].concat();
    world.write("app.py", format!("KEY_ID = \"{key}\"\n"));
    let shown = world.run(&["review", "--output", "json=r.json"]);
    assert!(shown.contains("secrets/aws-access-key-id"), "{shown}");
    let runs = std::fs::read_dir(world.folder().join(".mala/runs")).unwrap();
    let kept: String = runs
        .flat_map(|run| std::fs::read_dir(run.unwrap().path()).unwrap())
        .map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap())
        .collect();
    for text in [shown, world.read("r.json"), kept] {
        assert!(!text.contains(&key));
    }
}

#[test]
fn a_comment_that_suppresses_nothing_is_a_warning() {
    let world = repo();
    let text =
        "def ask():\n    breakpoint()  # mala: ignore[debug/python-breakpont] typo\n    return 1\n";
    world.write("app.py", text);
    let (code, report) = review(&world, &[]);
    assert_eq!(code, 1);
    assert_snapshot!(report["warnings"].to_string(), @r#"["app.py:2: no rule is named `debug/python-breakpont`, so nothing is suppressed by it: did you mean `debug/python-breakpoint`?"]"#);
    world.write("app.py", text.replace("breakpont", "breakpoint"));
    let (code, report) = review(&world, &[]);
    assert_eq!((code, report["warnings"].to_string()), (0, "[]".to_owned()));
    for format in ["text", "github", "junit"] {
        let shown = world.run(&["review", "--no-save", "--format", format]);
        assert_snapshot!(format!("suppressed_as_{format}"), shown);
    }
}
