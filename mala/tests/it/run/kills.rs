//! `kill -9` at random points of a run, each followed by `mala run --resume`: nothing is lost, and nothing is done
//! twice.

use super::{git, repository, text};
use mala_testkit::World;
use std::collections::BTreeSet;
use std::process::{Child, Stdio};
use std::time::Duration;

const KILLS: u32 = 100;

/// Every third issue has a defect, which the coder fixes when it is told. A session that is repeated finds its own
/// work.
const CODER: &str = r#"
prefix=$(sed -n 's/.*starts with `\([^`]*\)`.*/\1/p' "$1" | head -1)
case "$2" in *3|*6|*9) defect=1 ;; *) defect= ;; esac
if grep -q 'External Review Failed' "$1"; then defect=; fi
if [ "$defect" ] && [ ! -e "$2.py" ]; then
  printf 'def work(items, seen=[]):\n    seen.extend(items)\n    return sum(seen)\n' > "$2.py"
elif [ ! "$defect" ]; then
  printf 'def work(items):\n    return sum(items)\n' > "$2.py"
fi
git add -A
git diff --cached --quiet || git commit -q -m "${prefix}work"
"#;

const CONFIG: &str = "
commands: {check: 'true'}
validation_triggers:
  session_end:
    commands: [{ref: check}]
    code_review: {enabled: true, reviewer_type: builtin, finding_threshold: P2, max_retries: 2}
  epic_completion: {code_review: {enabled: true, reviewer_type: builtin, baseline: since_last_review}}
  run_end: {code_review: {enabled: true, reviewer_type: builtin, baseline: since_last_review}}
run:
  coder: scripted
  coders: {scripted: {command: [sh, agent.sh, '{prompt_file}', '{issue}']}}
  max_agents: 3
";

/// A numeric sequence without a pattern.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Adds an epic with ten issues.
fn add_issues(world: &World, batch: u32) {
    let mut lines =
        format!("{{\"id\":\"e{batch}\",\"title\":\"Epic {batch}\",\"issue_type\":\"epic\"}}\n");
    for number in 0..10 {
        lines += &format!(
            "{{\"id\":\"i{batch}-{number}\",\"title\":\"Work\",\"parent\":\"e{batch}\"}}\n"
        );
    }
    world.write("../more.jsonl", lines);
    let output = world.output(&["issue", "import", "../more.jsonl"], b"");
    assert!(output.status.success(), "{}", world.show(&output));
}

fn start(world: &World, args: &[&str]) -> Child {
    let mut command = world.command(env!("CARGO_BIN_EXE_mala"));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

fn log_lines(world: &World) -> Vec<String> {
    let path = world.folder().join(".mala/run/events.jsonl");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// The name of an event.
fn stage(line: &str) -> String {
    let name = line.split("\"name\":\"").nth(1).and_then(|rest| rest.split('"').next());
    name.unwrap_or_default().to_owned()
}

/// Kills a run when its log has this many lines, and a moment later. False if it ended before.
fn kill_after(mut run: Child, world: &World, events: usize, delay: Duration) -> bool {
    while run.try_wait().unwrap().is_none() && log_lines(world).len() < events {
        std::thread::sleep(Duration::from_millis(2));
    }
    std::thread::sleep(delay);
    if run.try_wait().unwrap().is_some() {
        return false;
    }
    run.kill().unwrap();
    run.wait().unwrap();
    true
}

/// Rows 003-099 and 003-101.
#[test]
fn no_kill_loses_or_repeats_anything() {
    let world = repository(CONFIG, CODER);
    let first = git(&world, &["rev-parse", "main"]).trim().to_owned();
    let mut random = Random(20_261_116);
    let mut n_batches = 0;
    let mut n_kills = 0;
    let mut is_over = true;
    let mut stages = BTreeSet::new();
    while n_kills < KILLS {
        if is_over {
            n_batches += 1;
            add_issues(&world, n_batches);
        }
        let args: &[&str] = if n_kills == 0 { &["run"] } else { &["run", "--resume"] };
        let events = log_lines(&world).len() + random.below(14) as usize;
        let delay = Duration::from_millis(random.below(60));
        is_over = !kill_after(start(&world, args), &world, events, delay);
        if !is_over {
            n_kills += 1;
            stages.extend(log_lines(&world).last().map(|line| stage(line)));
        }
        if let Ok(metadata) = std::fs::read(world.folder().join(".mala/run/run_metadata.json")) {
            let valid: Result<serde_json::Value, _> = serde_json::from_slice(&metadata);
            assert!(valid.is_ok(), "003-101: {}", String::from_utf8_lossy(&metadata));
        }
    }
    assert!(stages.len() >= 8, "the kills hit too few stages: {stages:?}");
    // A run that was killed after its end has nothing to resume.
    let output = world.output(&["run"], b"");
    let (report, log) = text(&output);
    assert_eq!(output.status.code(), Some(0), "{report}\n{log}");
    check_issues(&world, n_batches);
    check_merges(&world, &first, n_batches);
    check_nothing_left(&world);
}

fn check_issues(world: &World, n_batches: u32) {
    let issues = text(&world.output(&["issue", "list", "--all"], b"")).0;
    for batch in 1..=n_batches {
        for number in 0..10 {
            let line = format!("i{batch}-{number}  closed");
            assert!(issues.contains(&line), "{line} is lost: {issues}");
        }
    }
    let filed = issues.lines().filter(|line| line.contains("Default argument")).count();
    assert_eq!(filed, n_batches as usize * 3, "each finding is filed once: {issues}");
    let open =
        issues.lines().filter(|line| !line.contains("  closed  ") && !line.contains("  epic  "));
    assert_eq!(open.count(), 0, "{issues}");
}

fn check_merges(world: &World, first: &str, n_batches: u32) {
    let range = format!("{first}..main");
    let parents = git(world, &["log", "--format=%p", &range]);
    assert!(parents.lines().all(|line| line.split(' ').count() == 1), "linear: {parents}");
    let subjects = git(world, &["log", "--format=%s", &range]);
    for batch in 1..=n_batches {
        for number in 0..10 {
            let subject = format!("bd-i{batch}-{number}: work");
            let commits = if matches!(number, 3 | 6 | 9) { 2 } else { 1 };
            let merged = subjects.lines().filter(|line| **line == subject).count();
            assert_eq!(merged, commits, "{subject}: {subjects}");
        }
    }
}

fn check_nothing_left(world: &World) {
    let worktrees = git(world, &["worktree", "list", "--porcelain"]);
    assert_eq!(worktrees.matches("worktree ").count(), 1, "{worktrees}");
    let branches = git(world, &["branch", "--format=%(refname:short)"]);
    assert_eq!(branches, "main\n", "no work is left aside");
    assert_eq!(git(world, &["status", "--short"]), "");
    let home = world.home().display().to_string();
    crate::cerberus::assert_none_left(|environ, command| {
        environ.contains(&format!("MALA_WORKSPACE={home}")) && !command.is_empty()
    });
}
