//! Changing what is known of a value because of a check.

use super::super::super::ir::{ExprId, Expression};
use super::super::super::value::Taint;
use super::super::Machine;

/// Methods that change the case of a text or its ends only.
const PEELED: [&str; 9] = [
    "lower",
    "upper",
    "strip",
    "trim",
    "toLowerCase",
    "toUpperCase",
    "toString",
    "ToLower",
    "TrimSpace",
];

impl<'p> Machine<'p> {
    /// Changes the taints of what an expression names.
    pub(super) fn refine(
        &mut self,
        subject: ExprId,
        change: &dyn Fn(&Self, Taint) -> Option<Taint>,
    ) {
        let subject = self.peeled(subject);
        let Some(spot) = self.spot(subject) else { return };
        let value = self.eval(subject);
        if value.deep_taints().is_empty() {
            return;
        }
        let changed = value.map_taints(&|taint| change(self, taint));
        let place = self.place(subject);
        self.store(&spot, changed, place);
        self.refine_entry(subject, change);
    }

    /// What a text is made from by methods that change its case or its ends only.
    fn peeled(&self, subject: ExprId) -> ExprId {
        let mut current = subject;
        for _ in 0..4 {
            let Expression::Call { callee, .. } = self.expression(current) else { break };
            let Expression::Field(object, name) = self.expression(*callee) else { break };
            if !PEELED.contains(&self.names.text(*name)) {
                break;
            }
            current = *object;
        }
        current
    }

    /// Checking the name of an archive's entry or of an upload is checking the entry.
    pub(super) fn refine_entry(
        &mut self,
        subject: ExprId,
        change: &dyn Fn(&Self, Taint) -> Option<Taint>,
    ) {
        let Expression::Field(holder, name) = self.expression(subject) else { return };
        let named = matches!(
            self.names.text(*name),
            "name" | "filename" | "fileName" | "entryName" | "path"
        );
        let Some(spot) = self.spot(*holder).filter(|_| named) else { return };
        let inside = self.classes.path
            | self.classes.relative
            | self.classes.contained
            | self.classes.normal;
        let value = self.eval(*holder);
        let changed = value.map_taints(&|taint| match change(self, taint) {
            Some(after) => Some(Taint { clean: taint.clean | (after.clean & inside), ..taint }),
            None => Some(Taint { clean: taint.clean | self.classes.path, ..taint }),
        });
        let place = self.place(subject);
        self.store(&spot, changed, place);
    }

    /// Clears classes of what went into the call that gave a value.
    pub(super) fn refine_origin(&mut self, subject: ExprId, classes: &dyn Fn(Taint) -> u64) {
        let given = match self.expression(subject) {
            Expression::Call { .. } => Some(subject),
            _ => self.eval(subject).facts().and_then(|facts| facts.origin),
        };
        let Some(Expression::Call { arguments, .. }) = given.map(|given| self.expression(given))
        else {
            return;
        };
        for argument in arguments {
            self.refine(argument.value, &|_, taint| {
                Some(Taint { clean: taint.clean | classes(taint), ..taint })
            });
        }
    }

    pub(super) fn clear(&mut self, subject: ExprId, classes: u64) {
        if classes != 0 {
            self.refine(subject, &|machine, taint| machine.cleared(taint, classes));
        }
    }
}
