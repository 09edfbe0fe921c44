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
        sensitive_files: Vec::new(),
        reviewers: Vec::new(),
        review_log_path: None,
        branch: None,
        cost_usd: 0.25,
        warnings: Vec::new(),
    }
}

fn report() -> RunReport {
    let failed = WorkEntry {
        reason: Some("no progress".to_owned()),
        branch: Some("mala/b".to_owned()),
        ..entry("b", "failed")
    };
    let unreviewed = WorkEntry {
        not_reviewed: Some("timeout".to_owned()),
        review: Some("failed"),
        sensitive_files: vec!["tests/a.rs".to_owned()],
        reviewers: Vec::new(),
        ..entry("c", "succeeded")
    };
    let issues = vec![entry("a", "succeeded"), failed, unreviewed];
    RunReport {
        version: REPORT_VERSION,
        run_id: "r".to_owned(),
        conclusion: RunConclusion::Failed,
        aborted: None,
        succeeded: 2,
        failed: 1,
        next_steps: next_steps(issues.iter()),
        issues,
        triggers: Vec::new(),
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
    | b A \| \<b\>title\</b\> \# x | failed: no progress | reviewed | 0 | 1 | $0.25 |
    | c A \| \<b\>title\</b\> \# x | succeeded | NOT REVIEWED: timeout | 0 | 1 | $0.25 |

    - c changes tests, CI or lint configuration: tests/a.rs

    ## Waiting

    - d waits for b

    ## Needs a person

    - b failed: no progress: `git log -p mala/b`
    - c was merged WITHOUT A REVIEW: `mala run logs c`
    ");
}

#[test]
fn the_page_escapes_all_texts() {
    let page = html(&report());
    assert!(page.contains("A | &lt;b&gt;title&lt;/b&gt; # x") && !page.contains("<b>"), "{page}");
    assert!(page.contains("NOT REVIEWED: timeout"), "003-163, 003-164");
    assert!(!page.contains("<script"));
}
