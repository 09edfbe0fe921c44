//! How a value is reached, as a path from a module, a global or an unknown variable. Paths are
//! numbered and shared, so that what the rules say about one is looked up once.

use super::ir::{Names, Sym, number};
use std::collections::HashMap;

/// A path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ApiId(pub(crate) u32);

/// The last step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Edge {
    Name(Sym),
    /// What a call gives.
    Call,
    /// A parameter of a function that is handed over in a call.
    Parameter(u8),
}

struct Node {
    parent: Option<ApiId>,
    edge: Edge,
    length: u8,
}

/// Longer paths are not followed.
const MAX_LENGTH: u8 = 14;
const MAX_PATHS: usize = 60_000;

/// All paths met so far.
#[derive(Default)]
pub(crate) struct Apis {
    nodes: Vec<Node>,
    known: HashMap<(Option<ApiId>, Edge), ApiId>,
}

impl Apis {
    pub(crate) fn root(&mut self, name: Sym) -> Option<ApiId> {
        self.step(None, Edge::Name(name))
    }

    pub(crate) fn child(&mut self, parent: ApiId, edge: Edge) -> Option<ApiId> {
        self.step(Some(parent), edge)
    }

    fn step(&mut self, parent: Option<ApiId>, edge: Edge) -> Option<ApiId> {
        if let Some(known) = self.known.get(&(parent, edge)) {
            return Some(*known);
        }
        let length = parent.map_or(0, |parent| self.node(parent).length) + 1;
        if length > MAX_LENGTH || self.nodes.len() >= MAX_PATHS {
            return None;
        }
        let id = ApiId(number(self.nodes.len()));
        self.nodes.push(Node { parent, edge, length });
        self.known.insert((parent, edge), id);
        Some(id)
    }

    fn node(&self, id: ApiId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    pub(crate) fn parent(&self, id: ApiId) -> Option<ApiId> {
        self.node(id).parent
    }

    pub(crate) fn edge(&self, id: ApiId) -> Edge {
        self.node(id).edge
    }

    /// The steps from the root on.
    pub(crate) fn steps(&self, id: ApiId) -> Vec<Edge> {
        let mut steps = Vec::with_capacity(self.node(id).length.into());
        let mut current = Some(id);
        while let Some(id) = current {
            steps.push(self.edge(id));
            current = self.parent(id);
        }
        steps.reverse();
        steps
    }

    /// The path of a text such as `http.req.body`; every name is taken as it is.
    pub(crate) fn path(&mut self, text: &str, names: &mut Names) -> Option<ApiId> {
        let mut current = None;
        for name in text.split('.') {
            let (name, call) = match name.strip_suffix("()") {
                Some(name) => (name, true),
                None => (name, false),
            };
            current = self.step(current, Edge::Name(names.intern(name)));
            current?;
            if call {
                current = self.step(current, Edge::Call);
            }
        }
        current
    }
}
