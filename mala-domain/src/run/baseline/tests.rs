//! Where reviews start and when they are skipped, row by row.

use super::*;

fn candidate(commit: &str, reach: CommitReach) -> Option<BaselineCandidate> {
    Some(BaselineCandidate { commit: commit.to_owned(), reach })
}

fn check(
    mode: Option<Baseline>,
    last: Option<BaselineCandidate>,
    start: Option<BaselineCandidate>,
) -> String {
    let choice = choose(&BaselineFacts { mode, last_review: last, run_start: start });
    let mut words = vec![mode_name(choice.mode), choice.commit.as_deref().unwrap_or("skip")];
    words.extend(choice.dropped.as_ref().map(|_| "dropped"));
    words.extend(choice.error.as_deref());
    words.join(", ")
}

#[test]
fn reviews_start_at_the_run_or_at_the_last_review() {
    use CommitReach::{Ancestor, Missing, NotAncestor};
    let (run, last) = (Some(Baseline::SinceRunStart), Some(Baseline::SinceLastReview));
    let start = || candidate("start", Ancestor);
    for (rows, mode, stored, start, expected) in [
        ("003-086, 003-088", run, candidate("last", Ancestor), start(), "since_run_start, start"),
        ("003-087, 003-088", last, candidate("last", Ancestor), start(), "since_last_review, last"),
        ("003-098, 003-097, 003-096", last, None, start(), "since_last_review, start"),
        ("003-202", None, None, start(), "since_run_start, start"),
        (
            "003-112",
            run,
            None,
            candidate("old", Missing),
            "since_run_start, skip, Baseline commit old not reachable (shallow clone?), skipping review",
        ),
        ("003-114", last, candidate("last", Missing), start(), "since_last_review, start, dropped"),
        (
            "003-114",
            last,
            candidate("last", NotAncestor),
            start(),
            "since_last_review, start, dropped",
        ),
        ("003-115", run, None, candidate("start", NotAncestor), "since_run_start, skip"),
        ("003-228", last, None, None, "since_last_review, skip"),
        (
            "003-228",
            last,
            candidate("last", NotAncestor),
            candidate("start", NotAncestor),
            "since_last_review, skip, dropped",
        ),
    ] {
        assert_eq!(check(mode, stored, start), expected, "{rows}");
    }
}

/// Rows 003-110, 003-120 to 003-125.
#[test]
fn the_size_decides_between_skip_review_and_warning() {
    let range = |lines, is_empty| RangeSummary { lines, is_empty, commits: Vec::new() };
    for (rows, lines, is_empty, expected) in [
        ("003-121, 003-122", 0, true, RangeSize::Empty),
        // A change of mode only has no lines, and is not empty.
        ("003-122", 0, false, RangeSize::Normal),
        ("003-124, 003-125", 5000, false, RangeSize::Normal),
        ("003-124, 003-120", 5001, false, RangeSize::Large(5001)),
        ("003-123, 003-005", 7500, false, RangeSize::Large(7500)),
    ] {
        assert_eq!(range_size(&range(lines, is_empty)), expected, "{rows}");
    }
    let warning = "WARNING: Large diff (7500 lines) may affect review quality";
    assert_eq!(large_diff_warning(7500), warning, "003-123");
}

#[test]
fn every_trigger_instance_has_a_key_of_its_own() {
    let epic = IssueId::new("bd-xyz789");
    for (rows, trigger, epic, expected) in [
        ("003-072", TriggerKind::RunEnd, None, Some("run_end")),
        ("003-073", TriggerKind::EpicCompletion, Some(&epic), Some("epic_completion:bd-xyz789")),
        ("003-069", TriggerKind::Periodic, None, Some("periodic")),
        ("003-074", TriggerKind::SessionEnd, None, None),
    ] {
        assert_eq!(baseline_key(trigger, epic).as_deref(), expected, "{rows}");
    }
}

#[test]
fn the_start_of_a_run_is_captured_once() {
    for (rows, stored, is_resumed, expected) in [
        ("003-070, 003-089", None, false, ("tip", false)),
        ("003-103", Some("old"), false, ("tip", false)),
        ("003-091", Some("old"), true, ("old", false)),
        ("003-117", None, true, ("tip", true)),
    ] {
        let (commit, is_late) = run_start(stored, "tip", is_resumed);
        assert_eq!((commit.as_str(), is_late), expected, "{rows}");
    }
}

#[test]
fn log_texts_are_those_of_the_contract() {
    assert_eq!(NO_COMMITS_TEXT, "No commits for issue, skipping review", "003-084");
    assert_eq!(EMPTY_DIFF_TEXT, "No changes since baseline, skipping review", "003-121");
}
