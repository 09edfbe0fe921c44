//! The first steps: from an empty repository to a merged issue, and the branch that work goes to.

use super::{FILE_CODER, FILE_CONFIG, add_issue, git, repository};
use crate::world;
use insta::assert_snapshot;

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

/// Rows 003-116 and 003-089: what is checked out changes neither the target nor the configuration.
#[test]
fn work_goes_to_the_default_branch_whatever_is_checked_out() {
    let world = repository(FILE_CONFIG, FILE_CODER);
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
    let world = repository(&FILE_CONFIG.replace("run:\n", "run:\n  target: release\n"), FILE_CODER);
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
    let world = repository(FILE_CONFIG, FILE_CODER);
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
    let world = repository(&FILE_CONFIG.replace("run:\n", "run:\n  target: release\n"), FILE_CODER);
    world.git(&["branch", "release", "main"]);
    world.git(&["checkout", "-q", "release"]).git(&["rm", "-q", "mala.yaml"]);
    world.git(&["commit", "-q", "-m", "none"]).git(&["checkout", "-q", "main"]);
    let uncommitted = repository(FILE_CONFIG, FILE_CODER);
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
    let world = repository(FILE_CONFIG, &format!("[ -e \"$HOME/go\" ] || exit 3\n{FILE_CODER}"));
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
