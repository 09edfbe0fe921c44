//! Statistics over all reviews in the ledger: rounds per change, findings per round, and how
//! findings end.

use super::ReviewRecord;
use crate::finding::FindingState;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Statistics over a ledger.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct LedgerStats {
    /// The version of this shape.
    pub schema_version: u32,
    /// Reviews.
    pub n_reviews: usize,
    /// Findings.
    pub n_findings: usize,
    /// Findings that were fixed: their reviewers were right.
    pub n_confirmed: usize,
    /// Dollars of all reviews whose cost is known.
    pub cost_usd: f64,
    /// Reviews whose cost is not known.
    pub n_unknown_cost: usize,
    /// Dollars per fixed finding; null if none was fixed.
    pub cost_per_confirmed_usd: Option<f64>,
    /// Reviewed changes, the one with the most rounds first.
    pub changes: Vec<ChangeRounds>,
    /// Findings that were new, by round.
    pub new_by_round: Vec<RoundCount>,
    /// How findings end, by rule.
    pub by_rule: Vec<OutcomeShare>,
    /// How findings end, by reviewer.
    pub by_reviewer: Vec<OutcomeShare>,
    /// How findings end, by category.
    pub by_category: Vec<OutcomeShare>,
}

/// The rounds of one change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangeRounds {
    /// The change.
    pub change: String,
    /// The most rounds of a loop of reviews by the same reviewers.
    pub rounds: u32,
    /// Its reviews, by any reviewers.
    pub reviews: usize,
    /// How the last of them ended.
    pub outcome: String,
}

/// The findings of all reviews in one round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RoundCount {
    /// The round.
    pub round: u32,
    /// Reviews in this round.
    pub reviews: usize,
    /// Findings that were new in it.
    pub new: u32,
    /// Findings that it confirmed as fixed.
    pub fixed: u32,
}

/// How the findings of one rule, reviewer or category end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OutcomeShare {
    /// The rule, reviewer or category.
    pub name: String,
    /// All findings.
    pub total: usize,
    /// Those that are fixed.
    pub fixed: usize,
    /// Those that are waived.
    pub waived: usize,
    /// Those that are disputed.
    pub disputed: usize,
}

/// How many findings of one rule, reviewer and category are in one state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingCount {
    /// The rule.
    pub rule: Option<String>,
    /// The reviewer that reported them first.
    pub reviewer: String,
    /// The name of the category.
    pub category: String,
    /// The state.
    pub state: FindingState,
    /// The number.
    pub n: usize,
}

/// Computes the statistics.
pub fn ledger_stats(reviews: &[ReviewRecord], counts: &[FindingCount]) -> LedgerStats {
    let fixed = counts.iter().filter(|it| it.state == FindingState::Fixed);
    let n_confirmed = fixed.map(|it| it.n).sum();
    let costs = || reviews.iter().filter_map(|review| review.cost_usd);
    let cost_usd = costs().fold(0.0, |sum, cost| sum + cost);
    LedgerStats {
        schema_version: 1,
        n_reviews: reviews.len(),
        n_findings: counts.iter().map(|it| it.n).sum(),
        n_confirmed,
        cost_usd,
        n_unknown_cost: reviews.len() - costs().count(),
        cost_per_confirmed_usd: u32::try_from(n_confirmed)
            .ok()
            .filter(|n| *n > 0)
            .map(|n| cost_usd / f64::from(n)),
        changes: changes(reviews),
        new_by_round: by_round(reviews),
        by_rule: shares(counts, |it| it.rule.as_deref()),
        by_reviewer: shares(counts, |it| Some(&it.reviewer)),
        by_category: shares(counts, |it| Some(&it.category)),
    }
}

fn changes(reviews: &[ReviewRecord]) -> Vec<ChangeRounds> {
    let mut changes: BTreeMap<&str, ChangeRounds> = BTreeMap::new();
    for review in reviews {
        let entry = changes.entry(&review.subject).or_insert_with(|| ChangeRounds {
            change: review.subject.clone(),
            rounds: 0,
            reviews: 0,
            outcome: String::new(),
        });
        entry.rounds = entry.rounds.max(review.round);
        entry.reviews += 1;
        entry.outcome.clone_from(&review.outcome);
    }
    let mut changes: Vec<ChangeRounds> = changes.into_values().collect();
    changes.sort_by_key(|change| std::cmp::Reverse(change.rounds));
    changes
}

fn by_round(reviews: &[ReviewRecord]) -> Vec<RoundCount> {
    let mut rounds: BTreeMap<u32, RoundCount> = BTreeMap::new();
    for review in reviews {
        let round = review.round;
        let empty = RoundCount { round, reviews: 0, new: 0, fixed: 0 };
        let entry = rounds.entry(round).or_insert(empty);
        entry.reviews += 1;
        entry.new += review.summary.n_new;
        entry.fixed += review.summary.n_fixed;
    }
    rounds.into_values().collect()
}

/// The most frequent first.
fn shares(
    counts: &[FindingCount],
    name: impl Fn(&FindingCount) -> Option<&str>,
) -> Vec<OutcomeShare> {
    let mut shares: BTreeMap<&str, OutcomeShare> = BTreeMap::new();
    for count in counts {
        let Some(name) = name(count) else { continue };
        let share = shares.entry(name).or_default();
        share.name = name.to_owned();
        share.total += count.n;
        match count.state {
            FindingState::Fixed => share.fixed += count.n,
            FindingState::Waived => share.waived += count.n,
            FindingState::Disputed => share.disputed += count.n,
            FindingState::Open | FindingState::Regressed | FindingState::Duplicate => {}
        }
    }
    let mut shares: Vec<OutcomeShare> = shares.into_values().collect();
    shares.sort_by_key(|share| std::cmp::Reverse(share.total));
    shares
}
