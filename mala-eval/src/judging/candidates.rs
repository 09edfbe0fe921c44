//! Selects the pairs for a judge: those of the same file, the nearest first, up to a limit. The
//! cost is that of sorting, for any number of findings.

use crate::record::CaseRecord;
use mala_domain::change::FilePath;
use std::collections::BTreeMap;

/// The most pairs of a case.
pub const MAX_PAIRS: usize = 48;
/// The most pairs of one question.
pub const BATCH: usize = 16;
/// The most known problems that a finding is compared with.
const PER_CLAIM: usize = 8;

/// The pairs of a case for a judge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CandidatePairs {
    /// A finding by its index in `predictions`, and a known problem by its index in `truths`.
    pub pairs: Vec<(usize, usize)>,
    /// How many pairs of the same file are left out.
    pub left_out: u64,
}

/// The pairs of a case.
pub fn candidates(record: &CaseRecord) -> CandidatePairs {
    if record.could_not_review.is_some() {
        return CandidatePairs::default();
    }
    let mut truths: BTreeMap<&FilePath, Vec<(u32, usize)>> = BTreeMap::new();
    for (at, truth) in record.truths.iter().enumerate() {
        truths.entry(&truth.file).or_default().push((truth.line_start, at));
    }
    truths.values_mut().for_each(|known| known.sort_unstable());
    let mut all = 0_u64;
    let mut found = Vec::new();
    for (at, claim) in record.predictions.iter().enumerate().filter(|(_, claim)| claim.counts()) {
        let Some(known) = truths.get(&claim.file) else { continue };
        all += known.len() as u64;
        for (rank, (distance, truth)) in nearest(known, claim.line_start).into_iter().enumerate() {
            found.push((rank, distance, at, truth));
        }
    }
    // The nearest pair of each comes before the second nearest of any.
    found.sort_unstable();
    found.truncate(MAX_PAIRS);
    let mut pairs: Vec<(usize, usize)> =
        found.into_iter().map(|(_, _, claim, truth)| (claim, truth)).collect();
    pairs.sort_unstable();
    let left_out = all - pairs.len() as u64;
    CandidatePairs { pairs, left_out }
}

/// The nearest of these, each with its distance. They are sorted by line.
fn nearest(known: &[(u32, usize)], line: u32) -> Vec<(u32, usize)> {
    let middle = known.partition_point(|(start, _)| *start < line);
    let (before, after) = known.split_at(middle);
    let (mut before, mut after) = (before.iter().rev().peekable(), after.iter().peekable());
    let mut found = Vec::new();
    while found.len() < PER_CLAIM {
        let distance = |one: Option<&&(u32, usize)>| one.map(|(start, _)| start.abs_diff(line));
        let next = match (distance(before.peek()), distance(after.peek())) {
            (Some(up), Some(down)) if up < down => before.next(),
            (_, Some(_)) => after.next(),
            (Some(_), None) => before.next(),
            (None, None) => None,
        };
        let Some((start, at)) = next else { break };
        found.push((start.abs_diff(line), *at));
    }
    found
}
