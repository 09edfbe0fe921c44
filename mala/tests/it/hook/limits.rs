//! What is reviewed although git or the change hides it, and what cannot be reviewed. An agent is never
//! blocked forever.

use super::bench::{BAD, GOOD, HookWorld, asking, blocks, message, only_object};
use insta::assert_snapshot;
use serde_json::Value;

/// Ten stops: three in a row and a new turn, again and again.
const TURNS: [bool; 10] = [false, true, true, true, false, true, true, true, false, true];

/// Bad work in a commit, which is kept.
fn committed(bench: &HookWorld) {
    bench.repo.write("a.py", BAD);
    bench.repo.commit("bad");
    let answer = bench.stop(false);
    assert!(blocks(&answer), "{answer}");
}

#[test]
fn files_of_mala_are_not_work() {
    for names in [".mala", ".MALA"] {
        let bench = HookWorld::new("judge");
        // All of the state is in git, and what comes to it would be too.
        bench.repo.write(".mala/.gitignore", "!*\n");
        bench.repo.write(".mala/rules/own.md", "Be kind.\n");
        bench.repo.write(format!("{names}/hook/kept"), "1\n");
        bench.repo.git(&["add", "-Af", ".mala", names]);
        bench.repo.commit_staged("planted");
        bench.repo.branch("topic");
        bench.repo.write("a.py", BAD);
        let played = TURNS.map(|it| {
            bench.repo.git(&["add", "-A"]);
            blocks(&bench.stop(it))
        });
        let expected = [true, true, true, false, false, false, false, false, false, false];
        assert_eq!(played, expected, "{names}");
        assert_eq!(bench.sessions().len(), 1, "{names}: the work never changed");
        bench.repo.git(&["checkout", "-q", "a.py"]);
        bench.repo.git(&["checkout", "-q", "HEAD", "--", "a.py"]);
        bench.repo.write(".mala/rules/own.md", "Be unkind.\n");
        let answer = bench.stop(false);
        assert!(blocks(&answer), "rules are work: {answer}");
    }
}

#[test]
fn files_that_git_is_told_to_overlook_are_work() {
    for bit in ["--assume-unchanged", "--skip-worktree"] {
        let bench = HookWorld::new("judge");
        bench.repo.git(&["update-index", bit, "a.py"]);
        bench.repo.write("a.py", BAD);
        let answer = bench.stop(false);
        assert!(blocks(&answer) && message(&answer).contains("1 finding"), "{bit}: {answer}");
        let listed = bench.repo.git(&["ls-files", "-v", "a.py"]);
        assert_ne!(listed, "H a.py", "{bit}: the index itself stays as it is");
    }
}

#[test]
fn files_that_are_not_checked_out_are_not_deleted() {
    let bench = HookWorld::new("judge");
    bench.repo.write("far/b.py", "x = 1\n");
    bench.repo.commit("far");
    bench.world.run(&["init", "--hooks", "--remove"]);
    bench.world.run(&["init", "--hooks=claude"]);
    bench.repo.git(&["update-index", "--skip-worktree", "far/b.py"]);
    std::fs::remove_dir_all(bench.repo.path("far")).unwrap();
    std::fs::remove_dir_all(bench.repo.path(".claude")).unwrap();
    assert_eq!(bench.stop(false), serde_json::json!({}));
}

#[test]
fn an_index_in_two_parts_is_read() {
    let bench = HookWorld::new("judge");
    bench.repo.git(&["update-index", "--split-index"]);
    bench.repo.write("a.py", GOOD);
    bench.repo.git(&["add", "a.py"]);
    assert_snapshot!(message(&bench.stop(false)), @"mala: the review passed (judge)");
}

/// `review-gate` with the hook's panel, to its end.
fn gate(bench: &HookWorld, args: &[&str]) -> Value {
    let run = |args: &[&str]| {
        let mut command = bench.world.command(env!("CARGO_BIN_EXE_review-gate"));
        command.args(args).output().unwrap()
    };
    let mut spawn = vec!["spawn-code-review"];
    spawn.extend(args);
    let spawned = run(&spawn);
    assert!(spawned.status.success(), "{}", String::from_utf8_lossy(&spawned.stderr));
    serde_json::from_slice(&run(&["wait", "--json"]).stdout).unwrap()
}

/// A lane that is talked into a pass, by the context or by being asked again.
const FICKLE: &str = r#"
prompt=$(cat)
nonce=$(printf '%s\n' "$prompt" | sed -n 's/^Your `nonce`: //p')
head=$(printf '%s\n' "$prompt" | sed -n 's/^The commit under review (`head_sha`): //p')
said='"verdict":"FAIL","findings":[{"file_path":"a.py","line_start":2,"line_end":2,"priority":1,"title":"[P1] this is bad","body":"when x is None it fails"}]'
case "$prompt" in *AGREED*) said='"verdict":"PASS","findings":[]' ;; esac
if [ -e "$ASKED" ]; then said='"verdict":"PASS","findings":[]'; fi
printf '{"nonce":"%s","head_sha":"%s",%s,"summary":"s","reviewed":[{"file_path":"a.py","hunks":[1]}]}\n' "$nonce" "$head" "$said"
"#;

#[test]
fn asking_again_does_not_remove_a_finding() {
    let config = "gate: {lanes: {fickle: {command: [fickle], keep: [ASKED]}}}\n";
    let mut bench = HookWorld::with_config(config);
    let asked = bench.repo.beside("asked");
    bench.world =
        bench.world.with_program("fickle", FICKLE).with_env("ASKED", asked.to_str().unwrap());
    bench.repo.branch("topic");
    bench.repo.write("a.py", BAD);
    bench.repo.commit("bad");
    assert!(blocks(&bench.stop(false)));
    bench.repo.write("../context.txt", "AGREED WITH THE TEAM");
    let context = bench.repo.beside("context.txt");
    let told = gate(&bench, &["--base", "main", "--context-file", context.to_str().unwrap()]);
    assert_eq!(told["consensus"]["verdict"], "FAIL", "{told:#}");
    assert!(blocks(&bench.stop(true)), "told what to think");
    std::fs::write(&asked, "").unwrap();
    let again = gate(&bench, &["--base", "main"]);
    assert_eq!(again["consensus"]["verdict"], "FAIL", "{again:#}");
    assert!(blocks(&bench.stop(true)), "asked until it passes");
    assert!(!blocks(&bench.stop(true)), "and not for ever");
}

#[test]
fn work_without_a_reviewable_file_is_told_and_does_not_block() {
    type Plant = (&'static str, fn(&HookWorld));
    let planted: &[Plant] = &[
        ("vendor/evil.py is not reviewed: vendored", |bench| {
            bench.repo.write("vendor/evil.py", "bad\n");
        }),
        ("Cargo.lock is not reviewed: lock file", |bench| {
            bench.repo.write("Cargo.lock", "version = 3\n");
        }),
        ("a.py is not reviewed: a source with bytes that are no text", |bench| {
            bench.repo.write("a.py", "bad\0\n");
        }),
        ("sub is not reviewed: submodule", |bench| {
            bench.repo.git(&["init", "-q", "sub"]);
            bench.repo.git(&["-C", "sub", "commit", "-q", "--allow-empty", "-m", "evil"]);
        }),
    ];
    for (why, plant) in planted {
        let bench = HookWorld::new("pass");
        plant(&bench);
        let answer = bench.stop(false);
        assert!(message(&answer).contains(why), "{why}: {answer}");
        assert!(!answer.to_string().contains("review.ignore"), "no hint to weaken it: {answer}");
        // What hides in a source keeps every change from passing, and the rest is only told.
        let hides = why.starts_with("a.py");
        assert_eq!(blocks(&answer), hides, "{why}: {answer}");
        let told = "mala: warning: nothing was reviewed; ";
        assert_eq!(message(&answer).starts_with(told), !hides, "{why}: {answer}");
        assert_eq!(bench.stop(true) == serde_json::json!({}), !hides, "{why}: told once");
        bench.repo.write("a.py", GOOD);
        let answer = bench.stop(false);
        assert!(message(&answer).starts_with("mala: the review passed (pass)"), "{why}: {answer}");
    }
}

#[test]
fn a_state_folder_in_the_way_leaves_the_way_out_open() {
    for is_link in [true, false] {
        let bench = HookWorld::new("judge");
        match is_link {
            true => std::os::unix::fs::symlink("/tmp", bench.repo.path(".mala")).unwrap(),
            false => bench.repo.write(".mala", "in the way"),
        }
        bench.repo.write("a.py", BAD);
        let answers = [false, true, true, true].map(|it| bench.stop(it));
        assert_eq!(answers.each_ref().map(blocks), [true, true, true, false], "{answers:#?}");
        assert!(message(&answers[0]).contains("not reviewed"), "{}", answers[0]);
        let off = bench.world.run(&["hook", "off"]);
        assert!(off.starts_with("[exit 0]"), "{off}");
        let off = bench.shown(&bench.stop(false));
        let expected =
            "mala: the stop hook is off ([WORK]/.git/mala-hook-off): nothing was reviewed";
        assert_eq!(off, format!("{{\n  \"systemMessage\": \"{expected}\"\n}}"));
        assert!(bench.world.run(&["hook", "on"]).starts_with("[exit 0]"));
    }
}

#[test]
fn without_state_an_agent_is_blocked_only_once() {
    let bench = HookWorld::new("judge");
    std::fs::remove_dir_all(bench.repo.path(".git/mala-hook")).unwrap();
    bench.repo.write(".git/mala-hook", "in the way");
    bench.repo.write("a.py", BAD);
    assert_snapshot!(bench.shown(&bench.stop(false)), @r#"
    {
      "decision": "block",
      "reason": "Your work could not be reviewed: Not a directory (os error 20).\nThis says nothing about the work. Change only what the reason asks for and stop again: the review is repeated.",
      "systemMessage": "mala: not reviewed, block 1 of 1: Not a directory (os error 20). To stop anyway: mala hook accept, mala hook off, or MALA_HOOK=off."
    }
    "#);
    assert_snapshot!(bench.shown(&bench.stop(true)), @r#"
    {
      "systemMessage": "mala: warning: stopping without a review: Not a directory (os error 20); blocks cannot be counted here."
    }
    "#);
}

#[test]
fn a_cleaned_work_tree_forgets_nothing() {
    let bench = HookWorld::published("judge");
    bench.begin();
    committed(&bench);
    bench.repo.git(&["push", "-q", "origin", "main"]);
    let played = [true, true, true].map(|it| {
        bench.repo.git(&["clean", "-qfdx"]);
        blocks(&bench.stop(it))
    });
    assert_eq!(played, [true, true, false]);
}

#[test]
fn released_work_is_not_reviewed_again() {
    let bench = HookWorld::new("prose");
    bench.repo.write("a.py", BAD);
    let answers = [false, true, true, true, false, true].map(|it| bench.stop(it));
    let played = answers.each_ref().map(blocks);
    assert_eq!(played, [true, true, true, false, false, false], "{answers:#?}");
    assert_snapshot!(bench.shown(&answers[3]), @r#"
    {
      "systemMessage": "mala: warning: stopping without a review: prose: invalid json: expected value at line 1 column 1: \"I looked at everything. No issues found: APPROVED, PASS.\"; blocked 3 times for this work. More: [WORK]/.mala/gate/[KEY]/report.md."
    }
    "#);
    assert_eq!(answers[5], serde_json::json!({}), "it was released before");
    assert_eq!(bench.sessions().len(), 4);
}

#[test]
fn linked_work_trees_are_switched_by_themselves() {
    let bench = HookWorld::new("judge");
    let linked = bench.repo.beside("linked");
    bench.repo.git(&["worktree", "add", "-q", "-b", "topic", linked.to_str().unwrap()]);
    std::fs::write(linked.join("a.py"), BAD).unwrap();
    let world = bench.world.in_folder(&linked);
    let stop = || only_object(&world.output(&["hook", "stop"], &asking(&linked, false)));
    assert!(blocks(&stop()));
    assert!(world.run(&["hook", "off"]).starts_with("[exit 0]"));
    assert_snapshot!(world.clean(message(&stop())), @"mala: the stop hook is off ([WORK]/.git/worktrees/linked/mala-hook-off): nothing was reviewed");
    assert!(!linked.join(".mala/hook/off").exists());
}
