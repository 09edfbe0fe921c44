//! Tests of the terminal report.

use super::wrap::columns;
use super::*;
use crate::change::FilePath;
use crate::finding::{Finding, Priority};
use crate::render::tests::sample::{self, Sample, finding};
use crate::verdict::{NotReviewedReason, Threshold, Verdict};
use insta::assert_snapshot;

fn text(sample: &Sample, options: &TerminalOptions) -> String {
    render(&sample.view(), options)
}

fn last_line(sample: &Sample) -> String {
    let text = text(sample, &TerminalOptions { width: 200, ..TerminalOptions::default() });
    text.lines().next_back().unwrap_or_default().to_owned()
}

fn code(finding: &Finding, source: Option<&str>, options: &TerminalOptions) -> String {
    frame::frame(finding, source, options).join("\n")
}

/// The sample with this single finding in a file with this text.
fn with(finding: Finding, source: &str) -> Sample {
    let mut sample = sample::clean();
    sample.sources.insert(finding.file.clone(), source.to_owned());
    sample.report.issues = vec![finding];
    sample
}

#[test]
fn full_report_at_60_columns() {
    let options = TerminalOptions { width: 60, unicode: false, ..TerminalOptions::default() };
    assert_snapshot!(text(&sample::full(), &options));
}

#[test]
fn full_report_at_80_columns() {
    assert_snapshot!(text(&sample::full(), &TerminalOptions::default()));
}

#[test]
fn full_report_at_120_columns() {
    let options = TerminalOptions { width: 120, verbose: true, ..TerminalOptions::default() };
    assert_snapshot!(text(&sample::full(), &options));
}

#[test]
fn full_report_in_colour() {
    let options = TerminalOptions { color: true, ..TerminalOptions::default() };
    let text = text(&sample::full(), &options);
    assert_snapshot!(text.replace('\x1b', "ESC"));
}

#[test]
fn colour_changes_no_word() {
    for width in [60, 80, 120] {
        check_colour(TerminalOptions { width, ..TerminalOptions::default() });
    }
}

fn check_colour(options: TerminalOptions) {
    let plain = text(&sample::full(), &options);
    let styled = text(&sample::full(), &TerminalOptions { color: true, ..options });
    let mut bare = String::new();
    let mut rest = styled.as_str();
    while let Some((head, tail)) = rest.split_once('\x1b') {
        bare.push_str(head);
        rest = tail.split_once('m').unwrap().1;
    }
    bare.push_str(rest);
    let trimmed: Vec<&str> = bare.lines().map(str::trim_end).collect();
    assert_eq!(trimmed, plain.lines().collect::<Vec<_>>());
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [40, 60, 80, 120] {
        for unicode in [false, true] {
            let options =
                TerminalOptions { width, unicode, verbose: true, ..TerminalOptions::default() };
            // The path of the report stays whole, so that it can be opened.
            let text = text(&sample::full(), &options);
            for line in text.lines().filter(|line| !line.starts_with("report:")) {
                assert!(columns(line) <= width, "{} > {width}: {line:?}", columns(line));
            }
        }
    }
}

#[test]
fn the_last_line_states_the_verdict() {
    let mut needs_work = sample::full();
    needs_work.report.issues.drain(..2);
    needs_work.report.verdict = Some(Verdict::NeedsWork);
    needs_work.report.outcome = Outcome::Passed;
    let mut never = sample::full();
    never.report.fail_on = Threshold::None;
    never.report.outcome = Outcome::Passed;
    let mut skipped = sample::empty();
    skipped.report.scope.files = 3;
    let mut only_refuted = sample::clean();
    only_refuted.report.refuted = sample::full().report.refuted;
    let mut two_failed = sample::incomplete(NotReviewedReason::NoReviewers, Some("invalid json"));
    let mut failed = two_failed.report.reviewers.first().unwrap().clone();
    failed.not_reviewed = Some(NotReviewedReason::NoReviewers);
    failed.error = Some("`codex` is not on PATH".to_owned());
    two_failed.report.reviewers.push(failed);
    let rows = [
        (
            sample::full(),
            "FAIL  2 of 4 findings at or above P1 (1 P0, 1 P1, 2 P2; 1 note; 1 refuted)",
        ),
        (sample::clean(), "PASS  no findings"),
        (sample::empty(), "PASS  nothing to review: the change is empty"),
        (skipped, "PASS  nothing to review: every changed file is skipped"),
        (only_refuted, "PASS  no findings (1 refuted)"),
        (
            needs_work,
            "NEEDS_WORK  2 findings, none at or above P1 (2 P2; 1 note; 1 refuted): does not block",
        ),
        (
            never,
            "FAIL  4 findings, no threshold set (1 P0, 1 P1, 2 P2; 1 note; 1 refuted): does not block",
        ),
        (
            sample::incomplete(NotReviewedReason::Incomplete, Some("invalid json: eof")),
            "COULD NOT REVIEW  invalid json: eof",
        ),
        (
            sample::incomplete(NotReviewedReason::Incomplete, None),
            "COULD NOT REVIEW  12 of 12 hunks not reviewed",
        ),
        (
            sample::incomplete(NotReviewedReason::Incomplete, Some(" ")),
            "COULD NOT REVIEW  12 of 12 hunks not reviewed",
        ),
        (
            sample::incomplete(NotReviewedReason::TimedOut, Some("timeout")),
            "COULD NOT REVIEW  timed out",
        ),
        (
            sample::incomplete(NotReviewedReason::NoReviewers, Some("codex is not installed")),
            "COULD NOT REVIEW  no reviewer available: codex is not installed",
        ),
        (sample::incomplete(NotReviewedReason::Internal, None), "COULD NOT REVIEW  internal error"),
        (two_failed, "COULD NOT REVIEW  no reviewer available: `codex` is not on PATH"),
    ];
    for (sample, expected) in rows {
        assert_eq!(last_line(&sample), expected);
    }
}

#[test]
fn without_a_summary_the_first_line_names_the_reviewers() {
    let mut sample = sample::full();
    sample.report.summary = " ".to_owned();
    let text = text(&sample, &TerminalOptions::default());
    assert_eq!(text.lines().next(), Some("Reviewers: builtin, codex."));
}

#[test]
fn ten_thousand_findings_stay_readable_and_the_worst_are_shown() {
    let mut sample = sample::full();
    sample.report.issues = (1..10_000)
        .map(|line| finding(&format!("src/{}.rs", line % 700), (line, line), Priority::P3))
        .chain([finding("zzz/last.rs", (1, 1), Priority::P0)])
        .collect();
    let text = text(&sample, &TerminalOptions::default());
    assert!(text.contains("zzz/last.rs"));
    assert!(text.contains("… and 9,950 more"));
    assert!(text.lines().count() < 1000, "{}", text.lines().count());
}

#[test]
fn a_long_line_is_cut_around_the_evidence() {
    let source = format!("{}eval(payload){}\n", "a, ".repeat(9000), ", b".repeat(9000));
    let item = Finding {
        evidence_snippet: "eval(payload)".to_owned(),
        ..finding("x.js", (1, 1), Priority::P1)
    };
    let frame = code(
        &item,
        Some(&source),
        &TerminalOptions { unicode: false, ..TerminalOptions::default() },
    );
    assert_snapshot!(frame);
}

#[test]
fn tabs_and_wide_characters_keep_the_mark_in_place() {
    let item =
        Finding { evidence_snippet: "bad()".to_owned(), ..finding("x.go", (2, 2), Priority::P2) };
    let source = "{\n\tx := \"\u{6f22}\u{5b57}\"; bad()\n}\n";
    let frame = code(
        &item,
        Some(source),
        &TerminalOptions { unicode: false, ..TerminalOptions::default() },
    );
    assert_snapshot!(frame);
}

#[test]
fn a_block_is_marked_and_a_huge_one_is_cut() {
    let source: String = (1..=60).map(|n| format!("    line({n});\n")).collect();
    let options = TerminalOptions { unicode: false, ..TerminalOptions::default() };
    let block = code(&finding("x.c", (3, 5), Priority::P1), Some(&source), &options);
    let huge = code(&finding("x.c", (10, 50), Priority::P3), Some(&source), &options);
    assert_snapshot!(format!("{block}\n\n{huge}"));
}

#[test]
fn evidence_stands_in_for_a_file_that_is_not_there() {
    let options = TerminalOptions { unicode: false, ..TerminalOptions::default() };
    let item = finding("x.c", (7, 7), Priority::P1);
    let expected = " --> x.c:7\n  |\n7 | evidence\n  | ^^^^^^^^";
    for source in [None, Some(""), Some("only\ntwo lines\n")] {
        assert_eq!(code(&item, source, &options).trim_end(), expected, "{source:?}");
    }
    let bare = Finding { evidence_snippet: String::new(), ..item };
    assert_eq!(code(&bare, None, &options), " --> x.c:7");
}

#[test]
fn reviewed_text_cannot_control_the_terminal() {
    let item = Finding {
        title: "\x1b]0;owned\x07 title".to_owned(),
        body: "\u{202e}reversed\u{9b}2J".to_owned(),
        ..finding("x.py", (1, 1), Priority::P1)
    };
    let mut sample = with(item, "print('\x1b[2J\x1b[1;1H PASS no findings')\r\n");
    sample.report.summary = "\x1b[8mhidden".to_owned();
    sample.report.warnings = vec!["\x1b[2K\rPASS".to_owned()];
    sample.report.coverage.skipped = vec![crate::review::SkippedFile {
        file: FilePath::from("a\x1b[31m\nb"),
        reason: crate::review::SkipReason::Binary,
        hunks: 0,
    }];
    let text = text(&sample, &TerminalOptions::default());
    let bad = text.chars().find(|c| c.is_control() && *c != '\n' || matches!(c, '\u{202e}'));
    assert_eq!(bad, None, "{text}");
    assert!(text.contains("<U+001B>[2J"));
}
