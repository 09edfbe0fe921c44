//! What the current work is: commits since the base and what is on disk, judged by what the base says.

use super::bench::{BAD, GOOD, HookWorld, asking, blocks, message};
use insta::assert_snapshot;
use mala_testkit::TestRepo;
use serde_json::json;

#[test]
fn commits_on_a_branch_are_work_too() {
    let bench = HookWorld::new("judge");
    bench.repo.branch("topic");
    bench.repo.write("a.py", BAD);
    bench.repo.commit("bad");
    assert!(blocks(&bench.stop(false)));
    bench.repo.write("a.py", GOOD);
    assert!(!blocks(&bench.stop(true)), "what is on disk counts, not what was committed");
    bench.repo.commit("good");
    assert!(!blocks(&bench.stop(true)));
}

#[test]
fn work_that_passed_on_disk_is_not_reviewed_again_when_it_is_committed() {
    let bench = HookWorld::new("judge");
    bench.begin();
    bench.repo.write("a.py", GOOD);
    assert_snapshot!(message(&bench.stop(false)), @"mala: the review passed (judge)");
    bench.repo.commit("good");
    assert_snapshot!(message(&bench.stop(false)), @"mala: the review passed (judge)");
    assert_eq!(bench.sessions().len(), 1, "it is the same diff");
}

#[test]
fn commits_on_the_default_branch_are_not_lost() {
    let bench = HookWorld::new("judge");
    assert_eq!(bench.stop(false), json!({}), "nothing yet: this is where the work starts");
    bench.repo.write("a.py", BAD);
    bench.repo.commit("bad");
    assert!(blocks(&bench.stop(false)), "without a remote");
    bench.repo.write("a.py", GOOD);
    bench.repo.commit("good");
    assert!(!blocks(&bench.stop(true)));
    assert_eq!(bench.stop(false), json!({}), "what passed is where the next work starts");
}

#[test]
fn the_first_work_of_a_repository_is_work() {
    let bench = HookWorld::new("judge");
    let repo = TestRepo::new();
    let config = bench.world.home().join(".config/mala/config.yaml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(config, "gate: {lanes: {judge: {command: [lane, judge]}}}\n").unwrap();
    let world = bench.world.in_folder(repo.root());
    repo.git(&["config", "user.email", "ada@example.org"]);
    assert!(world.output(&["init", "--hooks"], b"").status.success(), "before any commit");
    let bench = HookWorld { world, repo };
    bench.repo.write("a.py", BAD);
    bench.repo.commit("first");
    bench.repo.write("b.py", "x = 1\n");
    bench.repo.commit("second");
    let answer = bench.stop(false);
    assert!(blocks(&answer) && message(&answer).contains("1 finding"), "{answer}");
}

#[test]
fn without_a_start_work_is_what_no_remote_branch_has() {
    let bench = HookWorld::published("judge");
    std::fs::remove_dir_all(bench.repo.path(".git/mala-hook")).unwrap();
    bench.repo.write("a.py", BAD);
    bench.repo.commit("bad");
    let answer = bench.stop(false);
    assert!(blocks(&answer), "{answer}");
    let bench = HookWorld::new("judge");
    std::fs::remove_dir_all(bench.repo.path(".git/mala-hook")).unwrap();
    bench.repo.write("b.py", "b = 1\n");
    bench.repo.commit("without a remote");
    bench.repo.write("a.py", BAD);
    let answer = bench.stop(false);
    assert!(blocks(&answer) && message(&answer).contains("1 finding"), "{answer}");
}

#[test]
fn what_a_change_brings_along_turns_nothing_off() {
    let bench = HookWorld::new("judge");
    bench.repo.write("a.py", BAD);
    assert!(blocks(&bench.stop(false)));
    bench.world.run(&["hook", "off"]);
    bench.repo.git(&["add", "-f", ".mala", "a.py"]);
    bench.repo.commit_staged("bad, and the way out");
    let clone = bench.repo.beside("clone");
    bench.repo.git(&["clone", "-q", ".", clone.to_str().unwrap()]);
    bench.world.run(&["hook", "on"]);
    bench.repo.write(".mala/hook/off", "");
    assert!(blocks(&bench.stop(false)), "a file in the work tree turns nothing off");
    let world = bench.world.in_folder(&clone);
    std::fs::write(clone.join("a.py"), format!("{BAD}\n")).unwrap();
    let answer =
        super::bench::only_object(&world.output(&["hook", "stop"], &asking(&clone, false)));
    assert!(blocks(&answer), "{answer}");
}

#[test]
fn untracked_files_are_work_and_ignored_ones_are_not() {
    let bench = HookWorld::new("judge");
    bench.repo.write(".git/info/exclude", "ignored.py\n");
    bench.repo.write("ignored.py", "bad\n");
    assert_eq!(bench.stop(false), json!({}));
    bench.repo.write("new.py", "x = 1\n");
    let answer = bench.stop(false);
    assert!(blocks(&answer), "no lane reviewed the new file: {answer}");
}

#[test]
fn what_git_itself_takes_for_unchanged_is_no_work() {
    let bench = HookWorld::new("judge");
    let ignore = bench.world.home().join(".config/git/ignore");
    std::fs::create_dir_all(ignore.parent().unwrap()).unwrap();
    std::fs::write(ignore, "ignored.py\n").unwrap();
    bench.repo.write("ignored.py", "bad\n");
    bench.repo.git(&["update-index", "--chmod=+x", "a.py"]);
    bench.repo.commit_staged("a mode");
    bench.world.run(&["init", "--hooks", "--remove"]);
    bench.world.run(&["init", "--hooks"]);
    for folder in [".claude", ".codex"] {
        std::fs::remove_dir_all(bench.repo.path(folder)).unwrap();
    }
    bench.repo.git(&["config", "core.fileMode", "false"]);
    assert_eq!(bench.stop(false), json!({}), "the user ignores both everywhere");
}

#[test]
fn the_work_does_not_choose_its_own_gate() {
    let bench = HookWorld::new("judge");
    let easy = "gate: {max_blocks: 0, panel: [pass], lanes: {pass: {command: [lane, pass]}}}\n";
    bench.repo.write("mala.yaml", easy);
    bench.repo.write("a.py", BAD);
    assert!(blocks(&bench.stop(false)));
    bench.repo.branch("topic");
    bench.repo.commit("an easy gate");
    assert!(blocks(&bench.stop(true)));
}

#[test]
fn a_weaker_panels_pass_does_not_count() {
    let bench = HookWorld::with_config(
        "gate: {lanes: {pass: {command: [lane, pass]}, judge: {command: [lane, judge]}}}\n",
    );
    bench.repo.write("a.py", BAD);
    let gate = |args: &[&str]| {
        let mut command = bench.world.command(env!("CARGO_BIN_EXE_review-gate"));
        command.args(args).output().unwrap()
    };
    assert!(gate(&["spawn-code-review", "--uncommitted", "--lanes", "pass"]).status.success());
    assert!(gate(&["wait", "--json"]).status.success(), "one reviewer passes it");
    assert!(blocks(&bench.stop(false)), "the panel does not");
}

#[test]
fn a_repository_without_a_commit_has_work() {
    let bench = HookWorld::new("judge");
    let config = bench.world.home().join(".config/mala/config.yaml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(config, "gate: {lanes: {judge: {command: [lane, judge]}}}\n").unwrap();
    bench.repo.git(&["checkout", "-q", "--orphan", "fresh"]);
    bench.repo.git(&["branch", "-q", "-D", "main"]);
    bench.repo.write("a.py", BAD);
    let answer = bench.stop(false);
    assert!(blocks(&answer), "{answer}");
}

#[test]
fn the_folder_is_the_hosts() {
    let bench = HookWorld::new("judge");
    bench.repo.write("a.py", BAD);
    bench.repo.write("sub/.keep", "");
    let elsewhere = bench.world.home();
    let stop = |folder: &std::path::Path, project: Option<&std::path::Path>| {
        let mut command = bench.world.command(env!("CARGO_BIN_EXE_mala"));
        command.current_dir(&elsewhere).args(["hook", "stop"]);
        command.envs(project.map(|project| ("CLAUDE_PROJECT_DIR", project)));
        let file = elsewhere.join("stdin");
        std::fs::write(&file, asking(folder, false)).unwrap();
        command.stdin(std::fs::File::open(file).unwrap());
        super::bench::only_object(&command.output().unwrap())
    };
    let top = bench.repo.root();
    assert!(blocks(&stop(&top.join("sub"), None)), "what the host says, not where it runs");
    assert!(!blocks(&stop(&elsewhere, None)), "no repository there");
    assert!(blocks(&stop(&elsewhere, Some(top))), "an agent that walked away");
}

#[test]
fn an_agent_that_moves_to_a_linked_work_tree_is_reviewed_there() {
    let mut bench = HookWorld::published("judge");
    bench.repo.write("b.py", "b = 1\n");
    bench.repo.commit("of the user, and not pushed");
    bench.world = bench.world.with_env("CLAUDE_PROJECT_DIR", bench.repo.root());
    bench.begin();
    let linked = bench.repo.beside("linked");
    let path = linked.to_str().unwrap();
    bench.repo.git(&["worktree", "add", "-q", "-b", "topic", path]);
    let stop = || bench.stop_with(&[], &asking(&linked, false));
    assert_eq!(stop(), json!({}), "nothing changed yet");
    std::fs::write(linked.join("a.py"), BAD).unwrap();
    assert!(blocks(&stop()), "on disk");
    bench.repo.git(&["-C", path, "commit", "-qam", "bad"]);
    bench.repo.git(&["-C", path, "push", "-q", "origin", "topic"]);
    let answer = stop();
    assert!(blocks(&answer), "committed and pushed: {answer}");
    let answer = bench.stop(true);
    assert_snapshot!(bench.shown(&answer), @r#"
    {
      "decision": "block",
      "reason": "The review of your work did not pass: 1 finding.\n- a.py:2: [P1] this is bad (judge, on topic)\nFull report: [WORK]/.mala/gate/[KEY]/report.md\nFix the findings that are right. For those that are wrong, say why. Then stop again.",
      "systemMessage": "mala: 1 finding, block 3 of 3. Report: [WORK]/.mala/gate/[KEY]/report.md. To stop anyway: mala hook accept, mala hook off, or MALA_HOOK=off."
    }
    "#);
    assert!(bench.world.run(&["hook", "accept"]).starts_with("[exit 0]"));
    assert!(!blocks(&stop()), "accepted in one is accepted in all");
}

#[test]
fn a_part_without_a_reviewer_does_not_release_the_others() {
    let bench = HookWorld::new("judge");
    bench.repo.git(&["checkout", "-q", "--orphan", "old"]);
    bench.repo.git(&["rm", "-rqf", "."]);
    bench.repo.write("old.py", "x = 1\n");
    bench.repo.commit("before there were settings");
    bench.repo.checkout("main");
    bench.begin();
    let commit = |branch: &str, file: &str, text: &str| {
        bench.repo.checkout(branch);
        bench.repo.write(file, text);
        bench.repo.commit("work");
    };
    commit("main", "a.py", BAD);
    commit("old", "old.py", "x = 2\n");
    bench.repo.checkout("main");
    let answer = bench.stop(false);
    assert!(blocks(&answer) && message(&answer).contains("1 finding"), "{answer}");
    commit("main", "a.py", GOOD);
    let answer = bench.stop(true);
    assert_snapshot!(bench.shown(&answer), @r#"
    {
      "systemMessage": "mala: the review passed (judge); old was not reviewed: no reviewer is usable (claude is not in the panel: `claude` is not on PATH; codex is not in the panel: `codex` is not on PATH; gemini is not in the panel: `gemini` is not on PATH)"
    }
    "#);
}

#[test]
fn commits_by_the_address_of_the_environment_are_work() {
    let mut bench = HookWorld::new("judge");
    bench.world = bench.world.with_env("GIT_COMMITTER_EMAIL", "agent@example.org");
    bench.begin();
    bench.repo.write("a.py", BAD);
    let mut git = bench.world.command("git");
    assert!(git.args(["commit", "-qam", "bad"]).status().unwrap().success());
    assert!(blocks(&bench.stop(false)));
}

#[test]
fn the_session_of_a_hook_is_not_the_one_of_a_person() {
    let bench = HookWorld::new("judge");
    let gate = |args: &[&str]| {
        let mut command = bench.world.command(env!("CARGO_BIN_EXE_review-gate"));
        command.args(args).output().unwrap().status.code()
    };
    bench.repo.branch("topic");
    bench.repo.write("a.py", BAD);
    bench.repo.commit("bad");
    bench.begin();
    assert_eq!(gate(&["spawn-code-review", "--base", "main"]), Some(0));
    bench.repo.write("a.py", GOOD);
    assert_snapshot!(message(&bench.stop(false)), @"mala: the review passed (judge)");
    assert_eq!(gate(&["wait"]), Some(1), "the own one, not the most recent one");
}

/// A named reviewer that is missing in one part does not release a part that was not reviewed.
#[test]
fn a_part_with_a_missing_reviewer_does_not_release_the_others() {
    let lanes = "pass: {command: [lane, pass]}, prose: {command: [lane, prose]}, \
                 missing: {command: [no-such-program]}";
    let config = |panel: &str| format!("gate: {{panel: [{panel}], lanes: {{{lanes}}}}}\n");
    let bench = HookWorld::with_config(&config("pass, missing"));
    bench.repo.branch("topic");
    bench.repo.write("mala.yaml", config("prose"));
    bench.repo.commit("another panel");
    bench.begin();
    bench.repo.write("a.py", GOOD);
    bench.repo.commit("good");
    bench.repo.checkout("main");
    bench.repo.write("a.py", GOOD);
    bench.repo.commit("good too");
    assert_snapshot!(bench.shown(&bench.stop(false)), @r#"
    {
      "decision": "block",
      "reason": "Your work could not be reviewed: prose: invalid json: expected value at line 1 column 1: \"I looked at everything. No issues found: APPROVED, PASS.\". More: [WORK]/.mala/gate/[KEY]/report.md.\nThis says nothing about the work. Change only what the reason asks for and stop again: the review is repeated.",
      "systemMessage": "mala: not reviewed, block 1 of 3: prose: invalid json: expected value at line 1 column 1: \"I looked at everything. No issues found: APPROVED, PASS.\". More: [WORK]/.mala/gate/[KEY]/report.md. To stop anyway: mala hook accept, mala hook off, or MALA_HOOK=off."
    }
    "#);
    bench.repo.git(&["branch", "-q", "-D", "topic"]);
    assert_snapshot!(bench.shown(&bench.stop(true)), @r#"
    {
      "systemMessage": "mala: warning: not reviewed by the whole panel: missing: `no-such-program` is not on PATH. Run `review-gate lanes` to see why"
    }
    "#);
}

/// What a person accepts is the work of this work tree: other agents are still reviewed. The next stop says it.
#[test]
fn accepting_leaves_the_work_of_others_to_review() {
    let bench = HookWorld::new("judge");
    bench.begin();
    let linked = bench.repo.beside("linked");
    let path = linked.to_str().unwrap();
    bench.repo.git(&["worktree", "add", "-q", "-b", "topic", path]);
    let other = |is_start: bool| {
        let asking = json!({"session_id": "other", "cwd": path, "stop_hook_active": false});
        let args = ["hook", if is_start { "start" } else { "stop" }];
        bench.world.output(&args, asking.to_string().as_bytes())
    };
    assert!(other(true).status.success());
    bench.repo.write("a.py", BAD);
    bench.repo.commit("bad");
    assert!(blocks(&bench.stop(false)));
    std::fs::write(linked.join("a.py"), format!("{BAD}\n")).unwrap();
    bench.repo.git(&["-C", path, "commit", "-qam", "bad too"]);
    assert!(bench.world.run(&["hook", "accept"]).starts_with("[exit 0]"));
    let answer = super::bench::only_object(&other(false));
    assert!(blocks(&answer) && message(&answer).contains("1 finding"), "{answer}");
    bench.repo.git(&["worktree", "remove", "-f", path]);
    bench.repo.git(&["branch", "-q", "-D", "topic"]);
    assert_snapshot!(bench.shown(&bench.stop(true)), @r#"
    {
      "systemMessage": "mala: warning: work that did not pass was accepted (mala hook accept)"
    }
    "#);
    assert_eq!(bench.stop(false), json!({}), "once");
}

/// A repository that the agent made itself, and a record that is gone.
#[test]
fn commits_without_a_recorded_start_are_told_once() {
    let bench = HookWorld::new("judge");
    std::fs::remove_dir_all(bench.repo.path(".git/mala-hook")).unwrap();
    bench.repo.write("a.py", BAD);
    bench.repo.commit("bad");
    let answer = bench.stop(false);
    let told =
        "mala: warning: commits were not reviewed: no start of this conversation was recorded";
    assert!(message(&answer).starts_with(told) && !blocks(&answer), "{answer}");
    assert_eq!(bench.stop(false), json!({}), "once");
    bench.repo.write("a.py", format!("{BAD}\n"));
    bench.repo.commit("more");
    assert!(blocks(&bench.stop(false)), "what comes later is reviewed");
}
