//! The rule by table, the assignment against trying everything.

use super::*;
use proptest::prelude::*;

/// A file, first and last line, and a category by its number.
type MatchRow = (u8, u32, u32, usize);

fn file(number: u8) -> FilePath {
    FilePath::from(["a.py", "b.py"][usize::from(number % 2)])
}

fn with_spots<T>(rows: &[MatchRow], run: impl FnOnce(&[ProblemLocation<'_>]) -> T) -> T {
    let files: Vec<FilePath> = rows.iter().map(|row| file(row.0)).collect();
    let locations: Vec<ProblemLocation<'_>> = rows
        .iter()
        .zip(&files)
        .map(|((_, first, last, kind), file)| ProblemLocation {
            file,
            span: LineSpan::between(*first, *last),
            category: Category::ALL[kind % 6],
        })
        .collect();
    run(&locations)
}

fn assigned(rule: &MatchRule, findings: &[MatchRow], truths: &[MatchRow]) -> Assignment {
    with_spots(findings, |findings| with_spots(truths, |truths| assign(rule, findings, truths)))
}

fn n_hits(mode: MatchMode, finding: MatchRow, truth: MatchRow) -> usize {
    assigned(&MatchRule::of(mode), &[finding], &[truth]).pairs.len()
}

const BUG: usize = 1;
const ERROR_HANDLING: usize = 2;
const STYLE: usize = 4;
const LOGIC: usize = 5;

/// 002-109, 002-110, 002-111, 002-112
#[test]
fn the_rule_is_file_category_and_lines_within_three() {
    let rows: &[(MatchRow, MatchRow, [usize; 3], &str)] = &[
        ((0, 10, 10, BUG), (0, 10, 10, BUG), [1, 1, 1], "the same"),
        ((0, 10, 10, BUG), (1, 10, 10, BUG), [0, 0, 0], "another file"),
        ((0, 10, 10, BUG), (0, 10, 10, STYLE), [0, 0, 1], "another category"),
        ((0, 10, 10, BUG), (0, 10, 10, LOGIC), [0, 1, 1], "one group"),
        ((0, 10, 10, ERROR_HANDLING), (0, 10, 10, LOGIC), [0, 1, 1], "one group"),
        ((0, 10, 10, BUG), (0, 13, 13, BUG), [1, 1, 1], "three lines below"),
        ((0, 10, 10, BUG), (0, 14, 14, BUG), [0, 0, 0], "four lines below"),
        ((0, 10, 10, BUG), (0, 5, 7, BUG), [1, 1, 1], "three lines above"),
        ((0, 10, 10, BUG), (0, 5, 6, BUG), [0, 0, 0], "four lines above"),
        ((0, 1, 1, BUG), (0, 1, 4_000_000_000, BUG), [1, 1, 1], "inside"),
        ((0, 10, 19, BUG), (0, 22, 22, BUG), [1, 1, 1], "ten lines count"),
        ((0, 10, 99, BUG), (0, 22, 22, BUG), [1, 1, 1], "of a wide one, the first ten"),
        ((0, 10, 99, BUG), (0, 23, 23, BUG), [0, 0, 0], "and no more"),
        ((0, 2, 2, BUG), (0, 1, 1, BUG), [1, 1, 1], "near the top"),
        ((0, u32::MAX, u32::MAX, BUG), (0, u32::MAX, u32::MAX, BUG), [1, 1, 1], "at the end"),
    ];
    for (finding, truth, expected, what) in rows {
        let hits = MatchMode::ALL.map(|mode| n_hits(mode, *finding, *truth));
        assert_eq!(hits, *expected, "{what}: {finding:?} {truth:?}");
    }
}

#[test]
fn who_comes_first_does_not_take_what_another_one_needs() {
    // The first finding reaches both, the second only the truth that is nearest to the first.
    let findings = [(0, 10, 10, BUG), (0, 6, 6, BUG)];
    let truths = [(0, 9, 9, BUG), (0, 13, 13, BUG)];
    let found = assigned(&MatchRule::of(MatchMode::Strict), &findings, &truths);
    let expected = [MatchedPair { finding: 0, truth: 1 }, MatchedPair { finding: 1, truth: 0 }];
    assert_eq!(found.pairs, expected);
    assert_eq!(found.truth_of(1), Some(0));
    assert_eq!(found.by_truth(3), [Some(1), Some(0), None]);
}

#[test]
fn one_wide_finding_hits_one_problem() {
    let truths = [(0, 1, 1, BUG), (0, 3, 3, BUG), (0, 5, 5, BUG)];
    let found = assigned(&MatchRule::of(MatchMode::Strict), &[(0, 1, 9, BUG)], &truths);
    assert_eq!(found.pairs.len(), 1);
}

#[test]
fn the_closest_of_the_most_pairs_counts() {
    let findings = [(0, 10, 10, BUG), (0, 11, 11, BUG)];
    let truths = [(0, 11, 11, BUG), (0, 10, 10, BUG)];
    let found = assigned(&MatchRule::of(MatchMode::Strict), &findings, &truths);
    let expected = [MatchedPair { finding: 0, truth: 1 }, MatchedPair { finding: 1, truth: 0 }];
    assert_eq!(found.pairs, expected);
    // With lines alike, the category decides.
    let truths = [(0, 10, 10, STYLE), (0, 10, 10, BUG)];
    let found = assigned(&MatchRule::of(MatchMode::Location), &[(0, 10, 10, BUG)], &truths);
    assert_eq!(found.pairs, [MatchedPair { finding: 0, truth: 1 }]);
}

#[test]
fn a_miss_says_why() {
    let rule = MatchRule::of(MatchMode::Strict);
    for (finding, truths, expected) in [
        ((0, 10, 10, BUG), vec![(1, 10, 10, BUG)], MissReason::OtherFile),
        (
            (0, 10, 10, BUG),
            vec![(0, 99, 99, BUG), (0, 14, 14, BUG)],
            MissReason::TooFar { nearest: 1, lines: 4 },
        ),
        (
            (0, 10, 10, BUG),
            vec![(0, 12, 12, STYLE)],
            MissReason::OtherCategory { nearest: 0, category: Category::Style },
        ),
        (
            (0, 10, 10, BUG),
            vec![(0, 10, 10, STYLE), (0, 12, 12, BUG)],
            MissReason::Taken { nearest: 1 },
        ),
    ] {
        let why = with_spots(&[finding], |one| {
            with_spots(&truths, |truths| miss(&rule, &one[0], truths))
        });
        assert_eq!(why, expected);
    }
}

/// The most pairs and their smallest cost, by trying everything.
fn best(
    rule: &MatchRule,
    findings: &[ProblemLocation<'_>],
    truths: &[ProblemLocation<'_>],
    used: u32,
) -> (usize, u32) {
    let Some((first, rest)) = findings.split_first() else { return (0, 0) };
    let capped = ProblemLocation { span: rule.capped(first.span), ..*first };
    let mut found = best(rule, rest, truths, used);
    for (at, truth) in truths.iter().enumerate() {
        if used & (1 << at) == 0 && rule.allows(&capped, truth) {
            let (pairs, cost) = best(rule, rest, truths, used | (1 << at));
            let (pairs, cost) = (pairs + 1, cost + distance(&capped, truth));
            if pairs > found.0 || (pairs == found.0 && cost < found.1) {
                found = (pairs, cost);
            }
        }
    }
    found
}

fn worth(
    rule: &MatchRule,
    found: &Assignment,
    findings: &[ProblemLocation<'_>],
    truths: &[ProblemLocation<'_>],
) -> u32 {
    let cost = |pair: &MatchedPair| {
        let finding = findings[pair.finding];
        let capped = ProblemLocation { span: rule.capped(finding.span), ..finding };
        assert!(rule.allows(&capped, &truths[pair.truth]), "{pair:?}");
        distance(&capped, &truths[pair.truth])
    };
    found.pairs.iter().map(cost).sum()
}

fn rows(most: usize) -> impl Strategy<Value = Vec<MatchRow>> {
    let row = (0..2_u8, 1..30_u32, 0..14_u32, prop::sample::select(vec![BUG, STYLE, LOGIC]));
    let row = row.prop_map(|(file, first, more, kind)| (file, first, first + more, kind));
    prop::collection::vec(row, 0..most)
}

fn one_to_one(found: &Assignment) -> bool {
    let mut findings: Vec<usize> = found.pairs.iter().map(|pair| pair.finding).collect();
    let mut truths: Vec<usize> = found.pairs.iter().map(|pair| pair.truth).collect();
    findings.sort_unstable();
    truths.sort_unstable();
    findings.windows(2).all(|two| two[0] < two[1]) && truths.windows(2).all(|two| two[0] < two[1])
}

proptest! {
    #[test]
    fn the_assignment_is_the_best_there_is(findings in rows(7), truths in rows(7)) {
        for mode in MatchMode::ALL {
            let rule = MatchRule::of(mode);
            with_spots(&findings, |findings| with_spots(&truths, |truths| {
                let found = assign(&rule, findings, truths);
                assert!(one_to_one(&found));
                let cost = worth(&rule, &found, findings, truths);
                assert_eq!((found.pairs.len(), cost), best(&rule, findings, truths, 0));
            }));
        }
    }

    #[test]
    fn the_two_sides_and_the_order_do_not_matter(findings in rows(40), truths in rows(40)) {
        let rule = MatchRule { max_span: u32::MAX, ..MatchRule::of(MatchMode::Grouped) };
        let there = assigned(&rule, &findings, &truths);
        let back = assigned(&rule, &truths, &findings);
        prop_assert_eq!(there.pairs.len(), back.pairs.len());
        let reversed = |rows: &[MatchRow]| rows.iter().rev().copied().collect::<Vec<_>>();
        let other = assigned(&rule, &reversed(&findings), &reversed(&truths));
        let cost = |found: &Assignment, findings: &[MatchRow], truths: &[MatchRow]| {
            with_spots(findings, |a| with_spots(truths, |b| worth(&rule, found, a, b)))
        };
        prop_assert_eq!(
            (there.pairs.len(), cost(&there, &findings, &truths)),
            (other.pairs.len(), cost(&other, &reversed(&findings), &reversed(&truths)))
        );
        prop_assert_eq!(cost(&there, &findings, &truths), cost(&back, &truths, &findings));
    }

    #[test]
    fn a_harder_mode_never_hits_more(findings in rows(30), truths in rows(30)) {
        let hits = MatchMode::ALL.map(|mode| assigned(&MatchRule::of(mode), &findings, &truths).pairs.len());
        prop_assert!(hits[0] <= hits[1] && hits[1] <= hits[2], "{hits:?}");
    }

    #[test]
    fn reporting_every_known_problem_matches_all(truths in rows(40)) {
        for mode in MatchMode::ALL {
            let found = assigned(&MatchRule::of(mode), &truths, &truths);
            prop_assert_eq!(found.pairs.len(), truths.len());
        }
    }

    #[test]
    fn the_sweep_finds_as_many_pairs(findings in rows(40), truths in rows(40)) {
        let rule = MatchRule::of(MatchMode::Location);
        let most = assigned(&rule, &findings, &truths).pairs.len();
        let of = |rows: &[MatchRow], widen: u32| -> Vec<LineInterval> {
            rows.iter().filter(|row| row.0 == 0).map(|(_, first, last, _)| {
                let span = LineSpan::between(*first, *last);
                let span = if widen > 0 { rule.capped(span) } else { span };
                LineInterval::of(span).widened(widen)
            }).collect()
        };
        let (ours, theirs) = (of(&findings, rule.tolerance), of(&truths, 0));
        let swept = sweep::most_pairs(&ours, &theirs);
        let only = |rows: &[MatchRow]| rows.iter().filter(|row| row.0 == 0).copied().collect::<Vec<_>>();
        let first_file = assigned(&rule, &only(&findings), &only(&truths)).pairs.len();
        prop_assert!(first_file <= most);
        prop_assert_eq!(swept.len(), first_file);
        prop_assert!(swept.iter().all(|pair| ours[pair.finding].overlaps(theirs[pair.truth])));
        let found = Assignment { pairs: swept, is_closest: false };
        prop_assert!(one_to_one(&found));
    }
}

#[test]
fn thousands_on_the_same_lines_are_still_paired_as_often_as_can_be() {
    let findings: Vec<MatchRow> = (0..3_000).map(|at| (0, 1 + at % 40, 1 + at % 40, BUG)).collect();
    let truths: Vec<MatchRow> = (0..2_500).map(|at| (0, 1, 50 + at, BUG)).collect();
    let found = assigned(&MatchRule::of(MatchMode::Strict), &findings, &truths);
    assert!(!found.is_closest);
    assert_eq!(found.pairs.len(), 2_500);
}
