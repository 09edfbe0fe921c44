//! What is left at the end of a run: the log, the status, fixes, and no second review.

use super::{FILE_CODER, FILE_CONFIG, add_issue, repository, text};
use insta::assert_snapshot;

#[test]
fn the_log_and_the_status_say_why_a_command_failed() {
    let config = "
commands: {test: 'echo boom; exit 3'}
validation_triggers: {session_end: {commands: [{ref: test}], failure_mode: abort}}
";
    let world = repository(&format!("{config}{FILE_CONFIG}"), FILE_CODER);
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
