//! `mala run`: from an issue to a merged commit, with a scripted coder and the built-in tracker.

mod coders;
mod faults;
mod kills;
mod limits;
mod reviewers;
mod scale;
mod start;
mod target;
mod trackers;

use crate::world;
use mala_testkit::World;
use std::process::Output;

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
    let issues = text(&world.output(&["issue", "list", "--all"], b"")).0;
    assert!(issues.contains(&format!("{id}  closed")), "000-012: {issues}");
    assert!(issues.contains("closed  P2  Default argument"), "003-127, 003-180: {issues}");
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
    let output = world.output(&["run", &id], b"");
    let (report, log) = text(&output);
    assert_eq!(output.status.code(), Some(1), "{log}");
    assert!(report.contains("failed: no commits for the issue"), "003-085: {report}");
    assert!(!log.contains("Starting review"), "003-084");
    let issues = text(&world.output(&["issue", "list"], b"")).0;
    assert!(issues.contains(&format!("{id}  open")), "003-085: {issues}");
}

#[test]
fn the_plan_shows_issues_and_triggers() {
    let world = repository(&format!("reviewer_type: builtin\n{}", CONFIG.replace(", code_review: {enabled: true, reviewer_type: builtin, finding_threshold: P2, max_retries: 1}", "")), CODER);
    let id = add_issue(&world, "Add total");
    let output = world.output(&["run", "--dry-run", "--reviewer-type", "cerberus"], b"");
    let (plan, warnings) = text(&output);
    assert!(plan.contains(&format!("ready: {id} Add total\n")), "{plan}");
    assert!(plan.contains("session_end: check; review by builtin, threshold P1\n"), "003-237");
    assert!(
        warnings.contains(
            "DEPRECATION: Top-level 'reviewer_type' is deprecated for per-issue reviews.\n\
             Add 'validation_triggers.session_end.code_review.enabled: true' to preserve current behavior.\n\
             Legacy implicit reviews will be removed in the next major version.\n"
        ),
        "003-241, 003-244: {warnings}"
    );
    assert!(
        warnings.contains("--reviewer-type is deprecated: set `code_review.reviewer_type`"),
        "003-223"
    );
    let plan = text(&world.output(&["run", "--dry-run", "--disable-validations", "review"], b"")).0;
    assert!(plan.contains("session_end: check; no review\n"), "001-133, 000-093: {plan}");
}

#[test]
fn invalid_requests_have_their_exit_codes() {
    let world = repository(CONFIG, CODER);
    for (rows, args, code) in [
        ("001-134", &["run", "--disable-validations", "codex-review"][..], 64),
        ("001-135", &["run", "--codex-thinking-mode", "high"], 64),
        ("nothing to resume", &["run", "--resume"], 64),
        ("no run", &["run", "stop"], 64),
    ] {
        let output = world.output(args, b"");
        assert_eq!(output.status.code(), Some(code), "{rows}: {}", world.show(&output));
    }
    let world = repository("validation_triggers: {run_ends: {}}\n", CODER);
    let output = world.output(&["run"], b"");
    assert_eq!(output.status.code(), Some(78), "003-067");
    assert!(text(&output).1.contains("run_end"), "003-067");
    let world = repository("validation_triggers: {run_end: {commands: [{ref: x}]}}\n", CODER);
    assert_eq!(world.output(&["run"], b"").status.code(), Some(78), "003-196");
}
