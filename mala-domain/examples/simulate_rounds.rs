//! Replays loops of reviews and fixes under different policies and prints what each policy costs. The loops
//! are synthetic, or recorded: a file with one JSON array of round summaries per line. Run it with
//! `scripts/simulate-rounds`.

#![expect(clippy::print_stdout, reason = "the table is what it is for")]

use fastrand::Rng;
use mala_domain::finding::Priority;
use mala_domain::ledger::convergence::{ConvergencePolicy, NextStep, RoundSummary, next_step};
use mala_domain::ledger::rounds::{DEFAULT_BARS, bar_of_round};
use mala_domain::verdict::Threshold;
use std::error::Error;

/// How many loops each policy is tried on, for each pair of coder and reviewer.
const N_LOOPS: u64 = 2000;
/// No policy lets a loop run longer.
const MAX_ROUNDS: u32 = 30;

/// A coder and a reviewer. Probabilities are per finding, numbers per round.
struct Pairing {
    name: &'static str,
    /// A blocking finding is fixed.
    fixes: f64,
    /// A fix adds a problem.
    breaks: f64,
    /// A fix takes the change back to an earlier state.
    reverts: f64,
    /// The coder changes nothing.
    idles: f64,
    /// The reviewer reports a problem on lines that it is asked to review.
    recall: f64,
    /// False findings on new lines.
    noise: f64,
    /// Findings of taste on any line, true and endless.
    nits: f64,
}

const PAIRINGS: [Pairing; 4] = [
    Pairing {
        name: "careful",
        fixes: 0.95,
        breaks: 0.05,
        reverts: 0.0,
        idles: 0.01,
        recall: 0.8,
        noise: 0.2,
        nits: 0.5,
    },
    Pairing {
        name: "average",
        fixes: 0.85,
        breaks: 0.2,
        reverts: 0.01,
        idles: 0.03,
        recall: 0.6,
        noise: 0.7,
        nits: 1.5,
    },
    Pairing {
        name: "noisy reviewer",
        fixes: 0.85,
        breaks: 0.15,
        reverts: 0.01,
        idles: 0.03,
        recall: 0.5,
        noise: 2.0,
        nits: 4.0,
    },
    Pairing {
        name: "weak coder",
        fixes: 0.55,
        breaks: 0.5,
        reverts: 0.1,
        idles: 0.1,
        recall: 0.6,
        noise: 0.7,
        nits: 1.5,
    },
];

/// One way to run loops.
struct LoopPolicy {
    bars: Vec<Threshold>,
    has_late_rule: bool,
    limits: ConvergencePolicy,
}

impl LoopPolicy {
    fn standard() -> Self {
        let limits = ConvergencePolicy::default();
        Self { bars: DEFAULT_BARS.to_vec(), has_late_rule: true, limits }
    }

    fn row(&self) -> String {
        let bar = if self.bars.is_empty() { "flat" } else { "rising" };
        let late = if self.has_late_rule { "on" } else { "off" };
        let limits = &self.limits;
        let (max, plateau) = (limits.max_rounds, limits.plateau_rounds);
        format!("{bar:<7}{late:<6}{max:>4}{plateau:>9}{:>11}", limits.recurring_rounds)
    }
}

/// A problem in the change, or a false finding about it.
#[derive(Clone)]
struct Problem {
    priority: Priority,
    is_real: bool,
    site: u8,
    /// The round whose fix wrote its lines.
    written_in: u32,
    reported_in: Option<u32>,
    is_blocking: bool,
}

/// What came of one loop.
#[derive(Default)]
struct LoopResult {
    n_rounds: u32,
    is_done: bool,
    /// Real problems of P0 to P2 in a change that passed, which no round reported.
    n_missed: u32,
    /// Those that a round reported as late or below the bar.
    n_recorded: u32,
    /// False findings and nits that blocked, once for each round.
    n_false_blocks: u32,
}

/// A change under review.
struct LoopState {
    problems: Vec<Problem>,
    summaries: Vec<RoundSummary>,
    version: u64,
    next_version: u64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => print_table(&one_change_each()),
        ["--all"] => print_table(&every_combination()),
        ["--recorded", file] => print_recorded(&std::fs::read_to_string(file)?)?,
        _ => return Err("usage: scripts/simulate-rounds [--all | --recorded FILE]".into()),
    }
    Ok(())
}

/// The default policy, and policies that differ from it in one thing.
fn one_change_each() -> Vec<LoopPolicy> {
    let changed = |change: &dyn Fn(&mut LoopPolicy)| {
        let mut policy = LoopPolicy::standard();
        change(&mut policy);
        policy
    };
    let mut policies = vec![LoopPolicy::standard()];
    policies.push(changed(&|it| it.bars.clear()));
    policies.push(changed(&|it| it.has_late_rule = false));
    policies.push(changed(&|it| {
        it.bars.clear();
        it.has_late_rule = false;
    }));
    for max in [3, 4, 5, 6, 8, 10] {
        policies.push(changed(&|it| it.limits.max_rounds = max));
    }
    for plateau in [1, 2, 3] {
        policies.push(changed(&|it| it.limits.plateau_rounds = plateau));
    }
    for recurring in [2, 3, 4] {
        policies.push(changed(&|it| it.limits.recurring_rounds = recurring));
    }
    policies
}

fn every_combination() -> Vec<LoopPolicy> {
    let mut policies = Vec::new();
    for bars in [DEFAULT_BARS.to_vec(), Vec::new()] {
        for has_late_rule in [true, false] {
            for max_rounds in [3, 4, 5, 6, 8, 10] {
                for (plateau_rounds, recurring_rounds) in
                    [1, 2, 3].into_iter().flat_map(|it| [2, 3, 4].map(|other| (it, other)))
                {
                    let limits = ConvergencePolicy {
                        max_rounds,
                        plateau_rounds,
                        recurring_rounds,
                        max_cost_usd: None,
                    };
                    policies.push(LoopPolicy { bars: bars.clone(), has_late_rule, limits });
                }
            }
        }
    }
    policies
}

fn print_table(policies: &[LoopPolicy]) {
    let names = PAIRINGS.iter().map(|it| it.name).collect::<Vec<_>>().join(", ");
    println!("{N_LOOPS} loops for each of: {names}.");
    println!("missed, recorded: P0 to P2 per 100 loops that end by themselves");
    println!("false blocks: per 100 loops\n");
    println!(
        "bar    late   max  plateau  recurring  rounds  ends by itself  missed  recorded  false blocks"
    );
    for policy in policies {
        let results: Vec<LoopResult> = PAIRINGS
            .iter()
            .flat_map(|pairing| (0..N_LOOPS).map(move |seed| play(pairing, policy, seed)))
            .collect();
        let mean = |number: &dyn Fn(&LoopResult) -> u32| -> f64 {
            results.iter().map(|it| f64::from(number(it))).sum::<f64>() / results.len() as f64
        };
        let done = mean(&|it| u32::from(it.is_done));
        println!(
            "{}{:>8.2}{:>14.1} %{:>8.0}{:>10.0}{:>14.0}",
            policy.row(),
            mean(&|it| it.n_rounds),
            100.0 * done,
            100.0 * mean(&|it| it.n_missed) / done,
            100.0 * mean(&|it| it.n_recorded) / done,
            100.0 * mean(&|it| it.n_false_blocks),
        );
    }
}

/// In which round recorded loops end, and why, under a few policies.
fn print_recorded(text: &str) -> Result<(), Box<dyn Error>> {
    for (line, number) in text.lines().filter(|line| !line.trim().is_empty()).zip(1..) {
        let rounds: Vec<RoundSummary> = serde_json::from_str(line)?;
        println!("loop {number}, {} rounds", rounds.len());
        for policy in one_change_each().iter().filter(|it| !it.bars.is_empty() && it.has_late_rule)
        {
            let steps = (1..=rounds.len())
                .map(|n| (n, next_step(rounds.get(..n).unwrap_or_default(), &policy.limits)));
            let end = steps.into_iter().find(|(_, step)| *step != NextStep::Continue);
            let end =
                end.map_or("still going".to_owned(), |(n, step)| format!("round {n}: {step}"));
            println!("  {}  {end}", policy.row());
        }
    }
    Ok(())
}

/// Plays one loop to its end. The seed makes the same change for every policy.
fn play(pairing: &Pairing, policy: &LoopPolicy, seed: u64) -> LoopResult {
    let mut rng = Rng::with_seed(seed);
    let mut state =
        LoopState { problems: Vec::new(), summaries: Vec::new(), version: 0, next_version: 1 };
    for _ in 0..1 + poisson(2.5, &mut rng) {
        let problem = real_problem(1, rng.u8(..12), &mut rng);
        state.problems.push(problem);
    }
    let mut result = LoopResult::default();
    for round in 1..=MAX_ROUNDS {
        review(&mut state, pairing, policy, round, &mut rng);
        result.n_rounds = round;
        let false_blocks = state.problems.iter().filter(|it| it.is_blocking && !it.is_real).count();
        result.n_false_blocks += u32::try_from(false_blocks).unwrap_or(u32::MAX);
        let step = next_step(&state.summaries, &policy.limits);
        if step != NextStep::Continue {
            result.is_done = step == NextStep::Done;
            break;
        }
        fix(&mut state, pairing, round, &mut rng);
    }
    let left = |is_reported: bool| {
        let is_left = |it: &&Problem| {
            it.is_real && it.priority <= Priority::P2 && it.reported_in.is_some() == is_reported
        };
        u32::try_from(state.problems.iter().filter(is_left).count()).unwrap_or(u32::MAX)
    };
    if result.is_done {
        (result.n_missed, result.n_recorded) = (left(false), left(true));
    }
    result
}

/// One review: what it reports, what of it blocks, and its summary.
fn review(
    state: &mut LoopState,
    pairing: &Pairing,
    policy: &LoopPolicy,
    round: u32,
    rng: &mut Rng,
) {
    add_false_findings(state, pairing, round, rng);
    let bar = bar_of_round(round, &policy.bars);
    let mut summary = RoundSummary {
        is_complete: true,
        round,
        diff_hash: state.version.to_string(),
        has_new_lines: state
            .summaries
            .last()
            .is_none_or(|it| it.diff_hash != state.version.to_string()),
        ..RoundSummary::default()
    };
    for problem in state.problems.iter_mut().filter(|it| it.reported_in.is_none()) {
        let is_on_new_lines = problem.written_in == round;
        // Old lines are context: a reviewer looks at them with half an eye.
        let recall = if is_on_new_lines || !policy.has_late_rule {
            pairing.recall
        } else {
            pairing.recall / 2.0
        };
        if problem.is_real && rng.f64() >= recall {
            continue;
        }
        problem.reported_in = Some(round);
        if policy.has_late_rule && !is_on_new_lines {
            summary.n_late += 1;
            summary.has_late_blocker |= problem.is_real && problem.priority == Priority::P0;
        } else if is_at_least(problem.priority, bar) {
            problem.is_blocking = true;
            summary.n_new += 1;
            summary.n_new_on_fix += u32::from(is_on_new_lines && round > 1);
            summary.sites.push(format!("site {}", problem.site));
        }
    }
    let n_blocking = state.problems.iter().filter(|it| it.is_blocking).count();
    summary.n_blocking = u32::try_from(n_blocking).unwrap_or(u32::MAX);
    state.summaries.push(summary);
}

/// False findings are on new lines, nits are anywhere; a finding that does not block is forgotten.
fn add_false_findings(state: &mut LoopState, pairing: &Pairing, round: u32, rng: &mut Rng) {
    state.problems.retain(|it| it.is_real || it.is_blocking);
    let is_small = round > 1;
    let noise = if is_small { pairing.noise / 3.0 } else { pairing.noise };
    for _ in 0..poisson(noise, rng) {
        let priority = if rng.f64() < 0.3 { Priority::P1 } else { Priority::P2 };
        state.problems.push(false_finding(priority, round, rng));
    }
    for _ in 0..poisson(pairing.nits, rng) {
        let priority = if rng.f64() < 0.3 { Priority::P2 } else { Priority::P3 };
        let written_in = if rng.f64() < 0.3 { round } else { 1 };
        state.problems.push(false_finding(priority, written_in, rng));
    }
}

/// The coder works on what blocks.
fn fix(state: &mut LoopState, pairing: &Pairing, round: u32, rng: &mut Rng) {
    if rng.f64() < pairing.idles {
        return;
    }
    let mut n_fixed = 0;
    let mut added = Vec::new();
    state.problems.retain(|problem| {
        let is_fixed = problem.is_blocking && rng.f64() < pairing.fixes;
        n_fixed += u32::from(is_fixed);
        if is_fixed && rng.f64() < pairing.breaks {
            let site = if rng.bool() { problem.site } else { rng.u8(..12) };
            added.push(real_problem(round + 1, site, rng));
        }
        !is_fixed
    });
    state.problems.append(&mut added);
    if state.version > 0 && rng.f64() < pairing.reverts {
        state.version -= 1;
    } else {
        state.version = state.next_version;
        state.next_version += 1;
    }
}

fn real_problem(written_in: u32, site: u8, rng: &mut Rng) -> Problem {
    let priority = match rng.u8(..100) {
        0..5 => Priority::P0,
        5..35 => Priority::P1,
        35..75 => Priority::P2,
        _ => Priority::P3,
    };
    Problem { priority, is_real: true, site, written_in, reported_in: None, is_blocking: false }
}

fn false_finding(priority: Priority, written_in: u32, rng: &mut Rng) -> Problem {
    let site = rng.u8(..12);
    Problem { priority, is_real: false, site, written_in, reported_in: None, is_blocking: false }
}

fn is_at_least(priority: Priority, bar: Threshold) -> bool {
    match bar {
        Threshold::None => false,
        Threshold::P0 => priority <= Priority::P0,
        Threshold::P1 => priority <= Priority::P1,
        Threshold::P2 => priority <= Priority::P2,
        Threshold::P3 => true,
    }
}

fn poisson(mean: f64, rng: &mut Rng) -> u32 {
    let limit = (-mean).exp();
    let mut product = rng.f64();
    let mut count = 0;
    while product > limit {
        product *= rng.f64();
        count += 1;
    }
    count
}
