//! Functions of the file: their parameters and results.

use super::{Engine, Frame, MAX_CALL_DEPTH};
use crate::taint::model::PathRole;
use crate::taint::syntax::{FunctionView, ParameterView, TargetView};
use crate::taint::value::{AbstractValue, Closure};
use std::rc::Rc;
use tree_sitter::Node;

impl<'t> Engine<'t, '_> {
    /// Runs the functions that have no caller so far.
    pub(super) fn run_pending(&mut self) {
        while let Some(closure) = self.pending.pop() {
            if !self.has_run.contains(&closure.node.id()) {
                self.run_alone(closure, &[], &[]);
            }
        }
    }

    /// Runs a function as its framework calls it: `callees` are the calls that it is passed to,
    /// `given` are parameters that are known.
    pub(super) fn run_alone(
        &mut self,
        closure: Closure<'t>,
        callees: &[Rc<str>],
        given: &[AbstractValue<'t>],
    ) -> AbstractValue<'t> {
        let Some(function) = self.view.function(closure.node) else {
            return AbstractValue::default();
        };
        self.has_run.insert(closure.node.id());
        let entries = self.entries_of(&function, callees);
        let mut given = given.to_vec();
        // The first parameter of a method in Python is the instance.
        if given.is_empty() && self.view.is_python() {
            given.extend(self.frames[closure.frame].variables.get("this").cloned());
        }
        let mut values = Vec::new();
        for (at, parameter) in function.parameters.iter().enumerate() {
            let mut value = given.get(at).cloned().unwrap_or_default();
            let mut paths: Vec<Rc<str>> = Vec::new();
            for entry in &entries {
                let bound = self.model.entries.get(*entry).and_then(|entry| entry.bind(at));
                paths.extend(bound.map(Rc::from));
            }
            paths.extend(self.typed_path(parameter));
            paths.extend(callees.iter().map(|callee| Rc::from(format!("{callee}@{at}"))));
            let reached = self.reached(paths, parameter.target);
            value = value.or(&reached);
            values.push(value);
        }
        self.run_function(closure, &function, values)
    }

    /// Runs a function of the file with the arguments of a call.
    pub(super) fn run_called(
        &mut self,
        closure: Closure<'t>,
        arguments: &[AbstractValue<'t>],
    ) -> AbstractValue<'t> {
        let Some(function) = self.view.function(closure.node) else {
            return AbstractValue::default();
        };
        self.run_function(closure, &function, arguments.to_vec())
    }

    fn run_function(
        &mut self,
        closure: Closure<'t>,
        function: &FunctionView<'t>,
        values: Vec<AbstractValue<'t>>,
    ) -> AbstractValue<'t> {
        let id = closure.node.id();
        if self.active.len() > MAX_CALL_DEPTH || self.active.contains(&id) || self.is_exhausted() {
            return AbstractValue::default();
        }
        let return_sinks = self.return_sinks(function);
        let frame = self.frames.len();
        // Checks of the surrounding code also apply in a callback.
        let (checked, safe_classes) = {
            let around = &self.frames[closure.frame];
            (around.checked.clone(), around.safe_classes)
        };
        let parent = Some(closure.frame);
        self.frames.push(Frame { parent, checked, safe_classes, return_sinks, ..Frame::default() });
        let caller = std::mem::replace(&mut self.current, frame);
        self.active.push(id);
        let mut values = values.into_iter();
        for parameter in &function.parameters {
            let mut value = values.next().unwrap_or_default();
            if parameter.is_rest {
                value = values.by_ref().fold(value, |all, value| all.or(&value));
            }
            if let Some(default) = parameter.default {
                value = value.or(&self.evaluate(default));
            }
            self.bind(parameter.target, value, parameter.target);
        }
        if function.is_expression {
            let value = self.evaluate(function.body);
            self.returns(&value, function.body);
        } else {
            self.block(&[function.body]);
        }
        self.active.pop();
        self.current = caller;
        std::mem::take(&mut self.frames[frame].returned)
    }

    /// The entries that a function is, by who calls it, its decorators or its parameter names.
    fn entries_of(&mut self, function: &FunctionView<'t>, callees: &[Rc<str>]) -> Vec<usize> {
        let entries = self.model.entries.iter().enumerate();
        let named = entries.filter(|(_, entry)| self.has_names(function, &entry.names));
        let mut found: Vec<usize> = named.map(|(at, _)| at).collect();
        // Parameter names are better evidence than the receiver of the registration, such as
        // `router`.
        for role in if found.is_empty() { self.all_roles(callees) } else { Vec::new() } {
            if let PathRole::Callback(entry) = role {
                found.push(entry);
            }
        }
        for path in self.decorator_paths(function) {
            for role in self.roles_of(&path).iter() {
                if let PathRole::Decorator(entry) = role {
                    found.push(*entry);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether the leading parameters have these names; a destructured one may have any.
    fn has_names(&self, function: &FunctionView<'t>, names: &[Vec<String>]) -> bool {
        let mut n_named = 0;
        for (at, choices) in names.iter().enumerate() {
            let target =
                function.parameters.get(at).map(|parameter| self.view.target(parameter.target));
            match target {
                Some(TargetView::Name(name)) if choices.iter().any(|choice| choice == name) => {
                    n_named += 1;
                }
                Some(TargetView::Fields(_)) => {}
                _ => return false,
            }
        }
        n_named > 0
    }

    fn decorator_paths(&mut self, function: &FunctionView<'t>) -> Vec<Rc<str>> {
        let mut paths = Vec::new();
        for decorator in &function.decorators {
            paths.extend(self.callee_paths(*decorator));
        }
        paths
    }

    fn return_sinks(&mut self, function: &FunctionView<'t>) -> Vec<usize> {
        let mut sinks = Vec::new();
        for path in self.decorator_paths(function) {
            for role in self.roles_of(&path).iter() {
                if let PathRole::ReturnSink(sink) = role {
                    sinks.push(*sink);
                }
            }
        }
        sinks
    }

    /// The path of a parameter, from its declared type.
    fn typed_path(&mut self, parameter: &ParameterView<'t>) -> Option<Rc<str>> {
        let declared = parameter.declared_type?;
        let text = self.view.text(declared);
        let name = text.split(['<', '[', ' ', '|']).next().unwrap_or(text);
        let (root, rest) = name.split_once('.').map_or((name, ""), |(root, rest)| (root, rest));
        let known = self.frames.first().and_then(|frame| frame.variables.get(root));
        let mut paths: Vec<Rc<str>> = known.map(|value| value.paths.clone()).unwrap_or_default();
        if paths.is_empty() {
            paths.push(Rc::from(root));
        }
        for path in paths {
            let path = if rest.is_empty() { path } else { Rc::from(format!("{path}.{rest}")) };
            for role in self.roles_of(&path).iter() {
                if let PathRole::ParameterType(entry) = role {
                    let entry = self.model.entries.get(*entry)?;
                    return entry.bind(0).map(Rc::from);
                }
            }
        }
        None
    }

    /// A class: its methods run later; `this` is an instance of the bases.
    pub(super) fn class(&mut self, node: Node<'t>) -> AbstractValue<'t> {
        let class = self.view.class(node);
        let mut instance = AbstractValue::default();
        for base in &class.bases {
            let base = self.evaluate(*base);
            instance.paths.extend(base.extended("()"));
        }
        let frame = self.frames.len();
        let parent = Some(self.current);
        self.frames.push(Frame { parent, ..Frame::default() });
        let outer = std::mem::replace(&mut self.current, frame);
        self.declare("this", instance);
        for other in &class.others {
            self.block(&[*other]);
        }
        let methods = class.methods.into_iter().map(|node| Closure { node, frame });
        self.pending.extend(methods);
        self.current = outer;
        AbstractValue::default()
    }
}
