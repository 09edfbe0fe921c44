//! When a loop of reviews and fixes ends: one function from the rounds so far to the next step. How the
//! limits were chosen is in docs/measurements.md.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The summary of one round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RoundSummary {
    /// The round, from 1.
    pub round: u32,
    /// SHA-256 of the reviewed diff.
    pub diff_hash: String,
    /// Whether every hunk was reviewed.
    #[serde(default = "yes")]
    pub is_complete: bool,
    /// Whether the change is another one than in the round before. True in the first round.
    pub has_new_lines: bool,
    /// Findings that block after this round.
    pub n_blocking: u32,
    /// Findings that were reported for the first time and may block.
    pub n_new: u32,
    /// The new findings on lines that changed since the previous round.
    pub n_new_on_fix: u32,
    /// Findings that were confirmed as fixed.
    pub n_fixed: u32,
    /// Findings that came back.
    pub n_regressed: u32,
    /// Findings on lines that an earlier round reviewed.
    pub n_late: u32,
    /// Whether one of the late findings is a verified P0.
    pub has_late_blocker: bool,
    /// Disputed findings that were reported again without new evidence.
    #[serde(default)]
    pub n_disputed: u32,
    /// The sites of new and regressed findings: `file symbol category`.
    pub sites: Vec<String>,
    /// Dollars, when they are known.
    pub cost_usd: Option<f64>,
}

fn yes() -> bool {
    true
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
    /// The number of blocking findings does not go down.
    Plateau,
    /// The number of blocking findings does not go down, and most new findings are on lines of the
    /// last fixes.
    FixesAddFindings,
    /// The number of blocking findings does not go down, and most new findings are on other lines.
    NewEveryRound,
    /// Nothing else blocks, and the reviewer repeats this number of disputed findings.
    DisputeStands(u32),
    /// The maximum number of rounds is reached.
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
            Self::FixesAddFindings => {
                f.write_str("the fixes add as many blocking findings as they remove")
            }
            Self::NewEveryRound => {
                f.write_str("every round reports as many blocking findings as the last fix removed")
            }
            Self::DisputeStands(1) => f.write_str("a disputed finding was reported again"),
            Self::DisputeStands(n) => write!(f, "{n} disputed findings were reported again"),
            Self::MaxRounds(rounds) => write!(f, "{rounds} rounds were used"),
            Self::BudgetSpent => f.write_str("the budget of the loop is spent"),
        }
    }
}

impl std::fmt::Display for NextStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Done => f.write_str("done: nothing blocks"),
            Self::Continue => f.write_str("continue: fix the open findings and review again"),
            Self::Escalate(reason) => write!(f, "a person decides: {reason}"),
        }
    }
}

/// The next step after the last of these rounds. The first reason in this order counts:
/// 1. A late P0 goes to a person.
/// 2. The loop is done if nothing blocks, and goes to a person if only disputes are left.
/// 3. There is no progress: nothing changed, or the change is back in an earlier state.
/// 4. The rounds repeat: a kind of finding recurs in one place, or the number of blocking findings
///    does not go down.
/// 5. The rounds or the money are used up.
///
/// Incomplete reviews use up rounds and money, and do not count as progress or the lack of it.
pub fn next_step(rounds: &[RoundSummary], policy: &ConvergencePolicy) -> NextStep {
    use EscalationReason as Reason;
    let Some(last) = rounds.last() else { return NextStep::Continue };
    let complete: Vec<&RoundSummary> = rounds.iter().filter(|round| round.is_complete).collect();
    let earlier = complete.split_last().map_or(&[][..], |(_, earlier)| earlier);
    let is_done = last.is_complete && last.n_blocking == 0;
    let reason = if last.has_late_blocker {
        Some(Reason::LateBlocker)
    } else if is_done {
        (last.n_disputed > 0).then_some(Reason::DisputeStands(last.n_disputed))
    } else if let Some(reason) = stuck(last, earlier).filter(|_| last.is_complete) {
        Some(reason)
    } else if let Some(site) = recurring_site(&complete, policy) {
        Some(Reason::Recurring(site))
    } else if let Some(reason) = plateau(&complete, policy) {
        Some(reason)
    } else if last.round >= policy.max_rounds {
        Some(Reason::MaxRounds(last.round))
    } else if policy.max_cost_usd.is_some_and(|max| total_cost(rounds) >= max) {
        Some(Reason::BudgetSpent)
    } else {
        None
    };
    match reason {
        Some(reason) => NextStep::Escalate(reason),
        None if is_done => NextStep::Done,
        None => NextStep::Continue,
    }
}

/// Why the change makes no progress. A round with a fixed finding is progress.
fn stuck(last: &RoundSummary, earlier: &[&RoundSummary]) -> Option<EscalationReason> {
    if !last.has_new_lines && last.n_fixed == 0 && !earlier.is_empty() {
        return Some(EscalationReason::NoProgress);
    }
    let same = earlier.iter().find(|round| round.diff_hash == last.diff_hash);
    same.map(|round| EscalationReason::Oscillation(round.round))
}

/// A place in which new or regressed findings of one kind appeared in too many rounds.
fn recurring_site(rounds: &[&RoundSummary], policy: &ConvergencePolicy) -> Option<String> {
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

/// Why the last rounds did not lower the number of blocking findings; `None` when they did.
fn plateau(rounds: &[&RoundSummary], policy: &ConvergencePolicy) -> Option<EscalationReason> {
    let n_rounds = usize::try_from(policy.plateau_rounds).ok()?;
    let start = rounds.len().checked_sub(n_rounds.checked_add(1)?)?;
    let (first, later) = rounds.get(start..)?.split_first()?;
    if later.is_empty() || later.iter().any(|round| round.n_blocking < first.n_blocking) {
        return None;
    }
    let n_new: u32 = later.iter().map(|round| round.n_new).sum();
    let n_on_fix: u32 = later.iter().map(|round| round.n_new_on_fix).sum();
    Some(match n_new {
        0 => EscalationReason::Plateau,
        _ if n_on_fix.saturating_mul(2) >= n_new => EscalationReason::FixesAddFindings,
        _ => EscalationReason::NewEveryRound,
    })
}

fn total_cost(rounds: &[RoundSummary]) -> f64 {
    rounds.iter().filter_map(|round| round.cost_usd).fold(0.0, |sum, cost| sum + cost)
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

    /// One round, from the first: the diff, and how many findings block.
    fn round(number: u32, diff: &str, n_blocking: u32) -> RoundSummary {
        RoundSummary {
            round: number,
            diff_hash: diff.to_owned(),
            is_complete: true,
            has_new_lines: true,
            n_blocking,
            cost_usd: Some(1.0),
            ..RoundSummary::default()
        }
    }

    /// Rounds with different diffs and so many blocking findings, of which `change` makes something else.
    fn rounds(blocking: &[u32], change: impl Fn(&mut RoundSummary)) -> Vec<RoundSummary> {
        let mut rounds: Vec<RoundSummary> = blocking
            .iter()
            .zip(1..)
            .map(|(n_blocking, number)| round(number, &format!("diff {number}"), *n_blocking))
            .collect();
        rounds.iter_mut().for_each(change);
        rounds
    }

    #[test]
    fn a_loop_ends_for_one_of_these_reasons() {
        use EscalationReason as Reason;
        use NextStep::{Continue, Done, Escalate};
        let plain = |_: &mut RoundSummary| {};
        let last = |number: u32, change: fn(&mut RoundSummary)| {
            move |round: &mut RoundSummary| {
                if round.round == number {
                    change(round);
                }
            }
        };
        let in_f = |round: &mut RoundSummary| round.sites = vec!["a.py f bug".to_owned()];
        let on_fix = |round: &mut RoundSummary| {
            (round.n_new, round.n_new_on_fix) = (2, u32::from(round.round > 1));
        };
        let incomplete = |it: &mut RoundSummary| it.is_complete = false;
        let rows: [(Vec<RoundSummary>, NextStep); 22] = [
            (rounds(&[0], incomplete), Continue),
            (rounds(&[1, 1, 1, 1], incomplete), Continue),
            (rounds(&[1; 6], incomplete), Escalate(Reason::MaxRounds(6))),
            (rounds(&[2, 1], last(2, |it| (it.has_new_lines, it.n_fixed) = (false, 1))), Continue),
            (rounds(&[], plain), Continue),
            (rounds(&[0], plain), Done),
            (rounds(&[2], plain), Continue),
            (rounds(&[2, 1], plain), Continue),
            (rounds(&[2, 2], plain), Continue),
            (rounds(&[2, 1, 2], plain), Continue),
            (rounds(&[2, 2, 0], plain), Done),
            (
                rounds(&[1, 0], last(2, |it| it.has_late_blocker = true)),
                Escalate(Reason::LateBlocker),
            ),
            (rounds(&[1, 0], last(2, |it| it.n_disputed = 2)), Escalate(Reason::DisputeStands(2))),
            (rounds(&[2, 1], last(2, |it| it.n_disputed = 2)), Continue),
            (rounds(&[2, 2], last(2, |it| it.has_new_lines = false)), Escalate(Reason::NoProgress)),
            (
                rounds(&[1, 2, 1], last(3, |it| it.diff_hash = "diff 1".to_owned())),
                Escalate(Reason::Oscillation(1)),
            ),
            (rounds(&[3, 2, 1], in_f), Escalate(Reason::Recurring("a.py f bug".to_owned()))),
            (rounds(&[1, 1, 1], plain), Escalate(Reason::Plateau)),
            (rounds(&[2, 2, 3], on_fix), Escalate(Reason::FixesAddFindings)),
            (rounds(&[2, 2, 2], |it| it.n_new = 1), Escalate(Reason::NewEveryRound)),
            (rounds(&[9, 8, 7, 6, 5, 4], plain), Escalate(Reason::MaxRounds(6))),
            (rounds(&[9, 8, 7, 6, 5], plain), Escalate(Reason::BudgetSpent)),
        ];
        for (history, expected) in rows {
            let max_cost_usd = (history.len() == 5).then_some(5.0);
            let limits = ConvergencePolicy {
                max_rounds: 6,
                plateau_rounds: 2,
                recurring_rounds: 3,
                max_cost_usd,
            };
            assert_eq!(next_step(&history, &limits), expected, "{history:#?}");
        }
    }

    #[test]
    fn steps_are_explained() {
        let rows = [
            (NextStep::Done, "done: nothing blocks"),
            (NextStep::Continue, "continue: fix the open findings and review again"),
            (
                NextStep::Escalate(EscalationReason::Oscillation(2)),
                "a person decides: the change is back in the state of round 2",
            ),
            (
                NextStep::Escalate(EscalationReason::DisputeStands(1)),
                "a person decides: a disputed finding was reported again",
            ),
        ];
        for (step, expected) in rows {
            assert_eq!(step.to_string(), expected);
        }
    }
}
