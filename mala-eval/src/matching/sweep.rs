//! A maximum matching of overlapping spans in one sweep, for inputs with too many overlaps to list.
//!
//! The span that ends first is matched with the overlapping span that ends first, because all other
//! candidates end later and so remain possible for more spans.

use super::MatchedPair;
use super::neighbours::LineInterval;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// One side of the matching: the free spans, and those that the sweep has reached.
struct SweepSide<'a> {
    spans: &'a [LineInterval],
    by_first: Vec<usize>,
    reached: usize,
    free: Vec<bool>,
    waiting: BinaryHeap<Reverse<(i64, usize)>>,
}

impl<'a> SweepSide<'a> {
    fn new(spans: &'a [LineInterval]) -> Self {
        let mut by_first: Vec<usize> = (0..spans.len()).collect();
        by_first.sort_by_key(|at| spans.get(*at).map(|span| span.first));
        let free = vec![true; spans.len()];
        Self { spans, by_first, reached: 0, free, waiting: BinaryHeap::new() }
    }

    fn reach(&mut self, line: i64) {
        while let Some(at) = self.by_first.get(self.reached)
            && let Some(span) = self.spans.get(*at)
            && span.first <= line
        {
            self.waiting.push(Reverse((span.last, *at)));
            self.reached += 1;
        }
    }

    /// Takes the free span that reaches this line and ends first.
    fn take(&mut self, line: i64) -> Option<usize> {
        while let Some(Reverse((last, at))) = self.waiting.pop() {
            if last >= line && self.claim(at) {
                return Some(at);
            }
        }
        None
    }

    /// Takes this span, if it is free.
    fn claim(&mut self, at: usize) -> bool {
        self.free.get_mut(at).is_some_and(|free| std::mem::replace(free, false))
    }
}

/// The most pairs, by finding.
pub(super) fn most_pairs(ours: &[LineInterval], theirs: &[LineInterval]) -> Vec<MatchedPair> {
    let ends = |side: usize| move |(at, span): (usize, &LineInterval)| (span.last, side, at);
    let mut by_end: Vec<(i64, usize, usize)> = ours.iter().enumerate().map(ends(0)).collect();
    by_end.extend(theirs.iter().enumerate().map(ends(1)));
    by_end.sort_unstable();
    let (mut findings, mut truths) = (SweepSide::new(ours), SweepSide::new(theirs));
    let mut pairs = Vec::new();
    for (line, side, at) in by_end {
        findings.reach(line);
        truths.reach(line);
        let (own, other) =
            if side == 0 { (&mut findings, &mut truths) } else { (&mut truths, &mut findings) };
        if own.free.get(at) != Some(&true) {
            continue;
        }
        let Some(partner) = other.take(line) else { continue };
        own.claim(at);
        let (finding, truth) = if side == 0 { (at, partner) } else { (partner, at) };
        pairs.push(MatchedPair { finding, truth });
    }
    pairs.sort_unstable();
    pairs
}
