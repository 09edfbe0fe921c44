//! Differences, what chance makes of them, and the cases behind them.

use super::*;
use crate::scores::tests::{claim, record, truth};
use mala_domain::finding::{Category, Severity};

/// A case with one known problem, found or not, and this many wrong findings.
fn case(name: &str, is_found: bool, n_wrong: usize) -> CaseRecord {
    let at = |place: &str| claim(place, Category::Bug, Severity::High, 1.0);
    let mut claims = vec![at("z.py:900"); n_wrong];
    claims.extend(is_found.then(|| at("a.py:5")));
    record(name, "python", claims, vec![truth("a.py:5", Category::Bug, None)])
}

fn side(name: &str, records: &[CaseRecord]) -> ComparedRun {
    let mut side = ComparedRun::new(name, MatchRule::of(MatchMode::Strict));
    records.iter().for_each(|record| side.add(record));
    side
}

fn compared(before: &[CaseRecord], after: &[CaseRecord]) -> Comparison {
    compare(side("one", before), side("two", after), &mut SeededRandom::new(0))
}

fn many(n: usize, is_found: impl Fn(usize) -> bool) -> Vec<CaseRecord> {
    (0..n).map(|at| case(&format!("c{at}"), is_found(at), 0)).collect()
}

#[test]
fn two_equal_runs_do_not_differ() {
    let runs = many(30, |at| at % 2 == 0);
    let found = compared(&runs, &runs);
    assert_eq!((found.recall.by, found.recall.p_value), (Some(0.0), Some(1.0)));
    assert_eq!((found.cases, found.changed.len()), (30, 0));
}

#[test]
fn the_p_value_of_few_cases_is_exact() {
    // Five cases, all better: of the 32 ways to swap them, two are as extreme.
    let found = compared(&many(5, |_| false), &many(5, |_| true));
    assert_eq!((found.recall.by, found.recall.p_value), (Some(1.0), Some(2.0 / 32.0)));
    assert_eq!(found.precision.by, None, "the first run has none");
}

#[test]
fn many_better_cases_are_no_chance_and_a_wash_is() {
    let better = compared(&many(60, |at| at < 20), &many(60, |at| at < 50));
    assert!(better.f1.p_value.unwrap() < 0.001, "{:?}", better.f1);
    let wash = compared(&many(60, |at| at < 30), &many(60, |at| at >= 30));
    assert_eq!(wash.f1.by, Some(0.0));
    assert_eq!(wash.f1.p_value, Some(1.0));
    let slight = compared(&many(60, |at| at % 2 == 0), &many(60, |at| at % 2 == 1 || at == 0));
    assert!(slight.f1.p_value.unwrap() > 0.5, "{:?}", slight.f1);
}

#[test]
fn the_cases_behind_a_difference_are_named() {
    let before = [case("a", true, 0), case("b", false, 0), case("c", true, 1), case("x", true, 0)];
    let mut failed = case("x", true, 0);
    failed.could_not_review = Some("timeout".to_owned());
    let after = [case("a", false, 0), case("b", true, 2), case("c", true, 1), failed];
    let found = compared(&before, &after);
    assert_eq!((found.cases, found.only_before), (3, vec!["x".to_owned()]));
    let changed: Vec<_> = found
        .changed
        .iter()
        .map(|case| {
            let lost = (case.newly_found.len(), case.newly_missed.len());
            (case.case.as_str(), lost, case.wrong_before, case.wrong_after)
        })
        .collect();
    assert_eq!(changed, [("a", (0, 1), 0, 0), ("b", (1, 0), 0, 2)]);
    assert_eq!(found.changed[0].newly_missed, ["a.py:5 bug"]);
}

#[test]
fn problems_of_one_place_and_trials_are_counted_one_by_one() {
    let at = |place: &str| claim(place, Category::Bug, Severity::High, 1.0);
    let twice = vec![truth("a.py:10", Category::Bug, None); 2];
    let both = |n: usize| record("x", "python", vec![at("a.py:10"); n], twice.clone());
    let trial =
        |number: u32, is_found: bool| CaseRecord { trial: number, ..case("t", is_found, 0) };
    let trials = |found: [bool; 3]| {
        found.into_iter().zip(1..).map(|(is_found, n)| trial(n, is_found)).collect::<Vec<_>>()
    };
    let (yes, no) = (true, false);
    type ComparisonRow<'a> = (Vec<CaseRecord>, Vec<CaseRecord>, &'a [&'a str], &'a [&'a str]);
    let rows: [ComparisonRow<'_>; 5] = [
        (vec![both(1)], vec![both(2)], &["a.py:10 bug (1 of 2, then 2 of 2)"], &[]),
        (vec![both(2)], vec![both(0)], &[], &["a.py:10 bug (2 of 2, then 0 of 2)"]),
        (vec![both(1)], vec![both(1)], &[], &[]),
        (trials([yes, no, no]), trials([no, yes, yes]), &["a.py:5 bug (1 of 3, then 2 of 3)"], &[]),
        (trials([yes, no, no]), trials([no, no, yes]), &[], &[]),
    ];
    for (before, after, newly_found, newly_missed) in rows {
        let found = compared(&before, &after);
        let changed = found.changed.first();
        let names = |of: fn(&ChangedCase) -> &Vec<String>| changed.map_or(&[][..], |it| of(it));
        assert_eq!(names(|it| &it.newly_found), newly_found);
        assert_eq!(names(|it| &it.newly_missed), newly_missed);
    }
}
