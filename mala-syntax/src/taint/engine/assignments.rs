//! Assignments: variables, fields and destructuring, and the sinks that are written to.

use super::Engine;
use crate::taint::model::PathRole;
use crate::taint::syntax::{ExpressionView, TargetView};
use crate::taint::value::{AbstractValue, Taint};
use std::rc::Rc;
use tree_sitter::Node;

impl<'t> Engine<'t, '_> {
    /// Declares a variable of the running function.
    pub(super) fn declare(&mut self, name: &'t str, value: AbstractValue<'t>) {
        self.forget_checks(name);
        self.frame().variables.insert(name, value);
    }

    /// Binds a declared target; names belong to the running function.
    pub(super) fn bind(&mut self, target: Node<'t>, value: AbstractValue<'t>, site: Node<'t>) {
        if let TargetView::Name(name) = self.view.target(target) {
            self.named(name, &value, site);
            self.declare(name, value);
            return;
        }
        self.assign(target, value, site);
    }

    /// Assigns a value; `site` is reported when the target is a sink.
    pub(super) fn assign(&mut self, target: Node<'t>, value: AbstractValue<'t>, site: Node<'t>) {
        match self.view.target(target) {
            TargetView::Name(name) => {
                self.named(name, &value, site);
                self.written(&[name.into()], &value, site);
                self.set_variable(name, value);
            }
            TargetView::Fields(entries) => {
                for (name, inner) in entries {
                    let field = match name {
                        Some(name) => self.field(&value, site, name, inner),
                        None => value.clone(),
                    };
                    self.bind(inner, field, inner);
                }
            }
            TargetView::Items(items) => {
                for (at, inner) in items.into_iter().enumerate() {
                    let item = self.field(&value, site, &at.to_string(), inner);
                    self.bind(inner, item, site);
                }
            }
            TargetView::Default(inner, default) => {
                let default = self.evaluate(default);
                self.bind(inner, value.or(&default), site);
            }
            TargetView::Rest(inner) => self.bind(inner, value, site),
            TargetView::Place => self.assign_place(target, value, site),
            TargetView::Nothing => {}
        }
    }

    fn assign_place(&mut self, target: Node<'t>, value: AbstractValue<'t>, site: Node<'t>) {
        let (object, name) = match self.view.expression(target) {
            ExpressionView::Field(object, name) => (object, name.to_owned()),
            ExpressionView::Element(object, index) => {
                let index = self.evaluate(index);
                (object, index.text.map_or("[]".to_owned(), |text| text.to_string()))
            }
            _ => return,
        };
        let mut holder = self.evaluate(object);
        self.named(&name, &value, site);
        self.written(&holder.extended(&format!(".{name}")), &value, site);
        if let ExpressionView::Name(variable) = self.view.expression(object) {
            holder.set_field(&name, value);
            self.set_variable(variable, holder);
        }
    }

    /// Sets a variable where it is declared; an undeclared one is global.
    fn set_variable(&mut self, name: &'t str, value: AbstractValue<'t>) {
        self.forget_checks(name);
        let mut at = self.current;
        while !self.frames[at].variables.contains_key(name) {
            match self.frames[at].parent {
                Some(parent) => at = parent,
                None => break,
            }
        }
        let frame = &mut self.frames[at];
        // Other functions may run before this assignment, so their values stay possible.
        let old = frame.variables.remove(name).filter(|_| at != self.current);
        let value = old.map_or(value.clone(), |old| value.or(&old));
        frame.variables.insert(name, value);
    }

    fn forget_checks(&mut self, name: &str) {
        self.frame().checked.retain(|(text, _)| {
            let rest = text.strip_prefix(name);
            !rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[', '?']))
        });
    }

    /// Reports a value that is written to a sink.
    pub(super) fn written(&mut self, paths: &[Rc<str>], value: &AbstractValue<'t>, site: Node<'t>) {
        for role in self.all_roles(paths) {
            if let PathRole::WriteSink(sink) = role {
                self.report(sink, &value.taints, site);
            }
        }
        for (name, field) in value.fields.iter().flat_map(|fields| fields.iter()) {
            if !field.taints.is_empty() {
                let paths: Vec<Rc<str>> =
                    paths.iter().map(|path| format!("{path}.{name}").into()).collect();
                for role in self.all_roles(&paths) {
                    if let PathRole::WriteSink(sink) = role {
                        self.report(sink, &field.taints, site);
                    }
                }
            }
        }
    }

    /// Reports a value that is given to a variable or a field with a sensitive name, at the first
    /// such place only.
    pub(super) fn named(&mut self, name: &str, value: &AbstractValue<'t>, site: Node<'t>) {
        if value.taints.is_empty() {
            return;
        }
        let model = self.model;
        for (pattern, sink) in &model.name_sinks {
            if pattern.is_match(name) {
                let rule = model.sinks.get(*sink).map(|sink| sink.rule);
                let is_known = |taint: &&Taint| {
                    let mut flows = self.flows.iter();
                    flows.any(|flow| Some(flow.rule) == rule && flow.source == taint.source)
                };
                let taints: Vec<Taint> =
                    value.taints.iter().filter(|taint| !is_known(taint)).cloned().collect();
                self.report(*sink, &taints, site);
            }
        }
    }
}
