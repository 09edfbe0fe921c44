//! The choice among possible defects: kinds and changes take turns.

use super::DefectKind;
use crate::random::SeededRandom;
use std::collections::BTreeMap;

/// A defect that could be planted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlantCandidate {
    /// Its kind.
    pub kind: DefectKind,
    /// The change that it would be in, by its index in a list.
    pub change: usize,
    /// The index among the defects of that change.
    pub place: usize,
}

/// The candidates in the order in which to plant them: kinds take turns, and within a kind the
/// least used change comes first. Other ties are random.
pub fn choose(candidates: Vec<PlantCandidate>, seed: u64) -> Vec<PlantCandidate> {
    let mut random = SeededRandom::named(seed, "plant");
    let mut by_kind: BTreeMap<DefectKind, Vec<PlantCandidate>> = BTreeMap::new();
    for candidate in shuffled(candidates, &mut random) {
        by_kind.entry(candidate.kind).or_default().push(candidate);
    }
    let kinds = shuffled(by_kind.keys().copied().collect(), &mut random);
    let mut used: BTreeMap<usize, usize> = BTreeMap::new();
    let mut chosen = Vec::new();
    while by_kind.values().any(|left| !left.is_empty()) {
        for kind in &kinds {
            let Some(left) = by_kind.get_mut(kind) else { continue };
            let times =
                |candidate: &PlantCandidate| used.get(&candidate.change).copied().unwrap_or(0);
            let next = left.iter().enumerate().min_by_key(|(_, candidate)| times(candidate));
            let Some(at) = next.map(|(at, _)| at) else { continue };
            let candidate = left.remove(at);
            *used.entry(candidate.change).or_default() += 1;
            chosen.push(candidate);
        }
    }
    chosen
}

fn shuffled<T>(mut items: Vec<T>, random: &mut SeededRandom) -> Vec<T> {
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last + 1));
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates() -> Vec<PlantCandidate> {
        let kinds = [DefectKind::OffByOne, DefectKind::RemovedCheck, DefectKind::LeakedHandle];
        let places = (0..3).flat_map(|change| (0..4).map(move |place| (change, place)));
        kinds
            .into_iter()
            .flat_map(|kind| {
                places.clone().map(move |(change, place)| PlantCandidate { kind, change, place })
            })
            .collect()
    }

    #[test]
    fn kinds_and_changes_take_turns() {
        let chosen = choose(candidates(), 7);
        assert_eq!(chosen.len(), 36, "every one of them comes, once");
        let first = chosen.get(..9).unwrap();
        for kind in [DefectKind::OffByOne, DefectKind::RemovedCheck, DefectKind::LeakedHandle] {
            assert_eq!(first.iter().filter(|it| it.kind == kind).count(), 3, "{kind}");
        }
        for change in 0..3 {
            assert_eq!(first.iter().filter(|it| it.change == change).count(), 3, "{change}");
        }
    }

    #[test]
    fn the_seed_decides() {
        assert_eq!(choose(candidates(), 1), choose(candidates(), 1));
        assert_ne!(choose(candidates(), 1), choose(candidates(), 2));
        assert_eq!(choose(Vec::new(), 1), []);
    }
}
