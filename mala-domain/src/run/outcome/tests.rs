//! The table of failure modes, outcomes and thresholds, row by row.

use super::super::tests::{finding, refuted};
use super::*;
use crate::config::RetryCount;
use crate::finding::Priority;
use crate::verdict::Threshold;

const MODES: [FailureMode; 3] = [FailureMode::Abort, FailureMode::Continue, FailureMode::Remediate];
const THRESHOLDS: [Threshold; 5] =
    [Threshold::P0, Threshold::P1, Threshold::P2, Threshold::P3, Threshold::None];

fn settings(mode: FailureMode, threshold: Threshold, retries: i64) -> CodeReviewSettings {
    CodeReviewSettings {
        enabled: true,
        failure_mode: mode,
        finding_threshold: threshold,
        max_retries: RetryCount::new(retries),
        ..CodeReviewSettings::default()
    }
}

fn error(kind: ReviewErrorKind) -> TriggerReview {
    TriggerReview::ExecutionError { kind, message: "it broke".to_owned() }
}

fn found(priority: Priority) -> TriggerReview {
    TriggerReview::Completed(vec![finding("x", Some(priority))])
}

fn word(after: &AfterReview) -> &'static str {
    match after {
        AfterReview::Accept => "accept",
        AfterReview::AcceptNotReviewed(_) => "accept, not reviewed",
        AfterReview::Repeat => "repeat",
        AfterReview::Fix => "fix",
        AfterReview::Fail(_) => "fail",
        AfterReview::Abort(_) => "abort",
    }
}

fn decide(settings: &CodeReviewSettings, review: &TriggerReview) -> &'static str {
    word(&after_review(settings, false, RetriesUsed::default(), review))
}

/// How many times the reviewer is asked in a fire in which it always fails like this, and the end.
fn calls(settings: &CodeReviewSettings, kind: ReviewErrorKind) -> (u32, &'static str) {
    let mut used = RetriesUsed::default();
    loop {
        let after = after_review(settings, false, used, &error(kind));
        if after != AfterReview::Repeat {
            return (used.reviews + 1, word(&after));
        }
        used.reviews += 1;
    }
}

#[test]
fn execution_errors_follow_the_failure_mode() {
    for threshold in THRESHOLDS {
        for kind in [ReviewErrorKind::Timeout, ReviewErrorKind::Crash] {
            for (rows, mode, expected) in [
                ("003-162, 003-167", FailureMode::Abort, (1, "abort")),
                ("003-163, 003-164, 003-051", FailureMode::Continue, (1, "accept, not reviewed")),
                (
                    "003-165, 003-020, 001-091, 001-147",
                    FailureMode::Remediate,
                    (3, "accept, not reviewed"),
                ),
            ] {
                let settings = settings(mode, threshold, 2);
                assert_eq!(calls(&settings, kind), expected, "{rows} {threshold:?} {kind:?}");
            }
        }
    }
}

/// Rows 003-159, 003-167, 001-009 and 001-124.
#[test]
fn an_unparsable_answer_is_repeated_in_every_mode() {
    for (mode, end) in [
        (FailureMode::Abort, "abort"),
        (FailureMode::Continue, "accept, not reviewed"),
        (FailureMode::Remediate, "accept, not reviewed"),
    ] {
        let settings = settings(mode, Threshold::P1, 2);
        assert_eq!(calls(&settings, ReviewErrorKind::UnparsableAnswer), (3, end), "{mode:?}");
    }
}

/// Row 001-092: without reviewers, for a change that cannot be reviewed, or when mala fails, another try is of no use.
#[test]
fn fatal_errors_are_not_repeated() {
    use ReviewErrorKind::{Internal, NoReviewers, UnreviewableChange};
    for kind in [NoReviewers, UnreviewableChange, Internal] {
        for (mode, retries, end) in [
            (FailureMode::Abort, 3, "abort"),
            (FailureMode::Continue, 3, "accept, not reviewed"),
            (FailureMode::Remediate, 3, "fail"),
            (FailureMode::Remediate, 0, "accept, not reviewed"),
        ] {
            let settings = settings(mode, Threshold::P1, retries);
            assert_eq!(calls(&settings, kind), (1, end), "{kind:?} {mode:?}");
        }
        let settings = settings(FailureMode::Continue, Threshold::P1, 3);
        let legacy = after_review(&settings, true, RetriesUsed::default(), &error(kind));
        assert_eq!(word(&legacy), "fail", "001-092");
    }
}

#[test]
fn a_retry_that_succeeds_is_a_normal_review() {
    let settings = settings(FailureMode::Remediate, Threshold::P1, 3);
    let used = RetriesUsed { reviews: 2, fixes: 0 };
    let after = after_review(&settings, false, used, &TriggerReview::Completed(Vec::new()));
    assert_eq!(after, AfterReview::Accept, "003-166");
}

#[test]
fn the_default_is_three_retries() {
    let settings = CodeReviewSettings {
        failure_mode: FailureMode::Remediate,
        ..CodeReviewSettings::default()
    };
    assert_eq!(calls(&settings, ReviewErrorKind::Crash).0, 4, "003-053");
}

#[test]
fn remediate_without_retries_behaves_like_continue() {
    let settings = settings(FailureMode::Remediate, Threshold::P1, 0);
    assert_eq!(calls(&settings, ReviewErrorKind::Crash), (1, "accept, not reviewed"), "003-208");
}

#[test]
fn findings_follow_the_threshold_in_every_mode() {
    use Priority::{P0, P1, P2, P3};
    for mode in MODES {
        for (rows, priority, threshold, expected) in [
            ("003-168", P0, Threshold::P0, "fix"),
            ("003-169", P0, Threshold::P1, "fix"),
            ("003-170, 003-179, 001-090, 001-125", P1, Threshold::P1, "fix"),
            ("003-171", P2, Threshold::P1, "accept"),
            ("003-171", P3, Threshold::P1, "accept"),
            ("003-172, 003-054, 003-246", P0, Threshold::None, "accept"),
            ("003-172", P1, Threshold::None, "accept"),
            ("003-172", P2, Threshold::None, "accept"),
            ("003-172", P3, Threshold::None, "accept"),
            ("003-174", P1, Threshold::P0, "accept"),
        ] {
            let settings = settings(mode, threshold, 3);
            assert_eq!(decide(&settings, &found(priority)), expected, "{rows} {mode:?}");
        }
    }
}

#[test]
fn without_retries_findings_fail_at_once() {
    use Priority::{P0, P1, P2, P3};
    for (rows, threshold, fails) in [
        ("003-175", Threshold::P2, [true, true, true, false]),
        ("003-176", Threshold::P3, [true, true, true, true]),
        ("003-184", Threshold::P1, [true, true, false, false]),
    ] {
        for (priority, fails) in [P0, P1, P2, P3].into_iter().zip(fails) {
            let expected = if fails { "fail" } else { "accept" };
            let settings = settings(FailureMode::Continue, threshold, 0);
            assert_eq!(decide(&settings, &found(priority)), expected, "{rows} {priority}");
        }
    }
}

/// Row 003-173, and rows 003-160 and 003-161 for the status.
#[test]
fn no_findings_succeed_in_every_mode() {
    let clean = TriggerReview::Completed(Vec::new());
    for mode in MODES {
        for threshold in THRESHOLDS {
            assert_eq!(decide(&settings(mode, threshold, 3), &clean), "accept", "003-173");
        }
    }
    assert_eq!((clean.status(), clean.findings().len()), ("success", 0), "003-161");
    let found = found(Priority::P3);
    assert_eq!((found.status(), found.findings().len()), ("success", 1), "003-160");
}

#[test]
fn a_missing_priority_counts_as_p2() {
    let review = TriggerReview::Completed(vec![finding("x", None)]);
    let decide = |threshold| decide(&settings(FailureMode::Continue, threshold, 3), &review);
    assert_eq!((decide(Threshold::P1), decide(Threshold::P2)), ("accept", "fix"), "003-177");
}

#[test]
fn a_refuted_finding_does_not_count() {
    let review = TriggerReview::Completed(vec![refuted(finding("x", Some(Priority::P0)))]);
    let settings = settings(FailureMode::Continue, Threshold::P1, 3);
    assert_eq!(decide(&settings, &review), "accept", "003-178");
}

/// Rows 003-154, 003-183, 003-185, 003-188 and 003-189.
#[test]
fn fix_cycles_and_repetitions_are_counted_separately() {
    let settings = settings(FailureMode::Remediate, Threshold::P1, 2);
    let after = |reviews, fixes, review: &TriggerReview| {
        word(&after_review(&settings, false, RetriesUsed { reviews, fixes }, review))
    };
    let p1 = found(Priority::P1);
    assert_eq!(after(2, 0, &p1), "fix", "003-154");
    assert_eq!(after(2, 1, &p1), "fix", "003-154");
    assert_eq!(after(2, 2, &p1), "fail", "003-183, 003-188");
    assert_eq!(after(0, 2, &found(Priority::P2)), "accept", "003-189");
    assert_eq!(after(0, 2, &error(ReviewErrorKind::Crash)), "repeat", "003-154");
}

/// Rows 003-107 to 003-111, 003-095, 003-219, 003-220 and 003-221.
#[test]
fn only_a_completed_review_advances_the_baseline() {
    for (rows, review, status, advances) in [
        ("003-107", TriggerReview::Completed(Vec::new()), "success", true),
        ("003-108, 003-093", found(Priority::P1), "success", true),
        ("003-109", error(ReviewErrorKind::Crash), "failed", false),
        ("003-095", error(ReviewErrorKind::UnparsableAnswer), "failed", false),
        ("003-110, 003-221", TriggerReview::Skipped(ReviewSkip::EmptyDiff), "skipped", false),
        ("003-111", TriggerReview::Skipped(ReviewSkip::BaselineNotFound), "skipped", false),
    ] {
        assert_eq!((review.status(), review.advances_baseline()), (status, advances), "{rows}");
    }
}

#[test]
fn a_skipped_review_lets_the_run_go_on() {
    let settings = settings(FailureMode::Abort, Threshold::P0, 3);
    for (reason, expected) in [
        (ReviewSkip::EmptyDiff, "accept"),
        (ReviewSkip::BaselineNotFound, "accept"),
        (ReviewSkip::NoCommits, "fail"),
    ] {
        let decided = decide(&settings, &TriggerReview::Skipped(reason));
        assert_eq!(decided, expected, "003-230, 003-085 {reason:?}");
    }
}

/// Rows 003-149 to 003-152 and 003-232 to 003-234: the trigger's mode is for commands alone.
#[test]
fn failed_commands_follow_the_mode_of_the_trigger() {
    for (rows, mode, retries, used, expected) in [
        ("003-232, 003-149", FailureMode::Abort, 3, 0, AfterCommands::Abort),
        ("003-233, 003-150", FailureMode::Continue, 3, 0, AfterCommands::Review),
        ("003-234, 003-152", FailureMode::Remediate, 1, 0, AfterCommands::Fix),
        ("003-234", FailureMode::Remediate, 1, 1, AfterCommands::Review),
        ("003-208", FailureMode::Remediate, 0, 0, AfterCommands::Review),
    ] {
        assert_eq!(after_failed_commands(mode, retries, used), expected, "{rows}");
    }
    for (mode, retries, expected) in [
        (FailureMode::Continue, 3, false),
        (FailureMode::Remediate, 0, false),
        (FailureMode::Remediate, 1, true),
    ] {
        assert_eq!(failed_commands_fail_issue(mode, retries), expected, "{mode:?} {retries}");
    }
}
