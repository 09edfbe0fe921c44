//! What opens with a parenthesis: groups, lookaround, comments, inline flags, conditionals.

use super::super::Flavour;
use super::super::ast::{Capture, Look, NodeId, NodeKind, Reference};
use super::Parser;

impl Parser<'_> {
    /// After `(`.
    pub(super) fn group(&mut self, start: usize) -> Option<Option<NodeId>> {
        if !self.eat("?") {
            return self.capture(start, None);
        }
        for (opening, look) in [
            ("=", Look::Ahead),
            ("!", Look::NotAhead),
            ("<=", Look::Behind),
            ("<!", Look::NotBehind),
        ] {
            if self.eat(opening) {
                let body = self.inside()?;
                return Some(Some(self.push(NodeKind::Look { look, body }, start)));
            }
        }
        if self.eat(":") || self.eat("|") {
            let body = self.inside()?;
            return Some(Some(self.push(NodeKind::Group { capture: None, body }, start)));
        }
        if self.eat(">") {
            let body = self.inside()?;
            return Some(Some(self.push(NodeKind::Atomic(body), start)));
        }
        if self.eat("#") {
            self.until(')')?;
            return Some(None);
        }
        if self.eat("P=") {
            let name = self.until(')')?.to_owned();
            return Some(Some(self.push(NodeKind::Backref(Reference::Name(name)), start)));
        }
        if self.eat("(") {
            return self.conditional(start);
        }
        for (opening, closing) in [("P<", '>'), ("<", '>'), ("'", '\'')] {
            if self.eat(opening) {
                let name = self.until(closing)?.to_owned();
                return self.capture(start, Some(name));
            }
        }
        self.inline_flags(start)
    }

    fn capture(&mut self, start: usize, name: Option<String>) -> Option<Option<NodeId>> {
        self.groups.push(Capture { name, node: 0 });
        let number = self.groups.len();
        let body = self.inside()?;
        let node = self.push(NodeKind::Group { capture: Some(number), body }, start);
        if let Some(group) = self.groups.get_mut(number - 1) {
            group.node = node;
        }
        Some(Some(node))
    }

    /// The alternatives up to the closing parenthesis, which is consumed.
    fn inside(&mut self) -> Option<NodeId> {
        let body = self.alternation()?;
        self.eat(")").then_some(body)
    }

    /// The text up to `closing`, which is consumed.
    pub(super) fn until(&mut self, closing: char) -> Option<&str> {
        let rest = self.rest();
        let end = rest.find(closing)?;
        self.at += end + closing.len_utf8();
        rest.get(..end)
    }

    /// `(?(1)yes|no)`: either branch may follow.
    fn conditional(&mut self, start: usize) -> Option<Option<NodeId>> {
        self.until(')')?;
        let body = self.inside()?;
        Some(Some(self.push(NodeKind::Group { capture: None, body }, start)))
    }

    /// `(?i)`, `(?s-m)` and `(?i:…)`.
    fn inline_flags(&mut self, start: usize) -> Option<Option<NodeId>> {
        let before = self.modes;
        let mut modes = self.modes;
        let mut on = true;
        loop {
            match self.bump()? {
                '-' => on = false,
                '^' => {}
                'i' => modes.ignore_case = on,
                'm' => modes.multi_line = on,
                's' => modes.dot_all = on,
                'x' => modes.verbose = on,
                'a' | 'd' | 'L' | 'n' | 'u' | 'U' => {}
                'R' if self.flavour == Flavour::Rust => {}
                ')' => {
                    self.modes = modes;
                    return Some(None);
                }
                ':' => {
                    self.modes = modes;
                    let body = self.inside()?;
                    self.modes = before;
                    let group = NodeKind::Group { capture: None, body };
                    return Some(Some(self.push(group, start)));
                }
                _ => return None,
            }
        }
    }
}
