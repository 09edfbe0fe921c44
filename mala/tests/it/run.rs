//! `mala run`: from an issue to a merged commit, with a scripted coder and the built-in tracker.

mod coders;
mod endings;
mod faults;
mod issues;
mod kills;
mod limits;
mod reviewers;
mod scale;
mod start;
mod target;
mod trackers;

use crate::world;
use insta::assert_snapshot;
use mala_testkit::World;
use std::process::Output;

/// Commits a file with the name of its issue.
const FILE_CODER: &str = r#"
prefix=$(sed -n 's/.*starts with `\([^`]*\)`.*/\1/p' "$1" | head -1)
echo 1 > "$2.txt"; git add -A && git commit -q -m "${prefix}work"
"#;

const FILE_CONFIG: &str = "
run:
  coder: scripted
  coders: {scripted: {command: [sh, agent.sh, '{prompt_file}', '{issue}']}}
";

/// Commits a file with a defect, and corrects it when a review complains.
const CODER: &str = r#"
prefix=$(sed -n 's/.*starts with `\([^`]*\)`.*/\1/p' "$1" | head -1)
if grep -q 'External Review Failed' "$1"; then
  printf 'def total(items):\n    return sum(items)\n' > total.py
else
  printf 'def total(items, seen=[]):\n    seen.extend(items)\n    return sum(seen)\n' > total.py
fi
git add -A && git commit -q -m "${prefix}add total"
"#;

const CONFIG: &str = "
commands: {check: 'test -f total.py'}
validation_triggers:
  session_end: {commands: [{ref: check}], code_review: {enabled: true, reviewer_type: builtin, finding_threshold: P2, max_retries: 1}}
  run_end: {code_review: {enabled: true, reviewer_type: builtin, baseline: since_run_start}}
run:
  coder: scripted
  coders: {scripted: {command: [sh, agent.sh, '{prompt_file}']}}
";

fn repository(config: &str, coder: &str) -> World {
    let world = world();
    world.git(&["init", "-q", "-b", "main"]);
    world.write("agent.sh", coder);
    world.write("mala.yaml", config);
    world.git(&["add", "-A"]).git(&["commit", "-q", "-m", "start"]);
    world
}

fn add_issue(world: &World, title: &str) -> String {
    let output = world.output(&["issue", "add", title], b"");
    assert!(output.status.success(), "{}", world.show(&output));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn text(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Shows the random ids of all issues as `[ID]`, and that of the run as `[RUN]`.
fn name_issues(world: &World) -> &World {
    let list = text(&world.output(&["issue", "list", "--all"], b"")).0;
    for line in list.lines() {
        world.name(line.split(' ').next().unwrap_or_default(), "[ID]");
    }
    let metadata = std::fs::read_to_string(world.folder().join(".mala/run/run_metadata.json"));
    let metadata: serde_json::Value =
        metadata.map_or_else(|_| "".into(), |text| serde_json::from_str(&text).unwrap());
    if let Some(id) = metadata["run_id"].as_str() {
        world.name(&id[..8], "[RUN]");
    }
    world
}

/// All issues without their random ids and in the order of their titles.
fn issues(world: &World) -> String {
    let list = text(&world.output(&["issue", "list", "--all"], b"")).0;
    let mut lines: Vec<&str> =
        list.lines().map(|line| line.split_once("  ").unwrap_or_default().1).collect();
    lines.sort();
    name_issues(world).clean(&(lines.join("\n") + "\n"))
}

fn git(world: &World, args: &[&str]) -> String {
    let output = world.command("git").args(args).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Rows 000-012, 000-015, 000-016, 000-106, 001-090, 003-006, 003-011, 003-015, 003-026, 003-086,
/// 003-089, 003-100, 003-101, 003-127, 003-138, 003-180, 003-189, 003-209, 003-213, 003-214 and 003-217.
#[test]
fn an_issue_becomes_a_merged_commit_after_its_findings_are_fixed() {
    let world = repository(CONFIG, CODER).with_env("MALA_LOG", "debug");
    let start = git(&world, &["rev-parse", "HEAD"]).trim().to_owned();
    let id = add_issue(&world, "Add total");
    let output = world.output(&["run"], b"");
    let (report, log) = text(&output);
    assert_eq!(output.status.code(), Some(0), "{report}\n{log}");
    let head = git(&world, &["rev-parse", "main"]).trim().to_owned();
    let subjects = git(&world, &["log", "--format=%s", &format!("{start}..main")]);
    let expected = format!("bd-{id}: add total\n").repeat(2);
    assert_eq!(subjects, expected, "000-015, 003-026");
    assert_eq!(git(&world, &["status", "--short", "--untracked-files=no"]), "");
    // 000-012, 003-127, 003-180
    assert_snapshot!(issues(&world), @"
    closed  P2  Add total
    closed  P2  Default argument is changed by the call
    ");
    let events = text(&world.output(&["run", "logs", &id], b"")).0;
    let reviews: Vec<&str> = events
        .lines()
        .filter_map(|line| line.split(' ').nth(2))
        .filter(|it| it.starts_with("on_"))
        .collect();
    assert_eq!(
        reviews,
        ["on_review_started", "on_review_retry", "on_review_started", "on_review_passed"],
        "000-106, 001-090"
    );
    let started = format!(
        "INFO cumulative_review: Review started trigger_type=run_end \
         baseline_mode=since_run_start baseline_sha={start} head_sha={head}"
    );
    let advanced = format!(
        "DEBUG cumulative_review: Baseline advanced trigger_type=run_end \
         old_baseline={start} new_baseline={head}"
    );
    let position = |line: &str| log.find(line).unwrap_or_else(|| panic!("{line} is not in {log}"));
    let completed = "cumulative_review: Review completed trigger_type=run_end status=success finding_count=0 duration_ms=";
    assert!(position(&started) < position(completed), "003-209, 003-213, 003-217, 003-086");
    assert!(position(completed) < position(&advanced), "003-013, 003-214, 003-215");
    let metadata: serde_json::Value =
        serde_json::from_str(&world.read(".mala/run/run_metadata.json")).unwrap();
    assert_eq!(metadata["run_start_commit"], start, "003-070, 003-089, 003-101");
    assert_eq!(metadata["last_cumulative_review_commits"]["run_end"], head, "003-072, 003-107");
    assert_eq!(metadata["run_id"].as_str().unwrap().len(), 36, "003-100");
    let worktrees = git(&world, &["worktree", "list", "--porcelain"]);
    assert_eq!(worktrees.matches("worktree ").count(), 1, "no worktree is left: {worktrees}");
}

/// Rows 003-084, 003-085 and 003-033.
#[test]
fn an_issue_without_commits_fails_and_stays_open() {
    let world = repository(CONFIG, "exit 0\n").with_env("MALA_LOG", "info");
    let id = add_issue(&world, "Add total");
    assert_snapshot!(world.name(&id, "[ISSUE]").run(&["run", &id]), @"
    [exit 1]
    [stdout]
    # mala run: 0 issues succeeded, 1 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | [ISSUE] Add total | failed: no commits for the issue | no review | 0 | 0 | $0.00 |

    ## Needs a person

    - [ISSUE] failed: no commits for the issue: `mala run logs [ISSUE]`

    [stderr]
    [ISSUE]: preparing a workspace
    [ISSUE]: coding
    [ISSUE]: releasing
    [ISSUE]: cleaning up
    [ISSUE]: failed: no commits for the issue
    report: [WORK]/.mala/run/report.md
    ");
    assert_snapshot!(world.run(&["issue", "list"]), @"
    [exit 0]
    [stdout]
    [ISSUE]  open  P2  Add total
    ");
}

#[test]
fn the_plan_shows_issues_and_triggers() {
    let world = repository(&format!("reviewer_type: builtin\n{}", CONFIG.replace(", code_review: {enabled: true, reviewer_type: builtin, finding_threshold: P2, max_retries: 1}", "")), CODER);
    let id = add_issue(&world, "Add total");
    world.name(&id, "[ISSUE]");
    // 003-223, 003-237, 003-241, 003-244
    assert_snapshot!(world.run(&["run", "--dry-run", "--reviewer-type", "cerberus"]), @"
    [exit 0]
    [stdout]
    starts a new run
    tracker: builtin
    coder: scripted
    target: main
    issues at a time: 2
    ready: [ISSUE] Add total
    session_end: check; review by builtin, threshold P1
    run_end: no commands; review by builtin, threshold none
    [stderr]
    warning: --reviewer-type is deprecated: set `code_review.reviewer_type` in mala.yaml
    warning: mala.yaml at main:1:1: DEPRECATION: Top-level 'reviewer_type' is deprecated for per-issue reviews.
    Add 'validation_triggers.session_end.code_review.enabled: true' to preserve current behavior.
    Legacy implicit reviews will be removed in the next major version.
    ");
    // 001-133, 000-093
    assert_snapshot!(world.run(&["run", "--dry-run", "--disable-validations", "review"]), @"
    [exit 0]
    [stdout]
    starts a new run
    tracker: builtin
    coder: scripted
    target: main
    issues at a time: 2
    ready: [ISSUE] Add total
    session_end: check; no review
    run_end: no commands; no review
    [stderr]
    warning: mala.yaml at main:1:1: DEPRECATION: Top-level 'reviewer_type' is deprecated for per-issue reviews.
    Add 'validation_triggers.session_end.code_review.enabled: true' to preserve current behavior.
    Legacy implicit reviews will be removed in the next major version.
    ");
}

#[test]
fn invalid_requests_have_their_exit_codes() {
    let world = repository(CONFIG, CODER);
    // 001-134
    assert_snapshot!(world.run(&["run", "--disable-validations", "codex-review"]), @"
    [exit 64]
    [stderr]
    error: invalid value 'codex-review' for '--disable-validations <NAME>'
      [possible values: review]

    For more information, try '--help'.
    ");
    // 001-135
    assert_snapshot!(world.run(&["run", "--codex-thinking-mode", "high"]), @"
    [exit 64]
    [stderr]
    error: unexpected argument '--codex-thinking-mode' found

      tip: to pass '--codex-thinking-mode' as a value, use '-- --codex-thinking-mode'

    Usage: mala run [OPTIONS] [ISSUE]...
           mala run <COMMAND>

    For more information, try '--help'.
    ");
    assert_snapshot!(world.run(&["run", "--resume"]), @"
    [exit 64]
    [stderr]
    error: there is no run to resume
    hint: run `mala run` without --resume
    ");
    assert_snapshot!(world.run(&["run", "stop"]), @"
    [exit 64]
    [stderr]
    error: no run is in progress
    ");
    assert_snapshot!(world.run(&["run", "status"]), @"
    [exit 0]
    [stdout]
    not running
    ");
    assert_snapshot!(world.run(&["run", "logs"]), @"
    [exit 0]
    [stderr]
    no run yet
    ");
    // 003-067
    let world = repository("validation_triggers: {run_ends: {}}\n", CODER);
    assert_snapshot!(world.run(&["run"]), @"
    [exit 78]
    [stderr]
    error: mala.yaml at main:1:23: unknown key `run_ends` in `validation_triggers`
     --> mala.yaml at main:1:23
      |
    1 | validation_triggers: {run_ends: {}}
      |                       ^^^^^^^^ unknown key
    hint: did you mean `run_end`?
    ");
    // 003-196
    let world = repository("validation_triggers: {run_end: {commands: [{ref: x}]}}\n", CODER);
    assert_snapshot!(world.run(&["run"]), @"
    [exit 78]
    [stderr]
    warning: mala.yaml at main:1:33: `commands` has no `x`: define it there
    error: `validation_triggers.run_end` names the command `x`, which `commands` does not have
    ");
}
