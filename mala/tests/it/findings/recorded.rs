//! Replays loops whose answers are kept as files: what a lane says round by round, and how each loop ends.

use super::rounds::Loop;
use super::standings;
use serde::Deserialize;
use serde_json::{Value, json};

/// One round: the state of the two places of the change, the answer of the lane, and what follows from it.
#[derive(Deserialize)]
struct RecordedRound {
    code: [String; 2],
    answer: Value,
    exit: i32,
    standings: Vec<String>,
    fixed: usize,
    next: Value,
}

const LOOPS: [(&str, &str); 4] = [
    ("endless nits", include_str!("recorded/endless_nits.json")),
    ("oscillating fix", include_str!("recorded/oscillating_fix.json")),
    ("reworded title", include_str!("recorded/reworded_title.json")),
    ("fix that breaks", include_str!("recorded/fix_that_breaks.json")),
];

#[test]
fn replayed_loops_end_in_the_expected_round_and_state() {
    for (name, text) in LOOPS {
        let rounds: Vec<RecordedRound> = serde_json::from_str(text).unwrap();
        let it = Loop::new();
        for (round, number) in rounds.iter().zip(1..) {
            let [first, second] = &round.code;
            it.change(first, second);
            let (exit, report) = it.review_answer(&round.answer, &[]);
            let fixed = report["tracking"]["fixed"].as_array().unwrap().len();
            let ended = (exit, standings(&report), fixed, &report["tracking"]["next_step"]);
            let expected = (round.exit, round.standings.clone(), round.fixed, &round.next);
            assert_eq!(ended, expected, "{name}, round {number}: {report:#}");
        }
        let last = rounds.last().map(|round| &round.next["step"]);
        assert!(last != Some(&json!("continue")), "{name} ends");
    }
}
