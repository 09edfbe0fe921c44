//! Sinks that are not called: fields that are written, and what a function gives back.

use super::passes;
use crate::taint::api::{ApiId, Edge};
use crate::taint::ir::{ExprId, Place, Sym};
use crate::taint::machine::{FunctionId, Machine};
use crate::taint::model::Role;
use crate::taint::model::pattern::{Condition, Reach};
use crate::taint::value::Value;
use std::rc::Rc;

impl<'p> Machine<'p> {
    /// A field that is assigned, or an attribute of markup.
    pub(in crate::taint::machine) fn check_write(
        &mut self,
        holder: &Value,
        name: Sym,
        value: &Value,
        at: ExprId,
    ) {
        let apis = holder.apis().to_vec();
        let place = self.place(at);
        self.check_written(&apis, name, value, place);
    }

    pub(in crate::taint::machine) fn check_write_at(
        &mut self,
        holder: &Value,
        name: Sym,
        value: &Value,
        (target, object): (ExprId, ExprId),
    ) {
        let place = self.place(target);
        let mut apis = holder.apis().to_vec();
        if apis.is_empty() {
            let anything = self.names.intern("?");
            apis.extend(self.apis.root(anything));
        }
        self.check_written(&apis, name, value, place);
        if let Some(hint) = self.hint(object, name) {
            self.check_write_roles(hint, value, place);
        }
    }

    fn check_written(&mut self, apis: &[ApiId], name: Sym, value: &Value, place: Place) {
        for api in apis {
            if let Some(child) = self.apis.child(*api, Edge::Name(name)) {
                self.check_write_roles(child, value, place);
                self.check_inner_writes(child, value, place);
            }
        }
    }

    /// Fields of an object that is assigned as a whole.
    fn check_inner_writes(&mut self, api: ApiId, value: &Value, place: Place) {
        let fields: Vec<(Sym, Value)> = value
            .field_map()
            .into_iter()
            .flatten()
            .map(|(name, field)| (*name, field.clone()))
            .collect();
        for (name, field) in fields {
            if let Some(child) = self.apis.child(api, Edge::Name(name)) {
                self.check_write_roles(child, &field, place);
            }
        }
    }

    fn check_write_roles(&mut self, api: ApiId, value: &Value, place: Place) {
        for role in self.roles(api).iter() {
            let Role::WriteSink(index) = role else { continue };
            let Some(sink) = self.model.sinks.get(*index) else { continue };
            let holds = |condition: &Condition| passes(value, &condition.test) != condition.negated;
            if sink.conditions.iter().all(holds) {
                self.check_value(sink.rule, value, place, Reach::Shallow);
            }
        }
    }

    /// What a decorated function gives.
    pub(in crate::taint::machine) fn check_return(&mut self, given: Option<ExprId>, value: &Value) {
        let Some(given) = given else { return };
        let function = self.current();
        let gives = match self.gives.get(&function) {
            Some(known) => Rc::clone(known),
            None => {
                let found: Rc<[usize]> = self.gives_of(function).into();
                self.gives.insert(function, Rc::clone(&found));
                found
            }
        };
        if gives.is_empty() {
            return;
        }
        // `return body, 404` gives a body, too.
        let first = self.names.intern("0");
        let body = value.own_field(first).unwrap_or(value);
        for rule in gives.iter() {
            let place = self.place(given);
            self.check_value(*rule, body, place, Reach::Shallow);
        }
    }

    fn gives_of(&mut self, function: FunctionId) -> Vec<usize> {
        let mut rules = Vec::new();
        for decorator in &self.program.function(function).decorators {
            let value = self.eval(*decorator);
            for api in self.decorator_apis(&value) {
                for role in self.roles(api).iter() {
                    if let Role::GiveSink(index) = role {
                        rules.extend(self.model.sinks.get(*index).map(|sink| sink.rule));
                    }
                }
            }
        }
        rules
    }
}
