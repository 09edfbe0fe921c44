//! The target branch: who moves it, and when work reaches it.

use super::faults::{CONFIG, START, report};
use super::{add_issue, git, issues, name_issues, repository};
use insta::assert_snapshot;
use mala_testkit::World;

/// A repository whose target is not checked out, so that a coder can move it.
fn movable(script: &str) -> World {
    let world = repository(CONFIG, &format!("{START}{script}\n"));
    let folder = world.folder().display().to_string();
    std::fs::write(world.home().join("repository"), folder).unwrap();
    world.git(&["checkout", "-q", "-b", "elsewhere"]);
    world
}

#[test]
fn a_target_that_moves_during_a_session_is_shown_to_a_person_before_the_merge() {
    let elsewhere = "echo 1 > a; save work; unset GIT_DIR; cd \"$(cat \"$HOME/repository\")\"; tree=$(git rev-parse 'main^{tree}')";
    let mut shown = String::new();
    for (what, script, status) in [
        (
            "moves",
            format!("{elsewhere}; git update-ref refs/heads/main $(git commit-tree -p main -m other $tree)"),
            "unfinished",
        ),
        (
            "is force-pushed",
            format!("{elsewhere}; git update-ref refs/heads/main $(git commit-tree -m other $tree)"),
            "unfinished",
        ),
        (
            "gets a commit of the coder",
            "echo 1 > b; git add -A; git commit -q -m other; git update-ref refs/heads/main HEAD; \
             git reset -q --hard HEAD~1; echo 1 > a; save work".to_owned(),
            "unfinished",
        ),
        (
            "gets work that the review rejects",
            "echo 'breakpoint()' > evil.py; git add -A; git commit -q -m \"${prefix}other\"; git push -q . HEAD:main".to_owned(),
            "failed",
        ),
    ] {
        let world = movable(&script);
        let start = git(&world, &["rev-parse", "main"]).trim().to_owned();
        let id = add_issue(&world, "One");
        let output = world.output(&["run", &id], b"");
        assert_eq!(report(&world)["issues"][0]["status"], status, "{what}");
        let moved = git(&world, &["rev-parse", "main"]).trim().to_owned();
        world.name(&format!("{start}..{moved}"), "[START]..[MOVED]");
        shown.push_str(&format!("{what}: {}", name_issues(&world).show(&output)));
        let last = git(&world, &["log", "-1", "--format=%s", "main"]);
        assert!(last.ends_with("other\n"), "{what}: nothing is merged: {last}");
        if status == "unfinished" {
            let output = world.output(&["run", "--resume"], b"");
            assert_eq!(output.status.code(), Some(0), "{what}: {}", world.show(&output));
            let subjects = git(&world, &["log", "-2", "--format=%s", "main"]);
            assert_eq!(subjects, format!("bd-{id}: work\nother\n"), "{what}");
        }
    }
    assert_snapshot!(shown, @"
    moves: [exit 1]
    [stdout]
    # mala run: 0 issues succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | [ID] One | unfinished: waits for its merge: the target branch moved during its session, not by mala | reviewed by builtin | 0 | 0 | $0.00 |

    ## Needs a person

    - [ID]: the target branch moved during its session, not by mala: `git log -p [START]..[MOVED]`
    - [ID] is not finished: waits for its merge: the target branch moved during its session, not by mala: `mala run --resume`

    [stderr]
    [ID]: preparing a workspace
    [ID]: coding
    [ID]: reviewing
    [ID]: waiting for its merge: the target branch moved during its session, not by mala
    report: [WORK]/.mala/run/report.md
    is force-pushed: [exit 1]
    [stdout]
    # mala run: 0 issues succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | [ID] One | unfinished: waits for its merge: the target branch moved during its session, not by mala | reviewed by builtin | 0 | 0 | $0.00 |

    ## Needs a person

    - [ID]: the target branch moved during its session, not by mala: `git log -p [START]..[MOVED]`
    - [ID] is not finished: waits for its merge: the target branch moved during its session, not by mala: `mala run --resume`

    [stderr]
    [ID]: preparing a workspace
    [ID]: coding
    [ID]: reviewing
    [ID]: waiting for its merge: the target branch moved during its session, not by mala
    report: [WORK]/.mala/run/report.md
    gets a commit of the coder: [exit 1]
    [stdout]
    # mala run: 0 issues succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | [ID] One | unfinished: waits for its merge: the target branch moved during its session, not by mala | reviewed by builtin | 0 | 0 | $0.00 |

    ## Needs a person

    - [ID]: the target branch moved during its session, not by mala: `git log -p [START]..[MOVED]`
    - [ID] is not finished: waits for its merge: the target branch moved during its session, not by mala: `mala run --resume`

    [stderr]
    [ID]: preparing a workspace
    [ID]: coding
    [ID]: reviewing
    [ID]: waiting for its merge: the target branch moved during its session, not by mala
    report: [WORK]/.mala/run/report.md
    gets work that the review rejects: [exit 1]
    [stdout]
    # mala run: 0 issues succeeded, 1 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | [ID] One | failed: no progress: the coder changed nothing | reviewed by builtin | 1 | 0 | $0.00 |

    ## Needs a person

    - [ID]: the target branch moved during its session, not by mala: `git log -p [START]..[MOVED]`
    - [ID] failed: no progress: the coder changed nothing: `mala run logs [ID]`
    - a finding of [ID] is open as [ID]: `mala issue show [ID]`
    - this run does not work on issues of its findings; a new one does: `mala run --fresh`

    [stderr]
    [ID]: preparing a workspace
    [ID]: coding
    [ID]: reviewing
    [ID]: filing findings
    [ID]: coding
    [ID] | nothing to commit, working tree clean
    [ID]: releasing
    [ID]: cleaning up
    [ID]: failed: no progress: the coder changed nothing
    report: [WORK]/.mala/run/report.md
    ");
}

#[test]
fn a_target_that_is_deleted_fails_the_issue_and_loses_nothing() {
    let world = movable("echo 1 > a; save work; git update-ref -d refs/heads/main");
    let id = add_issue(&world, "One");
    let output = world.output(&["run", &id], b"");
    assert_eq!(output.status.code(), Some(1), "{}", world.show(&output));
    let kept = git(&world, &["log", "--all", "--format=%s"]);
    assert!(kept.contains(&format!("bd-{id}: work")), "{kept}");
}

/// The merge of a killed run is found, though the user went on from it.
#[test]
fn work_that_the_target_has_already_is_done() {
    let script = "echo session >> \"$HOME/sessions\"; echo 1 > a; save work";
    let real = std::env::split_paths(&std::env::var_os("PATH").unwrap())
        .map(|folder| folder.join("git"))
        .find(|path| path.is_file())
        .unwrap();
    let real = real.display();
    for is_killed in [true, false] {
        let world = repository(CONFIG, &format!("{START}{script}\n"));
        let id = add_issue(&world, "One");
        if is_killed {
            let mark = world.home().join("killed").display().to_string();
            let wrapper = format!(
                "case \" $* \" in *\" --ff-only \"*) {real} \"$@\"; [ -e {mark} ] || {{ touch {mark}; kill -9 $PPID; }}; exit;; esac\n\
                 exec {real} \"$@\"\n"
            );
            let world = world.with_program("git", &wrapper);
            assert_eq!(world.output(&["run", &id], b"").status.code(), None, "it is killed");
            check_resumed(&world, &id);
        } else {
            world.write("agent.sh", "# edited by the user\n");
            assert_eq!(world.output(&["run", &id], b"").status.code(), Some(1), "it waits");
            world.git(&["checkout", "-q", "agent.sh"]);
            let worktrees = git(&world, &["worktree", "list", "--porcelain"]);
            let head = worktrees.lines().filter_map(|line| line.strip_prefix("HEAD ")).nth(1);
            world.git(&["merge", "-q", "--ff-only", head.unwrap()]);
            check_resumed(&world, &id);
        }
    }
}

fn check_resumed(world: &World, id: &str) {
    world.commit_file("user.txt", "1\n");
    let before = git(world, &["log", "--format=%H %s"]);
    assert!(before.contains(&format!("bd-{id}: work")), "{before}");
    let output = world.output(&["run", "--resume"], b"");
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    assert_eq!(git(world, &["log", "--format=%H %s"]), before, "nothing is merged twice");
    let sessions = std::fs::read_to_string(world.home().join("sessions")).unwrap();
    assert_eq!(sessions, "session\n", "no coder works again");
    assert_eq!(issues(world), "closed  P2  One\n");
}
