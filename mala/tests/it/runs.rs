//! `mala runs`: what is kept is listed newest first, and a broken entry hides no other.

use crate::world;
use insta::assert_snapshot;
use mala_testkit::World;
use serde_json::{Value, json};

fn report(review_id: &str, target: &str) -> Value {
    json!({
        "review_id": review_id,
        "passed": false,
        "verdict": "NEEDS_WORK",
        "outcome": "passed",
        "status": "ok",
        "issues": [{
            "file": "a.py", "line_start": 3, "line_end": 3, "priority": 2, "severity": "medium",
            "category": "bug", "title": "Mutable default", "body": "When f is called twice, both calls share the list.",
            "suggestion": "Use None.", "evidence_snippet": "def f(x=[]):", "confidence": 0.9,
            "reviewer": "builtin", "rule": "python/mutable-default", "dedupe_key": "00112233445566ff"
        }],
        "summary": "1 finding.",
        "coverage": { "hunks_given": 1, "hunks_accounted": 1, "files": [], "skipped": [] },
        "scope": {
            "target": target, "base": null, "head": "working_tree", "diff_hash": "0",
            "files": 1, "hunks": 1, "lines": { "added": 1, "removed": 0 }
        },
        "fail_on": "P1",
        "reviewers": [],
        "stats": {
            "tokens_used": 0, "cost_usd": 0.0, "latency_seconds_e2e": 0.1,
            "latency_seconds_llm": 0.0, "llm_calls": 0, "tool_calls": 0, "cache_read_tokens": 0
        }
    })
}

fn with_runs() -> World {
    let world = world();
    for (name, id, target) in [
        ("20260101T000000Z_aaaa1111aaaa1111", "aaaa1111aaaa1111", "the working tree"),
        ("20260102T000000Z_bbbb2222bbbb2222", "bbbb2222bbbb2222", "main..\u{1b}[31mred"),
    ] {
        world.write(&format!(".mala/runs/{name}/review.json"), report(id, target).to_string());
    }
    world.write(".mala/runs/20260103T000000Z_cccc3333cccc3333/review.json", "{\"review_id\":");
    world.write(".mala/runs/.writing-x/review.json", "{}");
    world
}

#[test]
fn nothing_kept_is_nothing_to_list() {
    assert_snapshot!(world().run(&["runs", "list"]), @"
    [exit 0]
    [stderr]
    no saved reviews
    ");
    assert_snapshot!(world().run(&["runs", "show"]), @"
    [exit 2]
    [stderr]
    error: no saved reviews
    hint: run `mala review` to review the working tree
    ");
}

#[test]
fn runs_are_listed_newest_first_and_broken_ones_say_why() {
    assert_snapshot!(with_runs().run(&["runs", "list"]), @r"
    [exit 0]
    [stdout]
    [RUN]  unreadable: review.json is not a report: EOF while parsing a value at line 1 column 13
    [RUN]  NEEDS_WORK             1 finding  main..\u{1b}[31mred
    [RUN]  NEEDS_WORK             1 finding  the working tree
    ");
}

#[test]
fn a_list_can_be_cut_and_read_by_programs() {
    let world = with_runs();
    assert_snapshot!(world.run(&["runs", "list", "-n", "2", "--format", "json"]), @r#"
    [exit 0]
    [stdout]
    {
      "runs": [
        {
          "error": "review.json is not a report: EOF while parsing a value at line 1 column 13",
          "name": "[RUN]"
        },
        {
          "findings": 1,
          "name": "[RUN]",
          "passed": false,
          "review_id": "[ID]",
          "target": "main..\u001b[31mred",
          "verdict": "NEEDS_WORK"
        }
      ],
      "schema_version": 1
    }
    "#);
}

#[test]
fn a_run_is_shown_in_every_format() {
    let world = with_runs();
    for format in ["text", "markdown", "json", "sarif", "rdjson", "gitlab", "junit", "github"] {
        assert_snapshot!(
            format!("as_{format}"),
            world.run(&["runs", "show", "aaaa", "--format", format])
        );
    }
}

#[test]
fn what_cannot_be_shown_says_why() {
    let world = with_runs();
    assert_snapshot!(world.run(&["runs", "show", "latest"]), @"
    [exit 2]
    [stderr]
    error: showing [RUN]: review.json is not a report: EOF while parsing a value at line 1 column 13
    ");
    let newer = r#"{"schema_version": 2, "review_id": "dddd", "issues": "moved"}"#;
    world.write(".mala/runs/20260104T000000Z_dddd4444dddd4444/review.json", newer);
    assert_snapshot!(world.run(&["runs", "show", "dddd"]), @"
    [exit 2]
    [stderr]
    error: showing [RUN]: review.json has schema_version 2; this version of mala reads up to 1
    hint: update mala, or read its review.md
    ");
    assert_snapshot!(world.run(&["runs", "show", "zzz"]), @"
    [exit 64]
    [stderr]
    error: no review `zzz`
    hint: run `mala runs list` to list the reviews
    ");
    assert_snapshot!(world.run(&["runs", "show", "2026"]), @"
    [exit 64]
    [stderr]
    error: 4 reviews start with `2026`
    hint: run `mala runs list` to list the reviews
    ");
}

/// 000-074
#[test]
fn the_old_name_of_the_verdict_is_read() {
    for name in ["verdict", "consensus_verdict"] {
        let world = world();
        let mut old = report("aaaa1111aaaa1111", "the working tree");
        let verdict = old.as_object_mut().unwrap().remove("verdict").unwrap();
        old[name] = verdict;
        world.write(".mala/runs/20260101T000000Z_aaaa1111aaaa1111/review.json", old.to_string());
        let output = world.output(&["runs", "show", "aaaa1111aaaa1111", "--format", "json"], b"");
        let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(shown["verdict"], "NEEDS_WORK", "{name}");
        assert_eq!(shown.get("consensus_verdict"), None, "{name}");
    }
}

/// 002-128
#[test]
fn what_is_kept_is_shown_as_it_was_printed() {
    let world = crate::world();
    world.git(&["init", "-q", "-b", "main", "."]).commit_file("app.py", "x = 1\n");
    for text in [
        "x = 2\n",
        "def f(x=[]):\n    breakpoint()\n",
        "token = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'\n",
    ] {
        world.write("app.py", text);
        let printed = world.output(&["review", "--json"], b"").stdout;
        let shown = world.output(&["runs", "show", "latest", "--format", "json"], b"").stdout;
        let [printed, shown] =
            [printed, shown].map(|json| serde_json::from_slice::<Value>(&json).unwrap());
        assert_eq!(shown, printed, "{text}");
    }
}

/// Row 001-113.
#[test]
fn old_names_of_the_log_path_are_read() {
    for name in ["review_log_path", "session_log_path", "codex_review_log_path"] {
        let world = world();
        let mut old = report("aaaa1111aaaa1111", "the working tree");
        old[name] = "/the/folder".into();
        let file = ".mala/runs/20260101T000000Z_aaaa1111aaaa1111/review.json";
        world.write(file, old.to_string());
        let output = world.output(&["runs", "show", "aaaa1111aaaa1111", "--format", "json"], b"");
        let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(shown["review_log_path"], "/the/folder", "{name}");
        assert!(name == "review_log_path" || shown.get(name).is_none(), "{name}");
    }
}
