//! The best assignment over possible pairs: the most pairs, and of those the smallest sum of costs.
//!
//! Each connected group of findings and problems is solved on its own, by shortest augmenting paths with
//! potentials. All free findings search at once, so the number of searches is the number of different path
//! lengths, which is small.

use super::{Assignment, MatchedPair};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A possible pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct MatchLink {
    /// The finding, by its index in the list.
    pub finding: usize,
    /// The known problem, by its index in the list.
    pub truth: usize,
    /// The distance.
    pub cost: u32,
}

/// The best assignment over these possible pairs; links with an invalid index are skipped.
pub fn assign_links(n_findings: usize, n_truths: usize, mut links: Vec<MatchLink>) -> Assignment {
    links.retain(|link| link.finding < n_findings && link.truth < n_truths);
    links.sort_unstable();
    links.dedup_by_key(|link| (link.finding, link.truth));
    let mut pairs = Vec::new();
    for group in groups(n_findings, n_truths, &links) {
        pairs.extend(solve(&group));
    }
    pairs.sort_unstable();
    Assignment { pairs, is_closest: true }
}

/// The links of each group that hangs together, in order.
fn groups(n_findings: usize, n_truths: usize, links: &[MatchLink]) -> Vec<Vec<MatchLink>> {
    let mut leader: Vec<usize> = (0..n_findings + n_truths).collect();
    for link in links {
        let (a, b) = (find(&mut leader, link.finding), find(&mut leader, n_findings + link.truth));
        if let Some(slot) = leader.get_mut(a.max(b)) {
            *slot = a.min(b);
        }
    }
    let mut number = vec![usize::MAX; n_findings + n_truths];
    let mut groups: Vec<Vec<MatchLink>> = Vec::new();
    for link in links {
        let root = find(&mut leader, link.finding);
        let Some(slot) = number.get_mut(root) else { continue };
        if *slot == usize::MAX {
            *slot = groups.len();
            groups.push(Vec::new());
        }
        if let Some(group) = groups.get_mut(*slot) {
            group.push(*link);
        }
    }
    groups
}

fn find(leader: &mut [usize], from: usize) -> usize {
    let mut at = from;
    while let Some(next) = leader.get(at).copied().filter(|next| *next != at) {
        let above = leader.get(next).copied().unwrap_or(next);
        if let Some(slot) = leader.get_mut(at) {
            *slot = above;
        }
        at = above;
    }
    at
}

/// The pairs of one group.
fn solve(links: &[MatchLink]) -> Vec<MatchedPair> {
    if let [only] = links {
        return vec![MatchedPair { finding: only.finding, truth: only.truth }];
    }
    let names = |of: fn(&MatchLink) -> usize| {
        let mut names: Vec<usize> = links.iter().map(of).collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    let (findings, truths) = (names(|link| link.finding), names(|link| link.truth));
    let mut search = MatchSearch::new(&findings, &truths, links);
    while search.lengthen() {
        while search.augment() {}
    }
    let pairs = search.mate.iter().enumerate().filter_map(|(at, mate)| {
        Some(MatchedPair { finding: *findings.get(at)?, truth: *truths.get((*mate)?)? })
    });
    pairs.collect()
}

const FAR: i64 = i64::MAX;

/// A search for augmenting paths. Indices are checked once, when it is made.
struct MatchSearch {
    /// For each finding, the truths that it can be paired with, and the costs.
    links: Vec<Vec<(usize, i64)>>,
    mate: Vec<Option<usize>>,
    mate_of_truth: Vec<Option<usize>>,
    potential: Vec<i64>,
    potential_of_truth: Vec<i64>,
}

impl MatchSearch {
    fn new(findings: &[usize], truths: &[usize], links: &[MatchLink]) -> Self {
        let mut by_finding = vec![Vec::new(); findings.len()];
        for link in links {
            let at = (findings.binary_search(&link.finding), truths.binary_search(&link.truth));
            if let (Ok(finding), Ok(truth)) = at {
                by_finding[finding].push((truth, i64::from(link.cost)));
            }
        }
        Self {
            links: by_finding,
            mate: vec![None; findings.len()],
            mate_of_truth: vec![None; truths.len()],
            potential: vec![0; findings.len()],
            potential_of_truth: vec![0; truths.len()],
        }
    }

    /// The reduced cost of a link; never negative, and 0 on shortest paths.
    fn slack(&self, finding: usize, truth: usize, cost: i64) -> i64 {
        cost + self.potential[finding] - self.potential_of_truth[truth]
    }

    /// Finds how long the shortest paths from free findings to free truths are, and raises the
    /// potentials so that these paths have no slack. `false` when there is no path any more.
    fn lengthen(&mut self) -> bool {
        let mut far = vec![FAR; self.mate.len()];
        let mut far_truth = vec![FAR; self.mate_of_truth.len()];
        let mut queue = BinaryHeap::new();
        for (finding, _) in self.mate.iter().enumerate().filter(|(_, mate)| mate.is_none()) {
            far[finding] = 0;
            queue.push(Reverse((0, finding)));
        }
        let mut nearest = FAR;
        while let Some(Reverse((length, finding))) = queue.pop() {
            if length >= nearest {
                break;
            }
            if length > far[finding] {
                continue;
            }
            for &(truth, cost) in &self.links[finding] {
                let reached = length + self.slack(finding, truth, cost);
                if reached >= far_truth[truth] {
                    continue;
                }
                far_truth[truth] = reached;
                match self.mate_of_truth[truth] {
                    None => nearest = nearest.min(reached),
                    Some(next) => {
                        far[next] = reached;
                        queue.push(Reverse((reached, next)));
                    }
                }
            }
        }
        if nearest == FAR {
            return false;
        }
        for (potential, far) in self.potential.iter_mut().zip(far) {
            *potential += far.min(nearest);
        }
        for (potential, far) in self.potential_of_truth.iter_mut().zip(far_truth) {
            *potential += far.min(nearest);
        }
        true
    }

    /// Augments along disjoint paths without slack; `false` if there is none.
    fn augment(&mut self) -> bool {
        let mut seen = vec![false; self.mate_of_truth.len()];
        let mut next = vec![0; self.mate.len()];
        let mut has_grown = false;
        for finding in 0..self.mate.len() {
            if self.mate[finding].is_none() {
                has_grown |= self.follow(finding, &mut seen, &mut next);
            }
        }
        has_grown
    }

    /// Searches a path without slack from a free finding, and augments along it.
    fn follow(&mut self, from: usize, seen: &mut [bool], next: &mut [usize]) -> bool {
        // Findings on the way, each with the truth by which the path leaves it.
        let mut path: Vec<(usize, usize)> = Vec::new();
        let mut at = from;
        loop {
            let step = self.links[at].get(next[at]).copied();
            next[at] += 1;
            match step {
                Some((truth, cost)) if !seen[truth] && self.slack(at, truth, cost) == 0 => {
                    seen[truth] = true;
                    path.push((at, truth));
                    match self.mate_of_truth[truth] {
                        Some(mate) => at = mate,
                        None => break,
                    }
                }
                Some(_) => {}
                None => match path.pop() {
                    Some((before, _)) => at = before,
                    None => return false,
                },
            }
        }
        for (finding, truth) in path {
            self.mate[finding] = Some(truth);
            self.mate_of_truth[truth] = Some(finding);
        }
        true
    }
}
