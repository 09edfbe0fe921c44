//! A second, deliberately plain backtracking matcher: it walks the tree with continuations and
//! counts its calls. It shares nothing with the matcher under test but the tree.

use super::super::ast::{Assertion, Ast, Greed, Look, NodeId, NodeKind};

/// Calls after which it gives up.
pub(super) const LIMIT: u64 = 3_000_000;

struct Plain<'a> {
    ast: &'a Ast,
    text: Vec<u32>,
    steps: u64,
}

type Rest<'r> = &'r mut dyn FnMut(&mut Plain<'_>, usize) -> bool;

/// The calls that one attempt at the start of `text` costs.
pub(super) fn steps(ast: &Ast, text: &str) -> u64 {
    let mut plain = Plain { ast, text: text.chars().map(u32::from).collect(), steps: 0 };
    plain.node(ast.root, 0, &mut |_, _| true);
    plain.steps
}

impl Plain<'_> {
    fn node(&mut self, id: NodeId, at: usize, rest: Rest<'_>) -> bool {
        self.steps += 1;
        if self.steps > LIMIT {
            return true;
        }
        match self.ast.kind(id) {
            NodeKind::Empty | NodeKind::Backref(_) => rest(self, at),
            NodeKind::Chars { set, .. } => {
                self.text.get(at).is_some_and(|point| set.contains(*point)) && rest(self, at + 1)
            }
            NodeKind::Concat(parts) => {
                let parts = parts.clone();
                self.sequence(&parts, at, rest)
            }
            NodeKind::Alternate(parts) => {
                let parts = parts.clone();
                parts.iter().any(|part| self.node(*part, at, rest))
            }
            NodeKind::Group { body, .. } => self.node(*body, at, rest),
            NodeKind::Atomic(body) => {
                let mut end = None;
                self.node(*body, at, &mut |_, to| {
                    end = Some(to);
                    true
                });
                end.is_some_and(|to| rest(self, to))
            }
            NodeKind::Repeat { .. } => self.repeat(id, 0, at, rest),
            NodeKind::Look { look, body } => {
                let found = match look {
                    Look::Ahead | Look::NotAhead => self.node(*body, at, &mut |_, _| true),
                    Look::Behind | Look::NotBehind => {
                        (0..=at).any(|from| self.node(*body, from, &mut |_, to| to == at))
                    }
                };
                found == matches!(look, Look::Ahead | Look::Behind) && rest(self, at)
            }
            NodeKind::Assert(assertion) => self.holds(*assertion, at) && rest(self, at),
        }
    }

    fn sequence(&mut self, parts: &[NodeId], at: usize, rest: Rest<'_>) -> bool {
        match parts.split_first() {
            None => rest(self, at),
            Some((first, others)) => {
                self.node(*first, at, &mut |plain, to| plain.sequence(others, to, rest))
            }
        }
    }

    fn repeat(&mut self, id: NodeId, round: u32, at: usize, rest: Rest<'_>) -> bool {
        let NodeKind::Repeat { body, min, max, greed } = self.ast.kind(id) else { return false };
        let (body, min, max, greed) = (*body, *min, *max, *greed);
        if round >= min && greed == Greed::Lazy && rest(self, at) {
            return true;
        }
        let more = max.is_none_or(|max| round < max);
        if more
            && self.node(body, at, &mut |plain, to| {
                (to > at || round < min) && plain.repeat(id, round + 1, to, rest)
            })
        {
            return true;
        }
        round >= min && greed != Greed::Lazy && rest(self, at)
    }

    fn holds(&self, assertion: Assertion, at: usize) -> bool {
        let word = |point: Option<&u32>| {
            point
                .and_then(|p| char::from_u32(*p))
                .is_some_and(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        let before = at.checked_sub(1).and_then(|index| self.text.get(index));
        let next = self.text.get(at);
        match assertion {
            Assertion::TextStart => before.is_none(),
            Assertion::TextEnd => next.is_none(),
            Assertion::LastLineEnd => next.is_none_or(|p| *p == 10 && at + 1 == self.text.len()),
            Assertion::LineStart => before.is_none_or(|p| *p == 10),
            Assertion::LineEnd => next.is_none_or(|p| *p == 10),
            Assertion::WordBoundary => word(before) != word(next),
            Assertion::NotWordBoundary => word(before) == word(next),
        }
    }
}
