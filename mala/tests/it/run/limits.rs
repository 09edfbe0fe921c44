//! Limits of a run: what they stop, and what the report says about it.

use super::faults::{CONFIG, START};
use super::{add_issue, git, repository, text};
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
    let (first, second) = (add_issue(&world, "One"), add_issue(&world, "Two"));
    let output = world.output(&["run"], b"");
    let (shown, log) = text(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}\n{log}");
    let merged = git(&world, &["log", "--format=%s", "main"]);
    let left = if merged.contains(&first) { &second } else { &first };
    let step = format!("the limit of $1.00 is spent: not started: {left}: `mala run --resume`");
    assert!(shown.contains(&step), "{shown}");
    let output = world.output(&["run", "--resume"], b"");
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
}

#[test]
fn a_limit_that_is_spent_stops_fixes() {
    let world = limited("breakpoint()");
    let id = add_issue(&world, "One");
    let output = world.output(&["run"], b"");
    let (shown, log) = text(&output);
    assert_eq!(output.status.code(), Some(1), "{shown}\n{log}");
    assert!(shown.contains("failed: the limit of $1.00 is spent"), "{shown}\n{log}");
    let kept = git(&world, &["log", "-1", "--format=%s", &format!("mala/{id}")]);
    assert_eq!(kept, format!("bd-{id}: work\n"));
    assert_eq!(git(&world, &["log", "--format=%s", "main"]), "start\n");
}

#[test]
fn a_coder_that_reports_no_cost_is_a_warning() {
    let script = format!("{START}echo 1 > a; save work\n");
    let world = repository(&format!("{CONFIG}  max_cost_usd: 1\n"), &script);
    add_issue(&world, "One");
    let output = world.output(&["run"], b"");
    let (shown, log) = text(&output);
    assert_eq!(output.status.code(), Some(0), "{shown}\n{log}");
    assert!(
        shown
            .replace('\\', "")
            .contains("its coder reports no cost: `max_cost_usd` does not count it"),
        "{shown}"
    );
}
