//! Calls of the file's own functions: they are run with the arguments given.

use super::super::ir::{FunctionId, Parameter, Sym};
use super::super::value::{Facts, Known, Value};
use super::{Frame, Machine};
use std::hash::{DefaultHasher, Hash, Hasher};

/// What a function is called with.
#[derive(Default)]
pub(super) struct Given {
    pub(super) values: Vec<Value>,
    pub(super) named: Vec<(Sym, Value)>,
    /// What any argument may be besides, when a list was spread.
    pub(super) spread: Option<Value>,
}

/// How often one function is run with different arguments.
const MAX_RUNS: usize = 24;

impl<'p> Machine<'p> {
    /// Runs a function and gives what it returns.
    pub(super) fn call_function(&mut self, id: FunctionId, given: &Given) -> Value {
        let active = self.frames.iter().filter(|frame| frame.function == id).count();
        if active >= 2 || self.frames.len() > super::MAX_CALLS {
            return Value::default();
        }
        let key = (id, fingerprint(given));
        if let Some(known) = self.memo.get(&key) {
            return known.clone();
        }
        let runs = self.runs.entry(id).or_default();
        *runs += 1;
        if *runs > MAX_RUNS {
            return Value::default();
        }
        let function = self.program.function(id);
        let values: Vec<Value> = function
            .parameters
            .iter()
            .enumerate()
            .map(|(position, parameter)| self.argument_for(parameter, position, given))
            .collect();
        let returned = self.run_function(id, values, given);
        self.memo.insert(key, returned.clone());
        returned
    }

    fn argument_for(&mut self, parameter: &'p Parameter, position: usize, given: &Given) -> Value {
        if parameter.rest {
            let mut list = given.spread.clone().unwrap_or_default();
            for value in given.values.iter().skip(position) {
                list = self.with_element(&list, value.clone());
            }
            return list;
        }
        let by_name =
            parameter.name.and_then(|name| given.named.iter().find(|(known, _)| *known == name));
        let value = by_name.map(|(_, value)| value).or_else(|| given.values.get(position));
        match (value, &given.spread, parameter.default) {
            (Some(value), _, _) => value.clone(),
            (None, Some(spread), _) => spread.clone(),
            (None, None, Some(default)) => self.eval(default),
            (None, None, None) => Value::default(),
        }
    }

    /// Runs a function with these values for its parameters.
    pub(super) fn run_function(
        &mut self,
        id: FunctionId,
        values: Vec<Value>,
        given: &Given,
    ) -> Value {
        let function = self.program.function(id);
        self.visited.insert(id);
        self.frames.push(Frame::of(id));
        self.state.push();
        if let Some(all) = function.all_arguments {
            let mut list = Value::default();
            let known = if given.values.is_empty() { &values } else { &given.values };
            for (position, value) in known.iter().enumerate().take(12) {
                let name = self.names.intern(&position.to_string());
                list = list.with_field(name, value.clone());
            }
            self.write(all, list);
        }
        for (parameter, value) in function.parameters.iter().zip(values) {
            self.bind(&parameter.pattern, value, parameter.place);
        }
        let open_loops = std::mem::take(&mut self.loops);
        self.execute(&function.body);
        self.run_nested(id);
        self.loops = open_loops;
        let mut changes = self.state.pop();
        changes.retain(|variable, _| self.program.variable(*variable).owner != id);
        self.state.apply(changes);
        self.frames.pop().map(|frame| frame.returned).unwrap_or_default()
    }
}

/// A number for what a function is called with: the same facts give the same number.
fn fingerprint(given: &Given) -> u64 {
    let mut hasher = DefaultHasher::new();
    for value in &given.values {
        hash_value(value, &mut hasher);
    }
    for (name, value) in &given.named {
        name.hash(&mut hasher);
        hash_value(value, &mut hasher);
    }
    if let Some(spread) = &given.spread {
        hash_value(spread, &mut hasher);
    }
    hasher.finish()
}

fn hash_value(value: &Value, hasher: &mut DefaultHasher) {
    let Some(facts) = value.facts() else {
        0_u8.hash(hasher);
        return;
    };
    hash_facts(facts, hasher);
}

fn hash_facts(facts: &Facts, hasher: &mut DefaultHasher) {
    for taint in &facts.taints {
        (taint.source, taint.kinds, taint.clean, taint.chose).hash(hasher);
    }
    facts.apis.hash(hasher);
    facts.functions.hash(hasher);
    facts.literals.hash(hasher);
    match &facts.known {
        Known::Nothing => {}
        Known::Texts(texts) => texts.hash(hasher),
        Known::Prefix(text) => (1_u8, text).hash(hasher),
        Known::Number(number) => number.to_bits().hash(hasher),
        Known::Bool(value) => value.hash(hasher),
        Known::Null => 2_u8.hash(hasher),
        Known::Pattern(body, flags) => (body, flags).hash(hasher),
    }
    for (name, value) in facts.fields.iter().flat_map(|fields| fields.iter()) {
        name.hash(hasher);
        hash_value(value, hasher);
    }
}
