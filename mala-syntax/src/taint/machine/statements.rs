//! Statements: branches, loops, exceptions.

use super::super::ir::{Case, ExprId, Expression, Loop, Over, Place, Statement, Try};
use super::super::model::Role;
use super::super::state::Changes;
use super::super::value::{Known, Value};
use super::guards::Truth;
use super::{LoopFrame, Machine};

/// Whether what follows a statement can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    GoesOn,
    Ends,
}

impl<'p> Machine<'p> {
    pub(super) fn execute(&mut self, statements: &'p [Statement]) -> After {
        for statement in statements {
            if self.step(statement) == After::Ends {
                return After::Ends;
            }
        }
        After::GoesOn
    }

    fn step(&mut self, statement: &'p Statement) -> After {
        if self.budget == 0 || self.depth >= super::MAX_DEPTH {
            return After::GoesOn;
        }
        self.depth += 1;
        let after = self.step_into(statement);
        self.depth -= 1;
        after
    }

    fn step_into(&mut self, statement: &'p Statement) -> After {
        match statement {
            Statement::Expression(value) => {
                self.eval(*value);
                self.assume_checked(*value);
                if self.never_returns(*value) { After::Ends } else { After::GoesOn }
            }
            Statement::Block(inner) => self.execute(inner),
            Statement::If(condition, then, otherwise) => self.branch(*condition, then, otherwise),
            Statement::Loop(inner) => self.run_loop(inner),
            Statement::Switch(subject, cases) => self.switch(*subject, cases),
            Statement::Try(inner) => self.attempt(inner),
            Statement::Return(value) => {
                let given = *value;
                let value = given.map(|value| self.eval(value)).unwrap_or_default();
                self.check_return(given, &value);
                if let Some(frame) = self.frames.last_mut() {
                    frame.returned = join_first(&frame.returned, value);
                }
                After::Ends
            }
            Statement::Throw(value) => {
                let value = value.map(|value| self.eval(value)).unwrap_or_default();
                if let Some(thrown) = self.thrown.last_mut() {
                    *thrown = join_first(thrown, value);
                }
                After::Ends
            }
            Statement::Break | Statement::Continue => {
                if let Some(open) = self.loops.last_mut() {
                    open.exits.push(self.state.changes_since(open.depth));
                }
                After::Ends
            }
            Statement::Assert(condition) => {
                self.eval(*condition);
                self.assume(*condition, Truth::Holds);
                After::GoesOn
            }
        }
    }

    /// `sys.exit()` and its kin.
    fn never_returns(&mut self, statement: ExprId) -> bool {
        let Expression::Call { callee, .. } = self.expression(statement) else { return false };
        let plain = matches!(
            self.expression(*callee),
            Expression::Variable(_) | Expression::Global(_) | Expression::Field(..)
        );
        if !plain {
            return false;
        }
        let callee = self.eval(*callee);
        callee.apis().iter().any(|api| self.roles(*api).contains(&Role::End))
    }

    fn branch(
        &mut self,
        condition: ExprId,
        then: &'p [Statement],
        otherwise: &'p [Statement],
    ) -> After {
        let value = self.eval(condition);
        let decided = match value.known() {
            Known::Bool(decided) => Some(*decided),
            _ => None,
        };
        let mut live = Vec::new();
        for (truth, body) in [(Truth::Holds, then), (Truth::Fails, otherwise)] {
            if decided == Some(truth == Truth::Fails) {
                continue;
            }
            self.state.push();
            self.assume(condition, truth);
            let after = self.execute(body);
            let changes = self.state.pop();
            if after == After::GoesOn {
                live.push(changes);
            }
        }
        if live.is_empty() {
            return After::Ends;
        }
        self.state.merge(live);
        After::GoesOn
    }

    /// The body runs twice, so that what one turn leaves is seen by the next.
    fn run_loop(&mut self, inner: &'p Loop) -> After {
        let iterated = inner.over.as_ref().map(|(_, iterated, _)| self.eval(*iterated));
        let turns = if self.loops.len() >= 2 { 1 } else { 2 };
        let mut after_any = vec![Changes::new()];
        self.state.push();
        let depth = self.state.depth() - 1;
        self.loops.push(LoopFrame { depth, exits: Vec::new() });
        for _ in 0..turns {
            if let (Some((pattern, source, over)), Some(value)) = (&inner.over, &iterated) {
                let bound = self.turn_value(value, *over, self.place(*source));
                self.bind(pattern, bound, self.place(*source));
            }
            if let Some(condition) = inner.condition {
                self.eval(condition);
                self.check_loop_bound(condition, &inner.body);
                self.assume(condition, Truth::Holds);
            }
            if self.execute(&inner.body) == After::Ends {
                break;
            }
            if let Some(update) = inner.update {
                self.eval(update);
            }
            after_any.push(self.state.changes_since(depth));
        }
        let exits = self.loops.pop().map(|open| open.exits).unwrap_or_default();
        self.state.pop();
        after_any.extend(exits);
        self.state.merge(after_any);
        if let Some(condition) = inner.condition {
            self.assume(condition, Truth::Fails);
        }
        After::GoesOn
    }

    fn turn_value(&mut self, iterated: &Value, over: Over, place: Place) -> Value {
        match over {
            Over::Elements => self.element_of(iterated, place),
            Over::Keys => self.keys_of(iterated),
        }
    }

    fn switch(&mut self, subject: ExprId, cases: &'p [Case]) -> After {
        self.eval(subject);
        let mut live = Vec::new();
        let mut has_default = false;
        let depth = self.state.depth();
        self.loops.push(LoopFrame { depth, exits: Vec::new() });
        let mut fallen: Option<Changes> = None;
        for case in cases {
            self.state.push();
            for value in &case.values {
                self.eval(*value);
            }
            has_default |= case.values.is_empty();
            if !case.values.is_empty() {
                self.assume_constant(subject);
            }
            if let Some(changes) = fallen.take() {
                self.state.merge(vec![changes, Changes::new()]);
            }
            let after = self.execute(&case.body);
            let changes = self.state.pop();
            if after == After::GoesOn {
                fallen = Some(changes);
            }
        }
        live.extend(fallen);
        let exits = self.loops.pop().map(|open| open.exits).unwrap_or_default();
        live.extend(exits);
        if !has_default {
            live.push(Changes::new());
        }
        if live.is_empty() {
            return After::Ends;
        }
        self.state.merge(live);
        After::GoesOn
    }

    fn attempt(&mut self, inner: &'p Try) -> After {
        self.state.push();
        self.thrown.push(Value::default());
        let body_after = self.execute(&inner.body);
        let thrown = self.thrown.pop().unwrap_or_default();
        let body_changes = self.state.pop();
        let mut live = Vec::new();
        for catch in &inner.catches {
            self.state.push();
            self.state.merge(vec![body_changes.clone(), Changes::new()]);
            if let Some(pattern) = &catch.caught {
                let caught = self.root_value("caught", catch.place).join(&thrown);
                self.bind(pattern, caught, catch.place);
            }
            let after = self.execute(&catch.body);
            let changes = self.state.pop();
            if after == After::GoesOn {
                live.push(changes);
            }
        }
        if body_after == After::GoesOn {
            live.push(body_changes);
        }
        let ends = live.is_empty();
        self.state.merge(live);
        let finally = self.execute(&inner.finally);
        if ends || finally == After::Ends { After::Ends } else { After::GoesOn }
    }

    /// The expression under wrappers that change nothing.
    pub(super) fn expression(&self, id: ExprId) -> &'p Expression {
        self.program.expression(id)
    }
}

/// Joins, but takes the first value as it is.
pub(super) fn join_first(before: &Value, value: Value) -> Value {
    if before.facts().is_none() { value } else { before.join(&value) }
}
