//! Exponential backtracking: a loop in which the same text can be matched in two different ways,
//! followed by something that can fail. Found on the product of the automaton with itself and
//! confirmed on the matcher.

mod pairs;

use super::Flavour;
use super::alphabet::Alphabet;
use super::ast::{Ast, Look, NodeId, NodeKind};
use super::automaton::{Automaton, Begin, Bounds, Components, Edge, State};
use super::program::Program;
use super::pump::{Attack, grows_exponentially};
use super::threads::{Threads, Ways};
use pairs::Pairs;

/// Edges that may be followed for all candidates together, roughly.
const THREAD_WORK: usize = 200_000;
/// States, edges of a state and characters of a pair of edges that are searched for short forks.
const FORK_STATES: usize = 48;
const FORK_EDGES: usize = 24;
const FORK_CLASSES: usize = 4;
/// Ambiguous words that are tried per loop.
const CANDIDATE_LIMIT: usize = 24;
/// Attacks that are tried on the matcher per loop.
const TRIAL_LIMIT: usize = 6;

/// Slow loops that are reported per pattern.
const LOOP_LIMIT: usize = 4;

/// A loop of the pattern with an attack that was seen to work.
#[derive(Debug)]
pub(super) struct SlowLoop {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) attack: Attack,
}

/// The exponential loops of a pattern, one per part of it that can loop.
pub(super) fn find(ast: &Ast, alphabet: &Alphabet, flavour: Flavour) -> Vec<SlowLoop> {
    let mut found = find_below(ast, ast.anchored, alphabet, flavour).unwrap_or_default();
    for node in &ast.nodes {
        if let NodeKind::Look { look: Look::Ahead | Look::NotAhead, body } = node.kind
            && found.is_empty()
            && may_be_ambiguous(ast, body)
        {
            found.extend(find_below(ast, body, alphabet, flavour).unwrap_or_default());
        }
    }
    found
}

/// Whether a loop has anything in it that could make it ambiguous: cheap, and often says no.
pub(super) fn may_be_ambiguous(ast: &Ast, root: NodeId) -> bool {
    let mut stack = vec![(root, false)];
    while let Some((id, looping)) = stack.pop() {
        let mut inside = looping;
        match ast.kind(id) {
            NodeKind::Alternate(_) | NodeKind::Backref(_) if looping => return true,
            NodeKind::Repeat { min, max, .. } if *max != Some(*min) => {
                if looping {
                    return true;
                }
                inside = max.is_none_or(|max| max > 1);
            }
            _ => {}
        }
        stack.extend(ast.children(id).iter().map(|child| (*child, inside)));
    }
    false
}

fn find_below(
    ast: &Ast,
    root: NodeId,
    alphabet: &Alphabet,
    flavour: Flavour,
) -> Option<Vec<SlowLoop>> {
    if !may_be_ambiguous(ast, root) {
        return None;
    }
    let automaton = Automaton::build(ast, root, alphabet, Bounds::AsLoops, Begin::Here)?;
    let components = automaton.components();
    let mut search = Search {
        ast,
        alphabet,
        automaton: &automaton,
        components: &components,
        ways: Ways::from(&automaton, automaton.start, |_| true),
        program: Program::compile(ast, root, flavour)?,
        work: 0,
    };
    let mut found: Vec<SlowLoop> = Vec::new();
    for component in (0..components.cyclic.len()).rev().filter(|c| components.cyclic[*c]) {
        found.extend(search.slow_loop(component, &found));
        if found.len() >= LOOP_LIMIT {
            break;
        }
    }
    Some(found)
}

/// A state and a word that leads from it back to it in two ways.
#[derive(Debug)]
struct Candidate {
    state: State,
    word: Vec<usize>,
    /// States on the two ways.
    states: Vec<State>,
}

/// A way to find candidates among the states of a component.
type Stage = fn(&mut Search<'_>, &[State], usize) -> Vec<Candidate>;

struct Search<'a> {
    ast: &'a Ast,
    alphabet: &'a Alphabet,
    automaton: &'a Automaton,
    components: &'a Components,
    ways: Ways,
    program: Program,
    work: usize,
}

impl Search<'_> {
    /// A loop of one component that is slow and not among those found before. The cheap signs of
    /// ambiguity are tried first.
    fn slow_loop(&mut self, component: usize, found: &[SlowLoop]) -> Option<SlowLoop> {
        let members: Vec<State> = (0..self.automaton.len())
            .filter(|state| self.components.of[*state] == component)
            .collect();
        let stages: [Stage; 3] = [
            |search, members, component| search.doubled_edges(members, component),
            |search, members, component| search.short_forks(members, component),
            |search, members, component| {
                let pairs = Pairs::explore(search, members, component);
                pairs.map(|pairs| pairs.candidates()).unwrap_or_default()
            },
        ];
        for stage in stages {
            let mut candidates = stage(self, &members, component);
            candidates.truncate(self.patience());
            if candidates.iter().any(|candidate| self.is_known(candidate, found)) {
                return None;
            }
            if let Some(slow) = self.first_that_works(&candidates) {
                return Some(slow);
            }
        }
        None
    }

    /// How many candidates are tried: fewer where following one is dear.
    fn patience(&self) -> usize {
        let edges: usize = self.automaton.edges.iter().map(Vec::len).sum();
        (THREAD_WORK / (edges + 1)).clamp(2, CANDIDATE_LIMIT)
    }

    /// States from which one character leads to two states, and one more leads back from both.
    fn short_forks(&self, members: &[State], component: usize) -> Vec<Candidate> {
        let mut found = Vec::new();
        for &state in members.iter().take(FORK_STATES) {
            let edges = self.automaton.edges[state].iter();
            let inside = edges.filter(|edge| self.components.of[edge.to] == component);
            let edges: Vec<&Edge> = inside.take(FORK_EDGES).collect();
            for (index, one) in edges.iter().enumerate() {
                for other in &edges[index + 1..] {
                    let back =
                        self.automaton.edge(one.to, state) & self.automaton.edge(other.to, state);
                    let (Some(class), false) =
                        (back.classes().next(), found.len() >= CANDIDATE_LIMIT)
                    else {
                        continue;
                    };
                    let states = vec![state, one.to, other.to];
                    let forks = (one.on & other.on).classes().take(FORK_CLASSES);
                    found.extend(forks.map(|fork| Candidate {
                        state,
                        word: vec![fork, class],
                        states: states.clone(),
                    }));
                }
            }
        }
        found
    }

    /// Edges along which more than one way leads.
    fn doubled_edges(&self, members: &[State], component: usize) -> Vec<Candidate> {
        let mut found = Vec::new();
        for &state in members {
            for edge in &self.automaton.edges[state] {
                if edge.twice.is_empty() || self.components.of[edge.to] != component {
                    continue;
                }
                let back =
                    Ways::from(self.automaton, edge.to, |to| self.components.of[to] == component);
                let Some(rest) = back.word_to(state) else { continue };
                for class in edge.twice.classes() {
                    let word = std::iter::once(class).chain(rest.iter().copied()).collect();
                    found.push(Candidate { state, word, states: vec![state, edge.to] });
                }
                if found.len() >= CANDIDATE_LIMIT {
                    return found;
                }
            }
        }
        found
    }

    /// Whether the candidate lies in a loop that is reported already, as another copy of it.
    fn is_known(&self, candidate: &Candidate, found: &[SlowLoop]) -> bool {
        let (start, end) = self.loop_around(&candidate.states);
        found.iter().any(|slow| slow.start <= start && end <= slow.end)
    }

    fn first_that_works(&self, candidates: &[Candidate]) -> Option<SlowLoop> {
        let mut trials = 0;
        for candidate in candidates {
            let Some(prefix) = self.ways.word_to(candidate.state) else { continue };
            let all = Threads::at(self.automaton.start).after(self.automaton, &prefix);
            for threads in [all, Some(Threads::at(candidate.state))].into_iter().flatten() {
                let Some(attack) = self.attack(&prefix, candidate, &threads) else { continue };
                trials += 1;
                if grows_exponentially(&self.program, &attack) {
                    let (start, end) = self.loop_around(&candidate.states);
                    return Some(SlowLoop { start, end, attack });
                }
                if trials >= TRIAL_LIMIT {
                    return None;
                }
            }
        }
        None
    }

    fn attack(&self, prefix: &[usize], candidate: &Candidate, threads: &Threads) -> Option<Attack> {
        let pumped = threads.after_rounds(self.automaton, &candidate.word)?;
        let suffix = pumped.failing_text(self.automaton, self.alphabet, &candidate.word)?;
        Some(Attack {
            prefix: self.alphabet.spell(prefix),
            pump: self.alphabet.spell(&candidate.word),
            suffix: self.alphabet.spell(&suffix),
        })
    }

    fn loop_around(&self, states: &[State]) -> (usize, usize) {
        let nodes: Vec<NodeId> =
            states.iter().filter_map(|state| self.automaton.nodes[*state]).collect();
        let ambiguous = |id| may_be_ambiguous(self.ast, id);
        smallest_loop(self.ast, &nodes, ambiguous)
    }
}

/// The bytes of the smallest repetition around all of `nodes` that passes `test`; those of the
/// nodes themselves if there is none.
pub(super) fn smallest_loop(
    ast: &Ast,
    nodes: &[NodeId],
    test: impl Fn(NodeId) -> bool,
) -> (usize, usize) {
    let start = nodes.iter().map(|id| ast.node(*id).start).min().unwrap_or(0);
    let end = nodes.iter().map(|id| ast.node(*id).end).max().unwrap_or(0);
    let around = (0..ast.nodes.len()).filter(|id| {
        let node = ast.node(*id);
        let many = matches!(node.kind, NodeKind::Repeat { max, .. } if max.is_none_or(|m| m > 1));
        many && node.start <= start && end <= node.end && test(*id)
    });
    around
        .map(|id| (ast.node(id).start, ast.node(id).end))
        .min_by_key(|(start, end)| end - start)
        .unwrap_or((start, end))
}
