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
        let file = output.split_once('=').unwrap().1;
        let text = world.read(file);
        assert!(text.contains("breakpoint"), "{file}: {text}");
    }
    let sarif: serde_json::Value = serde_json::from_str(&world.read("o/r.sarif")).unwrap();
    assert!(sarif["runs"][0]["results"][0]["partialFingerprints"]["mala/v1"].is_string());
}

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
    assert_snapshot!(world.run(&["review", "--no-save"]));
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
    let expected = "app.py:2: no rule is named `debug/python-breakpont`, so nothing is suppressed \
                    by it: did you mean `debug/python-breakpoint`?";
    assert!(report["warnings"].as_array().unwrap().contains(&expected.into()), "{report:#}");
    world.write("app.py", text.replace("breakpont", "breakpoint"));
    let (code, report) = review(&world, &[]);
    assert_eq!((code, report["warnings"].to_string()), (0, "[]".to_owned()));
    for format in ["text", "github", "junit"] {
        let shown = world.run(&["review", "--no-save", "--format", format]);
        assert!(shown.contains("1 finding"), "{format}: {shown}");
        assert!(shown.contains("by comments in the code"), "{format}: {shown}");
    }
}
