//! Trackers that hang, print garbage or lose a claim, and a disk that is full. Each ends in the right status with a
//! clear reason, and nothing is lost.

use super::{git, repository, text};
use insta::assert_snapshot;
use mala_testkit::World;

const CONFIG: &str = "
run:
  tracker: beads
  coder: scripted
  coders: {scripted: {command: [sh, agent.sh, '{prefix}']}}
";

/// A session that is repeated finds its own work.
const CODER: &str = "echo session >> \"$HOME/sessions\"; sh \"$HOME/during\"; echo 1 > a; git add -A; git diff --cached --quiet || git commit -q -m \"${1}work\"\n";

/// `bd` with one issue, which keeps its state in the home, and fails at one command in one way.
const BD: &str = r#"
state() { cat "$HOME/$1" 2>/dev/null; }
put() { printf '%s' "$2" > "$HOME/$1"; }
show() {
  printf '[{"id":"x-1","title":"One","status":"%s","issue_type":"task","priority":1,"assignee":"%s"}]\n' \
    "$(state status)" "$(state assignee)"
}
if [ "$1" = --help ]; then echo '  search  x'; exit; fi
if [ "$2" = "$(state fails_at)" ] && [ -e "$HOME/after_session" ] && [ ! -e "$HOME/sessions" ]; then :
elif [ "$2" = "$(state fails_at)" ]; then
  case "$(state how)" in
    hangs) exec sleep 600 ;;
    garbage) echo '<html>Bad gateway'; exit 0 ;;
    error) echo 'Error: database is locked' >&2; exit 1 ;;
  esac
fi
case "$*" in
  "--json list --all --limit=0" | "--json show x-1") show ;;
  "--json update x-1 --status=in_progress "*)
    put status in_progress
    put assignee "$(printf '%s' "$*" | sed 's/.*--assignee=\([^ ]*\).*/\1/')"
    if [ -e "$HOME/thief" ]; then put assignee another-run; fi
    show ;;
  "--json update x-1 --status=open "*) put status open; put assignee ''; show ;;
  "--json close x-1 "*) put status closed; show ;;
  *) echo "unexpected: $*" >&2; exit 9 ;;
esac
"#;

/// A repository with one issue of this tracker.
fn beads() -> World {
    let world = repository(CONFIG, CODER).with_program("bd", BD);
    set(&world, "status", "open");
    set(&world, "during", "");
    world
}

fn set(world: &World, file: &str, text: &str) {
    std::fs::write(world.home().join(file), text).unwrap();
}

fn said(world: &World, file: &str) -> String {
    std::fs::read_to_string(world.home().join(file)).unwrap_or_default()
}

fn run(world: &World, args: &[&str]) -> (Option<i32>, String) {
    let output = world.output(&[&["run"], args].concat(), b"");
    let (shown, log) = text(&output);
    (output.status.code(), format!("{shown}\n{log}"))
}

fn subjects(world: &World) -> String {
    git(world, &["log", "--format=%s", "main"])
}

/// How often a coder worked.
fn n_sessions(world: &World) -> usize {
    said(world, "sessions").lines().count()
}

const MERGED: &str = "bd-x-1: work\nstart\n";

/// A tracker that does not work at the start ends the run before anything is done.
#[test]
fn a_tracker_that_fails_at_first_starts_nothing() {
    let mut said_first = String::new();
    for how in ["hangs", "garbage", "error"] {
        let world = beads();
        set(&world, "fails_at", "list");
        set(&world, "how", how);
        said_first.push_str(&world.run(&["run"]));
        assert_eq!((n_sessions(&world), subjects(&world)), (0, "start\n".to_owned()), "{how}");
        set(&world, "fails_at", "");
        let (code, shown) = run(&world, &[]);
        assert_eq!((code, subjects(&world)), (Some(0), MERGED.to_owned()), "{how}: {shown}");
        assert_eq!((n_sessions(&world), said(&world, "status").as_str()), (1, "closed"), "{how}");
    }
    assert_snapshot!(said_first, @"
    [exit 2]
    [stderr]
    error: bd list: no answer in 30 s
    [exit 2]
    [stderr]
    error: bd list: its answer is not JSON: <html>Bad gateway
    [exit 2]
    [stderr]
    error: bd list: exit 1: Error: database is locked
    ");
}

/// A tracker that fails when the work is done loses none of it: the next run merges or closes, and no coder works
/// again.
#[test]
fn a_tracker_that_fails_later_loses_no_work() {
    let mut said_first = String::new();
    for (fails_at, how) in [("show", "garbage"), ("close", "error"), ("close", "hangs")] {
        let world = beads();
        set(&world, "fails_at", fails_at);
        set(&world, "how", how);
        set(&world, "after_session", "");
        let what = format!("{fails_at} {how}");
        said_first.push_str(&format!("{what}: {}", world.run(&["run"])));
        assert_eq!(said(&world, "status"), "in_progress", "{what}");
        set(&world, "fails_at", "");
        let (ended, shown) = run(&world, &["--resume"]);
        assert_eq!((ended, subjects(&world)), (Some(0), MERGED.to_owned()), "{what}: {shown}");
        assert_eq!((n_sessions(&world), said(&world, "status").as_str()), (1, "closed"), "{what}");
    }
    assert_snapshot!(said_first, @r"
    show garbage: [exit 1]
    [stdout]
    # mala run: 0 issues succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | x-1 One | unfinished: waits for its merge: tracker: bd show: its answer is not JSON: \<html\>Bad gateway | no review | 0 | 0 | $0.00 |

    ## Needs a person

    - x-1 is not finished: waits for its merge: tracker: bd show: its answer is not JSON: \<html\>Bad gateway: `mala run --resume`

    [stderr]
    x-1: preparing a workspace
    x-1: coding
    x-1: merging
    x-1: waiting for its merge: tracker: bd show: its answer is not JSON: <html>Bad gateway
    report: [WORK]/.mala/run/report.md
    close error: [exit 0]
    [stdout]
    # mala run: 1 issue succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | x-1 One | succeeded | no review | 0 | 0 | $0.00 |

    - x-1: merged, but not closed: bd close: exit 1: Error: database is locked

    [stderr]
    x-1: preparing a workspace
    x-1: coding
    x-1: merging
    x-1: closing
    x-1: cleaning up
    x-1: succeeded
    report: [WORK]/.mala/run/report.md
    close hangs: [exit 0]
    [stdout]
    # mala run: 1 issue succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | x-1 One | succeeded | no review | 0 | 0 | $0.00 |

    - x-1: merged, but not closed: bd close: no answer in 30 s

    [stderr]
    x-1: preparing a workspace
    x-1: coding
    x-1: merging
    x-1: closing
    x-1: cleaning up
    x-1: succeeded
    report: [WORK]/.mala/run/report.md
    ");
}

/// What the tracker says about an issue while its coder works decides whether the work is merged.
#[test]
fn a_claim_that_is_lost_is_not_merged() {
    let world = beads();
    set(&world, "thief", "");
    assert_snapshot!(world.run(&["run"]), @"
    [exit 0]
    [stdout]
    # mala run: 0 issues succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | x-1 One | skipped: the claim does not hold: it belongs to another-run | no review | 0 | 0 | $0.00 |

    [stderr]
    x-1: skipped: the claim does not hold: it belongs to another-run
    report: [WORK]/.mala/run/report.md
    ");
    assert_eq!(n_sessions(&world), 0);
    let mut reports = String::new();
    for (file, text) in [("assignee", "another-run"), ("status", "closed"), ("status", "blocked")] {
        let world = beads();
        set(&world, "during", &format!("printf {text} > \"$HOME/{file}\""));
        reports.push_str(&world.run(&["run"]));
        assert_eq!(subjects(&world), "start\n", "{text}");
        assert_eq!(git(&world, &["log", "-1", "--format=%s", "mala/x-1"]), "bd-x-1: work\n");
        assert_eq!(said(&world, file), text, "the tracker keeps what it says");
    }
    assert_snapshot!(reports, @"
    [exit 0]
    [stdout]
    # mala run: 0 issues succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | x-1 One | skipped: given to another-run meanwhile | no review | 0 | 0 | $0.00 |

    ## Needs a person

    - x-1 is not merged: given to another-run meanwhile: `git log -p mala/x-1`

    [stderr]
    x-1: preparing a workspace
    x-1: coding
    x-1: merging
    x-1: cleaning up
    x-1: skipped: given to another-run meanwhile
    report: [WORK]/.mala/run/report.md
    [exit 0]
    [stdout]
    # mala run: 0 issues succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | x-1 One | skipped: closed meanwhile | no review | 0 | 0 | $0.00 |

    ## Needs a person

    - x-1 is not merged: closed meanwhile: `git log -p mala/x-1`

    [stderr]
    x-1: preparing a workspace
    x-1: coding
    x-1: merging
    x-1: cleaning up
    x-1: skipped: closed meanwhile
    report: [WORK]/.mala/run/report.md
    [exit 0]
    [stdout]
    # mala run: 0 issues succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | x-1 One | skipped: set aside meanwhile | no review | 0 | 0 | $0.00 |

    ## Needs a person

    - x-1 is not merged: set aside meanwhile: `git log -p mala/x-1`

    [stderr]
    x-1: preparing a workspace
    x-1: coding
    x-1: merging
    x-1: cleaning up
    x-1: skipped: set aside meanwhile
    report: [WORK]/.mala/run/report.md
    ");
}

/// A write beyond a limit fails as it does on a full disk. Whatever fails, the run says so, and the next one ends the
/// work.
#[test]
fn a_full_disk_loses_nothing() {
    let mut codes = std::collections::BTreeSet::new();
    for kilobytes in [0, 1, 2, 3, 4, 6, 8, 12] {
        let world = beads();
        let script = format!("trap '' XFSZ; ulimit -f {kilobytes}; exec \"$0\" run");
        let mut limited = world.command("/bin/bash");
        let output = limited.args(["-c", &script, env!("CARGO_BIN_EXE_mala")]).output().unwrap();
        let shown = world.show(&output);
        let code = output.status.code();
        assert!(matches!(code, Some(0..=2)), "{kilobytes}: {shown}");
        codes.insert(code);
        if code != Some(0) {
            let is_clear = ["File too large", "file too large", "the coder failed", "No commits"];
            assert!(is_clear.iter().any(|it| shown.contains(it)), "{kilobytes}: {shown}");
            let (code, shown) = run(&world, &[]);
            assert_eq!(code, Some(0), "{kilobytes}: {shown}");
        }
        assert_eq!(
            (subjects(&world), said(&world, "status").as_str()),
            (MERGED.to_owned(), "closed")
        );
        assert_eq!(git(&world, &["status", "--short"]), "", "{kilobytes}");
        let worktrees = git(&world, &["worktree", "list", "--porcelain"]);
        assert_eq!(worktrees.matches("worktree ").count(), 1, "{kilobytes}: {worktrees}");
    }
    assert!(codes.len() > 1, "the limits have no effect: {codes:?}");
}
