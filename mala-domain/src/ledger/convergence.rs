//! When a loop of reviews and fixes ends: one function from the rounds so far to the next step.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What one round contributes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoundSummary {
    /// The round, from 1.
    pub round: u32,
    /// SHA-256 of the reviewed diff.
    pub diff_hash: String,
    /// Whether lines changed since the round before. True in the first round.
    pub has_new_lines: bool,
    /// Findings that block after this round.
    pub n_blocking: u32,
    /// Findings that were reported for the first time and may block.
    pub n_new: u32,
    /// Those of them on lines that changed since the round before.
    pub n_new_on_fix: u32,
    /// Findings that were confirmed as fixed.
    pub n_fixed: u32,
    /// Findings that came back.
    pub n_regressed: u32,
    /// Findings on lines that an earlier round reviewed.
    pub n_late: u32,
    /// Whether one of the late findings is a verified P0.
    pub has_late_blocker: bool,
    /// Where new and regressed findings are: `file symbol category`.
    pub sites: Vec<String>,
    /// Dollars, when they are known.
    pub cost_usd: Option<f64>,
}

/// The limits of a loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConvergencePolicy {
    /// Rounds before a person takes over.
    pub max_rounds: u32,
    /// Rounds in a row without fewer blocking findings before a person takes over.
    pub plateau_rounds: u32,
    /// Rounds in which the same kind of finding appears in the same symbol before a person takes over.
    pub recurring_rounds: u32,
    /// Dollars for all rounds together; null for no limit.
    pub max_cost_usd: Option<f64>,
}

impl Default for ConvergencePolicy {
    fn default() -> Self {
        Self { max_rounds: 6, plateau_rounds: 2, recurring_rounds: 3, max_cost_usd: None }
    }
}

/// What to do after a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "step", content = "reason")]
pub enum NextStep {
    /// Nothing blocks: the loop is over.
    Done,
    /// Fix the open findings and review again.
    Continue,
    /// A person decides, for this reason.
    Escalate(EscalationReason),
}

/// Why a person decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EscalationReason {
    /// A late review found a verified P0 on lines that passed before.
    LateBlocker,
    /// Nothing changed since the last review.
    NoProgress,
    /// The change is back in the state of this earlier round.
    Oscillation(u32),
    /// The same kind of finding keeps appearing in the same place.
    Recurring(String),
    /// As many findings block as rounds before.
    Plateau,
    /// So many rounds were used.
    MaxRounds(u32),
    /// The money is spent.
    BudgetSpent,
}

impl std::fmt::Display for EscalationReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::LateBlocker => {
                f.write_str("a verified P0 on lines that an earlier round reviewed")
            }
            Self::NoProgress => f.write_str("nothing changed since the last review"),
            Self::Oscillation(round) => {
                write!(f, "the change is back in the state of round {round}")
            }
            Self::Recurring(site) => {
                write!(f, "the same kind of finding keeps appearing in {site}")
            }
            Self::Plateau => f.write_str("the number of blocking findings does not go down"),
            Self::MaxRounds(rounds) => write!(f, "{rounds} rounds were used"),
            Self::BudgetSpent => f.write_str("the budget of the loop is spent"),
        }
    }
}

/// The next step after the last of these rounds, in order.
pub fn next_step(rounds: &[RoundSummary], policy: &ConvergencePolicy) -> NextStep {
    use EscalationReason as Reason;
    let Some((last, earlier)) = rounds.split_last() else { return NextStep::Continue };
    if last.has_late_blocker {
        return NextStep::Escalate(Reason::LateBlocker);
    }
    if last.n_blocking == 0 {
        return NextStep::Done;
    }
    let reason = if !last.has_new_lines && !earlier.is_empty() {
        Some(Reason::NoProgress)
    } else if let Some(round) = earlier.iter().find(|round| round.diff_hash == last.diff_hash) {
        Some(Reason::Oscillation(round.round))
    } else if let Some(site) = recurring_site(rounds, policy) {
        Some(Reason::Recurring(site))
    } else if is_plateau(rounds, policy) {
        Some(Reason::Plateau)
    } else if last.round >= policy.max_rounds {
        Some(Reason::MaxRounds(last.round))
    } else if policy.max_cost_usd.is_some_and(|max| total_cost(rounds) >= max) {
        Some(Reason::BudgetSpent)
    } else {
        None
    };
    reason.map_or(NextStep::Continue, NextStep::Escalate)
}

/// A place in which new or regressed findings of one kind appeared in too many rounds.
fn recurring_site(rounds: &[RoundSummary], policy: &ConvergencePolicy) -> Option<String> {
    let last = rounds.last()?;
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for round in rounds {
        let mut sites: Vec<&str> = round.sites.iter().map(String::as_str).collect();
        sites.sort_unstable();
        sites.dedup();
        for site in sites {
            *counts.entry(site).or_default() += 1;
        }
    }
    let is_recurring =
        |site: &&String| counts.get(site.as_str()).is_some_and(|n| *n >= policy.recurring_rounds);
    last.sites.iter().find(is_recurring).cloned()
}

/// Whether the last rounds did not lower the number of blocking findings.
fn is_plateau(rounds: &[RoundSummary], policy: &ConvergencePolicy) -> bool {
    let window = policy.plateau_rounds as usize + 1;
    let Some(start) = rounds.len().checked_sub(window) else { return false };
    let Some((first, later)) = rounds.get(start..).and_then(<[_]>::split_first) else {
        return false;
    };
    later.iter().all(|round| round.n_blocking >= first.n_blocking)
}

fn total_cost(rounds: &[RoundSummary]) -> f64 {
    rounds.iter().filter_map(|round| round.cost_usd).sum()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::ledger::ReviewRecord;

    pub(crate) fn record(round: u32, base: &str) -> ReviewRecord {
        ReviewRecord {
            review_id: format!("review{round}"),
            subject: "branch main".to_owned(),
            round,
            at: String::new(),
            base: Some(base.to_owned()),
            head: None,
            diff_hash: String::new(),
            is_complete: true,
            outcome: "blocked".to_owned(),
            reviewers: Vec::new(),
            panel: String::new(),
            next_step: NextStep::Continue,
            cost_usd: None,
            summary: RoundSummary::default(),
            lines: crate::ledger::delta::ReviewedLines::default(),
        }
    }

    /// Rounds from rows of (diff, blocking, sites).
    fn rounds(rows: &[(&str, u32, &[&str])]) -> Vec<RoundSummary> {
        rows.iter()
            .zip(1..)
            .map(|((diff, n_blocking, sites), round)| RoundSummary {
                round,
                diff_hash: (*diff).to_owned(),
                has_new_lines: round == 1 || *diff != "same",
                n_blocking: *n_blocking,
                sites: sites.iter().map(|it| (*it).to_owned()).collect(),
                cost_usd: Some(1.0),
                ..RoundSummary::default()
            })
            .collect()
    }

    #[test]
    fn a_loop_ends_for_one_of_these_reasons() {
        use EscalationReason as Reason;
        use NextStep::{Continue, Done, Escalate};
        type Row<'r> = (&'r [(&'r str, u32, &'r [&'r str])], NextStep);
        let rows: [Row<'_>; 10] = [
            (&[], Continue),
            (&[("a", 0, &[])], Done),
            (&[("a", 2, &["x"])], Continue),
            (&[("a", 2, &[]), ("b", 1, &[])], Continue),
            (&[("a", 2, &[]), ("same", 2, &[])], Escalate(Reason::NoProgress)),
            (&[("a", 1, &[]), ("b", 1, &[]), ("a", 1, &[])], Escalate(Reason::Oscillation(1))),
            (
                &[("a", 3, &["f bug"]), ("b", 2, &["f bug"]), ("c", 1, &["f bug"])],
                Escalate(Reason::Recurring("f bug".to_owned())),
            ),
            (&[("a", 1, &[]), ("b", 1, &[]), ("c", 1, &[])], Escalate(Reason::Plateau)),
            (
                &[
                    ("a", 9, &[]),
                    ("b", 8, &[]),
                    ("c", 7, &[]),
                    ("d", 6, &[]),
                    ("e", 5, &[]),
                    ("f", 4, &[]),
                ],
                Escalate(Reason::MaxRounds(6)),
            ),
            (
                &[("a", 9, &[]), ("b", 8, &[]), ("c", 7, &[]), ("d", 6, &[])],
                Escalate(Reason::BudgetSpent),
            ),
        ];
        let policy = ConvergencePolicy { max_cost_usd: Some(4.0), ..ConvergencePolicy::default() };
        let unlimited = ConvergencePolicy::default();
        for (history, expected) in rows {
            let policy = if history.len() == 4 { &policy } else { &unlimited };
            assert_eq!(next_step(&rounds(history), policy), expected, "{history:?}");
        }
    }

    #[test]
    fn a_late_blocker_goes_to_a_person_at_once() {
        let mut history = rounds(&[("a", 1, &[]), ("b", 0, &[])]);
        history[1].has_late_blocker = true;
        let step = next_step(&history, &ConvergencePolicy::default());
        assert_eq!(step, NextStep::Escalate(EscalationReason::LateBlocker));
    }
}
