//! Building the position automaton. Every way through a node without consuming anything counts,
//! together with what it asks of the characters before and after it.

use std::collections::HashMap;

use super::super::alphabet::{Alphabet, Mask};
use super::super::ast::{Assertion, Ast, Look, NodeId, NodeKind};
use super::{Automaton, Begin, Bounds, Edge, State};

/// States an automaton may have.
const STATE_LIMIT: usize = 3_000;
/// Steps that building may take.
const WORK_LIMIT: usize = 150_000;
/// From here on a counted repetition is as good as a loop for exponential growth.
const LOOP_FROM: u32 = 16;
/// References inside of referenced groups that are spelled out.
const REFERENCE_DEPTH: usize = 8;
/// Optional rounds that are spelled out for a bounded repetition.
const ROUNDS: u32 = 8;

pub(super) fn build(
    ast: &Ast,
    root: NodeId,
    alphabet: &Alphabet,
    bounds: Bounds,
    begin: Begin,
) -> Option<Automaton> {
    let mut builder = Builder {
        ast,
        alphabet,
        bounds,
        sets: vec![Mask::EDGE],
        nodes: vec![None],
        edges: HashMap::new(),
        expanding: Vec::new(),
        work: 0,
    };
    let fragment = builder.fragment(root, Place::Last)?;
    builder.finish(&fragment, begin)
}

/// What a way without consumption asks of its surroundings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cond {
    before: Mask,
    next: Mask,
}

impl Cond {
    const FREE: Self = Self { before: Mask::ALL, next: Mask::ALL };

    fn then(self, other: Self) -> Self {
        Self { before: self.before & other.before, next: self.next & other.next }
    }

    fn possible(&self) -> bool {
        !self.before.is_empty() && !self.next.is_empty()
    }
}

/// The ways into, out of and through a node.
#[derive(Debug, Default)]
struct Fragment {
    through: Vec<Cond>,
    first: Vec<(State, Cond)>,
    last: Vec<(State, Cond)>,
}

impl Fragment {
    fn empty() -> Self {
        Self::through(vec![Cond::FREE])
    }

    fn through(through: Vec<Cond>) -> Self {
        Self { through, first: Vec::new(), last: Vec::new() }
    }
}

/// Whether anything of the pattern can follow a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Inner,
    Last,
}

struct Builder<'a> {
    ast: &'a Ast,
    alphabet: &'a Alphabet,
    bounds: Bounds,
    sets: Vec<Mask>,
    nodes: Vec<Option<NodeId>>,
    edges: HashMap<(State, State), Edge>,
    /// Groups whose back-references are being spelled out.
    expanding: Vec<usize>,
    work: usize,
}

impl Builder<'_> {
    fn fragment(&mut self, id: NodeId, place: Place) -> Option<Fragment> {
        self.spend(1)?;
        let ast = self.ast;
        match ast.kind(id) {
            NodeKind::Empty => Some(Fragment::empty()),
            NodeKind::Chars { set, .. } => self.position(id, self.alphabet.mask(set)),
            NodeKind::Concat(parts) => self.sequence(parts, place),
            NodeKind::Alternate(parts) => {
                let mut all = Fragment::default();
                for part in parts {
                    let one = self.fragment(*part, place)?;
                    all.through.extend(one.through);
                    all.first.extend(one.first);
                    all.last.extend(one.last);
                }
                self.spend(all.first.len() + all.last.len())?;
                all.through = at_most_twice(all.through);
                Some(all)
            }
            NodeKind::Group { body, .. } | NodeKind::Atomic(body) => self.fragment(*body, place),
            NodeKind::Repeat { body, min, max, .. } => self.repeat(*body, *min, *max),
            NodeKind::Look { look: Look::Ahead, body } if place == Place::Last => {
                self.fragment(*body, place)
            }
            NodeKind::Look { look, body } => Some(Fragment::through(vec![self.look(*look, *body)])),
            NodeKind::Assert(assertion) => Some(Fragment::through(self.assertion(*assertion))),
            NodeKind::Backref(reference) => {
                let Some(number) = ast.capture_of(reference) else {
                    return Some(Fragment::empty());
                };
                let Some(node) = ast.capture_node(number) else { return Some(Fragment::empty()) };
                let deep = self.expanding.len() >= REFERENCE_DEPTH;
                if deep || self.expanding.contains(&number) {
                    return Some(Fragment::empty());
                }
                self.expanding.push(number);
                let copy = self.fragment(node, Place::Inner);
                self.expanding.pop();
                copy
            }
        }
    }

    fn spend(&mut self, work: usize) -> Option<()> {
        self.work += work;
        (self.work <= WORK_LIMIT).then_some(())
    }

    fn position(&mut self, id: NodeId, set: Mask) -> Option<Fragment> {
        let state = self.sets.len();
        if state >= STATE_LIMIT {
            return None;
        }
        self.sets.push(set);
        self.nodes.push(Some(id));
        let entry = vec![(state, Cond::FREE)];
        Some(Fragment { through: Vec::new(), first: entry.clone(), last: entry })
    }

    fn sequence(&mut self, parts: &[NodeId], place: Place) -> Option<Fragment> {
        let mut all = Fragment::empty();
        for (index, part) in parts.iter().enumerate() {
            let place = if index + 1 == parts.len() { place } else { Place::Inner };
            let next = self.fragment(*part, place)?;
            all = self.join(all, next)?;
        }
        Some(all)
    }

    fn join(&mut self, left: Fragment, right: Fragment) -> Option<Fragment> {
        self.connect(&left.last, &right.first)?;
        let mut first = left.first;
        for cond in &left.through {
            self.spend(right.first.len())?;
            first.extend(after(&right.first, *cond));
        }
        let mut last = right.last;
        for cond in &right.through {
            self.spend(left.last.len())?;
            last.extend(after(&left.last, *cond));
        }
        let through = left.through.iter().flat_map(|one| {
            right.through.iter().map(|other| one.then(*other)).filter(Cond::possible)
        });
        let through = at_most_twice(through.collect());
        Some(Fragment { through, first, last })
    }

    fn connect(&mut self, last: &[(State, Cond)], first: &[(State, Cond)]) -> Option<()> {
        self.spend(last.len().saturating_mul(first.len()))?;
        for (from, out) in last {
            for (to, into) in first {
                let cond = out.then(*into);
                if cond.before.meets(self.sets[*from]) {
                    self.add_edge(*from, *to, cond.next);
                }
            }
        }
        Some(())
    }

    fn add_edge(&mut self, from: State, to: State, next: Mask) {
        let on = next & self.sets[to];
        if on.is_empty() {
            return;
        }
        let edge =
            self.edges.entry((from, to)).or_insert(Edge { to, on: Mask::NONE, twice: Mask::NONE });
        edge.twice |= edge.on & on;
        edge.on |= on;
    }

    fn repeat(&mut self, body: NodeId, min: u32, max: Option<u32>) -> Option<Fragment> {
        let max = match (max, self.bounds) {
            (Some(max), Bounds::AsLoops) if max >= LOOP_FROM && max > min => None,
            (Some(max), Bounds::Strict) => Some(max.min(min.saturating_add(ROUNDS))),
            (max, _) => max,
        };
        let plain = if max.is_none() { min.saturating_sub(1) } else { min };
        let mut all = Fragment::empty();
        for _ in 0..plain {
            let next = self.fragment(body, Place::Inner)?;
            all = self.join(all, next)?;
        }
        let rest = match max {
            None => self.endless(body, min)?,
            Some(max) => self.optional(body, max - min.min(max))?,
        };
        self.join(all, rest)
    }

    fn endless(&mut self, body: NodeId, min: u32) -> Option<Fragment> {
        let mut round = self.fragment(body, Place::Inner)?;
        self.connect(&round.last, &round.first)?;
        if min == 0 {
            round.through = vec![Cond::FREE];
        }
        Some(round)
    }

    fn optional(&mut self, body: NodeId, rounds: u32) -> Option<Fragment> {
        let mut all = Fragment::empty();
        for _ in 0..rounds {
            let round = self.fragment(body, Place::Inner)?;
            all = self.join(round, all)?;
            all.through = vec![Cond::FREE];
        }
        Some(all)
    }

    fn assertion(&self, assertion: Assertion) -> Vec<Cond> {
        let word = self.alphabet.word;
        let newline = self.alphabet.newline;
        let cond = |before, next| Cond { before, next };
        match assertion {
            Assertion::TextStart => vec![cond(Mask::EDGE, Mask::ALL)],
            // That a last line feed may follow is seen to where failing texts are chosen.
            Assertion::TextEnd | Assertion::LastLineEnd => vec![cond(Mask::ALL, Mask::EDGE)],
            Assertion::LineStart => vec![cond(Mask::EDGE | newline, Mask::ALL)],
            Assertion::LineEnd => vec![cond(Mask::ALL, Mask::EDGE | newline)],
            Assertion::WordBoundary => vec![cond(word, !word), cond(!word, word)],
            Assertion::NotWordBoundary => vec![cond(word, word), cond(!word, !word)],
        }
    }

    /// What a lookaround asks of its neighbours: their first character at least.
    fn look(&self, look: Look, body: NodeId) -> Cond {
        let (side, negative) = match look {
            Look::Ahead => (Side::First, false),
            Look::NotAhead => (Side::First, true),
            Look::Behind => (Side::Last, false),
            Look::NotBehind => (Side::Last, true),
        };
        let mask = if negative {
            self.single(body).map_or(Mask::ALL, |mask| !mask)
        } else {
            self.reach(body, side).0
        };
        match side {
            Side::First => Cond { before: Mask::ALL, next: mask },
            Side::Last => Cond { before: mask, next: Mask::ALL },
        }
    }

    /// The exact set of a node that matches any one character of it and nothing else.
    fn single(&self, id: NodeId) -> Option<Mask> {
        match self.ast.kind(id) {
            NodeKind::Chars { set, .. } => Some(self.alphabet.mask(set)),
            NodeKind::Group { body, .. } | NodeKind::Atomic(body) => self.single(*body),
            NodeKind::Assert(Assertion::TextEnd) => Some(Mask::EDGE),
            NodeKind::Alternate(parts) => parts
                .iter()
                .try_fold(Mask::NONE, |mask, part| self.single(*part).map(|one| mask | one)),
            _ => None,
        }
    }

    /// What a node's match can begin or end with, and whether it can be empty.
    fn reach(&self, id: NodeId, side: Side) -> (Mask, bool) {
        match self.ast.kind(id) {
            NodeKind::Chars { set, .. } => (self.alphabet.mask(set), false),
            NodeKind::Group { body, .. } | NodeKind::Atomic(body) => self.reach(*body, side),
            NodeKind::Repeat { body, min, .. } if *min > 0 => self.reach(*body, side),
            NodeKind::Alternate(parts) => {
                parts.iter().fold((Mask::NONE, false), |(mask, empty), part| {
                    let (one, nothing) = self.reach(*part, side);
                    (mask | one, empty || nothing)
                })
            }
            NodeKind::Concat(parts) => {
                let part = match side {
                    Side::First => parts.first(),
                    Side::Last => parts.last(),
                };
                match part.map(|part| self.reach(*part, side)) {
                    Some((mask, false)) => (mask, false),
                    _ => (Mask::ALL, true),
                }
            }
            NodeKind::Assert(Assertion::TextEnd) if side == Side::First => (Mask::EDGE, false),
            NodeKind::Assert(Assertion::TextStart) if side == Side::Last => (Mask::EDGE, false),
            _ => (Mask::ALL, true),
        }
    }

    fn finish(mut self, root: &Fragment, begin: Begin) -> Option<Automaton> {
        let start = 0;
        let mut accepts = vec![Mask::NONE; self.sets.len()];
        for (state, cond) in &root.last {
            if cond.before.meets(self.sets[*state]) {
                accepts[*state] |= cond.next;
            }
        }
        let mut entries = vec![start];
        let before = (begin == Begin::Anywhere).then_some(self.sets.len());
        if let Some(before) = before {
            self.sets.push(self.alphabet.all());
            self.nodes.push(None);
            accepts.push(Mask::NONE);
            self.add_edge(start, before, Mask::ALL);
            self.add_edge(before, before, Mask::ALL);
            entries.push(before);
        }
        for entry in entries {
            self.connect(&[(entry, Cond::FREE)], &root.first)?;
            for cond in &root.through {
                if cond.before.meets(self.sets[entry]) {
                    accepts[entry] |= cond.next;
                }
            }
        }
        let mut edges = vec![Vec::new(); self.sets.len()];
        for ((from, _), edge) in self.edges {
            edges[from].push(edge);
        }
        edges.iter_mut().for_each(|out| out.sort_unstable_by_key(|edge| edge.to));
        let soft = |kind: &NodeKind| matches!(kind, NodeKind::Assert(Assertion::LastLineEnd));
        let soft = self.ast.nodes.iter().any(|node| soft(&node.kind));
        let soft_end = if soft { self.alphabet.newline } else { Mask::NONE };
        Some(Automaton { edges, accepts, nodes: self.nodes, start, soft_end, before })
    }
}

/// Which end of a match is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    First,
    Last,
}

fn after(entries: &[(State, Cond)], cond: Cond) -> impl Iterator<Item = (State, Cond)> {
    let joined = entries.iter().map(move |(state, own)| (*state, own.then(cond)));
    joined.filter(|(_, cond)| cond.possible())
}

/// Ways beyond the second of a kind tell nothing more.
fn at_most_twice(conds: Vec<Cond>) -> Vec<Cond> {
    let mut kept: Vec<Cond> = Vec::new();
    for cond in conds {
        if kept.iter().filter(|known| **known == cond).count() < 2 {
            kept.push(cond);
        }
    }
    kept
}
