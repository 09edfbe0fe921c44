//! Trackers that hang, print garbage or lose a claim, and a disk that is full. Each ends in the right status with a
//! clear reason, and nothing is lost.

use super::{git, repository, text};
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
    for (how, says) in [
        ("hangs", "bd list: no answer in 30 s"),
        ("garbage", "bd list: its answer is not JSON: <html>Bad gateway"),
        ("error", "bd list: exit 1: Error: database is locked"),
    ] {
        let world = beads();
        set(&world, "fails_at", "list");
        set(&world, "how", how);
        let (code, shown) = run(&world, &[]);
        assert_eq!(code, Some(2), "{how}: {shown}");
        assert!(shown.contains(says), "{how}: {shown}");
        assert_eq!((n_sessions(&world), subjects(&world)), (0, "start\n".to_owned()), "{how}");
        set(&world, "fails_at", "");
        let (code, shown) = run(&world, &[]);
        assert_eq!((code, subjects(&world)), (Some(0), MERGED.to_owned()), "{how}: {shown}");
        assert_eq!((n_sessions(&world), said(&world, "status").as_str()), (1, "closed"), "{how}");
    }
}

/// A tracker that fails when the work is done loses none of it: the next run merges or closes, and no coder works
/// again.
#[test]
fn a_tracker_that_fails_later_loses_no_work() {
    for (fails_at, how, code, says) in [
        ("show", "garbage", 1, "waits for its merge: tracker: bd show: its answer is not JSON"),
        (
            "close",
            "error",
            0,
            "merged, but not closed: bd close: exit 1: Error: database is locked",
        ),
        ("close", "hangs", 0, "merged, but not closed: bd close: no answer in 30 s"),
    ] {
        let world = beads();
        set(&world, "fails_at", fails_at);
        set(&world, "how", how);
        set(&world, "after_session", "");
        let what = format!("{fails_at} {how}");
        let (ended, shown) = run(&world, &[]);
        assert_eq!(ended, Some(code), "{what}: {shown}");
        assert!(shown.replace('\\', "").contains(says), "{what}: {shown}");
        assert_eq!(said(&world, "status"), "in_progress", "{what}");
        set(&world, "fails_at", "");
        let (ended, shown) = run(&world, &["--resume"]);
        assert_eq!((ended, subjects(&world)), (Some(0), MERGED.to_owned()), "{what}: {shown}");
        assert_eq!((n_sessions(&world), said(&world, "status").as_str()), (1, "closed"), "{what}");
    }
}

/// What the tracker says about an issue while its coder works decides whether the work is merged.
#[test]
fn a_claim_that_is_lost_is_not_merged() {
    let world = beads();
    set(&world, "thief", "");
    let (code, shown) = run(&world, &[]);
    assert_eq!((code, n_sessions(&world)), (Some(0), 0), "{shown}");
    assert!(shown.contains("the claim does not hold: it belongs to another-run"), "{shown}");
    for (file, text, says) in [
        ("assignee", "another-run", "given to another-run meanwhile"),
        ("status", "closed", "closed meanwhile"),
        ("status", "blocked", "set aside meanwhile"),
    ] {
        let world = beads();
        set(&world, "during", &format!("printf {text} > \"$HOME/{file}\""));
        let (code, shown) = run(&world, &[]);
        assert_eq!((code, subjects(&world)), (Some(0), "start\n".to_owned()), "{says}: {shown}");
        assert!(shown.contains(&format!("x-1 is not merged: {says}")), "{shown}");
        assert!(shown.contains("git log -p mala/x-1"), "the commits are kept: {shown}");
        assert_eq!(git(&world, &["log", "-1", "--format=%s", "mala/x-1"]), "bd-x-1: work\n");
        assert_eq!(said(&world, file), text, "{says}: the tracker keeps what it says");
    }
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
