//! Trying an attack on the matcher: a suspicion is reported only when the cost really grows.

use super::matcher::Outcome;
use super::program::Program;

/// A family of inputs: a prefix, a part to be repeated, and a suffix on which the match fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attack {
    /// Comes first, once.
    pub prefix: String,
    /// Comes next, as often as one likes: the cost grows with the number of rounds.
    pub pump: String,
    /// Comes last, once, and makes the match fail.
    pub suffix: String,
}

impl Attack {
    /// The input with `rounds` repetitions.
    pub fn input(&self, rounds: usize) -> String {
        format!("{}{}{}", self.prefix, self.pump.repeat(rounds), self.suffix)
    }

    fn text(&self, rounds: usize) -> Vec<u32> {
        self.input(rounds).chars().map(u32::from).collect()
    }
}

/// Rounds that are tried for exponential growth.
const ROUNDS: usize = 13;
/// Steps of one try for exponential growth.
const EXPONENTIAL_LIMIT: u64 = 60_000;
/// Steps of all tries for polynomial growth of one pattern.
pub(super) const POLYNOMIAL_BUDGET: u64 = 300_000;

/// Whether the cost of one attempt doubles with each round or two, as far as it can be followed.
/// An attempt that matches in the end, by a way of lower priority, costs as much.
pub(super) fn grows_exponentially(program: &Program, attack: &Attack) -> bool {
    let mut costs: Vec<u64> = Vec::new();
    for rounds in 1..=ROUNDS {
        let run = program.attempt(&attack.text(rounds), 0, EXPONENTIAL_LIMIT);
        if run.outcome == Outcome::Exhausted {
            break;
        }
        costs.push(run.steps);
    }
    if costs.len() < 5 {
        // So steep that the limit came before a trend: the first round must have been cheap.
        return costs.first().is_some_and(|cost| cost * 16 <= EXPONENTIAL_LIMIT);
    }
    let growth = |end: usize| {
        let later = costs[end].saturating_sub(costs[end - 2]);
        let earlier = costs[end - 2].saturating_sub(costs[end - 4]);
        (later, earlier)
    };
    let (later, earlier) = growth(costs.len() - 1);
    later > 0 && later >= earlier.saturating_mul(3)
}

/// The degree of the polynomial by which the cost of a search grows, if it is above 1. A search
/// that finds a late match costs as much as one that finds none.
pub(super) fn polynomial_degree(
    program: &Program,
    attack: &Attack,
    budget: &mut u64,
) -> Option<u32> {
    let base = if attack.pump.chars().count() > 12 { 4 } else { 8 };
    let mut costs: Vec<u64> = Vec::new();
    for rounds in [base, base * 2, base * 4] {
        let run = program.search(&attack.text(rounds), *budget);
        *budget = budget.saturating_sub(run.steps);
        if run.outcome == Outcome::Exhausted {
            break;
        }
        costs.push(run.steps);
    }
    let [one, two, four] = costs.as_slice() else {
        // Exhausted although the inputs are short: at least cubic if the trend so far says so.
        return match costs.as_slice() {
            [one, two] if *two >= one.saturating_mul(5) => Some(3),
            _ => None,
        };
    };
    let later = four.saturating_sub(*two) as f64;
    let earlier = two.saturating_sub(*one).max(1) as f64;
    let ratio = later / earlier;
    (ratio >= 2.7).then(|| (ratio.log2().round() as u32).max(2))
}
