//! What is kept of canaries, and what follows from it.

use super::*;

fn run(day: &str, lane: &str, version: &str, hits: (u32, u32)) -> CanaryRun {
    let hits = CanaryHits { found: hits.0, planted: hits.1 };
    let tally = LaneTally {
        version: Some(version.to_owned()),
        by_kind: BTreeMap::from([("off-by-one".to_owned(), hits)]),
        could_not_review: 1,
        cost_usd: Some(0.5),
    };
    let lanes = BTreeMap::from([(lane.to_owned(), tally)]);
    CanaryRun { at: format!("{day}T12:00:00Z"), seed: 1, lanes }
}

#[test]
fn runs_of_the_same_version_are_one_measurement() {
    let book = [
        run("2026-11-01", "codex", "1", (0, 9)),
        run("2026-11-08", "codex", "2", (3, 4)),
        run("2026-11-09", "gemini", "7", (1, 1)),
        run("2026-11-15", "codex", "2", (4, 5)),
    ]
    .into_iter()
    .fold(CanaryBook::default(), CanaryBook::with);
    let measured = book.measured("codex").unwrap();
    assert_eq!(measured.shown(), "found 7 of 9 planted (2 not reviewed), 2026-11-15");
    assert_eq!((measured.recall, measured.cost_usd), (Some(7.0 / 9.0), Some(1.0)));
    assert_eq!(measured.version.as_deref(), Some("2"));
    assert_eq!(book.measured("claude"), None);
}

#[test]
fn no_number_is_too_large() {
    let most = || run("2026-11-15", "codex", "1", (u32::MAX, u32::MAX));
    let book = CanaryBook::default().with(most()).with(most());
    let measured = book.measured("codex").unwrap();
    assert_eq!(
        (measured.found, measured.planted, measured.recall),
        (u32::MAX, u32::MAX, Some(1.0))
    );
}

#[test]
fn an_unknown_cost_stays_unknown() {
    let mut tally = LaneTally { cost_usd: Some(0.0), ..LaneTally::default() };
    tally.pay(Some(0.25));
    assert_eq!(tally.cost_usd, Some(0.25));
    tally.pay(None);
    tally.pay(Some(1.0));
    assert_eq!(tally.cost_usd, None);
}

#[test]
fn a_book_without_a_beginning_is_never_due() {
    let plan = CanaryPlan { every_days: 7, count: 5, max_cost_usd: 2.0 };
    let day = 86_400;
    for (since, now, expected) in [
        (None, i64::MAX, false),
        (Some(0), 7 * day - 1, false),
        (Some(0), 7 * day, true),
        (Some(9 * day), day, false),
    ] {
        let book = CanaryBook { since, ..CanaryBook::default() };
        assert_eq!(book.is_due(now, &plan), expected, "{since:?} {now}");
    }
}

#[test]
fn only_so_many_runs_are_kept() {
    let book = (0..60)
        .map(|at| run(&format!("day-{at:02}---"), "a", "1", (0, 1)))
        .fold(CanaryBook::default(), CanaryBook::with);
    assert_eq!(book.runs.len(), MAX_RUNS);
    assert_eq!(book.measured("a").map(|it| it.planted), Some(50));
}
