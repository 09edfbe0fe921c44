//! Functions that nothing in the file calls: handlers, exported functions, methods. What their
//! parameters are comes from the language's flow file.

use super::super::api::{ApiId, Edge};
use super::super::ir::{Expression, Function, FunctionId, Parameter, number};
use super::super::model::{Entry, Role};
use super::super::value::Value;
use super::functions::Given;
use super::statements::join_first;
use super::{Frame, Machine};
use std::collections::BTreeSet;

impl<'p> Machine<'p> {
    /// Runs everything that others call, and then everything that has not run yet.
    pub(super) fn run_entries(&mut self) {
        self.frames.push(Frame::of(FunctionId(0)));
        let mut offered = BTreeSet::new();
        for (at, entry) in self.model.entries.iter().enumerate() {
            if entry.stored_in.is_empty() {
                continue;
            }
            for id in self.stored_below(&entry.stored_in) {
                self.run_entry(id, Some(at));
                offered.insert(id);
            }
        }
        for index in 1..self.program.functions.len() {
            let id = FunctionId(number(index));
            let decorated = !self.program.function(id).decorators.is_empty();
            if !self.visited.contains(&id) || (decorated && !offered.contains(&id)) {
                self.run_entry(id, None);
            }
        }
        self.frames.pop();
    }

    /// Runs functions that were declared in this one and never called: they see its variables.
    pub(super) fn run_nested(&mut self, outer: FunctionId) {
        let Some(nested) = self.nested.get(&outer) else { return };
        for id in nested.clone() {
            if !self.visited.contains(&id) && self.frames.len() <= super::MAX_CALLS {
                self.run_entry(id, None);
            }
        }
    }

    fn run_entry(&mut self, id: FunctionId, entry: Option<usize>) {
        let mut values = self.parameter_values(id, &[], &[]);
        let function = self.program.function(id);
        if let Some(entry) = entry.and_then(|entry| self.model.entries.get(entry)) {
            for (position, (parameter, value)) in
                function.parameters.iter().zip(&mut values).enumerate()
            {
                if let Some(path) = bound_at(entry, position) {
                    let bound = self.path_value(path, parameter.place);
                    *value = value.join(&bound);
                }
            }
            let unnamed = function.parameters.is_empty() && function.all_arguments.is_some();
            if let (true, Some(path)) = (unnamed, bound_at(entry, 0)) {
                let bound = self.path_value(path, function.place);
                values = vec![bound; 5];
            }
        }
        let given = Given { values: values.clone(), ..Given::default() };
        self.run_function(id, values, &given);
    }

    /// The functions that were assigned to something below these paths.
    fn stored_below(&mut self, paths: &[String]) -> BTreeSet<FunctionId> {
        let mut found = BTreeSet::new();
        if paths.iter().any(|path| path == "offered") {
            let functions = self.program.functions.iter().enumerate();
            found
                .extend(functions.filter(|(_, f)| f.offered).map(|(at, _)| FunctionId(number(at))));
        }
        let roots: Vec<ApiId> =
            paths.iter().filter_map(|path| self.apis.path(path, &mut self.names)).collect();
        let stored: Vec<Value> = self
            .heap
            .iter()
            .filter(|(api, _)| self.is_below(**api, &roots))
            .map(|(_, value)| value.clone())
            .collect();
        for value in stored {
            self.functions_in(&value, 4, &mut found);
        }
        found
    }

    fn is_below(&self, api: ApiId, roots: &[ApiId]) -> bool {
        let mut current = Some(api);
        while let Some(id) = current {
            if roots.contains(&id) {
                return true;
            }
            current = self.apis.parent(id);
        }
        false
    }

    fn functions_in(&mut self, value: &Value, depth: u8, found: &mut BTreeSet<FunctionId>) {
        // Methods of a class work on what its own code made; only plain functions take anything.
        let class = value.facts().is_some_and(|facts| facts.instance.is_some());
        if depth == 0 || class {
            return;
        }
        found.extend(value.functions());
        let fields: Vec<Value> =
            value.field_map().into_iter().flat_map(|fields| fields.values().cloned()).collect();
        for field in fields {
            self.functions_in(&field, depth - 1, found);
        }
    }

    /// What the parameters of a function are when something unknown calls it.
    pub(super) fn parameter_values(
        &mut self,
        id: FunctionId,
        given: &[Option<Value>],
        apis: &[ApiId],
    ) -> Vec<Value> {
        let function = self.program.function(id);
        let entries = self.entries_of(function, apis);
        let mut values = Vec::with_capacity(function.parameters.len());
        for (position, parameter) in function.parameters.iter().enumerate() {
            if let Some(Some(value)) = given.get(position) {
                values.push(value.clone());
                continue;
            }
            let mut value = Value::default();
            for entry in &entries {
                if self.is_converted(function, parameter) {
                    break;
                }
                let bound =
                    self.model.entries.get(*entry).and_then(|entry| bound_at(entry, position));
                if let Some(path) = bound {
                    let bound = self.path_value(path, parameter.place);
                    value = join_first(&value, bound);
                }
            }
            let typed = self.typed(parameter);
            value = join_first(&value, typed);
            let position = u8::try_from(position).unwrap_or(u8::MAX);
            let handed = self.follow(apis, Edge::Parameter(position), parameter.place);
            value = join_first(&value, handed);
            if let Some(name) = parameter.name {
                let unknown = self.unknown_value(name, parameter.place);
                value = join_first(&value, unknown);
            }
            values.push(value);
        }
        values
    }

    /// What a parameter is by its declared type or its annotations.
    fn typed(&mut self, parameter: &'p Parameter) -> Value {
        let mut value = Value::default();
        let declared = parameter.declared.map(|declared| self.eval(declared));
        let mut apis: Vec<ApiId> =
            declared.iter().flat_map(|value| value.apis().to_vec()).collect();
        for annotation in &parameter.annotations {
            apis.extend(self.apis.root(*annotation));
        }
        for api in &apis {
            for role in self.roles(*api).iter() {
                let Role::Type(index) = role else { continue };
                let path = self.model.entries.get(*index).and_then(|entry| entry.binds.first());
                if let Some(path) = path.cloned() {
                    let bound = self.path_value(&path, parameter.place);
                    value = join_first(&value, bound);
                }
            }
        }
        let instances = self.follow(&apis, Edge::Call, parameter.place);
        join_first(&value, instances)
    }

    /// The entries that a function is, by who calls it, its decorators, its names.
    fn entries_of(&mut self, function: &'p Function, apis: &[ApiId]) -> Vec<usize> {
        let mut found = Vec::new();
        for api in apis {
            for role in self.roles(*api).iter() {
                if let Role::Callback(index) = role {
                    found.push(*index);
                }
            }
        }
        for decorator in &function.decorators {
            let value = self.eval(*decorator);
            for api in self.decorator_apis(&value) {
                for role in self.roles(api).iter() {
                    if let Role::Decorator(index) = role {
                        found.push(*index);
                    }
                }
            }
        }
        if found.is_empty() {
            let by_name = self.model.entries.iter().enumerate();
            found.extend(
                by_name.filter(|(_, entry)| self.is_named_so(function, entry)).map(|(at, _)| at),
            );
        }
        found
    }

    /// Whether the framework makes a parameter of a decorated function a number, an injected object
    /// or something else that the client does not choose as a text.
    fn is_converted(&self, function: &Function, parameter: &Parameter) -> bool {
        if function.decorators.is_empty() {
            return false;
        }
        let name = parameter.name.map_or("", |name| self.names.text(name));
        let in_route = function.decorators.iter().any(|decorator| {
            let Expression::Call { arguments, .. } = self.program.expression(*decorator) else {
                return false;
            };
            arguments.iter().filter_map(|argument| self.literal_text(argument.value)).any(|route| {
                ["int:", "float:", "uuid:"]
                    .iter()
                    .any(|kind| route.contains(&format!("<{kind}{name}>")))
            })
        });
        let injected = parameter.default.is_some_and(|default| {
            matches!(self.program.expression(default), Expression::Call { callee, .. }
                if self.written_name(*callee).is_some_and(|name| matches!(name.as_str(), "Depends" | "Security" | "Inject")))
        });
        let declared = parameter.declared.and_then(|declared| self.written_name(declared));
        let other_type = declared.is_some_and(|declared| {
            !matches!(
                declared.as_str(),
                "str"
                    | "Optional"
                    | "List"
                    | "list"
                    | "dict"
                    | "Dict"
                    | "Any"
                    | "Annotated"
                    | "bytes"
                    | "UploadFile"
                    | "Union"
                    | "Path"
            )
        });
        in_route || injected || other_type
    }

    /// The paths of a decorator, whether or not it is called.
    pub(super) fn decorator_apis(&self, value: &Value) -> Vec<ApiId> {
        value
            .apis()
            .iter()
            .map(|api| match (self.apis.edge(*api), self.apis.parent(*api)) {
                (Edge::Call, Some(parent)) => parent,
                _ => *api,
            })
            .collect()
    }

    fn is_named_so(&self, function: &Function, entry: &Entry) -> bool {
        let named = function.name.map(|name| self.names.text(name));
        if !entry.functions.is_empty() {
            return named.is_some_and(|name| entry.functions.iter().any(|glob| glob.matches(name)));
        }
        !entry.names.is_empty()
            && entry.names.iter().enumerate().all(|(position, choices)| {
                let name = function.parameters.get(position).and_then(|parameter| parameter.name);
                name.is_some_and(|name| {
                    choices.iter().any(|glob| glob.matches(self.names.text(name)))
                })
            })
    }
}

/// The path that a parameter is bound to.
fn bound_at(entry: &Entry, position: usize) -> Option<&str> {
    let last = entry.binds.last().and_then(|last| last.strip_suffix("..."));
    let path = match entry.binds.get(position) {
        Some(path) => path.strip_suffix("...").unwrap_or(path),
        None => last?,
    };
    (!path.is_empty()).then_some(path)
}
