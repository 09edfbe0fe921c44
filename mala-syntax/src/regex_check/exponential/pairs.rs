//! The product of a loop with itself: a pair of states is reached by a text that leads to both.
//! Two ways that part and meet again show as a way from a pair of equals over a pair of
//! different states back to the first pair.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::super::alphabet::Mask;
use super::super::automaton::{Automaton, Components, State};
use super::{CANDIDATE_LIMIT, Candidate, Search};

/// Pairs of edges that are compared.
const WORK_LIMIT: usize = 400_000;
/// Pairs of edges up to which each is compared with each.
const FEW_EDGES: usize = 400;
/// Pairs of states of one loop.
const PAIR_LIMIT: usize = 40_000;

/// The reachable part of the product of one component with itself.
pub(super) struct Pairs {
    pairs: Vec<(State, State)>,
    edges: Vec<Vec<(usize, Mask)>>,
}

impl Pairs {
    /// Nothing if it is too large.
    pub(super) fn explore(
        search: &mut Search<'_>,
        members: &[State],
        component: usize,
    ) -> Option<Self> {
        let mut pairs: Vec<(State, State)> = members.iter().map(|state| (*state, *state)).collect();
        let mut index: HashMap<(State, State), usize> =
            pairs.iter().enumerate().map(|(number, pair)| (*pair, number)).collect();
        let mut edges: Vec<Vec<(usize, Mask)>> = Vec::new();
        let automaton = search.automaton;
        let inside = |state: State| search.components.of[state] == component;
        while let Some(&(left, right)) = pairs.get(edges.len()) {
            let mut out = Vec::new();
            let successors = successors(automaton, (left, right), &inside);
            search.work += successors.len() + automaton.edges[left].len();
            if search.work > WORK_LIMIT || pairs.len() > PAIR_LIMIT {
                return None;
            }
            for (to, on) in successors {
                let number = *index.entry(to).or_insert_with(|| {
                    pairs.push(to);
                    pairs.len() - 1
                });
                out.push((number, on));
            }
            edges.push(out);
        }
        Some(Self { pairs, edges })
    }

    fn diagonal(&self, number: usize) -> bool {
        self.pairs[number].0 == self.pairs[number].1
    }

    /// Words on which two ways part and meet again in the state where they parted.
    pub(super) fn candidates(&self) -> Vec<Candidate> {
        let graph: Vec<Vec<usize>> =
            self.edges.iter().map(|out| out.iter().map(|(to, _)| *to).collect()).collect();
        let components = Components::of(&graph);
        let mut mixed = vec![(false, false); components.cyclic.len()];
        for number in 0..self.pairs.len() {
            let entry = &mut mixed[components.of[number]];
            if self.diagonal(number) { entry.0 = true } else { entry.1 = true }
        }
        let mut found = Vec::new();
        for origin in (0..self.pairs.len()).filter(|number| self.diagonal(*number)) {
            let component = components.of[origin];
            if mixed[component] != (true, true) {
                continue;
            }
            for (fork, on) in &self.edges[origin] {
                if self.diagonal(*fork) || components.of[*fork] != component {
                    continue;
                }
                found.extend(self.round_trips(origin, *fork, *on, &components));
                if found.len() >= CANDIDATE_LIMIT {
                    return found;
                }
            }
        }
        found
    }

    /// The words `c · rest` with `c` in `on`, where `rest` leads from `fork` back to `origin`.
    fn round_trips(
        &self,
        origin: usize,
        fork: usize,
        on: Mask,
        components: &Components,
    ) -> Vec<Candidate> {
        let mut parents: HashMap<usize, (usize, Mask)> = HashMap::new();
        let mut queue = VecDeque::from([fork]);
        while let Some(number) = queue.pop_front() {
            if number == origin {
                break;
            }
            for (to, mask) in &self.edges[number] {
                let inside = components.of[*to] == components.of[origin];
                if inside && *to != fork && !parents.contains_key(to) {
                    parents.insert(*to, (number, *mask));
                    queue.push_back(*to);
                }
            }
        }
        let (mut rest, mut at) = (Vec::new(), origin);
        let state = self.pairs[origin].0;
        let mut states = vec![state];
        while at != fork {
            let Some((before, mask)) = parents.get(&at) else { return Vec::new() };
            rest.extend(mask.classes().next());
            states.extend([self.pairs[*before].0, self.pairs[*before].1]);
            at = *before;
        }
        rest.reverse();
        let word = |class| std::iter::once(class).chain(rest.iter().copied()).collect();
        let on = on.classes().take(CANDIDATE_LIMIT / 4);
        on.map(|class| Candidate { state, word: word(class), states: states.clone() }).collect()
    }
}

/// The pairs that follow a pair, with the characters that lead to them.
fn successors(
    automaton: &Automaton,
    (left, right): (State, State),
    inside: &dyn Fn(State) -> bool,
) -> Vec<((State, State), Mask)> {
    let edges = |state: State| automaton.edges[state].iter().filter(|edge| inside(edge.to));
    let mut found = Vec::new();
    let mut pair = |one: State, other: State, on: Mask| {
        if !on.is_empty() {
            found.push(((one.min(other), one.max(other)), on));
        }
    };
    if automaton.edges[left].len() * automaton.edges[right].len() <= FEW_EDGES {
        for one in edges(left) {
            edges(right).for_each(|other| pair(one.to, other.to, one.on & other.on));
        }
        return found;
    }
    // With many edges, as after a long list of words, most pairs share no character: go by
    // character instead.
    let mut by_class: BTreeMap<usize, (Vec<State>, Vec<State>)> = BTreeMap::new();
    for edge in edges(left) {
        edge.on.classes().for_each(|c| by_class.entry(c).or_default().0.push(edge.to));
    }
    for edge in edges(right) {
        edge.on.classes().for_each(|c| by_class.entry(c).or_default().1.push(edge.to));
    }
    for (class, (ones, others)) in by_class {
        for one in ones {
            others.iter().for_each(|other| pair(one, *other, Mask::class(class)));
        }
    }
    found
}
