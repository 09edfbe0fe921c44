//! Polynomial backtracking: a loop, or the free choice of where a match starts, followed by
//! another loop over the same text and by something that can fail. Each such pair of loops lets
//! the engine divide a long text in as many ways as it has characters.

use std::collections::{HashMap, VecDeque};

use super::Flavour;
use super::alphabet::{Alphabet, Mask};
use super::ast::{Ast, NodeKind};
use super::automaton::{Automaton, Begin, Bounds, Components, State};
use super::exponential::{SlowLoop, smallest_loop};
use super::program::Program;
use super::pump::{Attack, POLYNOMIAL_BUDGET, polynomial_degree};
use super::threads::{Threads, Ways};

/// Attacks that are tried on the matcher.
const TRIAL_LIMIT: usize = 10;
/// Characters that are tried per pair of loops.
const CLASSES_PER_PAIR: usize = 3;
/// Texts in front of the pumped part that are tried.
const PREFIXES: usize = 8;
/// Steps of each search for what two loops share.
const WORK_LIMIT: usize = 150_000;
/// States of one loop from which a shared word is searched.
const STATES_PER_LOOP: usize = 6;

/// The first loop that was seen to be slow, and the degree of its cost.
pub(super) fn find(ast: &Ast, alphabet: &Alphabet, flavour: Flavour) -> Option<(SlowLoop, u32)> {
    let endless = |kind: &NodeKind| matches!(kind, NodeKind::Repeat { max: None, .. });
    if !ast.nodes.iter().any(|node| endless(&node.kind)) {
        return None;
    }
    let automaton = Automaton::build(ast, ast.anchored, alphabet, Bounds::Strict, Begin::Anywhere)?;
    let search = Search {
        ast,
        alphabet,
        components: automaton.components(),
        ways: Ways::from(&automaton, automaton.start, |_| true),
        program: Program::compile(ast, ast.anchored, flavour)?,
        automaton: &automaton,
    };
    let mut effort = Effort { trials: TRIAL_LIMIT, steps: POLYNOMIAL_BUDGET };
    let simple = search.pairs_by_character();
    if let Some(found) = search.first_that_works(&simple, &mut effort) {
        return Some(found);
    }
    search.first_that_works(&search.pairs_by_word(), &mut effort)
}

/// What may still be spent on trials.
struct Effort {
    trials: usize,
    steps: u64,
}

/// Two loops, the second after the first, and a word that both can repeat and that leads from
/// the one to the other.
#[derive(Debug)]
struct Pair {
    first: State,
    second: State,
    word: Vec<usize>,
}

struct Search<'a> {
    ast: &'a Ast,
    alphabet: &'a Alphabet,
    automaton: &'a Automaton,
    components: Components,
    ways: Ways,
    program: Program,
}

impl Search<'_> {
    /// Pairs of states that loop on one and the same character.
    fn pairs_by_character(&self) -> Vec<Pair> {
        let mut found = Vec::new();
        let mut per_pair: HashMap<(State, State), usize> = HashMap::new();
        let mut work = 0;
        for class in 0..self.alphabet.len() {
            let mask = Mask::class(class);
            let loops = |state: State| self.automaton.edge(state, state).meets(mask);
            for first in (0..self.automaton.len()).filter(|state| loops(*state)) {
                if work > WORK_LIMIT {
                    break;
                }
                for second in self.reached_by(first, mask, &mut work) {
                    let apart = self.components.of[first] != self.components.of[second];
                    let tried = per_pair.entry((first, second)).or_insert(0);
                    if apart && loops(second) && *tried < CLASSES_PER_PAIR {
                        *tried += 1;
                        found.push(Pair { first, second, word: vec![class] });
                    }
                }
            }
        }
        // The choice of the start comes first: it is the commonest cause.
        found.sort_by_key(|pair| (Some(pair.first) != self.automaton.before, pair.first));
        found
    }

    /// States that are reached from `origin` by repeating one character.
    fn reached_by(&self, origin: State, mask: Mask, work: &mut usize) -> Vec<State> {
        let mut seen = vec![false; self.automaton.len()];
        let (mut stack, mut reached) = (vec![origin], Vec::new());
        seen[origin] = true;
        while let Some(state) = stack.pop() {
            *work += self.automaton.edges[state].len();
            for edge in self.automaton.edges[state].iter().filter(|edge| edge.on.meets(mask)) {
                if !seen[edge.to] {
                    seen[edge.to] = true;
                    reached.push(edge.to);
                    stack.push(edge.to);
                }
            }
        }
        reached
    }

    /// Pairs of loops that share a longer word.
    fn pairs_by_word(&self) -> Vec<Pair> {
        let mut loops: Vec<Vec<State>> = vec![Vec::new(); self.components.cyclic.len()];
        for state in 0..self.automaton.len() {
            let component = self.components.of[state];
            if self.components.cyclic[component] && loops[component].len() < STATES_PER_LOOP {
                loops[component].push(state);
            }
        }
        loops.retain(|states| !states.is_empty());
        let mut work = 0;
        let mut found = Vec::new();
        // Components are numbered against the direction of the edges.
        for (number, firsts) in loops.iter().enumerate().rev() {
            for seconds in loops[..number].iter().rev() {
                let shared = firsts.iter().find_map(|first| {
                    seconds.iter().find_map(|second| self.shared_word(*first, *second, &mut work))
                });
                found.extend(shared);
            }
        }
        found
    }

    /// A word that loops on `first`, loops on `second` and leads from `first` to `second`.
    fn shared_word(&self, first: State, second: State, work: &mut usize) -> Option<Pair> {
        type Triple = (State, State, State);
        let (origin, target): (Triple, Triple) = ((first, first, second), (first, second, second));
        let mut parents: HashMap<Triple, (Triple, usize)> = HashMap::new();
        let mut queue = VecDeque::from([origin]);
        let same = |one: State, other: State| self.components.of[one] == self.components.of[other];
        while let Some(triple) = queue.pop_front() {
            let edges = |state: State| &self.automaton.edges[state];
            for one in edges(triple.0).iter().filter(|edge| same(edge.to, first)) {
                for three in edges(triple.2).iter().filter(|edge| same(edge.to, second)) {
                    let both = one.on & three.on;
                    *work += 1 + edges(triple.1).len();
                    if *work > WORK_LIMIT {
                        return None;
                    }
                    if both.is_empty() {
                        continue;
                    }
                    for two in edges(triple.1) {
                        let Some(class) = (both & two.on).classes().next() else { continue };
                        let next = (one.to, two.to, three.to);
                        if next == origin || parents.contains_key(&next) {
                            continue;
                        }
                        parents.insert(next, (triple, class));
                        if next == target {
                            let word = spelled(&parents, origin, target)?;
                            return Some(Pair { first, second, word });
                        }
                        queue.push_back(next);
                    }
                }
            }
        }
        None
    }

    fn first_that_works(&self, pairs: &[Pair], effort: &mut Effort) -> Option<(SlowLoop, u32)> {
        for pair in pairs {
            if effort.trials == 0 || effort.steps == 0 {
                return None;
            }
            let Some(attack) = self.attack(pair) else { continue };
            effort.trials -= 1;
            if let Some(degree) = polynomial_degree(&self.program, &attack, &mut effort.steps) {
                let node = self.automaton.nodes[pair.second];
                let (start, end) = smallest_loop(self.ast, node.as_slice(), |_| true);
                return Some((SlowLoop { start, end, attack }, degree));
            }
        }
        None
    }

    fn attack(&self, pair: &Pair) -> Option<Attack> {
        if Some(pair.first) != self.automaton.before {
            return self.attack_after(&self.ways.word_to(pair.first)?, pair);
        }
        // One character in front can rule out what matches at the start of the text only.
        let in_front = (0..self.alphabet.len()).map(|class| vec![class]);
        std::iter::once(Vec::new())
            .chain(in_front)
            .take(PREFIXES)
            .find_map(|prefix| self.attack_after(&prefix, pair))
    }

    fn attack_after(&self, prefix: &[usize], pair: &Pair) -> Option<Attack> {
        let begun = Threads::at(self.automaton.start).after(self.automaton, prefix)?;
        let mut pumped = begun.after_rounds(self.automaton, &pair.word)?;
        if let Some(before) = self.automaton.before {
            // Attempts that start after the pumped part come too late to save anything.
            pumped = pumped.without(before);
        }
        let suffix = pumped.failing_text(self.automaton, self.alphabet, &pair.word)?;
        Some(Attack {
            prefix: self.alphabet.spell(prefix),
            pump: self.alphabet.spell(&pair.word),
            suffix: self.alphabet.spell(&suffix),
        })
    }
}

/// The word along the parents from `origin` to `target`.
fn spelled<T: Copy + Eq + std::hash::Hash>(
    parents: &HashMap<T, (T, usize)>,
    origin: T,
    target: T,
) -> Option<Vec<usize>> {
    let (mut word, mut at) = (Vec::new(), target);
    while at != origin {
        let (before, class) = parents.get(&at)?;
        word.push(*class);
        at = *before;
    }
    word.reverse();
    Some(word)
}
