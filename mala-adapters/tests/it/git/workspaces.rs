//! Workspaces and the target branch: what coders leave behind, and when the branch moves.

use super::{environment, open, wait};
use mala_adapters::git::{GitMainLine, GitWorkspaces};
use mala_domain::ports::{
    AdvanceResult, CommandRunEnd, CommitReach, MainLine, RebaseResult, Workspace, WorkspaceError,
    WorkspaceState, Workspaces,
};
use mala_testkit::TestRepo;
use std::path::Path;
use std::time::Duration;

fn repo() -> TestRepo {
    let repo = TestRepo::with_files(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    repo.git(&["config", "user.name", "Ada"]);
    repo.git(&["config", "user.email", "ada@example.org"]);
    repo
}

fn workspaces(repo: &TestRepo) -> GitWorkspaces {
    GitWorkspaces::new(open(repo), repo.beside("workspaces"), environment(repo))
}

fn main_line(repo: &TestRepo) -> GitMainLine {
    GitMainLine::new(open(repo), "main")
}

/// Runs a script in a workspace, as a coder would.
fn code(spaces: &GitWorkspaces, space: &Workspace, script: &str) {
    let run = wait(spaces.run(space, script, Duration::from_secs(20))).unwrap();
    assert_eq!(run.end, CommandRunEnd::Exit(0), "{}", run.output);
}

fn state(spaces: &GitWorkspaces, space: &Workspace) -> WorkspaceState {
    wait(spaces.state(space)).unwrap()
}

fn subjects(state: &WorkspaceState) -> Vec<&str> {
    state.commits.iter().map(|commit| commit.subject.as_str()).collect()
}

/// References and the user's checkout.
fn user_side(repo: &TestRepo) -> (String, String, String) {
    let refs = repo.git(&["for-each-ref"]);
    (refs, repo.git(&["status", "--porcelain"]), repo.git(&["symbolic-ref", "HEAD"]))
}

#[test]
fn a_workspace_has_the_commits_of_its_coder_and_the_user_sees_nothing() {
    let repo = repo();
    repo.write("a.txt", "one\nuncommitted\n");
    let before = user_side(&repo);
    let (spaces, base) = (workspaces(&repo), repo.head());
    let space = wait(spaces.open("bd-1", &base)).unwrap();
    assert_eq!(std::fs::read_to_string(Path::new(&space.root).join("a.txt")).unwrap(), "one\n");
    code(&spaces, &space, "echo 1 >> a.txt && git commit -qam 'bd-1: first: x'");
    code(&spaces, &space, "echo 2 >> a.txt && git commit -qam 'second' && echo 3 > 'n ew.txt'");
    let found = state(&spaces, &space);
    assert_eq!(subjects(&found), ["bd-1: first: x", "second"]);
    assert_eq!(found.commits[0].parent.as_deref(), Some(base.as_str()));
    assert_eq!(found.commits[1].id, found.head);
    assert!(found.commits[0].at > 1_700_000_000);
    assert_eq!(
        (found.is_rewritten, found.uncommitted.as_slice()),
        (false, &["n ew.txt".to_owned()][..])
    );
    assert_eq!(user_side(&repo), before);
    assert_eq!(spaces.names().unwrap(), ["bd-1"]);

    // It is kept when it is opened again, also by another process.
    let again = wait(workspaces(&repo).open("bd-1", &base)).unwrap();
    assert_eq!(state(&spaces, &again), found);
    // Work that is on no branch is kept on one.
    assert_eq!(wait(spaces.remove("bd-1")).unwrap().as_deref(), Some("mala/bd-1"));
    assert_eq!(wait(spaces.remove("bd-1")).unwrap(), None);
    assert_eq!(spaces.names().unwrap(), [""; 0]);
    assert_eq!(repo.git(&["worktree", "list"]).lines().count(), 1);
    assert_eq!(repo.id("mala/bd-1"), found.head);
    let space = wait(spaces.open("bd-1", &base)).unwrap();
    code(&spaces, &space, "git commit -q --allow-empty -m other");
    assert_eq!(wait(spaces.remove("bd-1")).unwrap().as_deref(), Some("mala/bd-1-2"));
    repo.git(&["branch", "-q", "-D", "mala/bd-1", "mala/bd-1-2"]);
    assert_eq!(user_side(&repo), before);
}

#[test]
fn names_do_not_lead_out_of_the_root() {
    let repo = repo();
    let (spaces, base) = (workspaces(&repo), repo.head());
    for name in ["", "..", "../x", "a/b", "-f", ".git", "a b", "\u{e9}"] {
        assert!(wait(spaces.open(name, &base)).is_err(), "{name}");
        assert!(wait(spaces.remove(name)).is_err(), "{name}");
    }
    assert!(wait(spaces.open("x", "no-such-commit")).is_err());
    assert_eq!(spaces.names().unwrap(), [""; 0]);
}

#[test]
fn what_coders_do_to_their_workspace_is_seen() {
    let repo = repo();
    let (spaces, base) = (workspaces(&repo), repo.head());
    let amend = "git commit -q --amend -m rewritten --allow-empty";
    let space = wait(spaces.open("rewrites", &base)).unwrap();
    code(&spaces, &space, amend);
    assert!(state(&spaces, &space).is_rewritten);

    let missing = |name: &str| WorkspaceError::Missing(name.to_owned());
    for (name, script) in [
        ("deletes", "cd .. && rm -rf deletes"),
        ("unlinks", "rm .git"),
        ("own-repository", "rm .git && git init -q ."),
        ("elsewhere", "echo 'gitdir: /nowhere' > .git"),
    ] {
        let space = wait(spaces.open(name, &base)).unwrap();
        // Commits with the same message in the same second would be the same commit.
        code(&spaces, &space, &format!("git commit -q --allow-empty -m {name}"));
        let head = state(&spaces, &space).head;
        code(&spaces, &space, script);
        assert_eq!(wait(spaces.state(&space)), Err(missing(name)), "{name}");
        assert_eq!(wait(spaces.rebase(&space, &head, &base)), Err(missing(name)), "{name}");
        let space = wait(spaces.open(name, &base)).unwrap();
        assert_eq!(state(&spaces, &space).head, base, "{name}");
        assert_eq!(repo.id(&format!("mala/{name}")), head, "{name}");
        wait(spaces.remove(name)).unwrap();
    }
    assert_eq!(spaces.names().unwrap(), ["rewrites"]);
    assert_eq!(repo.git(&["worktree", "list"]).lines().count(), 2);
}

#[test]
fn a_folder_that_is_gone_is_still_listed_and_removed() {
    let repo = repo();
    let (spaces, base) = (workspaces(&repo), repo.head());
    let space = wait(spaces.open("gone", &base)).unwrap();
    std::fs::remove_dir_all(&space.root).unwrap();
    // A folder of a worktree that was not completely created.
    std::fs::create_dir_all(repo.beside("workspaces").join("half")).unwrap();
    assert_eq!(spaces.names().unwrap(), ["gone", "half"]);
    for name in ["gone", "half"] {
        wait(spaces.remove(name)).unwrap();
    }
    assert_eq!(spaces.names().unwrap(), [""; 0]);
    assert_eq!(repo.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn commands_have_a_limit_and_leave_nothing_running() {
    let repo = repo();
    let spaces = workspaces(&repo);
    let space = wait(spaces.open("bd-1", &repo.head())).unwrap();
    let run = |script: &str, limit| wait(spaces.run(&space, script, limit)).unwrap();
    let long = Duration::from_secs(20);
    let failed = run("echo out; echo err >&2; exit 3", long);
    assert_eq!((failed.end, failed.output.as_str()), (CommandRunEnd::Exit(3), "out\nerr\n"));
    assert_eq!(run("kill -9 $$", long).end, CommandRunEnd::Signal(9));
    let slow = run("echo begun; sleep 60", Duration::from_millis(500));
    assert_eq!((slow.end, slow.output.as_str()), (CommandRunEnd::TimedOut, "begun\n"));
    let daemon = run("setsid sleep 600 >/dev/null 2>&1 & echo $!", long);
    let pid = daemon.output.trim();
    let is_gone = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        std::fs::read_to_string(format!("/proc/{pid}/stat"))
            .map_or(true, |stat| stat.contains(") Z "))
    });
    assert!(is_gone, "{pid} still runs");
    let much = run("yes line | head -c 200000; echo end", long);
    assert!(much.output.len() <= 32 << 10 && much.output.ends_with("end\n"));
}

#[test]
fn work_is_rebased_and_merged_and_a_checkout_follows() {
    let repo = repo();
    let (spaces, main, base) = (workspaces(&repo), main_line(&repo), repo.head());
    let space = wait(spaces.open("bd-1", &base)).unwrap();
    code(&spaces, &space, "echo 1 >> a.txt && git commit -qam 'bd-1: a' && echo left >> b.txt");
    repo.write("b.txt", "two\nmore\n");
    let tip = repo.commit("other work");
    assert_eq!(wait(main.tip()).unwrap(), tip);
    let late = state(&spaces, &space).head;
    let refused = wait(spaces.rebase(&space, &tip, &tip)).unwrap_err().to_string();
    assert!(refused.contains("its worktree changed after the review"), "{refused}");
    let rebased = wait(spaces.rebase(&space, &late, &tip)).unwrap();
    // A run that is killed before it notes the end of the rebase repeats it.
    let again = wait(spaces.rebase(&space, &late, &tip)).unwrap();
    assert!(matches!(again, RebaseResult::Done { .. }), "{rebased:?} {again:?}");
    let rebased = again;
    let RebaseResult::Done { workspace, head } = rebased else { panic!("{rebased:?}") };
    assert_eq!(workspace.base, tip);
    let found = state(&spaces, &workspace);
    assert_eq!((subjects(&found), &found.head), (vec!["bd-1: a"], &head));
    assert_eq!(found.commits[0].parent.as_ref(), Some(&tip));
    assert_eq!(found.uncommitted, [""; 0]);

    repo.write("untracked.txt", "mine\n");
    assert_eq!(wait(main.advance(&tip, &head)).unwrap(), AdvanceResult::Done);
    assert_eq!(wait(main.advance(&tip, &head)).unwrap(), AdvanceResult::Done);
    assert_eq!((repo.id("main"), repo.head()), (head.clone(), head.clone()));
    assert_eq!(std::fs::read_to_string(repo.path("a.txt")).unwrap(), "one\n1\n");
    assert_eq!(repo.git(&["status", "--porcelain"]), "?? untracked.txt");
    let range = wait(main.range(&base, &head)).unwrap();
    assert_eq!((range.lines, range.is_empty, range.commits.len()), (2, false, 2));
    assert!(range.commits[0].ends_with(" bd-1: a"), "{range:?}");
    assert!(wait(main.range(&head, &head)).unwrap().is_empty);
    for (commit, reach) in [
        (base.as_str(), CommitReach::Ancestor),
        (&head, CommitReach::Ancestor),
        ("0123456789012345678901234567890123456789", CommitReach::Missing),
    ] {
        assert_eq!(wait(main.reach(commit, &head)).unwrap(), reach, "{commit}");
    }
    assert_eq!(wait(main.reach(&head, &base)).unwrap(), CommitReach::NotAncestor);
}

#[test]
fn a_conflict_changes_nothing_and_names_the_files() {
    let repo = repo();
    let (spaces, base) = (workspaces(&repo), repo.head());
    let space = wait(spaces.open("bd-1", &base)).unwrap();
    code(&spaces, &space, "echo mine > a.txt && git commit -qam 'bd-1: a'");
    repo.write("a.txt", "theirs\n");
    let tip = repo.commit("other work");
    let before = state(&spaces, &space);
    let conflict = wait(spaces.rebase(&space, &before.head, &tip)).unwrap();
    assert_eq!(conflict, RebaseResult::Conflict(vec!["a.txt".to_owned()]));
    assert_eq!(state(&spaces, &space), before);

    // A process that is killed in the middle of a rebase leaves it to the next one.
    code(&spaces, &space, &format!("git rebase -q {tip} || true"));
    assert_ne!(state(&spaces, &space), before);
    let again = wait(spaces.open("bd-1", &base)).unwrap();
    assert_eq!(state(&spaces, &again), before);
}

#[test]
fn the_target_does_not_move_in_the_way_of_the_user() {
    let repo = repo();
    let (spaces, main, base) = (workspaces(&repo), main_line(&repo), repo.head());
    let space = wait(spaces.open("bd-1", &base)).unwrap();
    code(
        &spaces,
        &space,
        "echo 1 >> a.txt && echo n > new.txt && git add -A && git commit -qm 'bd-1: a'",
    );
    let head = state(&spaces, &space).head;
    let refused = |expected: &str| {
        let result = wait(main.advance(&base, &head)).unwrap();
        let AdvanceResult::Waits(why) = &result else { panic!("{result:?}") };
        assert!(why.contains(expected), "{why}");
        let seen = wait(main.obstacle()).unwrap();
        assert_eq!(seen.is_some(), expected.contains("uncommitted"), "{seen:?}");
        assert_eq!(repo.id("main"), base);
    };
    repo.write("b.txt", "unstaged\n");
    refused("uncommitted changes, such as in b.txt");
    repo.stage();
    refused("uncommitted changes, such as in b.txt");
    repo.git(&["reset", "-q", "--hard"]);
    repo.write("new.txt", "not tracked\n");
    refused("with files that the merge would overwrite: new.txt");
    assert_eq!(std::fs::read_to_string(repo.path("new.txt")).unwrap(), "not tracked\n");
    repo.remove("new.txt");

    // Without a checkout only the branch moves, and another branch of the user stays where it is.
    repo.branch("mine");
    repo.write("b.txt", "unstaged\n");
    assert_eq!(wait(main.advance(&base, &head)).unwrap(), AdvanceResult::Done);
    assert_eq!((repo.id("main"), repo.id("mine")), (head.clone(), base.clone()));
    assert_eq!(repo.git(&["status", "--porcelain"]), "M b.txt");
    assert_eq!(wait(main.advance(&base, &base)).unwrap(), AdvanceResult::Done, "it is there");
    let other = repo.commit("other");
    assert_eq!(wait(main.advance(&base, &other)).unwrap(), AdvanceResult::Moved);
    assert!(matches!(wait(main.advance(&head, &other)).unwrap(), AdvanceResult::Refused(_)));
    assert!(wait(GitMainLine::new(open(&repo), "no").tip()).is_err());
}

#[test]
fn a_fast_forward_that_was_interrupted_is_finished() {
    let repo = repo();
    let (spaces, main, base) = (workspaces(&repo), main_line(&repo), repo.head());
    let space = wait(spaces.open("bd-1", &base)).unwrap();
    code(&spaces, &space, "echo 1 >> a.txt && git commit -qam 'bd-1: a'");
    let head = state(&spaces, &space).head;
    repo.git(&["read-tree", "-m", "-u", &base, &head]);
    assert_eq!(repo.git(&["status", "--porcelain"]), "M  a.txt");
    assert_eq!(wait(main.advance(&base, &head)).unwrap(), AdvanceResult::Done);
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    assert_eq!(repo.head(), head);
}
