//! Checks of how a text begins: whether a path stays inside, whether a URL stays on its host.

use super::super::super::ir::{Argument, ExprId, Expression};
use super::super::super::value::Taint;
use super::super::Machine;
use super::super::texts;
use super::Truth;

impl<'p> Machine<'p> {
    /// The text begins with `prefix`, or not.
    pub(super) fn assume_prefix(&mut self, subject: ExprId, prefix: ExprId, begins: Truth) {
        let value = self.eval(prefix);
        let text = value.prefix().map(str::to_owned);
        match (begins, text) {
            (Truth::Holds, text) if value.taints().is_empty() => {
                self.assume_prefix_holds(subject, text.as_deref())
            }
            (Truth::Fails, Some(text)) => self.assume_prefix_fails(subject, &text),
            _ => {}
        }
    }

    pub(super) fn assume_prefix_holds(&mut self, subject: ExprId, prefix: Option<&str>) {
        let classes = self.classes;
        let own_path = prefix.is_none_or(|prefix| !prefix.starts_with('.') && prefix.len() > 1);
        let own_host = prefix.is_none_or(texts::fixes_host);
        self.refine_checked(subject, &|_, taint| {
            let mut clean = taint.clean;
            if own_path && clean & (classes.normal | classes.contained) != 0 {
                clean |= classes.path;
            }
            if own_host {
                clean |= classes.url;
            }
            Some(Taint { clean, ..taint })
        });
    }

    pub(super) fn assume_prefix_fails(&mut self, subject: ExprId, prefix: &str) {
        let classes = self.classes;
        let upwards = prefix.starts_with('.');
        let absolute = prefix == "/";
        self.refine_checked(subject, &|_, taint| {
            let mut clean = taint.clean;
            if upwards && clean & classes.normal != 0 {
                clean |= classes.contained;
            }
            if absolute {
                clean |= classes.relative;
            }
            Some(Taint { clean, ..taint })
        });
    }

    /// `path[0] === "/"`.
    pub(super) fn assume_first(&mut self, object: ExprId, other: ExprId, equal: Truth) {
        let Some(text) = self.literal_text(other) else { return };
        if equal == Truth::Fails {
            self.assume_prefix_fails(object, text);
        }
    }

    /// Refines what a check is about: `normalize(x)` is about `x`, and so is a variable that holds it.
    pub(super) fn refine_checked(
        &mut self,
        subject: ExprId,
        change: &dyn Fn(&Self, Taint) -> Option<Taint>,
    ) {
        let checked = self.eval(subject);
        let given = match self.expression(subject) {
            Expression::Call { .. } => Some(subject),
            _ => {
                self.refine(subject, change);
                checked.facts().and_then(|facts| facts.origin)
            }
        };
        let Some(Expression::Call { callee, arguments, .. }) =
            given.map(|given| self.expression(given))
        else {
            return;
        };
        // The check speaks about the result; what it learned there holds for what went in.
        let classes = self.classes;
        let inside = classes.relative | classes.contained;
        let mut left = checked.taints().iter().filter_map(|taint| change(self, *taint));
        let safe =
            left.all(|taint| taint.clean & classes.path != 0 || taint.clean & inside == inside);
        if !safe || checked.taints().is_empty() {
            return;
        }
        let mut inputs: Vec<ExprId> = arguments.iter().map(|argument| argument.value).collect();
        if let Expression::Field(object, _) = self.expression(*callee) {
            inputs.push(*object);
        }
        for input in inputs {
            self.clear(input, classes.path);
        }
    }

    /// Every path in these arguments lies where it should.
    pub(super) fn clear_inside(&mut self, arguments: &'p [Argument]) {
        let mut pending: Vec<(ExprId, u8)> =
            arguments.iter().map(|argument| (argument.value, 0)).collect();
        while let Some((id, depth)) = pending.pop() {
            self.clear(id, self.classes.path);
            let inner: &[Argument] = match self.expression(id) {
                Expression::Call { arguments, .. } | Expression::List(arguments) if depth < 4 => {
                    arguments
                }
                _ => continue,
            };
            pending.extend(inner.iter().map(|argument| (argument.value, depth + 1)));
        }
    }
}
