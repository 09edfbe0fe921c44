//! Limits of a run: what they stop, and what the report says about it.

use super::faults::{CONFIG, START};
use super::{add_issue, git, name_issues, repository};
use insta::assert_snapshot;
use mala_testkit::World;

/// A coder that is installed as `claude`, as far as mala can see. A session costs 50 dollars.
const CLAUDE: &str = r#"
prefix=$(sed -n 's/.*starts with `\([^`]*\)`.*/\1/p' | head -1)
echo session >> "$HOME/sessions"
echo "CODE  # $$" > work.py
git add -A && git commit -q -m "${prefix}work"
echo '{"type":"system","session_id":"s"}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"Done.","session_id":"s","total_cost_usd":50}'
"#;

fn limited(code: &str) -> World {
    let config =
        CONFIG.replace("coder: scripted", "coder: claude\n  max_agents: 1\n  max_cost_usd: 1");
    repository(&config, "").with_program("claude", &CLAUDE.replace("CODE", code))
}

#[test]
fn a_limit_that_is_spent_starts_no_issue_and_is_reported() {
    let world = limited("total = 1");
    for _ in 0..2 {
        add_issue(&world, "Issue");
    }
    assert_snapshot!(name_issues(&world).run(&["run"]), @"
    [exit 1]
    [stdout]
    # mala run: 1 issue succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $50.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | [ID] Issue | succeeded | reviewed by builtin | 0 | 0 | $50.00 |

    ## Needs a person

    - the limit of $1.00 is spent: not started: [ID]: `mala run --resume`

    [stderr]
    [ID]: preparing a workspace
    [ID]: coding
    [ID]: reviewing
    [ID]: merging
    [ID]: closing
    [ID]: cleaning up
    [ID]: succeeded
    report: [WORK]/.mala/run/report.md
    ");
    let output = world.output(&["run", "--resume"], b"");
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
}

#[test]
fn a_limit_that_is_spent_stops_fixes() {
    let world = limited("breakpoint()");
    let id = add_issue(&world, "One");
    let output = world.output(&["run"], b"");
    assert_snapshot!(name_issues(&world).show(&output), @"
    [exit 1]
    [stdout]
    # mala run: 0 issues succeeded, 1 failed

    Run `[KEY]` · [DURATION] · $50.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | [ID] One | failed: the limit of $1.00 is spent | reviewed by builtin | 1 | 0 | $50.00 |

    ## Needs a person

    - [ID] failed: the limit of $1.00 is spent: `git log -p mala/[ID]`
    - a finding of [ID] is open as [ID]: `mala issue show [ID]`
    - this run does not work on issues of its findings; a new one does: `mala run --fresh`

    [stderr]
    [ID]: preparing a workspace
    [ID]: coding
    [ID]: reviewing
    [ID]: filing findings
    [ID]: releasing
    [ID]: cleaning up
    [ID]: failed: the limit of $1.00 is spent
    report: [WORK]/.mala/run/report.md
    ");
    let kept = git(&world, &["log", "-1", "--format=%s", &format!("mala/{id}")]);
    assert_eq!(kept, format!("bd-{id}: work\n"));
    assert_eq!(git(&world, &["log", "--format=%s", "main"]), "start\n");
}

#[test]
fn a_coder_that_reports_no_cost_is_a_warning() {
    let script = format!("{START}echo 1 > a; save work\n");
    let world = repository(&format!("{CONFIG}  max_cost_usd: 1\n"), &script);
    add_issue(&world, "One");
    assert_snapshot!(name_issues(&world).run(&["run"]), @r"
    [exit 0]
    [stdout]
    # mala run: 1 issue succeeded, 0 failed

    Run `[KEY]` · [DURATION] · $0.00 · [CODERS]

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | [ID] One | succeeded | reviewed by builtin | 0 | 0 | $0.00 |

    - [ID]: its coder reports no cost: \`max\_cost\_usd\` does not count it

    [stderr]
    [ID]: preparing a workspace
    [ID]: coding
    [ID]: reviewing
    [ID]: merging
    [ID]: closing
    [ID]: cleaning up
    [ID]: succeeded
    report: [WORK]/.mala/run/report.md
    ");
}
