//! Compares two runs over the same cases: the differences, their p-values, and the cases that changed.
//!
//! The p-value is that of a paired randomization test: the results of each case are swapped at random, and
//! the p-value is how often the difference is at least as large as the observed one.

#[cfg(test)]
mod tests;

use super::matching::{MatchMode, MatchRule};
use super::random::SeededRandom;
use super::record::CaseRecord;
use super::scores::{MatchCounts, ScoreRates, judge};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The number of random permutations.
const SAMPLES: u64 = 10_000;
/// Up to this number of differing cases, all permutations are tried.
const MAX_EXACT: u32 = 13;

/// The difference between two runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "EvalComparison")]
pub struct Comparison {
    /// The version of this format.
    pub schema_version: u32,
    /// The name of the first run.
    pub before: String,
    /// The name of the second run.
    pub after: String,
    /// The match mode.
    pub mode: MatchMode,
    /// Cases that both runs reviewed.
    pub cases: u64,
    /// Cases that only the first run reviewed.
    pub only_before: Vec<String>,
    /// Cases that only the second run reviewed.
    pub only_after: Vec<String>,
    /// The first run over the common cases.
    pub rates_before: ScoreRates,
    /// The second run over the common cases.
    pub rates_after: ScoreRates,
    /// The difference in recall, and whether it could be chance.
    pub recall: Difference,
    /// The difference in precision.
    pub precision: Difference,
    /// The difference in F1.
    pub f1: Difference,
    /// The common cases with different results.
    pub changed: Vec<ChangedCase>,
}

/// A difference between two runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// The second rate minus the first; null if one of them does not exist.
    pub by: Option<f64>,
    /// The probability of a difference at least as large if the runs are equally good; null without
    /// a difference.
    pub p_value: Option<f64>,
}

/// A case with different results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedCase {
    /// Its set.
    pub set: String,
    /// The case.
    pub case: String,
    /// Known problems that the second run finds more often, as `file:line category`; with several trials
    /// or several problems of one place, with how many of how many.
    pub newly_found: Vec<String>,
    /// Known problems that the second run finds less often.
    pub newly_missed: Vec<String>,
    /// Wrong findings of the first run.
    pub wrong_before: u64,
    /// Wrong findings of the second run.
    pub wrong_after: u64,
}

/// The results of one run, for a comparison.
pub struct ComparedRun {
    name: String,
    rule: MatchRule,
    cases: BTreeMap<(String, String), CaseOutcome>,
    unreviewed: BTreeSet<(String, String)>,
}

#[derive(Default)]
struct CaseOutcome {
    counts: MatchCounts,
    problems: BTreeMap<ComparedProblem, ProblemHits>,
}

/// The identity of a known problem. By lines and category, problems at the same place are
/// indistinguishable; a judge, who reads the texts, distinguishes them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct ComparedProblem {
    place: String,
    text: String,
}

/// The number of hits, and the number of possible hits.
#[derive(Debug, Clone, Copy, Default)]
struct ProblemHits {
    found: u64,
    known: u64,
}

impl ProblemHits {
    /// Whether a larger part is found than there.
    fn is_more_than(self, other: Self) -> bool {
        self.found * other.known > other.found * self.known
    }
}

impl ComparedRun {
    /// A run of this name without results.
    pub fn new(name: &str, rule: MatchRule) -> Self {
        let (cases, unreviewed) = (BTreeMap::new(), BTreeSet::new());
        Self { name: name.to_owned(), rule, cases, unreviewed }
    }

    /// Takes a record in; the trials of a case are summed.
    pub fn add(&mut self, record: &CaseRecord) {
        let key = (record.set.clone(), record.case.clone());
        if record.could_not_review.is_some() {
            self.unreviewed.insert(key);
            return;
        }
        let judged = judge(&self.rule, record);
        let found = judged.assignment.by_truth(record.truths.len());
        let outcome = self.cases.entry(key).or_default();
        outcome.counts += judged.counts();
        for (truth, claim) in record.truths.iter().zip(found) {
            let place = format!("{}:{} {}", truth.file, truth.span(), truth.category);
            let is_read = self.rule.mode == MatchMode::Semantic;
            let text = if is_read { truth.description.clone() } else { String::new() };
            let hits = outcome.problems.entry(ComparedProblem { place, text }).or_default();
            hits.known += 1;
            hits.found += u64::from(claim.is_some());
        }
    }

    /// A case counts when all of its trials were reviewed.
    fn settle(&mut self) {
        self.cases.retain(|key, _| !self.unreviewed.contains(key));
    }
}

/// Compares two runs.
pub fn compare(
    mut before: ComparedRun,
    mut after: ComparedRun,
    random: &mut SeededRandom,
) -> Comparison {
    before.settle();
    after.settle();
    let only = |here: &ComparedRun, there: &ComparedRun| -> Vec<String> {
        let missing = here.cases.keys().filter(|key| !there.cases.contains_key(*key));
        missing.map(|(_, case)| case.clone()).collect()
    };
    let common: Vec<_> = before
        .cases
        .iter()
        .filter_map(|(key, one)| Some((key, one, after.cases.get(key)?)))
        .collect();
    let pairs: Vec<(MatchCounts, MatchCounts)> =
        common.iter().map(|(_, one, two)| (one.counts, two.counts)).collect();
    let sum = |of: fn(&(MatchCounts, MatchCounts)) -> MatchCounts| {
        pairs.iter().map(of).fold(MatchCounts::default(), |mut all, one| {
            all += one;
            all
        })
    };
    let [recall, precision, f1] = differences(&pairs, random);
    Comparison {
        schema_version: super::record::SCHEMA_VERSION,
        mode: before.rule.mode,
        cases: pairs.len() as u64,
        only_before: only(&before, &after),
        only_after: only(&after, &before),
        rates_before: sum(|pair| pair.0).into(),
        rates_after: sum(|pair| pair.1).into(),
        recall,
        precision,
        f1,
        changed: common.iter().filter_map(|(key, one, two)| changed(key, one, two)).collect(),
        before: before.name.clone(),
        after: after.name.clone(),
    }
}

fn changed(key: &(String, String), one: &CaseOutcome, two: &CaseOutcome) -> Option<ChangedCase> {
    let wrong = |outcome: &CaseOutcome| outcome.counts.findings - outcome.counts.right;
    let case = ChangedCase {
        set: key.0.clone(),
        case: key.1.clone(),
        newly_found: differing(one, two, |before, after| after.is_more_than(before)),
        newly_missed: differing(one, two, ProblemHits::is_more_than),
        wrong_before: wrong(one),
        wrong_after: wrong(two),
    };
    let is_same = case.newly_found.is_empty()
        && case.newly_missed.is_empty()
        && case.wrong_before == case.wrong_after;
    (!is_same).then_some(case)
}

/// The problems whose hits before and after are such.
fn differing(
    one: &CaseOutcome,
    two: &CaseOutcome,
    is_such: fn(ProblemHits, ProblemHits) -> bool,
) -> Vec<String> {
    let both = one.problems.iter().filter_map(|(problem, before)| {
        let after = *two.problems.get(problem)?;
        is_such(*before, after).then_some((&problem.place, *before, after))
    });
    both.map(|(place, before, after)| match (before.known, after.known) {
        (1, 1) => place.clone(),
        (n, m) => format!("{place} ({} of {n}, then {} of {m})", before.found, after.found),
    })
    .collect()
}

const RATES: [fn(&MatchCounts) -> Option<f64>; 3] =
    [MatchCounts::recall, MatchCounts::precision, MatchCounts::f1];

/// The differences in recall, precision and F1, each with its p-value.
fn differences(pairs: &[(MatchCounts, MatchCounts)], random: &mut SeededRandom) -> [Difference; 3] {
    let (mut one, mut two) = (MatchCounts::default(), MatchCounts::default());
    for pair in pairs {
        one += pair.0;
        two += pair.1;
    }
    let seen = RATES.map(|rate| Some(rate(&two)? - rate(&one)?));
    // Cases with equal results do not change under a swap.
    let differing: Vec<_> = pairs.iter().filter(|(one, two)| one != two).collect();
    let alike = pairs.iter().filter(|(one, two)| one == two);
    let same = alike.fold(MatchCounts::default(), |mut all, pair| {
        all += pair.0;
        all
    });
    let n = u32::try_from(differing.len()).unwrap_or(u32::MAX);
    let is_exact = n <= MAX_EXACT;
    let draws = if is_exact { 1_u64 << n } else { SAMPLES };
    let mut as_large = [0_u64; 3];
    for draw in 0..draws {
        let (mut one, mut two) = (same, same);
        for (at, pair) in differing.iter().enumerate() {
            let is_swapped = if is_exact { draw >> at & 1 == 1 } else { random.flip() };
            one += if is_swapped { pair.1 } else { pair.0 };
            two += if is_swapped { pair.0 } else { pair.1 };
        }
        for ((count, rate), seen) in as_large.iter_mut().zip(RATES).zip(seen) {
            let by = rate(&two).unwrap_or(0.0) - rate(&one).unwrap_or(0.0);
            // Sums in another order differ in the last digits.
            *count += u64::from(by.abs() >= seen.unwrap_or(0.0).abs() - 1e-12);
        }
    }
    // The observed result is one of the possible permutations, so it counts as a draw.
    let more = u64::from(!is_exact);
    let mut found = seen.into_iter().zip(as_large).map(|(by, count)| Difference {
        by,
        p_value: by.map(|_| (count + more) as f64 / (draws + more) as f64),
    });
    let nothing = Difference { by: None, p_value: None };
    std::array::from_fn(|_| found.next().unwrap_or(nothing))
}

/// The JSON Schema of a comparison.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Comparison)
}
