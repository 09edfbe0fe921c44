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

#[test]
fn a_resumed_run_works_on_the_issues_that_were_named() {
    let world = repository(CONFIG, CODER);
    let (named, other) = (add_issue(&world, "Named"), add_issue(&world, "Other"));
    world.output(&["run", &named], b"");
    let output = world.output(&["run", "--resume"], b"");
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
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
    ] {
        let output = world.output(&[&["run"], args].concat(), b"");
        let (shown, log) = text(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {shown}\n{log}");
        assert!(format!("{shown}{log}").contains(says), "{args:?}: {shown}\n{log}");
        assert_eq!(world.folder().join(".mala/run/report.md").exists(), code == 1, "{args:?}");
    }
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
}
