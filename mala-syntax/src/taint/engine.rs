//! Runs the syntax tree of a file over abstract values and reports tainted values at sinks.
//!
//! Statements run in order; both branches of a condition run and their results are merged. Calls of
//! functions in the same file run the function with the given arguments. Every function also runs
//! once with unknown arguments, or with those that its framework passes.

mod assignments;
mod calls;
mod expressions;
mod functions;
mod guards;
mod statements;

use super::TaintFlow;
use super::model::{PathRole, TaintModel};
use super::syntax::SyntaxView;
use super::value::{AbstractValue, Bits, Closure, Taint};
use crate::source::Source;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use tree_sitter::Node;

/// Expressions that are evaluated in one file at most.
const MAX_STEPS: u32 = 80_000;
/// Nesting of expressions, statements and calls that is followed.
const MAX_DEPTH: u32 = 80;
/// Nesting of calls that is followed.
const MAX_CALL_DEPTH: usize = 5;

/// All flows in a file.
pub(super) fn run(source: &Source, model: &TaintModel) -> Vec<TaintFlow> {
    let view = SyntaxView::new(source);
    let mut engine = Engine {
        view,
        model,
        frames: vec![Frame::default()],
        current: 0,
        roles: HashMap::new(),
        pending: Vec::new(),
        has_run: HashSet::new(),
        active: Vec::new(),
        n_steps: 0,
        depth: 0,
        flows: Vec::new(),
    };
    engine.block(&[view.root()]);
    engine.run_pending();
    engine.flows
}

/// The variables of a function that is running.
#[derive(Default, Clone)]
struct Frame<'t> {
    parent: Option<usize>,
    variables: HashMap<&'t str, AbstractValue<'t>>,
    /// Texts of expressions that a condition has checked, with the classes that are cleared.
    checked: Vec<(&'t str, Bits)>,
    /// Classes for which the rest of the function is safe.
    safe_classes: Bits,
    returned: AbstractValue<'t>,
    return_sinks: Vec<usize>,
}

struct Engine<'t, 'm> {
    view: SyntaxView<'t>,
    model: &'m TaintModel,
    frames: Vec<Frame<'t>>,
    /// The frame of the function that is running.
    current: usize,
    roles: HashMap<Rc<str>, Rc<[PathRole]>>,
    /// Functions that were seen and may still have to run without a caller.
    pending: Vec<Closure<'t>>,
    has_run: HashSet<usize>,
    /// The functions that are running.
    active: Vec<usize>,
    n_steps: u32,
    depth: u32,
    flows: Vec<TaintFlow>,
}

impl<'t> Engine<'t, '_> {
    fn frame(&mut self) -> &mut Frame<'t> {
        &mut self.frames[self.current]
    }

    fn roles_of(&mut self, path: &Rc<str>) -> Rc<[PathRole]> {
        if let Some(known) = self.roles.get(path) {
            return Rc::clone(known);
        }
        let roles: Rc<[PathRole]> = self.model.roles(path).into();
        self.roles.insert(Rc::clone(path), Rc::clone(&roles));
        roles
    }

    fn all_roles(&mut self, paths: &[Rc<str>]) -> Vec<PathRole> {
        let mut all = Vec::new();
        for path in paths {
            all.extend(self.roles_of(path).iter().copied());
        }
        all
    }

    /// The value behind paths: aliases are replaced, and sources are tainted.
    fn reached(&mut self, paths: Vec<Rc<str>>, node: Node<'t>) -> AbstractValue<'t> {
        let mut value = AbstractValue { paths, ..AbstractValue::default() };
        for at in 0..value.paths.len() {
            for role in self.roles_of(&Rc::clone(&value.paths[at])).iter() {
                if let PathRole::Alias(alias) = role
                    && let Some(same) = self.model.alias(*alias)
                {
                    value.paths[at] = Rc::from(same);
                }
            }
        }
        for role in self.all_roles(&value.paths) {
            if let PathRole::Source(kinds, clean) = role {
                value.add_taints(&[Taint {
                    source: node.byte_range(),
                    kinds,
                    cleared: clean,
                    clean_as_whole: clean,
                    at_start: true,
                }]);
            }
        }
        value
    }

    /// Reports taints that do harm at a sink.
    fn report(&mut self, sink: usize, taints: &[Taint], node: Node<'t>) {
        let Some(sink) = self.model.sinks.get(sink) else { return };
        let Some(rule) = self.model.rules.get(sink.rule) else { return };
        let safe = self.frames[self.current].safe_classes;
        for taint in taints {
            let harmful = taint.kinds & rule.kinds != 0
                && (taint.cleared | safe) & rule.class == 0
                && (taint.at_start || !rule.at_start);
            if harmful {
                let source = taint.source.clone();
                let flow = TaintFlow { rule: sink.rule, sink: node.byte_range(), source };
                if !self.flows.contains(&flow) {
                    self.flows.push(flow);
                }
            }
        }
    }

    /// Whether the budget for this file is used up.
    fn is_exhausted(&self) -> bool {
        self.n_steps >= MAX_STEPS || self.depth >= MAX_DEPTH
    }
}
