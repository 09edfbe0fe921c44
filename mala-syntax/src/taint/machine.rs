//! Runs a program over abstract values: every branch is taken, loops are taken twice, calls of the
//! file's own functions are followed. What reaches a sink on the way is noted.

mod assignments;
mod callbacks;
mod calls;
mod containers;
mod entries;
mod expressions;
mod functions;
mod guards;
mod methods;
mod patterns;
mod replacements;
mod sinks;
mod statements;
mod texts;

use super::api::{ApiId, Apis, Edge};
use super::ir::{ExprId, FunctionId, Names, Place, Program, Sym, VarId};
use super::model::{Model, Role};
use super::state::{Changes, State};
use super::trail::Trail;
use super::value::{Facts, Taint, Value};
use mala_domain::language::Language;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A tainted value at a sink.
#[derive(Debug, Clone)]
pub(crate) struct Hit {
    pub(crate) rule: usize,
    pub(crate) sink: Place,
    pub(crate) source: Option<Place>,
    pub(crate) way: Vec<Place>,
}

/// A function that is being run.
struct Frame {
    function: FunctionId,
    returned: Value,
    /// Classes for which values do no harm any more in it.
    quiet: u64,
}

impl Frame {
    fn of(function: FunctionId) -> Self {
        Self { function, returned: Value::default(), quiet: 0 }
    }
}

/// A loop that is being run.
struct LoopFrame {
    depth: usize,
    exits: Vec<Changes>,
}

/// The state of a run.
pub(crate) struct Machine<'p> {
    language: Language,
    program: &'p Program,
    model: &'p Model,
    names: Names,
    apis: Apis,
    roles: HashMap<ApiId, Rc<[Role]>>,
    state: State,
    /// What functions other than its owner wrote to a variable, at any time.
    ambient: HashMap<VarId, Value>,
    /// The last join of a variable's own value with what others wrote, to save doing it again.
    seen: RefCell<HashMap<VarId, (Value, Value, Value)>>,
    /// What was written to fields of things known by their path, at any time.
    heap: HashMap<ApiId, Value>,
    frames: Vec<Frame>,
    loops: Vec<LoopFrame>,
    /// What may have been thrown inside each open `try`.
    thrown: Vec<Value>,
    trail: Trail,
    hits: Vec<Hit>,
    reported: HashSet<(usize, u32, u32)>,
    /// Calls with a rule that they were reported for.
    reported_calls: HashSet<(usize, u32, u32)>,
    visited: HashSet<FunctionId>,
    /// Functions by the function they are declared in.
    nested: HashMap<FunctionId, Vec<FunctionId>>,
    memo: HashMap<(FunctionId, u64), Value>,
    /// How often each function was run with different arguments.
    runs: HashMap<FunctionId, usize>,
    /// Expressions that may still be looked at.
    budget: usize,
    depth: u32,
    classes: Classes,
    checks: sinks::Checks,
    /// Patterns that were looked at, and whether they are slow.
    slow: HashMap<(Rc<str>, crate::regex_check::Flags), bool>,
    /// The sinks that a function's result goes to.
    gives: HashMap<FunctionId, Rc<[usize]>>,
}

/// The bits that the engine itself knows about.
#[derive(Debug, Clone, Copy)]
struct Classes {
    /// A path that cannot be absolute.
    relative: u64,
    /// A path without `..`.
    contained: u64,
    /// A path in its shortest form.
    normal: u64,
    path: u64,
    shell: u64,
    /// Where the program is installed: nobody outside chooses it.
    location: u64,
    /// What those who run the program choose.
    operator: u64,
    /// A URL whose host is fixed.
    url: u64,
    /// A URL without backslashes.
    slashes: u64,
    prototype: u64,
    /// Values that stay what they are in arithmetic.
    numeric: u64,
    /// Values that may be objects and not texts.
    object: u64,
}

/// Nesting of calls and expressions together that is followed.
const MAX_DEPTH: u32 = 350;
const MAX_CALLS: usize = 7;

impl<'p> Machine<'p> {
    pub(crate) fn new(
        language: Language,
        program: &'p Program,
        names: Names,
        model: &'p Model,
    ) -> Self {
        let classes = Classes {
            relative: model.class("path-relative"),
            contained: model.class("path-contained"),
            normal: model.class("path-normal"),
            path: model.class("path"),
            shell: model.class("shell"),
            location: model.kind("location"),
            operator: model.kind("env") | model.kind("location"),
            url: model.class("url"),
            slashes: model.class("url-slashes"),
            prototype: model.class("prototype"),
            numeric: model.kind("random"),
            object: model.kind("object"),
        };
        let size = program.expressions.len();
        Self {
            language,
            program,
            model,
            names,
            apis: Apis::default(),
            roles: HashMap::new(),
            state: State::default(),
            ambient: HashMap::new(),
            seen: RefCell::default(),
            heap: HashMap::new(),
            frames: Vec::new(),
            loops: Vec::new(),
            thrown: Vec::new(),
            trail: Trail::default(),
            hits: Vec::new(),
            reported: HashSet::new(),
            reported_calls: HashSet::new(),
            visited: HashSet::new(),
            nested: nested(program),
            memo: HashMap::new(),
            runs: HashMap::new(),
            budget: (size * 40 + 20_000).min(3_000_000),
            depth: 0,
            classes,
            checks: sinks::Checks::new(model),
            slow: HashMap::new(),
            gives: HashMap::new(),
        }
    }

    /// Runs the whole file and gives what reached a sink.
    pub(crate) fn run(mut self) -> Vec<Hit> {
        // A second round sees what functions left behind for others that ran before them.
        for _ in 0..2 {
            let before = self.remembered();
            self.memo.clear();
            self.runs.clear();
            self.run_file();
            self.run_entries();
            if self.remembered() == before {
                break;
            }
        }
        self.hits
    }

    fn run_file(&mut self) {
        self.visited.clear();
        self.frames.push(Frame::of(FunctionId(0)));
        let program = self.program;
        self.execute(&program.function(FunctionId(0)).body);
        self.frames.pop();
    }

    /// How much functions have left behind for each other.
    fn remembered(&self) -> usize {
        let taints = |value: &Value| value.deep_taints().len() + value.functions().len();
        self.ambient.values().map(taints).sum::<usize>()
            + self.heap.values().map(taints).sum::<usize>()
    }

    fn current(&self) -> FunctionId {
        self.frames.last().map_or(FunctionId(0), |frame| frame.function)
    }

    fn place(&self, id: ExprId) -> Place {
        self.program.node(id).place
    }

    fn read(&self, variable: VarId) -> Value {
        let value = self.state.get(variable).cloned().unwrap_or_default();
        let foreign = self.program.variable(variable).owner != self.current();
        let Some(other) = self.ambient.get(&variable).filter(|_| foreign) else { return value };
        let mut seen = self.seen.borrow_mut();
        if let Some((first, second, joined)) = seen.get(&variable)
            && first.is_identical_to(&value)
            && second.is_identical_to(other)
        {
            return joined.clone();
        }
        let joined = value.join(other);
        seen.insert(variable, (value, other.clone(), joined.clone()));
        joined
    }

    fn write(&mut self, variable: VarId, value: Value) {
        if self.program.variable(variable).owner != self.current() {
            let before = self.ambient.get(&variable).cloned();
            let joined = before.map_or_else(|| value.clone(), |before| before.join(&value));
            self.ambient.insert(variable, joined);
        }
        self.state.set(variable, value);
    }

    fn roles(&mut self, api: ApiId) -> Rc<[Role]> {
        if let Some(known) = self.roles.get(&api) {
            return Rc::clone(known);
        }
        let roles: Rc<[Role]> = self.model.roles(&self.apis.steps(api), &self.names).into();
        self.roles.insert(api, Rc::clone(&roles));
        roles
    }

    /// The value that a path stands for, with what the rules and earlier code say about it.
    fn api_value(&mut self, api: ApiId, place: Place) -> Value {
        let mut value = Value::of_api(api);
        for role in self.roles(api).iter() {
            match role {
                Role::Source(kinds, clean) => {
                    let taint = self.trail.start(place, *kinds);
                    value.add_taints(&[Taint { clean: *clean, ..taint }]);
                }
                Role::Alias(index) => {
                    let path = self.model.aliases.get(*index).cloned().unwrap_or_default();
                    if let Some(other) = self.apis.path(&path, &mut self.names) {
                        value.edit(|facts| facts.apis.push(other));
                    }
                }
                _ => {}
            }
        }
        match self.heap.get(&api) {
            Some(stored) => value.join(stored),
            None => value,
        }
    }

    fn root_value(&mut self, name: &str, place: Place) -> Value {
        let name = self.names.intern(name);
        match self.apis.root(name) {
            Some(api) => self.api_value(api, place),
            None => Value::default(),
        }
    }

    fn path_value(&mut self, path: &str, place: Place) -> Value {
        match self.apis.path(path, &mut self.names) {
            Some(api) => self.api_value(api, place),
            None => Value::default(),
        }
    }

    /// A variable of this name that nothing is known about.
    fn unknown_value(&mut self, name: Sym, place: Place) -> Value {
        let name = format!("?{}", self.names.text(name));
        self.root_value(&name, place)
    }

    /// What following `edge` from a value gives, by its paths alone.
    fn follow(&mut self, apis: &[ApiId], edge: Edge, place: Place) -> Value {
        let mut result = Value::default();
        for api in apis {
            if let Some(child) = self.apis.child(*api, edge) {
                let value = self.api_value(child, place);
                result = if result.facts().is_none() { value } else { result.join(&value) };
            }
        }
        result
    }

    /// A taint after arithmetic: only kinds that survive it stay.
    fn in_numbers(&self, taint: Taint) -> Option<Taint> {
        let kinds = taint.kinds & self.classes.numeric;
        (kinds != 0).then_some(Taint { kinds, ..taint })
    }

    /// The same taint, harmless for more classes; `None` when it is for all.
    fn cleared(&self, taint: Taint, classes: u64) -> Option<Taint> {
        if classes == super::value::ALL {
            return self.in_numbers(taint);
        }
        Some(Taint { clean: taint.clean | classes, ..taint })
    }

    fn text_value(text: Rc<str>, literal: ExprId) -> Value {
        Value::new(Facts {
            known: super::value::Known::Texts(vec![text]),
            literals: vec![literal],
            ..Facts::default()
        })
    }
}

/// Functions by the function they are declared in; those of the file itself run last of all.
fn nested(program: &Program) -> HashMap<FunctionId, Vec<FunctionId>> {
    let mut found: HashMap<FunctionId, Vec<FunctionId>> = HashMap::new();
    for (at, function) in program.functions.iter().enumerate().skip(1) {
        if let Some(outer) = function.inside.filter(|outer| *outer != FunctionId(0)) {
            found.entry(outer).or_default().push(FunctionId(super::ir::number(at)));
        }
    }
    found
}
