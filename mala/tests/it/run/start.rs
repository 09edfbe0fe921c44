//! The first steps: from an empty repository to a merged issue, issues from files, and the branch that work goes to.

use super::{add_issue, git, repository, text};
use crate::world;
use mala_testkit::World;

/// A coder that is installed as `claude`, as far as mala can see.
const CLAUDE: &str = r#"
prefix=$(sed -n 's/.*starts with `\([^`]*\)`.*/\1/p' | head -1)
echo 'def total(items): return sum(items)' > total.py
git add -A && git commit -q -m "${prefix}add total"
echo '{"type":"system","session_id":"s"}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"Done.","session_id":"s","total_cost_usd":0.12}'
"#;

/// The commands of the first example in docs/run.md.
fn documented() -> Vec<String> {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/run.md")).unwrap();
    let example = page.split("```console\n").nth(1).unwrap().split("```").next().unwrap();
    example.lines().filter_map(|line| line.strip_prefix("$ ")).map(str::to_owned).collect()
}

#[test]
fn the_five_documented_commands_lead_to_a_merged_issue() {
    let commands = documented();
    assert_eq!(commands.len(), 5, "{commands:?}");
    let world = world().with_program("claude", CLAUDE);
    world.git(&["init", "-q", "-b", "main"]);
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_mala")).parent().unwrap().to_owned();
    let mut last = String::new();
    for command in &commands {
        let script = format!("PATH={}:$PATH; {command}", binary.display());
        let output = world.command("sh").args(["-c", &script]).output().unwrap();
        assert!(output.status.success(), "{command}: {}", world.show(&output));
        last = text(&output).0;
    }
    assert!(last.lines().next().unwrap().ends_with(": add total"), "{last}");
    let report = world.read(".mala/run/report.md");
    assert!(report.contains("1 issue succeeded, 0 failed"), "{report}");
    assert!(report.contains("$0.12"), "{report}");
}

const CODER: &str = r#"
prefix=$(sed -n 's/.*starts with `\([^`]*\)`.*/\1/p' "$1" | head -1)
echo 1 > "$2.txt"; git add -A && git commit -q -m "${prefix}work"
"#;

const CONFIG: &str = "
run:
  coder: scripted
  coders: {scripted: {command: [sh, agent.sh, '{prompt_file}', '{issue}']}}
";

fn plan(world: &World) -> String {
    text(&world.output(&["run", "--dry-run"], b"")).0
}

/// Rows 003-116 and 003-089: what is checked out changes neither the target nor the configuration.
#[test]
fn work_goes_to_the_default_branch_whatever_is_checked_out() {
    let world = repository(CONFIG, CODER);
    let start = git(&world, &["rev-parse", "main"]).trim().to_owned();
    world.git(&["checkout", "-q", "-b", "feature"]);
    world.commit_file("mala.yaml", "run: {coder: claude, target: feature}\n");
    let id = add_issue(&world, "One");
    let output = world.output(&["run", &id], b"");
    let (_, log) = text(&output);
    assert_eq!(output.status.code(), Some(0), "{log}");
    assert!(log.contains("mala.yaml in the work tree differs: using mala.yaml at main"), "{log}");
    assert_eq!(git(&world, &["log", "-1", "--format=%s", "main"]), format!("bd-{id}: work\n"));
    assert_eq!(git(&world, &["rev-parse", "--abbrev-ref", "HEAD"]), "feature\n");
    world.git(&["checkout", "-q", "--detach", "main"]);
    let tip = git(&world, &["rev-parse", "main"]).trim().to_owned();
    assert_ne!(tip, start);
    add_issue(&world, "Two");
    let output = world.output(&["run", "--fresh"], b"");
    assert_eq!(output.status.code(), Some(0), "003-116: {}", world.show(&output));
    let metadata = world.read(".mala/run/run_metadata.json");
    assert!(metadata.contains(&format!("\"run_start_commit\": \"{tip}\"")), "003-116: {metadata}");
    assert_eq!(git(&world, &["rev-list", "--count", &format!("{tip}..main")]), "1\n");
}

#[test]
fn the_target_is_configured_on_the_default_branch() {
    let world = repository(&CONFIG.replace("run:\n", "run:\n  target: release\n"), CODER);
    world.git(&["branch", "release"]);
    assert!(plan(&world).contains("target: release\n"), "{}", plan(&world));
    let id = add_issue(&world, "One");
    let output = world.output(&["run"], b"");
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    assert_eq!(git(&world, &["log", "-1", "--format=%s", "release"]), format!("bd-{id}: work\n"));
    assert_eq!(git(&world, &["log", "-1", "--format=%s", "main"]), "start\n");
    let world = repository(CONFIG, CODER);
    world.git(&["branch", "-m", "main", "trunk"]);
    let output = world.output(&["run"], b"");
    assert_eq!(output.status.code(), Some(64), "{}", world.show(&output));
    assert!(text(&output).1.contains("hint: set `run.target`"), "{}", world.show(&output));
    world.git(&["update-ref", "refs/remotes/origin/trunk", "HEAD"]);
    world.git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk"]);
    assert!(plan(&world).contains("target: trunk\n"), "{}", plan(&world));
}

/// Without `mala.yaml` there, nothing says how work is validated.
#[test]
fn a_target_without_a_configuration_is_refused() {
    let world = repository(&CONFIG.replace("run:\n", "run:\n  target: release\n"), CODER);
    world.git(&["branch", "release", "main"]);
    world.git(&["checkout", "-q", "release"]).git(&["rm", "-q", "mala.yaml"]);
    world.git(&["commit", "-q", "-m", "none"]).git(&["checkout", "-q", "main"]);
    let uncommitted = repository(CONFIG, CODER);
    uncommitted.git(&["rm", "-q", "--cached", "mala.yaml"]).git(&["commit", "-q", "-m", "none"]);
    for (world, target) in [(world, "release"), (uncommitted, "main")] {
        add_issue(&world, "One");
        for args in [&["run", "--dry-run"][..], &["run"]] {
            let output = world.output(args, b"");
            let said = text(&output).1;
            assert_eq!(output.status.code(), Some(78), "{said}");
            assert!(said.contains(&format!("is not committed on the branch `{target}`")), "{said}");
            assert!(said.contains(&format!("hint: commit mala.yaml on `{target}`")), "{said}");
        }
        assert_eq!(git(&world, &["log", "-1", "--format=%s", target]), "none\n");
    }
}

#[test]
fn a_resumed_run_works_on_the_issues_that_were_named() {
    let world = repository(CONFIG, &format!("[ -e \"$HOME/go\" ] || exit 3\n{CODER}"));
    let (named, other) = (add_issue(&world, "Named"), add_issue(&world, "Other"));
    assert_eq!(world.output(&["run", &named], b"").status.code(), Some(1));
    std::fs::write(world.home().join("go"), "").unwrap();
    let plan = text(&world.output(&["run", "--dry-run", "--resume"], b"")).0;
    assert!(plan.starts_with("continues run ") && plan.contains(&named), "{plan}");
    assert!(!plan.contains(&other), "{plan}");
    let output = world.output(&["run", "--resume"], b"");
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    for args in [&["run", "--resume"][..], &["run", "--resume", "--dry-run"]] {
        let output = world.output(args, b"");
        assert_eq!(output.status.code(), Some(64), "{}", world.show(&output));
        assert!(text(&output).1.contains("is finished, and no issue is ready"), "{args:?}");
    }
    let list = text(&world.output(&["issue", "list", "--all"], b"")).0;
    assert!(list.contains(&format!("{named}  closed")), "{list}");
    assert!(list.contains(&format!("{other}  open")), "{list}");
}

const PLAN: &str = "# Plan

- [ ] Write the parser
  It reads numbers.
- [x] Choose a name

## Epic: Printing

- [ ] Print numbers
";

#[test]
fn plans_and_json_lines_go_in_and_out() {
    let world = repository(CONFIG, CODER);
    world.write("../plan.md", PLAN);
    assert!(world.run(&["issue", "import", "../plan.md"]).contains("4 added, 0 updated\n"));
    let list = text(&world.output(&["issue", "list", "--all"], b"")).0;
    assert!(list.contains("open  P2  Write the parser\n"), "{list}");
    assert!(list.contains("closed  P2  Choose a name\n"), "{list}");
    assert!(list.contains("open  P2  epic  Printing\n"), "{list}");
    let lines = text(&world.output(&["issue", "export"], b"")).0;
    let other = repository(CONFIG, CODER);
    let output = other.output(&["issue", "import", "-"], lines.as_bytes());
    assert_eq!(text(&output).0, "4 added, 0 updated\n");
    let export = |world: &World, format: &str| {
        text(&world.output(&["issue", "export", "--format", format], b"")).0
    };
    assert_eq!(export(&world, "markdown"), export(&other, "markdown"));
    assert!(
        export(&world, "markdown").contains("- [ ] Write the parser"),
        "{}",
        export(&world, "markdown")
    );
    assert!(world.run(&["issue", "import", "../plan.md"]).contains("0 added"), "again");
    let output = world.output(&["issue", "import", "-"], b"nothing\n");
    assert_eq!(output.status.code(), Some(64), "{}", world.show(&output));
    assert!(text(&output).1.contains("warning: line 1: not JSON"), "{}", world.show(&output));
}

#[test]
fn issues_have_epics_and_dependencies() {
    let world = repository(CONFIG, CODER);
    let add = |args: &[&str]| {
        let output = world.output(&[&["issue", "add"][..], args].concat(), b"");
        assert!(output.status.success(), "{}", world.show(&output));
        text(&output).0.trim().to_owned()
    };
    let epic = add(&["Printing", "--epic"]);
    let first = add(&["First", "--parent", &epic, "--label", "small"]);
    let second = add(&["Second", "--parent", &epic, "--blocked-by", &first, "--priority", "0"]);
    let shown = text(&world.output(&["issue", "show", &second], b"")).0;
    assert!(shown.contains(&format!("epic: {epic}\nblocked by: {first}\n")), "{shown}");
    let plan = plan(&world);
    assert!(plan.contains(&format!("ready: {first} First\n")), "{plan}");
    assert!(plan.contains(&format!("waiting: {second} Second, for {first}\n")), "{plan}");
    assert!(!plan.contains("Printing"), "{plan}");
    for args in [
        &["issue", "add", "x", "--parent", &first][..],
        &["issue", "add", "x", "--blocked-by", "nope"],
        &["issue", "add", " "],
        &["issue", "show", "nope"],
    ] {
        let output = world.output(args, b"");
        assert_eq!(output.status.code(), Some(64), "{args:?}: {}", world.show(&output));
    }
}

/// Rows 003-243 and 003-247.
#[test]
fn deprecated_flags_are_documented_as_such() {
    let world = repository(CONFIG, CODER);
    let help = text(&world.output(&["run", "--help"], b"")).0;
    let page = |name: &str| {
        std::fs::read_to_string(format!("{}/../docs/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
    };
    let (reference, guide, keys) = (page("cli.md"), page("run.md"), page("configuration.md"));
    for (flag, key) in [
        ("--reviewer-type", "code_review.reviewer_type"),
        ("--max-review-retries", "code_review.max_retries"),
        ("--cerberus-spawn-args", "code_review.cerberus.spawn_args"),
    ] {
        let words = format!("Deprecated: set `{key}` in mala.yaml");
        assert!(help.contains(flag) && help.contains(&words), "003-243: {help}");
        assert!(reference.contains(flag) && reference.contains(&words), "003-247");
        assert!(guide.contains(flag), "003-247");
    }
    for key in ["finding_threshold", "failure_mode", "max_retries", "baseline", "reviewer_type"] {
        assert!(keys.contains(&format!("`{key}`")), "003-247: {key}");
    }
}

#[test]
fn issues_that_are_named_and_cannot_be_worked_on_are_no_success() {
    let world = repository(CONFIG, CODER);
    world.write("../issues.jsonl", "{\"id\":\"a\",\"title\":\"A\",\"dependencies\":[{\"depends_on_id\":\"b\",\"type\":\"blocks\"}]}\n{\"id\":\"b\",\"title\":\"B\",\"dependencies\":[{\"depends_on_id\":\"a\",\"type\":\"blocks\"}]}\n{\"id\":\"c\",\"title\":\"C\"}\n{\"id\":\"e\",\"title\":\"E\",\"issue_type\":\"epic\"}\n");
    world.output(&["issue", "import", "../issues.jsonl"], b"");
    world.output(&["issue", "close", "c"], b"");
    for (args, code, says) in [
        (&["nosuch"][..], 64, "the tracker has no issue `nosuch`"),
        (&["e"], 64, "`e` is an epic"),
        (&["--epic", "nosuch"], 64, "the tracker has no epic `nosuch`"),
        (&["--epic", "a"], 64, "`a` is not an epic"),
        (&["c"], 1, "c was not worked on: it is closed"),
        (&["a", "b"], 1, "a was not worked on: it waits for b"),
        (&[], 1, "a, b wait for each other"),
    ] {
        let output = world.output(&[&["run"], args].concat(), b"");
        let (shown, log) = text(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {shown}\n{log}");
        assert!(format!("{shown}{log}").contains(says), "{args:?}: {shown}\n{log}");
        assert_eq!(world.folder().join(".mala/run/report.md").exists(), code == 1, "{args:?}");
    }
}

/// The issues of a deadlock may be set aside: what waits for them is not done either.
#[test]
fn an_issue_that_waits_for_a_deadlock_is_no_success() {
    let world = repository(CONFIG, CODER);
    let issue = |id: &str, status: &str, on: &str| {
        format!(
            "{{\"id\":\"{id}\",\"title\":\"{id}\",\"status\":\"{status}\",\"dependencies\":[{{\"depends_on_id\":\"{on}\",\"type\":\"blocks\"}}]}}\n"
        )
    };
    let issues = [issue("a", "blocked", "b"), issue("b", "blocked", "a"), issue("c", "open", "a")];
    world.write("../issues.jsonl", issues.concat());
    world.output(&["issue", "import", "../issues.jsonl"], b"");
    let output = world.output(&["run"], b"");
    let (shown, log) = text(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}\n{log}");
    assert!(shown.contains("a, b wait for each other"), "{shown}\n{log}");
}

#[test]
fn the_log_and_the_status_say_why_a_command_failed() {
    let config = "
commands: {test: 'echo boom; exit 3'}
validation_triggers: {session_end: {commands: [{ref: test}], failure_mode: abort}}
";
    let world = repository(&format!("{config}{CONFIG}"), CODER);
    let id = add_issue(&world, "One");
    assert_eq!(world.output(&["run", &id], b"").status.code(), Some(1));
    let log = text(&world.output(&["run", "logs", &id], b"")).0;
    assert!(log.contains("commands_ended\n    command test: exit code 3\n    boom\n"), "{log}");
    assert!(log.starts_with("20"), "a date: {log}");
    let status = text(&world.output(&["run", "status"], b"")).0;
    assert!(status.contains("(command test: exit code 3)"), "{status}");
    let report = world.read(".mala/run/report.md");
    assert!(report.contains("failed commands: test (exit code 3)"), "{report}");
    assert!(report.contains("command test: exit code 3\n  - `boom`\n"), "{report}");
    assert!(world.read(".mala/run/report.html").contains("<pre>boom\n</pre>"));
}

/// Commits with the prefix that it is told, and fixes what the reviews report.
const PREFIXED: &str = r#"
echo "$2 $3" >> "$HOME/orders"
if [ "$2" != "$(cat "$HOME/issue")" ] || grep -q 'External Review Failed' "$1"; then
  printf 'def work(items):\n    return sum(items)\n' > work.py
else
  printf 'def work(items, seen=[]):\n    seen.extend(items)\n    return sum(seen)\n' > work.py
fi
git add -A; git commit -q -m "$3work"
"#;

const REVIEWED_AT_THE_END: &str = "
validation_triggers:
  EPIC
  run_end: {code_review: {enabled: true, reviewer_type: builtin, baseline: since_run_start, finding_threshold: P2, max_retries: 1}}
run:
  coder: scripted
  coders: {scripted: {command: [sh, agent.sh, '{prompt_file}', '{issue}', '{prefix}']}}
";

/// A fixer is told the prefix of the epic or of the summary issue, whose id is `{issue}`. The summary issue is no work,
/// and ends with its last finding.
#[test]
fn fixers_get_the_issue_and_the_prefix_of_their_commits() {
    let epic = "epic_completion: {epic_depth: all, code_review: {enabled: true, reviewer_type: builtin, finding_threshold: P2, max_retries: 1}}";
    for with_epic in [true, false] {
        let config = REVIEWED_AT_THE_END.replace("EPIC", if with_epic { epic } else { "" });
        let world = repository(&config, PREFIXED);
        let id = match with_epic {
            true => {
                let epic = text(&world.output(&["issue", "add", "All", "--epic"], b"")).0;
                let args = ["issue", "add", "One", "--parent", epic.trim()];
                text(&world.output(&args, b"")).0.trim().to_owned()
            }
            false => add_issue(&world, "One"),
        };
        std::fs::write(world.home().join("issue"), &id).unwrap();
        let output = world.output(&["run"], b"");
        let (shown, log) = text(&output);
        assert_eq!(output.status.code(), Some(0), "{shown}\n{log}");
        let orders = std::fs::read_to_string(world.home().join("orders")).unwrap();
        let orders: Vec<&str> = orders.lines().map(str::trim).collect();
        assert_eq!((orders.len(), orders[0]), (2, format!("{id} bd-{id}:").as_str()), "{orders:?}");
        let (other, prefix) = orders[1].split_once(' ').unwrap();
        assert_eq!(prefix, format!("bd-{other}:"));
        let list = text(&world.output(&["issue", "list", "--all"], b"")).0;
        let linked = list.lines().find(|line| line.starts_with(other)).unwrap();
        assert!(linked.contains("  epic  "), "{list}");
        if !with_epic {
            assert!(linked.contains("closed  P3  epic  Review findings of run"), "{list}");
        }
        let plan = text(&world.output(&["run", "--dry-run", "--fresh"], b"")).0;
        assert!(plan.starts_with("starts a new run\n") && !plan.contains("ready:"), "{plan}");
    }
}

/// A run is reviewed once, and what it filed is the work of another one.
#[test]
fn a_finished_run_is_not_reviewed_again() {
    let config = REVIEWED_AT_THE_END.replace("EPIC", "").replace("finding_threshold: P2, ", "");
    let world = repository(&config, PREFIXED);
    let id = add_issue(&world, "One");
    std::fs::write(world.home().join("issue"), &id).unwrap();
    let output = world.output(&["run"], b"");
    let (shown, log) = text(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}\n{log}");
    assert!(shown.contains("a new one does: `mala run --fresh`"), "{shown}");
    let reviews = || {
        let events = text(&world.output(&["run", "logs"], b"")).0;
        events.matches("on_review_started").count()
    };
    assert_eq!(reviews(), 1);
    let plan = text(&world.output(&["run", "--dry-run"], b"")).0;
    assert!(plan.starts_with("continues run ") && !plan.contains("ready:"), "{plan}");
    let output = world.output(&["run"], b"");
    assert_eq!((output.status.code(), reviews()), (Some(0), 1), "{}", world.show(&output));
    let plan = text(&world.output(&["run", "--dry-run", "--fresh"], b"")).0;
    assert!(plan.contains("ready: ") && !plan.contains("Review findings of run"), "{plan}");
    world.commit_file("mala.yaml", "run: {coder: claude}\n");
    let none = world.with_env("PATH", "/usr/bin:/bin");
    let output = none.output(&["run", "--dry-run"], b"");
    assert_eq!(output.status.code(), Some(78), "{}", none.show(&output));
    assert!(text(&output).1.contains("`claude` is not on PATH"), "{}", none.show(&output));
}
