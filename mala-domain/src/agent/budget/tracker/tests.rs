//! No limit is ever exceeded, whatever is reserved and settled in whatever order.

use super::*;
use crate::agent::budget::Profile;
use proptest::prelude::*;

fn call(tokens: u64, millionths: u64) -> Charge {
    Charge::Call { tokens, dollars: Some(Dollars::millionths(millionths)) }
}

/// 002-089, 002-095
#[test]
fn a_call_that_could_exceed_a_limit_is_not_made() {
    let limits = Profile::Lean.limits();
    let rows = [
        (call(400_001, 0), LimitReached::Tokens(400_000)),
        (call(1, 500_001), LimitReached::Cost(limits.max_cost)),
        (call(u64::MAX, u64::MAX), LimitReached::Tokens(400_000)),
        (Charge::Call { tokens: 1, dollars: None }, LimitReached::UnknownPrice(limits.max_cost)),
    ];
    for (charge, spent) in rows {
        let mut tracker = BudgetTracker::new(limits);
        assert_eq!(tracker.reserve(charge), Err(spent));
        assert_eq!(tracker, BudgetTracker::new(limits), "a refusal costs nothing");
    }
}

#[test]
fn calls_and_tools_are_counted() {
    let mut tracker = BudgetTracker::new(Profile::Lean.limits());
    for _ in 0..2 {
        let reserved = tracker.reserve(call(1, 1)).unwrap();
        tracker.settle(reserved, CallUsage::NOTHING);
    }
    assert_eq!(tracker.reserve(call(1, 1)), Err(LimitReached::Calls(2)));
    for _ in 0..3 {
        let reserved = tracker.reserve(Charge::Tool).unwrap();
        tracker.settle(reserved, CallUsage::default());
    }
    assert_eq!(tracker.reserve(Charge::Tool), Err(LimitReached::Tools(3)));
    assert_eq!((tracker.calls_left(), tracker.tools_left()), (0, 0));
}

#[test]
fn unreported_usage_stays_at_its_worst_case() {
    let mut tracker = BudgetTracker::new(Profile::Lean.limits());
    let reserved = tracker.reserve(call(1_000, 300_000)).unwrap();
    assert!(tracker.has_open());
    tracker.settle(reserved, CallUsage::default());
    assert_eq!((tracker.tokens(), tracker.cost()), (1_000, Dollars::millionths(300_000)));
    assert_eq!((tracker.known_tokens(), tracker.known_cost()), (None, None));
    assert_eq!(
        tracker.reserve(call(1, 200_001)),
        Err(LimitReached::Cost(Dollars::millionths(500_000)))
    );
}

#[test]
fn what_is_known_frees_the_rest() {
    let mut tracker = BudgetTracker::new(Profile::Lean.limits());
    let reserved = tracker.reserve(call(1_000, 500_000)).unwrap();
    let used =
        CallUsage { tokens: Some(10), cache_read: Some(4), dollars: Some(Dollars::millionths(7)) };
    tracker.settle(reserved, used);
    assert_eq!(tracker.known_tokens(), Some(10));
    assert_eq!(tracker.known_cost(), Some(Dollars::millionths(7)));
    assert_eq!(tracker.known_cache_read(), Some(4));
    assert!(tracker.reserve(call(1, 499_993)).is_ok());
}

#[test]
fn an_unknown_price_is_unknown_even_when_it_is_allowed() {
    let limits = Limits { unpriced: UnknownPricePolicy::Allow, ..Profile::Lean.limits() };
    let mut tracker = BudgetTracker::new(limits);
    let reserved = tracker.reserve(Charge::Call { tokens: 5, dollars: None }).unwrap();
    tracker.settle(reserved, CallUsage { tokens: Some(5), ..CallUsage::default() });
    assert_eq!(tracker.known_cost(), None);
    assert_eq!(tracker.known_tokens(), Some(5));
}

#[derive(Debug, Clone)]
enum Step {
    Call {
        tokens: u64,
        millionths: u64,
    },
    Tool,
    /// Settles one of the open reservations with this share of its worst case, or with silence.
    Settle {
        which: usize,
        share: Option<u8>,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0u64..300_000, 0u64..400_000)
            .prop_map(|(tokens, millionths)| Step::Call { tokens, millionths }),
        any::<(u64, u64)>().prop_map(|(tokens, millionths)| Step::Call { tokens, millionths }),
        Just(Step::Tool),
        (any::<usize>(), any::<Option<u8>>())
            .prop_map(|(which, share)| Step::Settle { which, share }),
    ]
}

fn part(of: u64, share: u8) -> u64 {
    of / 255 * u64::from(share)
}

proptest! {
    #[test]
    fn no_limit_is_ever_exceeded(steps in prop::collection::vec(step(), 0..60)) {
        let limits = Profile::Lean.limits();
        let mut tracker = BudgetTracker::new(limits);
        let mut open: Vec<(Reservation, u64, u64)> = Vec::new();
        let (mut calls, mut tools, mut tokens, mut millionths) = (0u32, 0u32, 0u64, 0u64);
        for step in steps {
            match step {
                Step::Call { tokens: worst, millionths: cost } => {
                    if let Ok(reserved) = tracker.reserve(call(worst, cost)) {
                        calls += 1;
                        // What the world may really do, until it says otherwise.
                        tokens += worst;
                        millionths += cost;
                        open.push((reserved, worst, cost));
                    }
                }
                Step::Tool => tools += u32::from(tracker.reserve(Charge::Tool).is_ok()),
                Step::Settle { which, share } => {
                    if open.is_empty() { continue }
                    let (reserved, worst, cost) = open.swap_remove(which % open.len());
                    let used = share.map_or(CallUsage::default(), |share| {
                        tokens -= worst - part(worst, share);
                        millionths -= cost - part(cost, share);
                        CallUsage {
                            tokens: Some(part(worst, share)),
                            cache_read: None,
                            dollars: Some(Dollars::millionths(part(cost, share))),
                        }
                    });
                    tracker.settle(reserved, used);
                }
            }
            prop_assert!(calls <= limits.max_llm_calls && tools <= limits.max_tool_calls);
            prop_assert!(tokens <= limits.max_tokens);
            prop_assert!(Dollars::millionths(millionths) <= limits.max_cost);
            prop_assert_eq!((tracker.tokens(), tracker.cost()), (tokens, Dollars::millionths(millionths)));
        }
    }
}

#[test]
fn retries_have_an_allowance_of_their_own() {
    let limits = Profile::Lean.limits();
    let mut tracker = BudgetTracker::new(limits);
    let charge = Charge::Call { tokens: 10, dollars: Some(Dollars::ZERO) };
    let mut retry =
        || tracker.reserve_retry(charge).map(|it| tracker.settle(it, CallUsage::NOTHING));
    assert_eq!([retry(), retry(), retry()], [Ok(()), Ok(()), Err(LimitReached::Retries(2))]);
    assert_eq!(tracker.calls_left(), limits.max_llm_calls, "a retry uses no call");
    let huge = Charge::Call { tokens: limits.max_tokens + 1, dollars: Some(Dollars::ZERO) };
    let mut tracker = BudgetTracker::new(limits);
    assert_eq!(tracker.reserve_retry(huge), Err(LimitReached::Tokens(limits.max_tokens)));
}
