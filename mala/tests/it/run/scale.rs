//! A whole run at scale: 33 issues in 4 epics with dependencies, 4 coders at a time, planted defects, and coders that
//! hang, lie, conflict and make no progress.

use super::{git, repository, text};
use mala_testkit::World;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What each issue does is in its title.
const CODER: &str = r#"
prefix=$(sed -n 's/.*starts with `\([^`]*\)`.*/\1/p' "$1" | head -1)
is() { grep -q "$2" "$1"; }
save() { git add -A && git commit -q -m "$prefix$1"; }
clean='def work(items):\n    return sum(items)\n'
if is "$1" 'Merge Conflict'; then
  onto=$(sed -n 's/^Run `git rebase \([0-9a-f]*\)`.*/\1/p' "$1")
  git rebase -q "$onto" || { printf 'one\ntwo\n' > shared.txt; git add -A; GIT_EDITOR=true git rebase --continue; }
elif [ "$2" = d-1 ]; then
  sleep 600
elif is "$1" 'LIES'; then
  date +%N > "$2.txt"; echo BROKEN >> "$2.txt"; save "say that it works"; echo 'All tests pass.'
elif is "$1" 'External Review Failed' || is "$1" 'PROGRESS'; then
  if is "$1" 'External Review Failed'; then
    test -e "$2.stuck" || { printf "$clean" > "$2.py"; save "fix the finding"; }
  else
    touch "$2.stuck"; printf 'def work(items, seen=[]):\n    seen.extend(items)\n    return sum(seen)\n' > "$2.py"; save "make no progress"
  fi
elif is "$1" 'DEFECT'; then
  printf 'def work(items, seen=[]):\n    seen.extend(items)\n    return sum(seen)\n' > "$2.py"; save "add work"
elif is "$1" 'FIRST'; then
  n=0; while [ ! -e "$HOME/second" ] && [ $n -lt 1200 ]; do n=$((n + 1)); sleep 0.05; done
  echo one > shared.txt; save "write the first line"
elif is "$1" 'SECOND'; then
  touch "$HOME/second"
  n=0; while [ "$(git show main:shared.txt)" != one ] && [ $n -lt 1200 ]; do n=$((n + 1)); sleep 0.05; done
  echo two > shared.txt; save "write the second line"
else
  printf "$clean" > "$2.py"; save "add work"
fi
"#;

const CONFIG: &str = "
commands: {check: '! grep -rq BROKEN --include=*.txt .'}
validation_triggers:
  session_end:
    commands: [{ref: check}]
    failure_mode: remediate
    max_retries: 1
    code_review: {enabled: true, reviewer_type: builtin, finding_threshold: P2, max_retries: 1}
  epic_completion: {fire_on: success, code_review: {enabled: true, reviewer_type: builtin, baseline: since_last_review}}
  run_end: {fire_on: both, code_review: {enabled: true, reviewer_type: builtin, baseline: since_run_start}}
run:
  coder: scripted
  coders: {scripted: {command: [sh, '{prompt_file}', agent]}}
  max_agents: 4
  idle_minutes: 0.2
  idle_resumes: 1
";

/// The issues as JSON Lines. In each epic, `x-2` to `x-4` wait for the one before, and the rest for `x-1`.
fn issues() -> String {
    let mut lines = Vec::new();
    let epic = |id: &str| json!({"id": id, "title": format!("Epic {id}"), "issue_type": "epic"});
    let issue = |id: String, title: &str, epic: &str, after: Option<String>, priority: u8| {
        let mut edges = vec![json!({"depends_on_id": epic, "type": "parent-child"})];
        edges.extend(after.map(|it| json!({"depends_on_id": it, "type": "blocks"})));
        json!({"id": id, "title": title, "priority": priority, "parent": epic, "dependencies": edges})
    };
    for name in ["a", "b", "c"] {
        lines.push(epic(&format!("epic-{name}")));
        for number in 1..=10 {
            let title = match (name, number) {
                ("a", 9) => "FIRST of a conflict",
                ("a", 10) => "SECOND of a conflict",
                (_, 3 | 6) => "DEFECT to be fixed",
                _ => "Add work",
            };
            let is_conflict = title.ends_with("conflict");
            let after = match number {
                _ if is_conflict => None,
                1 => None,
                2..=4 => Some(format!("{name}-{}", number - 1)),
                _ => Some(format!("{name}-1")),
            };
            let priority = if is_conflict { 0 } else { 2 };
            let parent = format!("epic-{name}");
            lines.push(issue(format!("{name}-{number}"), title, &parent, after, priority));
        }
    }
    lines.push(epic("epic-d"));
    for (id, title) in [("d-1", "HANGS"), ("d-2", "LIES"), ("d-3", "makes no PROGRESS")] {
        lines.push(issue(id.to_owned(), title, "epic-d", None, 1));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn entries(report: &Value, list: &str) -> BTreeMap<String, Value> {
    let name = |entry: &Value| entry["name"].as_str().unwrap().to_owned();
    report[list].as_array().unwrap().iter().map(|entry| (name(entry), entry.clone())).collect()
}

/// Rows 003-004, 003-022, 003-023, 003-027, 003-031, 003-034, 003-088, 003-090, 003-096, 003-229 and 003-231.
#[test]
fn thirty_issues_in_three_epics_end_as_they_should() {
    let config = CONFIG.replace("'{prompt_file}', agent", "agent.sh, '{prompt_file}', '{issue}'");
    let world = repository(&config, CODER).with_env("MALA_LOG", "info");
    world.write("../issues.jsonl", issues());
    let imported = world.run(&["issue", "import", "../issues.jsonl"]);
    assert_eq!(imported, "[exit 0]\n[stdout]\n37 added, 0 updated\n");
    let start = git(&world, &["rev-parse", "main"]).trim().to_owned();
    let output = world.output(&["run"], b"");
    let (markdown, log) = text(&output);
    assert_eq!(output.status.code(), Some(1), "{markdown}\n{log}");
    check_statuses(&world, &markdown);
    check_history(&world, &start);
    check_reviews(&world, &log, &start);
    let page = world.read(".mala/run/report.html");
    assert!(page.contains("30 succeeded, 3 failed"), "{page}");
    let worktrees = git(&world, &["worktree", "list", "--porcelain"]);
    assert_eq!(worktrees.matches("worktree ").count(), 1, "no worktree is left: {worktrees}");
    assert_eq!(git(&world, &["status", "--short"]), "");
}

fn check_statuses(world: &World, markdown: &str) {
    let report: Value = serde_json::from_str(&world.read(".mala/run/report.json")).unwrap();
    assert_eq!((&report["succeeded"], &report["failed"]), (&json!(30), &json!(3)), "{markdown}");
    for (name, entry) in entries(&report, "issues") {
        let (status, reason) = match name.as_str() {
            "d-1" => ("failed", "the coder hung"),
            "d-2" => ("failed", "failed commands: check (exit code 1)"),
            "d-3" => ("failed", "no progress: the coder changed nothing"),
            _ => ("succeeded", ""),
        };
        let said = entry["reason"].as_str().unwrap_or_default();
        assert_eq!((entry["status"].as_str(), said), (Some(status), reason), "{name}: {markdown}");
        let is_planted = ["a-3", "a-6", "b-3", "b-6", "c-3", "c-6"].contains(&name.as_str());
        assert_eq!(entry["fixed"], json!(usize::from(is_planted)), "{name}: {markdown}");
    }
    for line in [
        "# mala run: 30 issues succeeded, 3 failed",
        "d-1 failed: the coder hung: `mala run logs d-1`",
        "d-2 failed: failed commands: check (exit code 1): `git log -p mala/d-2`",
        "d-3 failed: no progress: the coder changed nothing: `git log -p mala/d-3`",
    ] {
        assert!(markdown.contains(line), "{line} is not in {markdown}");
    }
    let issues = text(&world.output(&["issue", "list", "--all"], b"")).0;
    let closed = issues.lines().filter(|line| line.contains("  closed  ")).count();
    assert_eq!(closed, 30 + 6, "the findings of fixed defects are closed: {issues}");
}

fn check_history(world: &World, start: &str) {
    let range = format!("{start}..main");
    let parents = git(world, &["log", "--format=%p", &range]);
    assert!(parents.lines().all(|line| line.split(' ').count() == 1), "linear: {parents}");
    let subjects = git(world, &["log", "--reverse", "--format=%s", &range]);
    let ids: Vec<&str> = subjects
        .lines()
        .map(|line| line.strip_prefix("bd-").unwrap().split_once(": ").unwrap().0)
        .collect();
    assert_eq!(ids.len(), 30 + 6, "each issue is merged once, each fix too: {subjects}");
    let place = |id: &str| ids.iter().position(|it| *it == id).unwrap_or_else(|| panic!("{id}"));
    for name in ["a", "b", "c"] {
        assert!(place(&format!("{name}-2")) < place(&format!("{name}-3")), "{subjects}");
        assert!(place(&format!("{name}-1")) < place(&format!("{name}-8")), "{subjects}");
    }
    assert!(!ids.iter().any(|id| id.starts_with('d')), "{subjects}");
    assert_eq!(git(world, &["show", "main:shared.txt"]), "one\ntwo\n", "the conflict is resolved");
    for branch in ["mala/d-2", "mala/d-3"] {
        assert!(!git(world, &["rev-parse", branch]).is_empty(), "{branch} has the work");
    }
}

fn check_reviews(world: &World, log: &str, start: &str) {
    let started = |trigger: &str| -> Vec<String> {
        let wanted = format!("Review started trigger_type={trigger} ");
        let lines = log.lines().filter(|line| line.contains(&wanted));
        lines.map(str::to_owned).collect()
    };
    assert_eq!(started("epic_completion").len(), 3, "each epic once, 003-023: {log}");
    let end = started("run_end");
    assert_eq!(end.len(), 1, "the run once, 003-031");
    let tip = git(world, &["rev-parse", "main"]).trim().to_owned();
    assert!(end[0].contains(&format!("baseline_sha={start} head_sha={tip}")), "003-229: {end:?}");
    let main: Vec<String> =
        git(world, &["log", "--format=%H", "main"]).lines().map(str::to_owned).collect();
    for line in started("epic_completion") {
        let head = line.rsplit("head_sha=").next().unwrap().trim();
        assert!(main.iter().any(|commit| commit == head), "003-090: {line}");
        assert!(line.contains("baseline_mode=since_last_review"), "003-088: {line}");
    }
    let metadata: Value = serde_json::from_str(&world.read(".mala/run/run_metadata.json")).unwrap();
    let keys: Vec<&String> =
        metadata["last_cumulative_review_commits"].as_object().unwrap().keys().collect();
    let expected =
        ["epic_completion:epic-a", "epic_completion:epic-b", "epic_completion:epic-c", "run_end"];
    assert_eq!(keys, expected, "003-096, 003-231");
    let last = log.rfind("trigger_type=epic_completion").unwrap();
    assert!(last < log.find("Review started trigger_type=run_end").unwrap(), "003-027");
}
