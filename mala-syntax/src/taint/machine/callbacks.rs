//! Functions that are handed to others: they run with what those hand to them, as far as is known.

use super::super::api::{ApiId, Edge};
use super::super::ir::FunctionId;
use super::super::model::Role;
use super::super::value::{Taint, Value};
use super::Machine;
use super::calls::Site;
use super::functions::Given;
use super::statements::join_first;

impl<'p> Machine<'p> {
    /// Runs every function among the arguments; gives what they return.
    pub(super) fn run_callbacks(&mut self, site: &Site<'p>, handed: &[Taint]) -> Value {
        let mut returned = Value::default();
        for value in &site.values {
            if value.functions().is_empty() && value.field_map().is_none() {
                continue;
            }
            let given = self.handed_to_callback(site, handed);
            let called = self.run_with(value, &given, site);
            returned = join_first(&returned, called);
            self.run_fields(value, &site.apis);
        }
        returned
    }

    /// What a propagator hands to the function given to it.
    fn handed_to_callback(&mut self, site: &Site<'p>, handed: &[Taint]) -> Vec<Option<Value>> {
        let mut given = Vec::new();
        for api in &site.apis {
            for role in self.roles(*api).iter() {
                let Role::Propagator(index) = role else { continue };
                let position = self.model.propagators.get(*index).and_then(|found| found.callback);
                if let Some(position) = position {
                    given.resize(usize::from(position), None);
                    given.push(Some(Value::of_taints(handed.to_vec())));
                }
            }
        }
        given
    }

    /// Runs the functions of a value with these leading arguments.
    pub(super) fn run_with(
        &mut self,
        callback: &Value,
        given: &[Option<Value>],
        site: &Site<'p>,
    ) -> Value {
        let mut returned = Value::default();
        for id in callback.functions().to_vec() {
            let apis = site.apis.clone();
            let value = self.run_handed(id, given, &apis);
            returned = join_first(&returned, value);
        }
        returned
    }

    /// Runs a function that something with these paths calls.
    pub(super) fn run_handed(
        &mut self,
        id: FunctionId,
        given: &[Option<Value>],
        apis: &[ApiId],
    ) -> Value {
        if self.frames.len() > super::MAX_CALLS
            || self.frames.iter().any(|frame| frame.function == id)
        {
            return Value::default();
        }
        let values = self.parameter_values(id, given, apis);
        let key = Given { values, ..Given::default() };
        self.call_function(id, &key)
    }

    /// Runs functions in the fields of an argument, such as `{ handler: (req) => ... }`.
    fn run_fields(&mut self, value: &Value, apis: &[ApiId]) {
        let fields: Vec<(super::Sym, Value)> = value
            .field_map()
            .into_iter()
            .flatten()
            .map(|(name, field)| (*name, field.clone()))
            .collect();
        for (name, field) in fields {
            if field.functions().is_empty() && field.field_map().is_none() {
                continue;
            }
            let paths: Vec<ApiId> =
                apis.iter().filter_map(|api| self.apis.child(*api, Edge::Name(name))).collect();
            for id in field.functions().to_vec() {
                if !self.visited.contains(&id) {
                    self.run_handed(id, &[], &paths);
                }
            }
            self.run_fields(&field, &paths);
        }
    }

    /// Runs functions that are given away where nothing is known about who calls them.
    pub(super) fn run_callbacks_in(&mut self, value: &Value) {
        for id in value.functions().to_vec() {
            if !self.visited.contains(&id) {
                self.run_handed(id, &[], &[]);
            }
        }
    }
}
