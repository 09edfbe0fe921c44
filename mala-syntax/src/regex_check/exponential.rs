//! Exponential backtracking: a loop in which the same text can be matched in two different ways,
//! followed by something that can fail. Found on the product of the automaton with itself and
//! confirmed on the matcher.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::Flavour;
use super::alphabet::{Alphabet, Mask};
use super::ast::{Ast, Look, NodeId, NodeKind};
use super::automaton::{Automaton, Begin, Bounds, Components, State};
use super::program::Program;
use super::pump::{Attack, grows_exponentially};
use super::threads::{Threads, Ways};

/// Pairs of edges that are compared.
const WORK_LIMIT: usize = 1_500_000;
/// Pairs of edges up to which each is compared with each.
const FEW_EDGES: usize = 400;
/// Pairs of states of one loop.
const PAIR_LIMIT: usize = 40_000;
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
        let Some(candidates) = search.ambiguous_words(component) else { continue };
        if candidates.iter().all(|candidate| search.is_known(candidate, &found)) {
            continue;
        }
        found.extend(search.first_that_works(&candidates));
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
    /// Ambiguous words of one component; nothing when the work limit is reached.
    fn ambiguous_words(&mut self, component: usize) -> Option<Vec<Candidate>> {
        let members: Vec<State> = (0..self.automaton.len())
            .filter(|state| self.components.of[*state] == component)
            .collect();
        let mut found = self.doubled_edges(&members, component);
        if found.len() < CANDIDATE_LIMIT {
            let pairs = Pairs::explore(self, &members, component)?;
            found.extend(pairs.candidates());
        }
        found.truncate(CANDIDATE_LIMIT);
        Some(found)
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

/// The reachable part of the product of one component with itself.
struct Pairs {
    pairs: Vec<(State, State)>,
    edges: Vec<Vec<(usize, Mask)>>,
}

impl Pairs {
    fn explore(search: &mut Search<'_>, members: &[State], component: usize) -> Option<Self> {
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
    fn candidates(&self) -> Vec<Candidate> {
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
