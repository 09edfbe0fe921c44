//! Texts put together from pieces: what the whole begins with, and what that means for taint in it.

use super::super::ir::{Argument, ExprId};
use super::super::value::{Facts, Known, Taint, Value, add_taint};
use super::Machine;
use std::rc::Rc;

/// Longer known texts are kept by their beginning.
const MAX_TEXT: usize = 2000;

impl<'p> Machine<'p> {
    /// The text of all parts in a row.
    pub(super) fn joined(&mut self, parts: &[Value]) -> Value {
        let mut taints: Vec<Taint> = Vec::new();
        let mut literals: Vec<ExprId> = Vec::new();
        let mut before = Before::default();
        for part in parts {
            for taint in part.deep_taints() {
                if let Some(taint) = self.behind(taint, &before) {
                    add_taint(&mut taints, taint);
                }
            }
            for literal in part.deep_literals() {
                if literals.len() < 8 && !literals.contains(&literal) {
                    literals.push(literal);
                }
            }
            before.add(part, self.classes.operator, self.classes.url);
        }
        Value::new(Facts { taints, literals, known: before.known(), ..Facts::default() })
    }

    /// A taint in a text, with something known in front of it.
    fn behind(&self, taint: Taint, before: &Before) -> Option<Taint> {
        if taint.chose {
            return None;
        }
        let mut taint = Taint { kinds: taint.kinds & !self.classes.object, ..taint };
        if taint.kinds == 0 {
            return None;
        }
        if !before.is_empty() {
            taint.clean |= self.classes.relative | self.classes.prototype;
            taint.clean &= !self.classes.normal;
        }
        if before.quotes() && taint.kinds & !self.classes.location == 0 {
            taint.clean |= self.classes.shell;
        }
        if before.fixes_host() {
            taint.clean |= self.classes.url;
        }
        Some(taint)
    }

    /// A format text with what is put into it: everything follows what stands before the first gap.
    pub(super) fn format(&mut self, format: ExprId, arguments: &'p [Argument]) -> Value {
        let format = self.eval(format);
        let mut parts = Vec::with_capacity(arguments.len() + 1);
        parts.push(match format.text().and_then(|text| before_gap(text)) {
            Some(start) => Value::of_known(Known::Prefix(Rc::from(start))),
            None => format,
        });
        for argument in arguments {
            parts.push(self.eval(argument.value));
        }
        let mut value = self.joined(&parts);
        value.edit(|facts| {
            if let Known::Texts(_) = facts.known {
                facts.known = Known::Nothing;
            }
        });
        value
    }

    /// Taints that a text made from this value carries.
    pub(super) fn carried(&self, value: &Value) -> Vec<Taint> {
        value.taints().iter().filter(|taint| !taint.chose).copied().collect()
    }

    /// The same with what is in it.
    pub(super) fn carried_deep(&self, value: &Value) -> Vec<Taint> {
        value.deep_taints().into_iter().filter(|taint| !taint.chose).collect()
    }
}

/// The part of a format text before `%s`, `{}` or `{0}`.
fn before_gap(text: &str) -> Option<&str> {
    let at = text.find(['%', '{'])?;
    text.get(..at)
}

/// What stands before a piece of a text.
#[derive(Default)]
struct Before {
    text: String,
    /// Whether something unknown follows the known text.
    open: bool,
    /// Whether an unknown piece that nobody outside chose comes first.
    own_start: bool,
}

impl Before {
    /// `operator` are the kinds of values that those who run the program choose, and `url` says that
    /// a host is fixed.
    fn add(&mut self, part: &Value, operator: u64, url: u64) {
        if self.open {
            if let (Some(text), true) = (part.text(), self.own_start) {
                self.text.push_str(text);
            }
            return;
        }
        match part.known() {
            Known::Texts(texts) if texts.len() == 1 && self.text.len() < MAX_TEXT => {
                self.text.extend(texts.iter().map(|text| &**text));
            }
            Known::Prefix(prefix) => {
                self.text.push_str(prefix);
                self.open = true;
            }
            Known::Number(number) => self.text.push_str(&number.to_string()),
            _ => {
                self.open = true;
                let is_outside = |taint: &Taint| {
                    !taint.chose && taint.kinds & !operator != 0 && taint.clean & url == 0
                };
                let tainted = part.deep_taints().iter().any(is_outside);
                self.own_start = matches!(self.text.as_str(), "" | "/") && !tainted;
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.text.is_empty() && !self.open
    }

    fn known(&self) -> Known {
        let text: Rc<str> = Rc::from(self.text.as_str());
        match (self.open, self.own_start) {
            (false, _) => Known::Texts(vec![text]),
            (true, false) if !text.is_empty() => Known::Prefix(text),
            _ => Known::Nothing,
        }
    }

    /// Whether an open quote comes right before.
    fn quotes(&self) -> bool {
        self.text.ends_with(['"', '\''])
    }

    /// Whether the host of a URL is given by what stands here.
    fn fixes_host(&self) -> bool {
        self.own_start || fixes_host(&self.text)
    }
}

/// Whether a URL that begins so cannot go to another host.
pub(super) fn fixes_host(prefix: &str) -> bool {
    let after_scheme = match prefix.split_once("://") {
        Some((_, rest)) => rest,
        None => match prefix.strip_prefix("//") {
            Some(rest) => rest,
            None => {
                let mut chars = prefix.chars();
                return match (chars.next(), chars.next()) {
                    (Some('/'), Some(second)) => second != '/' && second != '\\',
                    (Some('?' | '#'), _) => true,
                    (Some('.'), _) => prefix.contains('/'),
                    (Some(first), _) => {
                        first.is_ascii_alphanumeric() && prefix.contains(['/', '?', '#'])
                    }
                    (None, _) => false,
                };
            }
        },
    };
    after_scheme.find(['/', '?', '#']).is_some_and(|at| at > 0)
}

#[cfg(test)]
mod tests {
    use super::fixes_host;

    #[test]
    fn a_host_is_fixed_by_what_ends_it() {
        for (prefix, expected) in [
            ("https://example.com/", true),
            ("https://example.com", false),
            ("https://", false),
            ("//example.com/", true),
            ("//", false),
            ("/", false),
            ("/foo", true),
            ("?next=", true),
            ("", false),
            ("users/", true),
            ("./callback?", true),
            ("javascript:", false),
        ] {
            assert_eq!(fixes_host(prefix), expected, "{prefix}");
        }
    }
}
