//! The first steps: from an empty repository to a merged issue, issues from files, and the branch that work goes to.

use super::{add_issue, git, repository, text};
use crate::world;
use insta::assert_snapshot;
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
    let mut shown = String::new();
    for command in &commands {
        let script = format!("PATH={}:$PATH; {command}", binary.display());
        let output = world.command("sh").args(["-c", &script]).output().unwrap();
        super::name_issues(&world);
        for commit in git(&world, &["log", "--format=%h"]).lines() {
            world.name(commit, "[COMMIT]");
        }
        shown.push_str(&format!("$ {command}\n{}", world.show(&output)));
    }
    assert_snapshot!(shown, @r#"
    $ mala init
    [exit 0]
    [stderr]
    languages: none
    commands: none
    linters: none
    wrote [WORK]/mala.yaml
    added .mala/ to [WORK]/.gitignore
    $ git add -A && git commit -m "Start"
    [exit 0]
    [stdout]
    [main (root-commit) [COMMIT]] Start
     2 files changed, 55 insertions(+)
     create mode 100644 .gitignore
     create mode 100644 mala.yaml
    $ mala issue add "Add a total function" --body "total(items) returns the sum of the items."
    [exit 0]
    [stdout]
    [ID]
    $ mala run
    [exit 0]
    [stdout]
    # mala run: 1 issue succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.12 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | [ID] Add a total function | succeeded | reviewed by builtin | 0 | 0 | $0.12 |

    - [ID]: Built-in analyzers only: no model key is set.

    ## Triggers

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | run\_end-1 | succeeded | reviewed by builtin | 0 | 0 | $0.00 |

    - run\_end-1: Built-in analyzers only: no model key is set.

    [stderr]
    [ID]: preparing a workspace
    [ID]: coding
    [ID]: reviewing
    warning: [ID]: Built-in analyzers only: no model key is set.
    [ID]: merging
    [ID]: closing
    [ID]: cleaning up
    [ID]: succeeded
    run_end-1: reviewing
    warning: run_end-1: Built-in analyzers only: no model key is set.
    run_end-1: cleaning up
    run_end-1: succeeded
    report: [WORK]/.mala/run/report.md
    $ git log --oneline
    [exit 0]
    [stdout]
    [COMMIT] bd-[ID]: add total
    [COMMIT] Start
    "#);
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

/// Rows 003-116 and 003-089: what is checked out changes neither the target nor the configuration.
#[test]
fn work_goes_to_the_default_branch_whatever_is_checked_out() {
    let world = repository(CONFIG, CODER);
    let start = git(&world, &["rev-parse", "main"]).trim().to_owned();
    world.git(&["checkout", "-q", "-b", "feature"]);
    world.commit_file("mala.yaml", "run: {coder: claude, target: feature}\n");
    let id = add_issue(&world, "One");
    assert_snapshot!(world.name(&id, "[ONE]").run(&["run", &id]), @"
    [exit 0]
    [stdout]
    # mala run: 1 issue succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | [ONE] One | succeeded | no review | 0 | 0 | $0.00 |

    [stderr]
    warning: mala.yaml in the work tree differs: using mala.yaml at main
    [ONE]: preparing a workspace
    [ONE]: coding
    [ONE]: merging
    [ONE]: closing
    [ONE]: cleaning up
    [ONE]: succeeded
    report: [WORK]/.mala/run/report.md
    ");
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
    let id = add_issue(&world, "One");
    assert_snapshot!(world.name(&id, "[ONE]").run(&["run", "--dry-run"]), @"
    [exit 0]
    [stdout]
    starts a new run
    tracker: builtin
    coder: scripted
    target: release
    issues at a time: 2
    ready: [ONE] One
    session_end: no commands; no review
    ");
    let output = world.output(&["run"], b"");
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
    assert_eq!(git(&world, &["log", "-1", "--format=%s", "release"]), format!("bd-{id}: work\n"));
    assert_eq!(git(&world, &["log", "-1", "--format=%s", "main"]), "start\n");
    let world = repository(CONFIG, CODER);
    world.git(&["branch", "-m", "main", "trunk"]);
    assert_snapshot!(world.run(&["run"]), @"
    [exit 64]
    [stderr]
    error: no default branch is known, and `run.target` is not set
    hint: set `run.target` in mala.yaml to the branch that work is merged into
    ");
    world.git(&["update-ref", "refs/remotes/origin/trunk", "HEAD"]);
    world.git(&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk"]);
    assert_snapshot!(world.run(&["run", "--dry-run"]), @"
    [exit 0]
    [stdout]
    starts a new run
    tracker: builtin
    coder: scripted
    target: trunk
    issues at a time: 2
    session_end: no commands; no review
    ");
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
    let mut shown = String::new();
    for (world, target) in [(world, "release"), (uncommitted, "main")] {
        add_issue(&world, "One");
        let planned = world.run(&["run", "--dry-run"]);
        assert_eq!(world.run(&["run"]), planned);
        shown.push_str(&planned);
        assert_eq!(git(&world, &["log", "-1", "--format=%s", target]), "none\n");
    }
    assert_snapshot!(shown, @"
    [exit 78]
    [stderr]
    error: mala.yaml is not committed on the branch `release`
    hint: commit mala.yaml on `release`; `mala init` writes one
    [exit 78]
    [stderr]
    error: mala.yaml is not committed on the branch `main`
    hint: commit mala.yaml on `main`; `mala init` writes one
    ");
}

#[test]
fn a_resumed_run_works_on_the_issues_that_were_named() {
    let world = repository(CONFIG, &format!("[ -e \"$HOME/go\" ] || exit 3\n{CODER}"));
    let (named, other) = (add_issue(&world, "Named"), add_issue(&world, "Other"));
    assert_eq!(world.output(&["run", &named], b"").status.code(), Some(1));
    std::fs::write(world.home().join("go"), "").unwrap();
    world.name(&named, "[NAMED]").name(&other, "[OTHER]");
    assert_snapshot!(world.run(&["run", "--dry-run", "--resume"]), @"
    [exit 0]
    [stdout]
    continues run [KEY]
    tracker: builtin
    coder: scripted
    target: main
    issues at a time: 2
    ready: [NAMED] Named
    session_end: no commands; no review
    ");
    assert_snapshot!(world.run(&["run", "--resume"]), @"
    [exit 0]
    [stdout]
    # mala run: 1 issue succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | [NAMED] Named | succeeded | no review | 0 | 0 | $0.00 |

    [stderr]
    [NAMED]: preparing a workspace
    [NAMED]: coding
    [NAMED]: merging
    [NAMED]: closing
    [NAMED]: cleaning up
    [NAMED]: succeeded
    report: [WORK]/.mala/run/report.md
    ");
    assert_snapshot!(world.run(&["run", "--resume"]), @"
    [exit 64]
    [stderr]
    error: run [KEY] is finished, and no issue is ready
    hint: run `mala run --fresh` to start a new run
    ");
    assert_eq!(world.run(&["run", "--resume", "--dry-run"]), world.run(&["run", "--resume"]));
    assert_snapshot!(super::issues(&world), @"
    closed  P2  Named
    open  P2  Other
    ");
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
    let other = repository(CONFIG, CODER);
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
    let world = repository(CONFIG, CODER);
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
    let world = repository(CONFIG, CODER);
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

#[test]
fn the_log_and_the_status_say_why_a_command_failed() {
    let config = "
commands: {test: 'echo boom; exit 3'}
validation_triggers: {session_end: {commands: [{ref: test}], failure_mode: abort}}
";
    let world = repository(&format!("{config}{CONFIG}"), CODER);
    let id = add_issue(&world, "One");
    assert_snapshot!(world.name(&id, "[ISSUE]").run(&["run", &id]), @"
    [exit 1]
    [stdout]
    # mala run: 0 issues succeeded, 1 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    **Aborted**: [ISSUE]: failed commands: test (exit code 3)

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | [ISSUE] One | failed: failed commands: test (exit code 3) | no review | 0 | 0 | $0.00 |

    - [ISSUE]: command test: exit code 3
      - `boom`

    ## Needs a person

    - [ISSUE] failed: failed commands: test (exit code 3): `git log -p mala/[ISSUE]`

    [stderr]
    [ISSUE]: preparing a workspace
    [ISSUE]: coding
    [ISSUE]: running commands
    [ISSUE]: releasing
    [ISSUE]: cleaning up
    [ISSUE]: failed: failed commands: test (exit code 3)
    report: [WORK]/.mala/run/report.md
    ");
    assert_snapshot!(world.run(&["run", "logs", &id]), @"
    [exit 0]
    [stdout]
    [TIME] [ISSUE] claimed
    [TIME] [ISSUE] workspace_opened
    [TIME] [ISSUE] coder_ended
    [TIME] [ISSUE] commands_ended
        command test: exit code 3
        boom
    [TIME] [ISSUE] released
    [TIME] [ISSUE] workspace_removed
        commits are kept on mala/[ISSUE]
    ");
    assert_snapshot!(world.run(&["run", "logs", "nosuch"]), @"
    [exit 64]
    [stderr]
    error: the last run has no events of `nosuch`
    hint: run `mala run status` to list its work
    ");
    assert_snapshot!(world.run(&["run", "status"]), @"
    [exit 0]
    [stdout]
    not running
    [ISSUE]: released (command test: exit code 3)
    ");
    assert_snapshot!(world.clean(&world.read(".mala/run/report.md")), @"
    # mala run: 0 issues succeeded, 1 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    **Aborted**: [ISSUE]: failed commands: test (exit code 3)

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | [ISSUE] One | failed: failed commands: test (exit code 3) | no review | 0 | 0 | $0.00 |

    - [ISSUE]: command test: exit code 3
      - `boom`

    ## Needs a person

    - [ISSUE] failed: failed commands: test (exit code 3): `git log -p mala/[ISSUE]`
    ");
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
    let mut lists = String::new();
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
        world.name(&id, "[ONE]").name(other, if with_epic { "[EPIC]" } else { "[FINDINGS]" });
        lists.push_str(&super::issues(&world));
        lists.push_str(&world.run(&["run", "--dry-run", "--fresh"]));
    }
    assert_snapshot!(lists, @"
    closed  P2  Default argument is changed by the call
    closed  P2  One
    open  P2  epic  All
    [exit 0]
    [stdout]
    starts a new run
    tracker: builtin
    coder: scripted
    target: main
    issues at a time: 2
    session_end: no commands; no review
    epic_completion: no commands; review by builtin, threshold P2
    run_end: no commands; review by builtin, threshold P2
    [stderr]
    warning: mala.yaml at main:3:38: `epic_completion` has no `baseline`: using `since_run_start`
    closed  P2  Default argument is changed by the call
    closed  P2  One
    closed  P3  epic  Review findings of run [RUN]
    [exit 0]
    [stdout]
    starts a new run
    tracker: builtin
    coder: scripted
    target: main
    issues at a time: 2
    session_end: no commands; no review
    run_end: no commands; review by builtin, threshold P2
    ");
}

/// A run is reviewed once, and what it filed is the work of another one.
#[test]
fn a_finished_run_is_not_reviewed_again() {
    let config = REVIEWED_AT_THE_END.replace("EPIC", "").replace("finding_threshold: P2, ", "");
    let world = repository(&config, PREFIXED);
    let id = add_issue(&world, "One");
    std::fs::write(world.home().join("issue"), &id).unwrap();
    let output = world.name(&id, "[ONE]").output(&["run"], b"");
    assert_snapshot!(super::name_issues(&world).show(&output), @r"
    [exit 0]
    [stdout]
    # mala run: 1 issue succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | [ONE] One | succeeded | no review | 0 | 0 | $0.00 |

    ## Triggers

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | run\_end-1 | succeeded | reviewed by builtin | 1 | 0 | $0.00 |

    ## Needs a person

    - a finding of run\_end-1 is open as [ID]: `mala issue show [ID]`
    - this run does not work on issues of its findings; a new one does: `mala run --fresh`

    [stderr]
    [ONE]: preparing a workspace
    [ONE]: coding
    [ONE]: merging
    [ONE]: closing
    [ONE]: cleaning up
    [ONE]: succeeded
    run_end-1: reviewing
    run_end-1: filing findings
    run_end-1: cleaning up
    run_end-1: succeeded
    report: [WORK]/.mala/run/report.md
    ");
    let reviews = || {
        let events = text(&world.output(&["run", "logs"], b"")).0;
        events.matches("on_review_started").count()
    };
    assert_eq!(reviews(), 1);
    assert_snapshot!(world.run(&["run", "--dry-run"]), @"
    [exit 0]
    [stdout]
    continues run [KEY]
    tracker: builtin
    coder: scripted
    target: main
    issues at a time: 2
    session_end: no commands; no review
    run_end: no commands; review by builtin, threshold none
    ");
    let output = world.output(&["run"], b"");
    assert_eq!((output.status.code(), reviews()), (Some(0), 1), "{}", world.show(&output));
    assert_snapshot!(world.run(&["run", "--dry-run", "--fresh"]), @"
    [exit 0]
    [stdout]
    starts a new run
    tracker: builtin
    coder: scripted
    target: main
    issues at a time: 2
    ready: [ID] Default argument is changed by the call
    session_end: no commands; no review
    run_end: no commands; review by builtin, threshold none
    ");
    world.commit_file("mala.yaml", "run: {coder: claude}\n");
    let none = world.with_env("PATH", "/usr/bin:/bin");
    assert_snapshot!(none.run(&["run", "--dry-run"]), @"
    [exit 78]
    [stdout]
    continues run [KEY]
    tracker: builtin
    coder: claude
    target: main
    issues at a time: 2
    goes on: [ID] claiming
    session_end: no commands; no review
    [stderr]
    error: `claude` is not on PATH; install it with `npm install -g @anthropic-ai/claude-code`
    ");
}

#[test]
fn issues_and_runs_need_a_repository() {
    let world = world();
    let mut shown = String::new();
    for args in [
        &["issue", "add", "One"][..],
        &["issue", "list"],
        &["issue", "show", "a"],
        &["issue", "close", "a"],
        &["issue", "import", "plan.md"],
        &["issue", "export"],
        &["run"],
        &["run", "status"],
        &["run", "logs"],
        &["run", "stop"],
    ] {
        shown.push_str(&format!("$ mala {}\n{}", args.join(" "), world.run(args)));
    }
    assert_snapshot!(shown, @"
    $ mala issue add One
    [exit 64]
    [stderr]
    error: [WORK] is not in a git repository
    $ mala issue list
    [exit 64]
    [stderr]
    error: [WORK] is not in a git repository
    $ mala issue show a
    [exit 64]
    [stderr]
    error: [WORK] is not in a git repository
    $ mala issue close a
    [exit 64]
    [stderr]
    error: [WORK] is not in a git repository
    $ mala issue import plan.md
    [exit 64]
    [stderr]
    error: [WORK] is not in a git repository
    $ mala issue export
    [exit 64]
    [stderr]
    error: [WORK] is not in a git repository
    $ mala run
    [exit 64]
    [stderr]
    error: [WORK] is not in a git repository
    $ mala run status
    [exit 0]
    [stdout]
    not running
    $ mala run logs
    [exit 0]
    [stderr]
    no run yet
    $ mala run stop
    [exit 64]
    [stderr]
    error: no run is in progress
    ");
}
