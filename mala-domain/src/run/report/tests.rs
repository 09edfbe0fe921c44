//! The report, as data, Markdown and HTML.

use super::*;

fn entry(name: &str, status: &'static str) -> WorkEntry {
    WorkEntry {
        name: name.to_owned(),
        title: "A | <b>title</b>\n# x".to_owned(),
        status,
        reason: None,
        review: Some("success"),
        skip_reason: None,
        new_baseline: None,
        not_reviewed: None,
        findings: 0,
        fixed: 1,
        filed: Vec::new(),
        failed_commands: Vec::new(),
        command_failures: Vec::new(),
        sensitive_files: Vec::new(),
        reviewers: Vec::new(),
        review_log_path: None,
        branch: None,
        foreign_moves: Vec::new(),
        cost_usd: 0.25,
        warnings: Vec::new(),
    }
}

fn report() -> RunReport {
    let boom = FailedCommand {
        name: "test".to_owned(),
        reason: "exit code 3".to_owned(),
        output: "<b>\n`boom`".to_owned(),
    };
    let failed = WorkEntry {
        reason: Some("failed commands: test (exit code 3)".to_owned()),
        branch: Some("mala/b".to_owned()),
        command_failures: vec![boom],
        ..entry("b", "failed")
    };
    let withdrawn = WorkEntry {
        reason: Some("closed meanwhile".to_owned()),
        branch: Some("mala/d".to_owned()),
        foreign_moves: vec![TargetMove { from: "c1".to_owned(), to: "c2".to_owned() }],
        filed: vec!["f1".to_owned()],
        ..entry("d", "skipped")
    };
    let unreviewed = WorkEntry {
        not_reviewed: Some("timeout".to_owned()),
        review: Some("failed"),
        sensitive_files: vec!["tests/a.rs".to_owned()],
        reviewers: Vec::new(),
        ..entry("c", "succeeded")
    };
    let issues = vec![entry("a", "succeeded"), failed, unreviewed, withdrawn];
    let waits = "waits for its merge: `main` is checked out with changes";
    let waiting = WorkEntry { reason: Some(waits.to_owned()), ..entry("epic", "unfinished") };
    let skipped = WorkEntry {
        skip_reason: Some("baseline_not_found"),
        warnings: vec!["vendor/x.py is not reviewed".to_owned()],
        ..entry("run_end-1", "succeeded")
    };
    let broken = WorkEntry {
        not_reviewed: Some("the review could not be done: timeout".to_owned()),
        ..entry("run_end-2", "succeeded")
    };
    let triggers = vec![waiting, skipped, broken];
    RunReport {
        version: REPORT_VERSION,
        run_id: "r".to_owned(),
        conclusion: RunConclusion::Failed,
        aborted: None,
        succeeded: 2,
        failed: 1,
        next_steps: next_steps(&issues, &triggers, false),
        issues,
        triggers,
        waiting: vec!["d waits for b".to_owned()],
        deadlocks: Vec::new(),
        confinement: "bubblewrap".to_owned(),
        cost_usd: 0.75,
        seconds: 65,
    }
}

#[test]
fn the_report_says_what_needs_a_person() {
    insta::assert_snapshot!(markdown(&report()), @r"
    # mala run: 2 issues succeeded, 1 failed

    Run `r` · 1 min 5 s · $0.75 · coders: bubblewrap

    ## Issues

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | a A \| \<b\>title\</b\> \# x | succeeded | reviewed | 0 | 1 | $0.25 |
    | b A \| \<b\>title\</b\> \# x | failed: failed commands: test (exit code 3) | reviewed | 0 | 1 | $0.25 |
    | c A \| \<b\>title\</b\> \# x | succeeded | NOT REVIEWED: timeout | 0 | 1 | $0.25 |
    | d A \| \<b\>title\</b\> \# x | skipped: closed meanwhile | reviewed | 0 | 1 | $0.25 |

    - b: command test: exit code 3
      - `<b>`
      - `'boom'`
    - c changes tests, CI or lint configuration: tests/a.rs

    ## Triggers

    | | status | review | found | fixed | cost |
    |---|---|---|---|---|---|
    | epic A \| \<b\>title\</b\> \# x | unfinished: waits for its merge: \`main\` is checked out with changes | reviewed | 0 | 1 | $0.25 |
    | run\_end-1 A \| \<b\>title\</b\> \# x | succeeded | skipped: baseline\_not\_found | 0 | 1 | $0.25 |
    | run\_end-2 A \| \<b\>title\</b\> \# x | succeeded | NOT REVIEWED: the review could not be done: timeout | 0 | 1 | $0.25 |

    - run\_end-1: vendor/x.py is not reviewed

    ## Waiting

    - d waits for b

    ## Needs a person

    - b failed: failed commands: test (exit code 3): `git log -p mala/b`
    - d: the target branch moved during its session, not by mala: `git log -p c1..c2`
    - d is not merged: closed meanwhile: `git log -p mala/d`
    - a finding of d is open as f1: `mala issue show f1`
    - epic is not finished: waits for its merge: \`main\` is checked out with changes: `mala run --resume`
    - c was merged WITHOUT A REVIEW: `mala run logs c`
    - run\_end-1: the review was skipped: baseline\_not\_found: `mala run logs run_end-1`
    - run\_end-2: the review could not be done: timeout: `mala run logs run_end-2`
    - this run does not work on issues of its findings; a new one does: `mala run --fresh`
    ");
}

#[test]
fn the_page_escapes_all_texts() {
    let page = html(&report());
    assert!(page.contains("A | &lt;b&gt;title&lt;/b&gt; # x") && !page.contains("<b>"), "{page}");
    assert!(page.contains("NOT REVIEWED: timeout"), "003-163, 003-164");
    assert!(!page.contains("<script"));
}
