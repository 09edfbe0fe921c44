//! What is reviewed.

use super::{CLEAN, FLAW, FOUND, commit, findings, repo, review};
use crate::world;
use insta::assert_snapshot;

#[test]
fn the_working_tree_holds_staged_unstaged_and_untracked_files() {
    let world = repo();
    world.write("app.py", FLAW).write("staged.py", FLAW).git(&["add", "staged.py"]);
    world.write("new.py", FLAW);
    let (code, report) = review(&world, &[]);
    assert_eq!(code, 1);
    assert_eq!(findings(&report).len(), 3, "{report:#}");
    let (_, again) = review(&world, &[]);
    assert_eq!(
        report["review_id"], again["review_id"],
        "the first review's files are not reviewed"
    );
}

#[test]
fn only_the_index_counts_with_staged() {
    let world = repo();
    world
        .write("app.py", FLAW)
        .git(&["add", "app.py"])
        .write("app.py", CLEAN)
        .write("new.py", FLAW);
    let (code, report) = review(&world, &["--staged"]);
    assert_eq!((code, findings(&report)), (1, vec![FOUND.to_owned()]));
}

#[test]
fn ranges_commits_and_branches() {
    let world = repo();
    world.git(&["checkout", "-q", "-b", "topic"]).write("app.py", FLAW);
    commit(&world, "flaw");
    world.git(&["checkout", "-q", "main"]).write("other.py", "import os\n");
    commit(&world, "newer main");
    world.git(&["checkout", "-q", "topic"]);
    for args in [
        &["main...topic"][..],
        &["--base", "main"],
        &["--commit", "topic"],
        &["topic~1..topic"],
        &["--base", "main", "app.py"],
        &["main..topic", "app.py"],
    ] {
        let (code, report) = review(&world, args);
        assert_eq!((code, findings(&report)), (1, vec![FOUND.to_owned()]), "{args:?}");
        assert_eq!(report["scope"]["files"], 1, "{args:?}");
    }
    let (code, report) = review(&world, &["topic..main", "app.py"]);
    assert_eq!((code, findings(&report).len()), (0, 0));
    let nameless = review(&world, &["--base"]);
    assert_eq!(findings(&nameless.1), [FOUND], "the default branch is main");
}

#[test]
fn the_root_commit_and_an_unborn_head() {
    let world = world();
    world.git(&["init", "-q", "-b", "main", "."]).write("app.py", FLAW);
    assert_eq!(findings(&review(&world, &[]).1), [FOUND], "unborn");
    commit(&world, "start");
    assert_eq!(findings(&review(&world, &["--commit", "HEAD"]).1), [FOUND], "root");
}

#[test]
fn a_patch_needs_no_repository() {
    let world = world();
    let patch = "--- a/app.py\n+++ b/app.py\n@@ -1,2 +1,3 @@\n def ask():\n+    breakpoint()\n     return 1\n";
    world.write("change.diff", patch);
    let (code, report) = review(&world, &["--patch", "change.diff"]);
    assert_eq!((code, findings(&report)), (1, vec![FOUND.to_owned()]));
    assert_snapshot!(world.run_with_stdin(&["review", "--patch", "-"], patch.as_bytes()), @"
    [exit 1]
    [stdout]
    Built-in analyzers only: no model key is set. builtin reviewed 1 hunk in 1 file:
    1 finding (1 P1).

    app.py  1 finding (1 P1)

    P1 high  Breakpoint left in [debug/python-breakpoint]
      ╭▸ app.py:2
    2 │     breakpoint()
      ╰╴    ━━━━━━━━━━━━
      When this line runs, the process stops and waits on standard input; in a
      server or a job it hangs, or fails with bdb.BdbQuit.
      fix: Remove the line.

    warning:  builtin: rules that need the whole file did not run on 1 changed file:
              only the patch is available
    coverage:  reviewed 1 of 1 hunk in 1 file
    scope:  a patch (nothing to the patch), 1 file, 1 hunk, +1 -0

    FAIL  1 finding at or above P1 (1 P1)
    [stderr]
    note: not in a repository: the review is not saved
    ");
    let shown = world.run(&["review", "--patch", "change.diff", "--no-save"]);
    assert!(!shown.contains("[stderr]"), "{shown}");
}

#[test]
fn a_script_has_the_language_of_its_first_line() {
    let world = repo();
    let tool = "#!/usr/bin/env python3\nimport sys\n\n\ndef main():\n    print(1)\n\n\nmain()\n";
    world.write("bin/tool", tool).write("bin/plain", tool.split_once('\n').unwrap().1);
    commit(&world, "tools");
    let flawed = |text: &str| text.replace("    print(1)", "    breakpoint()");
    world.write("bin/tool", flawed(tool)).write("bin/plain", flawed(&world.read("bin/plain")));
    world.write("bin/web", "#!/usr/bin/env node\ndebugger;\n");
    world
        .write("bin/odd", "#!/usr/bin/node\nfor (;;) {\n  if (typeof x === \"strng\") break;\n}\n");
    let (_, report) = review(&world, &[]);
    let found = findings(&report);
    let expected = [
        "bin/tool:6 debug/python-breakpoint",
        "bin/web:2 debug/debugger-statement",
        "bin/odd:3 javascript/typeof-unknown-name",
    ];
    assert_eq!(found, expected);
    assert_eq!(report["issues"][0]["language"], "python");
    assert_eq!(report["issues"][0]["symbol"], "main");
}

#[test]
fn a_path_that_is_taken_for_a_commit_gets_a_hint() {
    let world = repo();
    world.write("app.py", FLAW).write("other.py", FLAW);
    commit(&world, "flaws");
    assert_snapshot!(world.run(&["review", "--commit", "HEAD", "app.py"]), @"
    [exit 64]
    [stderr]
    error: unknown revision: app.py
    hint: app.py is a file or folder: paths come after --, such as in `mala review --commit HEAD -- app.py`
    ");
    let (_, report) = review(&world, &["--commit", "HEAD", "--", "app.py"]);
    assert_eq!(findings(&report), [FOUND]);
}

#[test]
fn a_bare_repository_has_commits_to_review() {
    let world = repo();
    world.write("app.py", FLAW).write("src/other.py", FLAW);
    commit(&world, "flaws");
    // Inside of a work tree it would be refused: a commit may bring one.
    let above = tempfile::tempdir().expect("a folder");
    let bare = above.path().join("bare.git");
    world.git(&["clone", "-q", "--bare", ".", &bare.to_string_lossy()]);
    let world = world.in_folder(&bare);
    for args in [&["HEAD~1..HEAD", "app.py"][..], &["--commit", "HEAD", "--", "app.py"]] {
        let (code, report) = review(&world, args);
        assert_eq!((code, findings(&report)), (1, vec![FOUND.to_owned()]), "{args:?}");
    }
    assert!(bare.join(".mala/runs").is_dir(), "what is kept is in the repository's own folder");
    assert!(world.run(&["runs", "list"]).contains("HEAD~1..HEAD"));
    assert_snapshot!(world.run(&["review"]), @"
    [exit 64]
    [stderr]
    error: [WORK] is a bare repository and has no work tree
    hint: review commits instead, with A..B, --commit or --base
    ");
    assert_snapshot!(world.run(&["review", "--staged"]), @"
    [exit 64]
    [stderr]
    error: [WORK] is a bare repository and has no work tree
    hint: review commits instead, with A..B, --commit or --base
    ");
}

#[test]
fn a_dirty_submodule_is_said_to_be_skipped() {
    let world = repo();
    world.git(&["clone", "-q", ".", "lib"]);
    world.write(".gitmodules", "[submodule \"lib\"]\n\tpath = lib\n\turl = ./lib\n");
    commit(&world, "lib");
    let skipped = |args: &[&str]| review(&world, args).1["coverage"]["skipped"].to_string();
    assert_eq!(skipped(&[]), "[]");
    world.write("lib/app.py", FLAW);
    assert_eq!(skipped(&[]), r#"[{"file":"lib","hunks":0,"reason":"dirty_submodule"}]"#);
    assert_eq!(skipped(&["app.py"]), "[]");
    assert_snapshot!(world.run(&["review", "--no-save"]), @"
    [exit 2]
    [stdout]
    Built-in analyzers only: no model key is set. The change could not be reviewed.

    skipped:  submodule with uncommitted changes: lib
    coverage:  reviewed 0 of 1 hunk in 0 files; skipped 1 file: 1 submodule with
               uncommitted changes
    scope:  the working tree against HEAD ([COMMIT] to the working tree), 1
            file, 0 hunks, +0 -0

    COULD NOT REVIEW  no file of this change can be reviewed; to allow that, list
                      the files in review.ignore
    ");
    world.write("app.py", "x = 2\n");
    assert_snapshot!(world.run(&["review", "--no-save"]), @"
    [exit 0]
    [stdout]
    Built-in analyzers only: no model key is set. builtin reviewed 1 hunk in 1 file:
    no findings.

    skipped:  submodule with uncommitted changes: lib
    coverage:  reviewed 1 of 1 hunk in 1 file; skipped 1 file: 1 submodule with
               uncommitted changes
    scope:  the working tree against HEAD ([COMMIT] to the working tree), 2
            files, 1 hunk, +1 -2

    PASS  no findings
    ");
    world.git(&["checkout", "-q", "app.py"]);
    let (code, json) = review(&world, &["HEAD~1..HEAD", "lib"]);
    assert_eq!((code, &json["passed"]), (2, &false.into()), "another commit of it: {json:#}");
}

#[test]
fn an_empty_change_passes_and_says_why() {
    assert_snapshot!(repo().run(&["review", "--no-save"]), @"
    [exit 0]
    [stdout]
    Built-in analyzers only: no model key is set. Nothing to review: the working
    tree against HEAD has no changes.

    coverage:  reviewed 0 of 0 hunks in 0 files
    scope:  the working tree against HEAD ([COMMIT] to the working tree), 0
            files, 0 hunks, +0 -0

    PASS  nothing to review: the change is empty
    ");
}

#[test]
fn odd_paths_are_reviewed_and_printed_as_git_prints_them() {
    let world = repo();
    for path in ["a b.py", "say \"hi\".py", "new\nline.py", "caf\u{e9}.py"] {
        world.write(path, FLAW);
    }
    let (_, report) = review(&world, &[]);
    let rule = "debug/python-breakpoint";
    let mut expected = vec![
        format!("a b.py:2 {rule}"),
        format!("\"say \\\"hi\\\".py\":2 {rule}"),
        format!("\"new\\nline.py\":2 {rule}"),
        format!("caf\u{e9}.py:2 {rule}"),
    ];
    expected.sort();
    let mut found = findings(&report);
    found.sort();
    assert_eq!(found, expected);
}

#[test]
fn files_that_tools_write_are_skipped_with_their_reason() {
    let world = repo();
    world.write("Cargo.lock", "[[package]]\nname = \"x\"\n").write("blob.bin", b"\0\x01\x02");
    world.write("vendor/lib.py", FLAW).write("gen.py", format!("# @generated by x\n{FLAW}"));
    world.write("min.js", "a".repeat(9000));
    world.write(".gitattributes", "made.py linguist-generated\n").write("made.py", FLAW);
    commit(&world, "base with attributes");
    world.write("made.py", format!("{FLAW}\nbreakpoint()\n")).write("Cargo.lock", "[[package]]\n");
    let (code, report) = review(&world, &["--commit", "HEAD"]);
    let skipped = report["coverage"]["skipped"].as_array().unwrap();
    let mut reasons: Vec<String> = skipped
        .iter()
        .map(|it| format!("{} {}", it["file"].as_str().unwrap(), it["reason"].as_str().unwrap()))
        .collect();
    reasons.sort();
    assert_eq!(code, 1, "made.py is not trusted to be generated by attributes of its own change");
    assert_snapshot!(reasons.join("\n"), @"
    Cargo.lock lock
    blob.bin binary
    min.js minified
    vendor/lib.py vendored
    ");
    let (code, report) = review(&world, &[]);
    assert_eq!(code, 2, "no file was reviewed: {report:#}");
    assert_eq!(report["coverage"]["skipped"].as_array().unwrap().len(), 2);
}

/// 000-044
#[test]
fn vendored_code_is_never_skipped_in_silence() {
    for path in ["vendor/lib.py", "node_modules/own/index.js"] {
        let world = repo();
        world.write(path, FLAW).git(&["add", "-f", path]);
        let (code, report) = review(&world, &[]);
        let why = "no file of this change can be reviewed; to allow that, list the files in review.ignore";
        assert_eq!((code, report["parse_error"].as_str()), (2, Some(why)), "{report:#}");
        world.write("other.py", CLEAN);
        let (code, report) = review(&world, &[]);
        let warning = format!(
            "{path} is not reviewed: vendored code; to review it, set -linguist-vendored in .gitattributes"
        );
        assert_eq!((code, &report["warnings"]), (0, &serde_json::json!([warning])));
        assert_eq!(report["coverage"]["skipped"][0]["file"], path);
        world.commit_file("mala.yaml", "review: {ignore: [vendor, node_modules, other.py]}\n");
        assert_eq!(review(&world, &[]).0, 0, "a committed setting allows it");
    }
}

/// 000-045
#[test]
fn an_empty_patch_is_not_a_pass() {
    let world = repo();
    let [nothing, blank] = ["", "\n \n"]
        .map(|text| world.run_with_stdin(&["review", "--patch", "-"], text.as_bytes()));
    assert_eq!(nothing, blank);
    assert_snapshot!(nothing, @"
    [exit 2]
    [stderr]
    error: the patch on stdin is empty
    hint: check the command that prints it
    ");
}
