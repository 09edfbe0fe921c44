//! What the ledger says over all reviews: rounds per change, findings per round, and how findings end.

use super::{LedgerFinding, ReviewRecord};
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
    /// Dollars per fixed finding; null when none was fixed.
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
    /// Its rounds.
    pub rounds: usize,
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

/// Computes the statistics.
pub fn ledger_stats(reviews: &[ReviewRecord], findings: &[LedgerFinding]) -> LedgerStats {
    let n_confirmed = findings.iter().filter(|it| it.state == FindingState::Fixed).count();
    let costs = || reviews.iter().filter_map(|review| review.cost_usd);
    let cost_usd = costs().fold(0.0, |sum, cost| sum + cost);
    let rule = |it: &LedgerFinding| it.finding.rule.clone();
    let reviewer = |it: &LedgerFinding| Some(it.finding.reviewer.clone());
    let category = |it: &LedgerFinding| Some(it.finding.category.name().to_owned());
    LedgerStats {
        schema_version: 1,
        n_reviews: reviews.len(),
        n_findings: findings.len(),
        n_confirmed,
        cost_usd,
        n_unknown_cost: reviews.len() - costs().count(),
        cost_per_confirmed_usd: u32::try_from(n_confirmed)
            .ok()
            .filter(|n| *n > 0)
            .map(|n| cost_usd / f64::from(n)),
        changes: changes(reviews),
        new_by_round: by_round(reviews),
        by_rule: shares(findings, rule),
        by_reviewer: shares(findings, reviewer),
        by_category: shares(findings, category),
    }
}

fn changes(reviews: &[ReviewRecord]) -> Vec<ChangeRounds> {
    let mut changes: BTreeMap<&str, ChangeRounds> = BTreeMap::new();
    for review in reviews {
        let entry = changes.entry(&review.subject).or_insert_with(|| ChangeRounds {
            change: review.subject.clone(),
            rounds: 0,
            outcome: String::new(),
        });
        entry.rounds += 1;
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
    findings: &[LedgerFinding],
    name: impl Fn(&LedgerFinding) -> Option<String>,
) -> Vec<OutcomeShare> {
    let mut shares: BTreeMap<String, OutcomeShare> = BTreeMap::new();
    for finding in findings {
        let Some(name) = name(finding) else { continue };
        let share = shares.entry(name.clone()).or_default();
        share.name = name;
        share.total += 1;
        match finding.state {
            FindingState::Fixed => share.fixed += 1,
            FindingState::Waived => share.waived += 1,
            FindingState::Disputed => share.disputed += 1,
            FindingState::Open | FindingState::Regressed | FindingState::Duplicate => {}
        }
    }
    let mut shares: Vec<OutcomeShare> = shares.into_values().collect();
    shares.sort_by_key(|share| std::cmp::Reverse(share.total));
    shares
}
