//! What is reviewed as the work of a task: the right work tree, no commits of others, and nothing that git hides.

use super::{TaskBench, config};
use insta::assert_snapshot;
use std::path::Path;

/// Runs git with a commit date after the start of every task so far. Other tests have a fixed date.
fn recent_git(bench: &TaskBench, args: &[&str]) {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let mut git = bench.world.command("git");
    git.args(args).env("GIT_COMMITTER_DATE", format!("@{} +0000", now.as_secs() + 1));
    assert!(git.status().unwrap().success(), "{args:?}");
}

fn in_folder(bench: TaskBench, folder: &Path) -> TaskBench {
    let TaskBench { repo, world } = bench;
    TaskBench { world: world.in_folder(folder), repo }
}

#[test]
fn work_is_reviewed_in_the_work_tree_where_it_started() {
    let bench = TaskBench::new();
    let linked = bench.repo.beside("linked");
    bench.repo.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    let id = bench.task();
    let root = bench.repo.root().display().to_string();
    let bench = in_folder(bench, &linked);
    bench.world.write("other.py", "other = 1\n");
    bench.world.name(&id, "[TASK]").name(&root, "[ROOT]");
    assert_snapshot!(bench.world.run(&["task", "done", &id]), @"
    [exit 64]
    [stderr]
    error: the work on task [TASK] started in [WORK]
    hint: run `mala task done [TASK]` there, or here with `--here`
    ");
    assert_eq!(bench.status(&id), "IN_PROGRESS");
    assert!(bench.review_events().is_empty());
    let (code, stdout, stderr) = bench.mala(&["task", "done", &id, "--here"]);
    assert_eq!((code, stdout), (0, format!("{id}  COMPLETE  T1\n")), "{stderr}");
    assert!(bench.said("seen").contains("b/other.py"));
    // A work tree that is gone is in no way.
    let id = bench.start("T2");
    std::fs::remove_dir_all(&linked).unwrap();
    let root = bench.repo.root().to_owned();
    let bench = in_folder(bench, &root);
    assert_eq!(bench.done(&id), (0, "COMPLETE".to_owned()));
}

/// A task without a change here is not complete while its work lies in a place that HEAD does not show.
#[test]
fn stashed_and_detached_work_is_not_left_out() {
    let mut shown = String::new();
    for work in [
        &[&["stash", "-u", "-q"][..]][..],
        &[
            &["checkout", "-q", "--detach"],
            &["add", "-A"],
            &["commit", "-q", "-m", "work"],
            &["checkout", "-q", "main"],
        ],
    ] {
        let bench = TaskBench::new();
        let id = bench.start("T1");
        bench.repo.write("mine.py", "mine = 1\n");
        work.iter().for_each(|args| recent_git(&bench, args));
        shown.push_str(&bench.world.name(&id, "[TASK]").run(&["task", "done", &id]));
        assert_eq!(bench.status(&id), "IN_PROGRESS");
        // The hint works.
        assert_eq!(bench.mala(&["task", "block", &id]).0, 0);
        assert_eq!(bench.mala(&["issue", "close", &id]).0, 0);
        let (_, listed, _) = bench.mala(&["task", "list"]);
        assert_eq!(listed, format!("{id}  COMPLETE (not reviewed)  T1\n"));
    }
    assert_snapshot!(shown, @"
    [exit 64]
    [stderr]
    error: task [TASK] has no change here, and the stash has changes since it started
    hint: check that work out and run `mala task done [TASK]`; to close the task without a change, run `mala task block [TASK]` and `mala issue close [TASK]`
    [exit 64]
    [stderr]
    error: task [TASK] has no change here, and commit [COMMIT] was made since it started
    hint: check that work out and run `mala task done [TASK]`; to close the task without a change, run `mala task block [TASK]` and `mala issue close [TASK]`
    ");
}

/// Row 004-010: what a rebase or a merge brings from the default branch is not the work of the task; what was made on
/// its branch is, whatever the default branch has.
#[test]
fn commits_of_others_are_not_the_work_of_a_task() {
    for (what, commands, has_other) in [
        ("rebase", &[&["rebase", "-q", "main"][..]][..], false),
        ("merge", &[&["merge", "-q", "-m", "merge", "main"]], false),
        (
            "main was moved to the work",
            &[&["merge", "-q", "-m", "m", "main"], &["branch", "-f", "main", "HEAD"]],
            true,
        ),
    ] {
        let bench = TaskBench::new();
        bench.repo.git(&["checkout", "-q", "-b", "feat"]);
        let id = bench.task();
        bench.repo.git(&["checkout", "-q", "main"]);
        bench.commit("other.py", "other = 1\n");
        bench.repo.git(&["checkout", "-q", "feat"]);
        commands.iter().for_each(|args| drop(bench.repo.git(args)));
        bench.commit("last.py", "last = 1\n");
        assert_eq!(bench.done(&id), (0, "COMPLETE".to_owned()), "{what}");
        let seen = bench.said("seen");
        assert!(seen.contains("b/last.py"), "{what}");
        assert_eq!(seen.contains("b/other.py"), has_other, "{what}: {seen}");
        assert!(seen.contains("b/mine.py"), "{what}: {seen}");
    }
}

/// Tests run on the files as they are, so that these are what is reviewed.
#[test]
fn changes_that_git_hides_are_not_reviewed_around() {
    let mut shown = String::new();
    for (flag, other) in
        [("skip-worktree", "--no-skip-worktree"), ("assume-unchanged", "--no-assume-unchanged")]
    {
        let bench = TaskBench::with_config(&config("", "").replace("echo T-OUT", "cat a.py"));
        let id = bench.task();
        bench.repo.git(&["update-index", &format!("--{flag}"), "a.py"]);
        assert_eq!(bench.done(&id), (0, "COMPLETE".to_owned()), "{flag}: nothing is hidden yet");
        let id = bench.start("T2");
        bench.commit("more.py", "more = 1\n");
        bench.repo.write("a.py", "hidden = 1\n");
        shown.push_str(&bench.world.name(&id, "[TASK]").run(&["task", "done", &id]));
        bench.repo.git(&["update-index", other, "a.py"]);
        assert_eq!(bench.done(&id), (0, "COMPLETE".to_owned()), "{flag}");
        assert!(bench.said("seen").contains("+hidden = 1"), "{flag}");
    }
    assert_snapshot!(shown, @"
    [exit 2]
    [stdout]
    [TASK]  AWAITING_REVIEW  T2
    [stderr]
    error: could not review: git hides what changed in a.py: show it with `git update-index --no-skip-worktree a.py` or `git update-index --no-assume-unchanged a.py`
    hint: `mala task done [TASK]` tries again
    [exit 2]
    [stdout]
    [TASK]  AWAITING_REVIEW  T2
    [stderr]
    error: could not review: git hides what changed in a.py: show it with `git update-index --no-skip-worktree a.py` or `git update-index --no-assume-unchanged a.py`
    hint: `mala task done [TASK]` tries again
    ");
}
