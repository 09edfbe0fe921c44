//! Issues: from files, with epics and dependencies, named on the command line, and waiting for each other.

use super::{FILE_CODER, FILE_CONFIG, repository, text};
use insta::assert_snapshot;
use mala_testkit::World;

const PLAN: &str = "# Plan

- [ ] Write the parser
  It reads numbers.
- [x] Choose a name

## Epic: Printing

- [ ] Print numbers
";

#[test]
fn plans_and_json_lines_go_in_and_out() {
    let world = repository(FILE_CONFIG, FILE_CODER);
    world.write("../plan.md", PLAN);
    assert_snapshot!(world.run(&["issue", "import", "../plan.md"]), @"
    [exit 0]
    [stdout]
    4 added, 0 updated
    ");
    assert_snapshot!(super::issues(&world), @"
    closed  P2  Choose a name
    open  P2  Print numbers
    open  P2  Write the parser
    open  P2  epic  Printing
    ");
    let lines = text(&world.output(&["issue", "export"], b"")).0;
    let other = repository(FILE_CONFIG, FILE_CODER);
    let output = other.output(&["issue", "import", "-"], lines.as_bytes());
    assert_eq!(text(&output).0, "4 added, 0 updated\n");
    let export = |world: &World, format: &str| {
        text(&world.output(&["issue", "export", "--format", format], b"")).0
    };
    assert_eq!(export(&world, "markdown"), export(&other, "markdown"));
    assert_snapshot!(super::name_issues(&world).run(&["issue", "export"]), @r#"
    [exit 0]
    [stdout]
    {"acceptance_criteria":"","assignee":null,"close_reason":null,"created_at":"[TIME]","dependencies":[],"description":"It reads numbers.","id":"[ID]","issue_type":"task","labels":[],"notes":"","parent":null,"priority":2,"revision_count":0,"schema_version":1,"start_commit":null,"status":"open","title":"Write the parser","updated_at":"[TIME]"}
    {"acceptance_criteria":"","assignee":null,"close_reason":null,"created_at":"[TIME]","dependencies":[],"description":"","id":"[ID]","issue_type":"task","labels":[],"notes":"","parent":null,"priority":2,"revision_count":0,"schema_version":1,"start_commit":null,"status":"closed","title":"Choose a name","updated_at":"[TIME]"}
    {"acceptance_criteria":"","assignee":null,"close_reason":null,"created_at":"[TIME]","dependencies":[],"description":"","id":"[ID]","issue_type":"epic","labels":[],"notes":"","parent":null,"priority":2,"revision_count":0,"schema_version":1,"start_commit":null,"status":"open","title":"Printing","updated_at":"[TIME]"}
    {"acceptance_criteria":"","assignee":null,"close_reason":null,"created_at":"[TIME]","dependencies":[{"depends_on_id":"[ID]","issue_id":"[ID]","type":"parent-child"}],"description":"","id":"[ID]","issue_type":"task","labels":[],"notes":"","parent":"[ID]","priority":2,"revision_count":0,"schema_version":1,"start_commit":null,"status":"open","title":"Print numbers","updated_at":"[TIME]"}
    "#);
    assert_snapshot!(world.clean(&export(&world, "markdown")), @"
    # Plan

    - [ ] Write the parser <!-- mala: id=[ID] -->
      It reads numbers.

    - [x] Choose a name <!-- mala: id=[ID] -->

    ## Epic: Printing <!-- mala: id=[ID] -->

    - [ ] Print numbers <!-- mala: id=[ID] -->
    ");
    assert_snapshot!(world.run(&["issue", "import", "../plan.md"]), @"
    [exit 0]
    [stdout]
    0 added, 0 updated
    ");
    assert_snapshot!(world.run_with_stdin(&["issue", "import", "-"], b"nothing\n"), @"
    [exit 64]
    [stderr]
    warning: line 1: not JSON: expected ident at line 1 column 2
    error: stdin has no issues
    ");
}

#[test]
fn issues_have_epics_and_dependencies() {
    let world = repository(FILE_CONFIG, FILE_CODER);
    let add = |args: &[&str]| {
        let output = world.output(&[&["issue", "add"][..], args].concat(), b"");
        assert!(output.status.success(), "{}", world.show(&output));
        text(&output).0.trim().to_owned()
    };
    let epic = add(&["Printing", "--epic"]);
    let first = add(&["First", "--parent", &epic, "--label", "small"]);
    let second = add(&["Second", "--parent", &epic, "--blocked-by", &first, "--priority", "0"]);
    world.name(&epic, "[EPIC]").name(&first, "[FIRST]").name(&second, "[SECOND]");
    assert_snapshot!(world.run(&["issue", "show", &second]), @"
    [exit 0]
    [stdout]
    [SECOND] Second
    status: open
    epic: [EPIC]
    blocked by: [FIRST]
    ");
    assert_snapshot!(world.run(&["run", "--dry-run"]), @"
    [exit 0]
    [stdout]
    starts a new run
    tracker: builtin
    coder: scripted
    target: main
    issues at a time: 2
    ready: [FIRST] First
    waiting: [SECOND] Second, for [FIRST]
    session_end: no commands; no review
    ");
    assert_snapshot!(world.run(&["issue", "add", "x", "--parent", &first]), @"
    [exit 64]
    [stderr]
    error: `[FIRST]` is not an epic
    ");
    assert_snapshot!(world.run(&["issue", "add", "x", "--blocked-by", "nope"]), @"
    [exit 64]
    [stderr]
    error: no issue `nope`
    hint: run `mala issue list --all` to list the issues
    ");
    assert_snapshot!(world.run(&["issue", "add", " "]), @"
    [exit 64]
    [stderr]
    error: the title is empty
    ");
    assert_snapshot!(world.run(&["issue", "show", "nope"]), @"
    [exit 64]
    [stderr]
    error: no issue `nope`
    hint: run `mala issue list --all` to list the issues
    ");
    assert_snapshot!(world.run(&["issue", "close", "nope"]), @"
    [exit 64]
    [stderr]
    error: no issue `nope`
    hint: run `mala issue list --all` to list the issues
    ");
    assert_snapshot!(world.run(&["issue", "close", &second]), @"[exit 0]");
}

/// Rows 003-243 and 003-247.
#[test]
fn deprecated_flags_are_documented_as_such() {
    let world = repository(FILE_CONFIG, FILE_CODER);
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
    let world = repository(FILE_CONFIG, FILE_CODER);
    world.write("../issues.jsonl", "{\"id\":\"a\",\"title\":\"A\",\"dependencies\":[{\"depends_on_id\":\"b\",\"type\":\"blocks\"}]}\n{\"id\":\"b\",\"title\":\"B\",\"dependencies\":[{\"depends_on_id\":\"a\",\"type\":\"blocks\"}]}\n{\"id\":\"c\",\"title\":\"C\"}\n{\"id\":\"e\",\"title\":\"E\",\"issue_type\":\"epic\"}\n");
    world.output(&["issue", "import", "../issues.jsonl"], b"");
    world.output(&["issue", "close", "c"], b"");
    assert_snapshot!(world.run(&["run", "nosuch"]), @"
    [exit 64]
    [stderr]
    error: the tracker has no issue `nosuch`
    hint: run `mala issue list` to list the issues
    ");
    assert_snapshot!(world.run(&["run", "e"]), @"
    [exit 64]
    [stderr]
    error: `e` is an epic: use --epic to work on its issues
    hint: run `mala issue list` to list the issues
    ");
    assert_snapshot!(world.run(&["run", "--epic", "nosuch"]), @"
    [exit 64]
    [stderr]
    error: the tracker has no epic `nosuch`
    hint: run `mala issue list` to list the issues
    ");
    assert_snapshot!(world.run(&["run", "--epic", "a"]), @"
    [exit 64]
    [stderr]
    error: `a` is not an epic
    hint: run `mala issue list` to list the issues
    ");
    assert!(!world.folder().join(".mala/run/report.md").exists());
    assert_snapshot!(world.run(&["run", "c"]), @"
    [exit 1]
    [stdout]
    # mala run: 0 issues succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Deadlocks

    - a, b

    ## Needs a person

    - c was not worked on: it is closed: `mala issue show c`

    [stderr]
    report: [WORK]/.mala/run/report.md
    ");
    assert_snapshot!(world.run(&["run", "a", "b"]), @"
    [exit 1]
    [stdout]
    # mala run: 0 issues succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Waiting

    - a waits for b
    - b waits for a

    ## Deadlocks

    - a, b

    ## Needs a person

    - a was not worked on: it waits for b: `mala issue show a`
    - b was not worked on: it waits for a: `mala issue show b`

    [stderr]
    report: [WORK]/.mala/run/report.md
    ");
    assert_snapshot!(world.run(&["run"]), @"
    [exit 1]
    [stdout]
    # mala run: 0 issues succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Waiting

    - a waits for b
    - b waits for a

    ## Deadlocks

    - a, b

    ## Needs a person

    - a, b wait for each other: `mala issue show a`

    [stderr]
    report: [WORK]/.mala/run/report.md
    ");
    assert!(world.folder().join(".mala/run/report.md").exists());
}

/// The issues of a deadlock may be set aside: what waits for them is not done either.
#[test]
fn an_issue_that_waits_for_a_deadlock_is_no_success() {
    let world = repository(FILE_CONFIG, FILE_CODER);
    let issue = |id: &str, status: &str, on: &str| {
        format!(
            "{{\"id\":\"{id}\",\"title\":\"{id}\",\"status\":\"{status}\",\"dependencies\":[{{\"depends_on_id\":\"{on}\",\"type\":\"blocks\"}}]}}\n"
        )
    };
    let issues = [issue("a", "blocked", "b"), issue("b", "blocked", "a"), issue("c", "open", "a")];
    world.write("../issues.jsonl", issues.concat());
    world.output(&["issue", "import", "../issues.jsonl"], b"");
    assert_snapshot!(world.run(&["run"]), @"
    [exit 1]
    [stdout]
    # mala run: 0 issues succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Waiting

    - c waits for a

    ## Deadlocks

    - a, b

    ## Needs a person

    - a, b wait for each other: `mala issue show a`

    [stderr]
    report: [WORK]/.mala/run/report.md
    ");
}
