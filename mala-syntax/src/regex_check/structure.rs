//! Parts of a pattern that can never do their work: anchors in places where they cannot hold,
//! back-references to groups that do not exist or cannot have matched.

use super::ast::{Assertion, Ast, Look, NodeId, NodeKind, Reference};
use super::{Flavour, RegexProblem, RegexProblemKind};

/// Patterns up to this length are idioms for "match nothing", such as `$^` and `a^`.
const IDIOM_LENGTH: usize = 4;

/// The anchors and references of a pattern that cannot work.
pub(super) fn find(ast: &Ast, pattern: &str, flavour: Flavour) -> Vec<RegexProblem> {
    let mut walk = Walk { ast, flavour, problems: Vec::new(), parents: parents(ast) };
    if pattern.len() > IDIOM_LENGTH {
        walk.anchors(ast.root, Around { before: false, after: false });
    }
    walk.references();
    walk.problems
}

/// Whether something before or after a node must consume text.
#[derive(Clone, Copy)]
struct Around {
    before: bool,
    after: bool,
}

struct Walk<'a> {
    ast: &'a Ast,
    flavour: Flavour,
    problems: Vec<RegexProblem>,
    parents: Vec<Option<NodeId>>,
}

impl Walk<'_> {
    fn report(&mut self, kind: RegexProblemKind, id: NodeId) {
        let node = self.ast.node(id);
        self.problems.push(RegexProblem::at(kind, node.start, node.end));
    }

    fn anchors(&mut self, id: NodeId, around: Around) {
        let ast = self.ast;
        match ast.kind(id) {
            NodeKind::Assert(Assertion::TextStart) if around.before => {
                self.report(RegexProblemKind::UnmatchableCaret, id);
            }
            NodeKind::Assert(Assertion::TextEnd | Assertion::LastLineEnd) if around.after => {
                self.report(RegexProblemKind::UnmatchableDollar, id);
            }
            NodeKind::Concat(parts) => {
                let mut before = around.before;
                for (index, part) in parts.iter().enumerate() {
                    let rest = parts.get(index + 1..).unwrap_or_default();
                    let after = around.after || rest.iter().any(|part| self.must_consume(*part));
                    self.anchors(*part, Around { before, after });
                    before = before || self.must_consume(*part);
                }
            }
            NodeKind::Alternate(parts) => {
                // A branch that is only an anchor is a spare one: others take its place.
                let branches =
                    parts.iter().filter(|p| !matches!(ast.kind(**p), NodeKind::Assert(_)));
                branches.for_each(|part| self.anchors(*part, around));
            }
            NodeKind::Group { body, .. } | NodeKind::Atomic(body) => self.anchors(*body, around),
            // A round may be the last one, but not every round is: leave the end open.
            NodeKind::Repeat { body, .. } => self.anchors(*body, around),
            _ => {}
        }
    }

    /// Whether a node always consumes something besides line ends, before which `$` may match.
    fn must_consume(&self, id: NodeId) -> bool {
        match self.ast.kind(id) {
            NodeKind::Chars { set, .. } => !set.contains(10),
            NodeKind::Concat(parts) => parts.iter().any(|part| self.must_consume(*part)),
            NodeKind::Alternate(parts) => parts.iter().all(|part| self.must_consume(*part)),
            NodeKind::Group { body, .. } | NodeKind::Atomic(body) => self.must_consume(*body),
            NodeKind::Repeat { body, min, .. } => *min > 0 && self.must_consume(*body),
            NodeKind::Empty
            | NodeKind::Look { .. }
            | NodeKind::Assert(_)
            | NodeKind::Backref(_) => false,
        }
    }

    fn references(&mut self) {
        if !self.flavour.backtracks() {
            return;
        }
        let ast = self.ast;
        for id in 0..ast.nodes.len() {
            let NodeKind::Backref(reference) = ast.kind(id) else { continue };
            let Some(group) = ast.capture_of(reference).and_then(|n| ast.capture_node(n)) else {
                if self.is_meant(reference) {
                    self.report(RegexProblemKind::BackreferenceToMissingGroup, id);
                }
                continue;
            };
            if let Some(kind) = self.misplaced(id, group) {
                self.report(kind, id);
            }
        }
    }

    /// An octal escape of several digits looks like a reference to a far group.
    fn is_meant(&self, reference: &Reference) -> bool {
        match reference {
            Reference::Number(number) => *number <= 9,
            Reference::Name(_) => true,
        }
    }

    fn misplaced(&self, reference: NodeId, group: NodeId) -> Option<RegexProblemKind> {
        let around = self.ancestors(reference);
        let behind = around.iter().any(|id| {
            matches!(
                self.ast.kind(*id),
                NodeKind::Look { look: Look::Behind | Look::NotBehind, .. }
            )
        });
        if behind {
            return None;
        }
        let above_group = self.ancestors(group);
        let hidden = above_group.iter().any(|id| {
            let negative = matches!(
                self.ast.kind(*id),
                NodeKind::Look { look: Look::NotAhead | Look::NotBehind, .. }
            );
            negative && !around.contains(id)
        });
        if hidden {
            return Some(RegexProblemKind::BackreferenceIntoNegativeLookahead);
        }
        let (at, node) = (self.ast.node(reference).start, self.ast.node(group));
        let early = at < node.end;
        let looped = around.iter().any(|id| {
            let repeats =
                matches!(self.ast.kind(*id), NodeKind::Repeat { max, .. } if *max != Some(1));
            repeats && (above_group.contains(id) || *id == group)
        });
        (early && !looped).then_some(RegexProblemKind::BackreferenceBeforeGroup)
    }

    fn ancestors(&self, id: NodeId) -> Vec<NodeId> {
        std::iter::successors(self.parents[id], |id| self.parents[*id]).collect()
    }
}

fn parents(ast: &Ast) -> Vec<Option<NodeId>> {
    let mut parents = vec![None; ast.nodes.len()];
    for id in 0..ast.nodes.len() {
        for child in ast.children(id) {
            parents[*child] = Some(id);
        }
    }
    parents
}
