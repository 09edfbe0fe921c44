//! Sets of states that a text leads to, and the search for a text on which all of them fail.

use std::collections::{HashSet, VecDeque};

use super::alphabet::{Alphabet, Mask};
use super::automaton::{Automaton, State};

/// Sets that the search for a failing text looks at.
const SET_LIMIT: usize = 160;
/// Edges that the search follows.
const WORK_LIMIT: usize = 120_000;

/// The states in which an attempt can be, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Threads(Vec<State>);

impl Threads {
    pub(super) fn at(state: State) -> Self {
        Self(vec![state])
    }

    /// Whether the match is complete when `next` comes.
    fn accepts(&self, automaton: &Automaton, next: Mask) -> bool {
        self.0.iter().any(|state| automaton.accepts[*state].meets(next))
    }

    fn step(&self, automaton: &Automaton, next: Mask) -> Self {
        let edges = self.0.iter().flat_map(|state| &automaton.edges[*state]);
        let mut states: Vec<State> =
            edges.filter(|edge| edge.on.meets(next)).map(|edge| edge.to).collect();
        states.sort_unstable();
        states.dedup();
        Self(states)
    }

    /// The threads after `word`, or nothing if one of them matches on the way.
    pub(super) fn after(&self, automaton: &Automaton, word: &[usize]) -> Option<Self> {
        let mut threads = self.clone();
        for class in word {
            let next = Mask::class(*class);
            if threads.accepts(automaton, next) {
                return None;
            }
            threads = threads.step(automaton, next);
        }
        Some(threads)
    }

    /// The threads after many rounds of `word`, or nothing if one of them matches on the way.
    pub(super) fn after_rounds(&self, automaton: &Automaton, word: &[usize]) -> Option<Self> {
        const ROUNDS: usize = 6;
        let mut threads = self.clone();
        for _ in 0..ROUNDS {
            let next = threads.after(automaton, word)?;
            if next == threads {
                break;
            }
            threads = next;
        }
        Some(threads)
    }

    /// The threads other than that in `state`.
    pub(super) fn without(mut self, state: State) -> Self {
        self.0.retain(|own| *own != state);
        self
    }

    /// The shortest text after which no thread can have matched. `word` led to these threads.
    pub(super) fn failing_text(
        &self,
        automaton: &Automaton,
        alphabet: &Alphabet,
        word: &[usize],
    ) -> Option<Vec<usize>> {
        let mut seen = HashSet::from([self.clone()]);
        let mut queue = VecDeque::from([(self.clone(), Vec::new())]);
        let mut work = 0;
        while let Some((threads, text)) = queue.pop_front() {
            let last = text.last().or(word.last()).map_or(Mask::NONE, |class| Mask::class(*class));
            if !threads.accepts(automaton, Mask::EDGE) && !last.meets(automaton.soft_end) {
                return Some(text);
            }
            work += threads.edge_count(automaton) * alphabet.len();
            if work > WORK_LIMIT {
                return None;
            }
            for class in 0..alphabet.len() {
                let next = Mask::class(class);
                if threads.accepts(automaton, next) {
                    continue;
                }
                let stepped = threads.step(automaton, next);
                if seen.len() < SET_LIMIT && seen.insert(stepped.clone()) {
                    let mut longer = text.clone();
                    longer.push(class);
                    queue.push_back((stepped, longer));
                }
            }
        }
        None
    }

    fn edge_count(&self, automaton: &Automaton) -> usize {
        self.0.iter().map(|state| automaton.edges[*state].len() + 1).sum()
    }
}

/// Shortest ways through an automaton from one state.
#[derive(Debug)]
pub(super) struct Ways {
    origin: State,
    /// The state before and the character that led on from it.
    parents: Vec<Option<(State, usize)>>,
}

impl Ways {
    /// The ways that stay among the states that `within` admits.
    pub(super) fn from(
        automaton: &Automaton,
        origin: State,
        within: impl Fn(State) -> bool,
    ) -> Self {
        let mut parents = vec![None; automaton.len()];
        let mut queue = VecDeque::from([origin]);
        let mut seen = vec![false; automaton.len()];
        seen[origin] = true;
        while let Some(state) = queue.pop_front() {
            for edge in &automaton.edges[state] {
                if seen[edge.to] || !within(edge.to) {
                    continue;
                }
                if let Some(class) = edge.on.classes().next() {
                    seen[edge.to] = true;
                    parents[edge.to] = Some((state, class));
                    queue.push_back(edge.to);
                }
            }
        }
        Self { origin, parents }
    }

    /// The word that leads to `target`.
    pub(super) fn word_to(&self, target: State) -> Option<Vec<usize>> {
        let (mut word, mut state) = (Vec::new(), target);
        while state != self.origin {
            let (before, class) = self.parents[state]?;
            word.push(class);
            state = before;
        }
        word.reverse();
        Some(word)
    }
}
