//! Tests of the Markdown report.

use super::*;
use crate::finding::{Finding, Priority};
use crate::render::tests::sample::{self, finding};
use crate::verdict::NotReviewedReason;
use insta::assert_snapshot;

#[test]
fn full_report() {
    assert_snapshot!(render(&sample::full().view()));
}

#[test]
fn could_not_review() {
    let sample = sample::incomplete(NotReviewedReason::TimedOut, Some("timeout"));
    assert_snapshot!(render(&sample.view()));
}

#[test]
fn a_report_stays_inside_a_comment_and_says_what_is_missing() {
    let mut sample = sample::full();
    let hostile = "@`<#".repeat(20_000);
    sample.report.issues = (1..=3000)
        .map(|line| Finding {
            body: hostile.clone(),
            title: hostile.clone(),
            ..finding("src/a.rs", (line, line), Priority::P1)
        })
        .collect();
    sample.report.warnings = vec![hostile.clone(); 500];
    sample.report.summary = hostile.clone();
    sample.report.parse_error = Some(hostile.clone());
    sample.report.scope.target = hostile.clone();
    sample.report.review_log_path = Some(hostile);
    let text = render(&sample.view());
    assert!(n_chars(&text) <= LIMIT, "{}", n_chars(&text));
    assert!(text.contains("more findings omitted for lack of space"));
    assert!(text.contains("**Coverage:**"));
    assert_eq!(text.matches("<details").count(), text.matches("\n</details>\n").count());
}

#[test]
fn the_room_is_used() {
    let mut sample = sample::full();
    sample.report.issues =
        (1..=3000).map(|line| finding("src/a.rs", (line, line), Priority::P1)).collect();
    let text = render(&sample.view());
    assert!((LIMIT - 2 * NOTE - 600..=LIMIT).contains(&n_chars(&text)), "{}", n_chars(&text));
}

#[test]
fn evidence_cannot_leave_its_fence() {
    let mut sample = sample::clean();
    sample.report.issues = vec![Finding {
        evidence_snippet: "````\n</details>\n<script>alert(1)</script>".to_owned(),
        ..finding("src/a.rs", (1, 1), Priority::P1)
    }];
    let text = render(&sample.view());
    assert!(text.contains("\n`````rust\n````\n</details>\n<script>alert(1)</script>\n`````\n"));
}
