//! The tree of a parsed pattern. Nodes live in one arena and know their bytes in the pattern.

use super::charset::CharSet;

/// Index of a node in its [`Ast`].
pub(super) type NodeId = usize;

/// A parsed pattern.
#[derive(Debug)]
pub(super) struct Ast {
    pub(super) nodes: Vec<Node>,
    pub(super) root: NodeId,
    /// The root between the anchors that the calling function implies.
    pub(super) anchored: NodeId,
    /// Capture groups in the order of their opening parentheses; the first is number 1.
    pub(super) groups: Vec<Capture>,
    /// The classes as they are written, for checks of their spelling.
    pub(super) classes: Vec<Class>,
}

/// One construct of the pattern.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: NodeKind,
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Debug)]
pub(super) enum NodeKind {
    Empty,
    Chars { set: CharSet, form: Form },
    Concat(Vec<NodeId>),
    Alternate(Vec<NodeId>),
    Group { capture: Option<usize>, body: NodeId },
    Atomic(NodeId),
    Repeat { body: NodeId, min: u32, max: Option<u32>, greed: Greed },
    Look { look: Look, body: NodeId },
    Assert(Assertion),
    Backref(Reference),
}

/// How a set of characters is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A character that stands for itself, escaped or not.
    Literal(u32),
    Dot,
    Class,
    /// `\d` and its like.
    Shorthand,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Greed {
    Greedy,
    Lazy,
    Possessive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    Ahead,
    NotAhead,
    Behind,
    NotBehind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assertion {
    TextStart,
    TextEnd,
    /// At the end, or before a line feed that is the last character.
    LastLineEnd,
    LineStart,
    LineEnd,
    WordBoundary,
    NotWordBoundary,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reference {
    Number(usize),
    Name(String),
}

/// A capture group.
#[derive(Debug)]
pub(super) struct Capture {
    pub(super) name: Option<String>,
    pub(super) node: NodeId,
}

/// A bracketed class as it is written.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) negated: bool,
    pub(super) items: Vec<ClassItem>,
}

/// One member of a class with its bytes in the pattern.
#[derive(Clone, Debug)]
pub(super) struct ClassItem {
    pub(super) kind: ItemKind,
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ItemKind {
    Char(u32),
    Range(u32, u32),
    /// `\d`, `\w`, `\p{…}`, a POSIX name or a nested class.
    Set(CharSet),
    /// `\b`, which is a backspace inside a class.
    Backspace,
}

impl Ast {
    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    pub(super) fn kind(&self, id: NodeId) -> &NodeKind {
        &self.nodes[id].kind
    }

    /// The group that a reference names, if there is one.
    pub(super) fn capture_of(&self, reference: &Reference) -> Option<usize> {
        match reference {
            Reference::Number(number) => {
                (1..=self.groups.len()).contains(number).then_some(*number)
            }
            Reference::Name(name) => {
                let found =
                    self.groups.iter().position(|g| g.name.as_deref() == Some(name.as_str()));
                found.map(|index| index + 1)
            }
        }
    }

    /// The node of capture group `number`, counted from 1.
    pub(super) fn capture_node(&self, number: usize) -> Option<NodeId> {
        self.groups.get(number.checked_sub(1)?).map(|capture| capture.node)
    }

    /// The nodes directly inside a node.
    pub(super) fn children(&self, id: NodeId) -> &[NodeId] {
        match self.kind(id) {
            NodeKind::Concat(parts) | NodeKind::Alternate(parts) => parts,
            NodeKind::Group { body, .. }
            | NodeKind::Repeat { body, .. }
            | NodeKind::Look { body, .. }
            | NodeKind::Atomic(body) => std::slice::from_ref(body),
            NodeKind::Empty
            | NodeKind::Chars { .. }
            | NodeKind::Assert(_)
            | NodeKind::Backref(_) => &[],
        }
    }

    /// A node with the groups around it taken off.
    pub(super) fn bare(&self, id: NodeId) -> NodeId {
        let mut id = id;
        while let NodeKind::Group { body, .. } | NodeKind::Atomic(body) = self.kind(id) {
            id = *body;
        }
        id
    }

    /// Whether the node can match the empty string; assertions count as empty.
    pub(super) fn nullable(&self, id: NodeId) -> bool {
        match self.kind(id) {
            NodeKind::Chars { .. } => false,
            NodeKind::Empty | NodeKind::Look { .. } | NodeKind::Assert(_) => true,
            NodeKind::Backref(_) => true,
            NodeKind::Concat(parts) => parts.iter().all(|part| self.nullable(*part)),
            NodeKind::Alternate(parts) => parts.iter().any(|part| self.nullable(*part)),
            NodeKind::Group { body, .. } | NodeKind::Atomic(body) => self.nullable(*body),
            NodeKind::Repeat { body, min, .. } => *min == 0 || self.nullable(*body),
        }
    }
}
