//! Statements: the order in which values are assigned, and where the branches meet again.

use super::{Engine, Frame};
use crate::taint::syntax::{ExpressionView, StatementView};
use crate::taint::value::AbstractValue;
use tree_sitter::Node;

/// Whether the code after a statement is reachable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reaches {
    Next,
    Nothing,
}

impl<'t> Engine<'t, '_> {
    pub(super) fn block(&mut self, statements: &[Node<'t>]) -> Reaches {
        self.hoist(statements);
        for statement in statements {
            if self.statement(*statement) == Reaches::Nothing {
                return Reaches::Nothing;
            }
        }
        Reaches::Next
    }

    /// Declares the functions of a block, which may be used before their definition.
    fn hoist(&mut self, statements: &[Node<'t>]) {
        for statement in statements {
            match self.view.statement(*statement) {
                StatementView::Declare { name, definition } => {
                    if matches!(self.view.expression(definition), ExpressionView::Function) {
                        let mut value = self.evaluate(definition);
                        value.paths.push(format!("_.{name}").into());
                        self.declare(name, value);
                    }
                }
                StatementView::Block(inner) if statement.kind() == "export_statement" => {
                    self.hoist(&inner);
                }
                _ => {}
            }
        }
    }

    fn statement(&mut self, node: Node<'t>) -> Reaches {
        if self.is_exhausted() {
            return Reaches::Nothing;
        }
        self.depth += 1;
        let reaches = self.statement_view(node);
        self.depth -= 1;
        reaches
    }

    fn statement_view(&mut self, node: Node<'t>) -> Reaches {
        match self.view.statement(node) {
            StatementView::Expressions(parts) => return self.expressions(&parts),
            StatementView::Bind(pairs) => {
                for (target, value) in pairs {
                    let bound = value.map(|value| self.evaluate(value)).unwrap_or_default();
                    self.bind(target, bound, value.unwrap_or(target));
                }
            }
            StatementView::If { condition, then, otherwise } => {
                return self.branch(condition, then, otherwise);
            }
            StatementView::Loop { over, parts, body } => self.looped(over, &parts, body),
            StatementView::Switch { subject, cases } => {
                self.evaluate(subject);
                for case in cases {
                    self.alternative(&case);
                }
            }
            StatementView::Try { body, handlers, finally } => {
                body.into_iter().for_each(|body| self.alternative(&[body]));
                handlers.into_iter().for_each(|handler| self.alternative(&[handler]));
                return finally.map_or(Reaches::Next, |finally| self.statement(finally));
            }
            StatementView::Return(value) => {
                let returned = value.map(|value| self.evaluate(value)).unwrap_or_default();
                self.returns(&returned, value.unwrap_or(node));
                return Reaches::Nothing;
            }
            StatementView::Leave(parts) => {
                self.expressions(&parts);
                return Reaches::Nothing;
            }
            StatementView::Block(inner) => return self.block(&inner),
            StatementView::Declare { definition, .. } => {
                // Functions are declared when their block begins.
                if matches!(self.view.expression(definition), ExpressionView::Class) {
                    self.evaluate(definition);
                }
            }
            StatementView::Import(names) => {
                for (name, path) in names {
                    let value = self.reached(vec![path.into()], node);
                    self.declare(name, value);
                }
            }
        }
        Reaches::Next
    }

    fn expressions(&mut self, parts: &[Node<'t>]) -> Reaches {
        for part in parts {
            self.evaluate(*part);
            if self.is_exit(*part) {
                return Reaches::Nothing;
            }
        }
        Reaches::Next
    }

    pub(super) fn returns(&mut self, value: &AbstractValue<'t>, node: Node<'t>) {
        for sink in self.frame().return_sinks.clone() {
            // Python frameworks accept a tuple of body and status.
            let body = value.field("0").unwrap_or(value);
            self.report(sink, &body.taints, node);
        }
        let before = std::mem::take(&mut self.frame().returned);
        self.frame().returned = before.or(value);
    }

    fn branch(
        &mut self,
        condition: Node<'t>,
        then: Node<'t>,
        otherwise: Option<Node<'t>>,
    ) -> Reaches {
        self.evaluate(condition);
        let before = self.frame().clone();
        self.check(condition, true);
        let then_reaches = self.statement(then);
        let after_then = std::mem::replace(self.frame(), before);
        self.frame().returned = after_then.returned.clone();
        let n_checked = self.frame().checked.len();
        self.check(condition, false);
        let reaches = otherwise.map_or(Reaches::Next, |otherwise| self.statement(otherwise));
        match (then_reaches, reaches) {
            // Only the other branch continues: its checks stay valid.
            (Reaches::Nothing, _) => {}
            (Reaches::Next, Reaches::Nothing) => {
                let returned = std::mem::take(&mut self.frame().returned);
                *self.frame() = Frame { returned, ..after_then };
                return Reaches::Next;
            }
            (Reaches::Next, Reaches::Next) => {
                self.frame().checked.truncate(n_checked);
                self.merge(after_then);
            }
        }
        reaches
    }

    /// Statements that may or may not run.
    fn alternative(&mut self, statements: &[Node<'t>]) {
        let before = self.frame().clone();
        if self.block(statements) == Reaches::Nothing {
            let returned = std::mem::take(&mut self.frame().returned);
            *self.frame() = Frame { returned, ..before };
        } else {
            self.merge(before);
        }
    }

    /// Merges the assignments of another branch.
    fn merge(&mut self, other: Frame<'t>) {
        let frame = self.frame();
        frame.safe_classes &= other.safe_classes;
        for (name, value) in other.variables {
            let merged = match frame.variables.remove(name) {
                Some(known) => known.or(&value),
                None => value,
            };
            frame.variables.insert(name, merged);
        }
    }

    fn looped(
        &mut self,
        over: Option<(Node<'t>, Node<'t>)>,
        parts: &[Node<'t>],
        body: Option<Node<'t>>,
    ) {
        let mut item = AbstractValue::default();
        if let Some((_, iterated)) = over {
            let iterated = self.evaluate(iterated);
            item = AbstractValue { taints: iterated.deep_taints(), ..AbstractValue::default() };
            if let Some(fields) = &iterated.fields {
                item = fields.values().fold(item, |item, field| item.or(field));
            }
            item.paths.extend(iterated.extended(".[]"));
        }
        // A second iteration sees the assignments of the first one.
        for _ in 0..2 {
            if let Some((target, iterated)) = over {
                self.bind(target, item.clone(), iterated);
            }
            for part in parts {
                self.statement(*part);
            }
            if let Some(body) = body {
                self.alternative(&[body]);
            }
        }
    }
}
