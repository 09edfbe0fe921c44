//! The whole output of a review by the agent, for each way in which it can end.

use super::*;
use insta::assert_snapshot;
use mala_testkit::model_server::ServerFault;
use std::time::Duration;

/// The terminal output of a review against these answers.
fn shown(steps: Vec<ServerStep>, args: &[&str]) -> String {
    let server = ModelServer::steps(steps);
    let world = with_server(changed(), &server);
    let own = ["review", "--reviewer", "agent_sdk", "--no-save", "--profile", "lean"];
    let shown = world.run(&[&own, args].concat());
    // The number of tokens depends on the prompts.
    let is_usage = |line: &&str| line.starts_with("usage:");
    shown.lines().filter(|line| !is_usage(line)).map(|line| format!("{line}\n")).collect()
}

/// What a review took, if every request has this answer.
fn usage(answer: impl Into<ServerStep>) -> String {
    let server = ModelServer::always(answer);
    let world = with_server(changed(), &server);
    let shown = world.run(&["review", "--reviewer", "agent_sdk", "--no-save"]);
    shown.lines().find(|line| line.starts_with("usage:")).unwrap_or_default().to_owned()
}

#[test]
fn what_a_review_took_is_shown() {
    let usage = usage(ModelAnswer::text(PASS));
    let parts: Vec<&str> = usage.split(", ").collect();
    assert_eq!(parts.len(), 5, "{usage}");
    assert_eq!(parts[..2], ["usage:  claude-sonnet-5-5", "2 calls"], "{usage}");
    assert!(parts[2].ends_with(" tokens") && parts[3].starts_with('$'), "{usage}");
    assert_eq!(parts[4], "[DURATION]", "{usage}");
}

#[test]
fn a_review_without_an_answer_names_no_model() {
    let usage = usage(ServerFault::status(401));
    assert!(usage.starts_with("usage:  no model answered, 2 calls, "), "{usage}");
}

#[test]
fn a_pass() {
    assert_snapshot!(shown(vec![says(PASS)], &[]), @"
    [exit 0]
    [stdout]
    agent-sdk reviewed 1 hunk in 1 file: no findings.

    coverage:  reviewed 1 of 1 hunk in 1 file
    scope:  the working tree against HEAD ([COMMIT] to the working tree), 1
            file, 1 hunk, +1 -1

    PASS  no findings
    ");
}

#[test]
fn a_finding_that_holds() {
    assert_snapshot!(shown(vec![says(PLAIN), holds()], &[]), @"
    [exit 1]
    [stdout]
    agent-sdk reviewed 1 hunk in 1 file: 1 finding (1 P1).

    app.py  1 finding (1 P1)

    P1 high  [P1] Issue
      ╭▸ app.py:2 in half
    1 │ def half(n):
    2 │     return 1 / n
      ╰╴    ━━━━━━━━━━━━
      Details
      by agent-sdk

    coverage:  reviewed 1 of 1 hunk in 1 file
    scope:  the working tree against HEAD ([COMMIT] to the working tree), 1
            file, 1 hunk, +1 -1

    FAIL  1 finding at or above P1 (1 P1)
    ");
}

#[test]
fn a_finding_that_is_refuted() {
    assert_snapshot!(shown(vec![says(PLAIN), refuted()], &[]), @"
    [exit 0]
    [stdout]
    agent-sdk reviewed 1 hunk in 1 file: no findings.

    refuted:  1 finding by a check (use -v to list them)
    coverage:  reviewed 1 of 1 hunk in 1 file
    scope:  the working tree against HEAD ([COMMIT] to the working tree), 1
            file, 1 hunk, +1 -1

    PASS  no findings (1 refuted)
    ");
}

#[test]
fn a_finding_that_could_not_be_checked() {
    assert_snapshot!(shown(vec![says(PLAIN), says("no JSON")], &[]), @"
    [exit 1]
    [stdout]
    agent-sdk reviewed 1 hunk in 1 file: 1 finding (1 P1).

    app.py  1 finding (1 P1)

    P1 high  [P1] Issue
      ╭▸ app.py:2 in half
    1 │ def half(n):
    2 │     return 1 / n
      ╰╴    ━━━━━━━━━━━━
      Details
      by agent-sdk; not checked: invalid json: expected ident at line 1 column 2

    warning:  agent-sdk: 1 claim not checked: invalid json: expected ident at line 1
              column 2
    coverage:  reviewed 1 of 1 hunk in 1 file
    scope:  the working tree against HEAD ([COMMIT] to the working tree), 1
            file, 1 hunk, +1 -1

    FAIL  1 finding at or above P1 (1 P1)
    ");
}

#[test]
fn an_answer_that_cannot_be_read() {
    assert_snapshot!(shown(vec![says("LGTM"), says("LGTM")], &[]), @"
    [exit 2]
    [stdout]
    The change could not be reviewed.

    not reviewed:  app.py (1 hunk)
    warning:  agent-sdk: the draft gave no answer: invalid json: expected value at
              line 1 column 1
    warning:  agent-sdk: draft: invalid json: expected value at line 1 column 1;
              asked again
    coverage:  reviewed 0 of 1 hunk in 0 files
    reviewer:  agent-sdk (claude-sonnet-5-5): could not review: invalid json:
               expected value at line 1 column 1, 0 findings, 0 dropped
    scope:  the working tree against HEAD ([COMMIT] to the working tree), 1
            file, 1 hunk, +1 -1

    COULD NOT REVIEW  invalid json: expected value at line 1 column 1
    ");
}

/// 000-022
#[test]
fn a_provider_that_refuses_the_key() {
    assert_snapshot!(shown(vec![ServerFault::status(401).into()], &[]), @"
    [exit 2]
    [stdout]
    The change could not be reviewed.

    not reviewed:  app.py (1 hunk)
    warning:  agent-sdk: the draft gave no answer: 401: scripted 401
              (authentication_error); see ANTHROPIC_API_KEY
    coverage:  reviewed 0 of 1 hunk in 0 files
    reviewer:  agent-sdk: could not review: 401: scripted 401
               (authentication_error); see ANTHROPIC_API_KEY, 0 findings, 0 dropped
    scope:  the working tree against HEAD ([COMMIT] to the working tree), 1
            file, 1 hunk, +1 -1

    COULD NOT REVIEW  401: scripted 401 (authentication_error); see
                      ANTHROPIC_API_KEY
    ");
}

#[test]
fn a_model_that_takes_too_long() {
    let late = says(PASS).after(Duration::from_secs(30));
    let shown = shown(vec![late], &["--timeout", "2"]);
    // The warning before this part depends on the attempt that ran out of time.
    let (_, result) = shown.split_once("coverage:").unwrap();
    assert_snapshot!(result.split("[stderr]").next().unwrap(), @"
      reviewed 0 of 1 hunk in 0 files
    reviewer:  agent-sdk: could not review: timeout, 0 findings, 0 dropped
    scope:  the working tree against HEAD ([COMMIT] to the working tree), 1
            file, 1 hunk, +1 -1

    COULD NOT REVIEW  timed out
    ");
}
