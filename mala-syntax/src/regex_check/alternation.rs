//! Alternations in which an anchor binds to one branch only: `^a|b|c` and `a|b|c$`.

use super::ast::{Assertion, Ast, Form, NodeId, NodeKind};
use super::{Anchoring, Flags, RegexProblem, RegexProblemKind};

/// A top-level alternation whose first branch alone has `^` or whose last alone has `$`.
pub(super) fn find(ast: &Ast, flags: Flags) -> Option<RegexProblem> {
    let NodeKind::Alternate(branches) = ast.kind(ast.root) else { return None };
    if flags.anchoring != Anchoring::Search || branches.iter().any(|b| has_boundary(ast, *b)) {
        return None;
    }
    let (first, last) = (branches.first()?, branches.last()?);
    let starts = branches.iter().filter(|branch| contains(ast, **branch, Edge::Start)).count();
    let ends = branches.iter().filter(|branch| contains(ast, **branch, Edge::End)).count();
    let open = starts == 1 && bound(ast, *first) == Some(Edge::Start);
    let close = ends == 1 && bound(ast, *last) == Some(Edge::End);
    // `^a|b$` says "starts with a or ends with b".
    let prefix_or_suffix = branches.len() == 2 && starts == 1 && ends == 1;
    if !(open || close) || prefix_or_suffix || (starts > 0 && !open) || (ends > 0 && !close) {
        return None;
    }
    if !branches.iter().all(|branch| has_letter(ast, *branch)) {
        return None;
    }
    let blamed = ast.node(if open { *first } else { *last });
    let kind = RegexProblemKind::SemiAnchoredAlternation;
    Some(RegexProblem::at(kind, blamed.start, blamed.end))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    Start,
    End,
}

fn edge_of(ast: &Ast, id: NodeId) -> Option<Edge> {
    match ast.kind(id) {
        NodeKind::Assert(Assertion::TextStart) => Some(Edge::Start),
        NodeKind::Assert(Assertion::TextEnd | Assertion::LastLineEnd) => Some(Edge::End),
        _ => None,
    }
}

/// The end at which a branch is bound, if it is bound at one end, directly and loosely. A branch
/// whose anchor stands before a group of alternatives and nothing else is bound on purpose.
fn bound(ast: &Ast, branch: NodeId) -> Option<Edge> {
    let NodeKind::Concat(parts) = ast.kind(branch) else { return None };
    let start = parts.first().and_then(|part| edge_of(ast, *part));
    let end = parts.last().and_then(|part| edge_of(ast, *part));
    let deliberate = match parts.as_slice() {
        [_, _] => parts.iter().any(|part| {
            let group = matches!(ast.kind(*part), NodeKind::Group { .. });
            group && matches!(ast.kind(ast.bare(*part)), NodeKind::Alternate(_))
        }),
        _ => false,
    };
    match (start, end) {
        _ if deliberate => None,
        (Some(Edge::Start), Some(Edge::End)) => None,
        (Some(Edge::Start), _) => Some(Edge::Start),
        (_, Some(Edge::End)) => Some(Edge::End),
        _ => None,
    }
}

fn any_below(ast: &Ast, id: NodeId, test: &dyn Fn(NodeId) -> bool) -> bool {
    test(id) || ast.children(id).iter().any(|child| any_below(ast, *child, test))
}

fn contains(ast: &Ast, id: NodeId, edge: Edge) -> bool {
    any_below(ast, id, &|id| edge_of(ast, id) == Some(edge))
}

fn has_boundary(ast: &Ast, id: NodeId) -> bool {
    any_below(ast, id, &|id| {
        use Assertion::{LineEnd, LineStart, NotWordBoundary, WordBoundary};
        matches!(
            ast.kind(id),
            NodeKind::Assert(WordBoundary | NotWordBoundary | LineStart | LineEnd)
                | NodeKind::Look { .. }
        )
    })
}

fn has_letter(ast: &Ast, id: NodeId) -> bool {
    any_below(ast, id, &|id| match ast.kind(id) {
        NodeKind::Chars { form: Form::Literal(point), .. } => {
            char::from_u32(*point).is_some_and(char::is_alphabetic)
        }
        _ => false,
    })
}
