//! The position automaton of a pattern: one state per character-consuming place, edges where one
//! place can follow another. An edge remembers whether more than one way leads along it without
//! consuming anything, because a backtracking engine tries each of them.

mod build;

use super::alphabet::{Alphabet, Mask};
use super::ast::{Ast, NodeId};

/// A state of the automaton.
pub(super) type State = usize;

/// A way from one state to another by one character.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) to: State,
    /// The characters that take it.
    pub(super) on: Mask,
    /// The characters for which two or more different ways lead to `to`.
    pub(super) twice: Mask,
}

/// How counted repetitions such as `{0,100}` are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bounds {
    /// High bounds are no bounds: right for exponential growth, which needs few rounds.
    AsLoops,
    /// A bounded repetition is no loop: right for polynomial growth, which needs many rounds.
    Strict,
}

/// Where a match attempt may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Begin {
    /// At the first character only.
    Here,
    /// At every character: the automaton gets a state that swallows what comes before.
    Anywhere,
}

/// The automaton of one pattern or of a part of it.
#[derive(Debug)]
pub(super) struct Automaton {
    pub(super) edges: Vec<Vec<Edge>>,
    /// What may come next, the end included, for the match to be complete at a state.
    pub(super) accepts: Vec<Mask>,
    /// The node of the pattern that a state consumes.
    pub(super) nodes: Vec<Option<NodeId>>,
    pub(super) start: State,
    /// The line feed, if the end of the text may be one character away from where `$` matches.
    pub(super) soft_end: Mask,
    /// The state that swallows text before the match, if matches may start anywhere.
    pub(super) before: Option<State>,
}

impl Automaton {
    /// The automaton of the part of `ast` below `root`; nothing if it grows too large.
    pub(super) fn build(
        ast: &Ast,
        root: NodeId,
        alphabet: &Alphabet,
        bounds: Bounds,
        begin: Begin,
    ) -> Option<Self> {
        build::build(ast, root, alphabet, bounds, begin)
    }

    /// The characters that lead from one state to another.
    pub(super) fn edge(&self, from: State, to: State) -> Mask {
        let edges = &self.edges[from];
        let found = edges.binary_search_by_key(&to, |edge| edge.to).ok();
        found.map_or(Mask::NONE, |index| edges[index].on)
    }

    pub(super) fn len(&self) -> usize {
        self.edges.len()
    }

    /// The strongly connected component of every state, and whether it holds a cycle.
    pub(super) fn components(&self) -> Components {
        let graph: Vec<Vec<usize>> =
            self.edges.iter().map(|edges| edges.iter().map(|edge| edge.to).collect()).collect();
        Components::of(&graph)
    }
}

/// Strongly connected components of a graph. A component's number is higher than those of the
/// components it leads to.
#[derive(Debug)]
pub(super) struct Components {
    pub(super) of: Vec<usize>,
    pub(super) cyclic: Vec<bool>,
}

impl Components {
    /// Tarjan's algorithm without recursion.
    pub(super) fn of(graph: &[Vec<usize>]) -> Self {
        const UNSEEN: usize = usize::MAX;
        let count = graph.len();
        let mut order = vec![UNSEEN; count];
        let mut low = vec![0; count];
        let mut open = vec![false; count];
        let mut of = vec![UNSEEN; count];
        let mut cyclic = Vec::new();
        let (mut stack, mut next) = (Vec::new(), 0);
        let mut calls: Vec<(usize, usize)> = Vec::new();
        for root in 0..count {
            if order[root] != UNSEEN {
                continue;
            }
            calls.push((root, 0));
            while let Some((node, edge)) = calls.pop() {
                if edge == 0 {
                    order[node] = next;
                    low[node] = next;
                    next += 1;
                    stack.push(node);
                    open[node] = true;
                }
                if let Some(&to) = graph[node].get(edge) {
                    calls.push((node, edge + 1));
                    if order[to] == UNSEEN {
                        calls.push((to, 0));
                    } else if open[to] {
                        low[node] = low[node].min(order[to]);
                    }
                    continue;
                }
                if low[node] == order[node] {
                    let number = cyclic.len();
                    let mut size = 0;
                    while let Some(member) = stack.pop() {
                        open[member] = false;
                        of[member] = number;
                        size += 1;
                        if member == node {
                            break;
                        }
                    }
                    cyclic.push(size > 1 || graph[node].contains(&node));
                }
                if let Some((parent, _)) = calls.last() {
                    low[*parent] = low[*parent].min(low[node]);
                }
            }
        }
        Self { of, cyclic }
    }
}
