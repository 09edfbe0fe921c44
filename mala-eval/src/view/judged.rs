//! Why something is a hit or a miss, in the words of the judge.

use crate::judging::{JudgedPair, PairOutcome};
use crate::record::CaseRecord;

/// Why this claim hits this problem.
pub(super) fn hit(record: &CaseRecord, claim: usize, truth: usize) -> String {
    let is_meant = |pair: &&JudgedPair| pair.claim == claim && pair.truth == truth;
    match pairs(record).find(is_meant) {
        Some(pair) => format!("the judge: {}", pair.why),
        None => String::new(),
    }
}

/// Why something has no partner among the pairs that it is part of: what would do comes first, then
/// what is undecided, then what is nearest.
pub(super) fn miss(record: &CaseRecord, is_part: impl Fn(&JudgedPair) -> bool) -> String {
    let rank = |pair: &&JudgedPair| {
        let lines = |pair: &JudgedPair| {
            let claim = record.predictions.get(pair.claim)?;
            Some(claim.line_start.abs_diff(record.truths.get(pair.truth)?.line_start))
        };
        (order(pair.outcome), lines(pair).unwrap_or(u32::MAX))
    };
    let Some(pair) = pairs(record).filter(|pair| is_part(pair)).min_by_key(rank) else {
        return match &record.judgement {
            None => "the case was not judged".to_owned(),
            Some(_) => "the judge was asked of nothing that could be the same".to_owned(),
        };
    };
    let why = &pair.why;
    match pair.outcome {
        PairOutcome::Same => format!("what it is the same as has a closer partner: {why}"),
        PairOutcome::Undecided => format!("undecided, which is no hit: {why}"),
        PairOutcome::Different => format!("the judge, of the nearest: {why}"),
    }
}

fn pairs(record: &CaseRecord) -> impl Iterator<Item = &JudgedPair> {
    record.judgement.iter().flat_map(|judged| &judged.pairs)
}

fn order(outcome: PairOutcome) -> u8 {
    match outcome {
        PairOutcome::Same => 0,
        PairOutcome::Undecided => 1,
        PairOutcome::Different => 2,
    }
}
