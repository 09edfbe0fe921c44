//! What the rules and the flow file of a language say, ready to be asked: given a path, what is it?

pub(crate) mod pattern;

use super::api::Edge;
use super::ir::Names;
use super::spec::{EntrySpec, FlowFile, PropagatorSpec, SanitizerSpec, SinkSpec, TaintSpec};
use super::value::{ALL, Bits};
use pattern::{Condition, Ending, Glob, PathPattern, PatternProblem, Selector, choices};
use std::collections::{HashMap, HashSet};

/// What is said about a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Its value is of these kinds.
    Source(Bits, Bits),
    /// What it gives is harmless for these classes.
    Sanitizer(usize),
    Propagator(usize),
    Wrapper,
    /// A call of it never returns.
    End,
    Quiet(usize),
    Alias(usize),
    CallSink(usize),
    WriteSink(usize),
    /// What functions with this decorator give.
    GiveSink(usize),
    /// Functions handed to it are entries.
    Callback(usize),
    /// Functions that carry it are entries.
    Decorator(usize),
    /// Parameters of this type.
    Type(usize),
}

/// A sink, ready to be checked.
#[derive(Debug, Clone)]
pub(crate) struct Sink {
    pub(crate) rule: usize,
    pub(crate) selectors: Vec<Selector>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) not_in: Vec<String>,
    /// What a sanitizer must clear here.
    pub(crate) class: Bits,
}

/// A rule, as far as flow is concerned.
#[derive(Debug, Clone)]
pub(crate) struct FlowRule {
    pub(crate) kinds: Bits,
    pub(crate) class: Bits,
    pub(crate) literal: bool,
    pub(crate) anything: bool,
    pub(crate) check: Option<String>,
}

/// A call that makes values harmless.
#[derive(Debug, Clone)]
pub(crate) struct Sanitizer {
    pub(crate) selectors: Vec<Selector>,
    pub(crate) clears: Bits,
    pub(crate) restores: Bits,
    pub(crate) conditions: Vec<Condition>,
}

/// A call after which values do no harm any more.
#[derive(Debug, Clone)]
pub(crate) struct Quiet {
    pub(crate) conditions: Vec<Condition>,
    pub(crate) clears: Bits,
}

/// A call that hands values on.
#[derive(Debug, Clone)]
pub(crate) struct Propagator {
    pub(crate) from: Vec<Selector>,
    pub(crate) callback: Option<u8>,
    pub(crate) adds: Bits,
    pub(crate) to: Bits,
    pub(crate) drops: Bits,
}

/// Functions that are called from outside.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) names: Vec<Vec<Glob>>,
    pub(crate) functions: Vec<Glob>,
    pub(crate) stored_in: Vec<String>,
    pub(crate) binds: Vec<String>,
}

/// Everything about a language.
#[derive(Debug, Clone, Default)]
pub struct Model {
    patterns: Vec<(PathPattern, Role)>,
    by_name: HashMap<String, Vec<usize>>,
    calls: Vec<usize>,
    parameters: Vec<usize>,
    anything: Vec<usize>,
    pub(crate) rules: Vec<FlowRule>,
    pub(crate) sinks: Vec<Sink>,
    pub(crate) sanitizers: Vec<Sanitizer>,
    pub(crate) quiets: Vec<Quiet>,
    pub(crate) propagators: Vec<Propagator>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) aliases: Vec<String>,
    pub(crate) safe_fields: HashSet<String>,
    pub(crate) safe_methods: HashSet<String>,
    kinds: Vec<String>,
    classes: Vec<String>,
}

/// The classes that the engine clears itself, whether or not a flow file names them.
const OWN_CLASSES: [&str; 4] = ["path-relative", "path-contained", "path-normal", "url-slashes"];

impl Model {
    /// The same with rules; they come in the order given.
    pub fn with_rules(&self, rules: &[&TaintSpec]) -> Result<Self, PatternProblem> {
        let mut model = self.clone();
        for (index, rule) in rules.iter().enumerate() {
            model.add_rule(index, rule)?;
        }
        Ok(model)
    }

    /// What a flow file says, without any rule.
    pub fn new(flow: &FlowFile) -> Result<Self, PatternProblem> {
        let mut model = Self {
            safe_fields: flow.safe_fields.iter().cloned().collect(),
            safe_methods: flow.safe_methods.iter().cloned().collect(),
            ..Self::default()
        };
        model.class_bits(&OWN_CLASSES.map(str::to_owned));
        for source in &flow.sources {
            let kinds = model.kind_bits(&source.kinds);
            let clean = model.class_bits(&source.clean);
            model.add_paths(&source.paths, Role::Source(kinds, clean))?;
        }
        for sanitizer in &flow.sanitizers {
            model.add_sanitizer(sanitizer)?;
        }
        for quiet in &flow.quiets {
            let conditions = conditions(&quiet.when)?;
            let clears = model.class_bits(&quiet.clears);
            model.add_paths(&quiet.calls, Role::Quiet(model.quiets.len()))?;
            model.quiets.push(Quiet { conditions, clears });
        }
        for propagator in &flow.propagators {
            model.add_propagator(propagator)?;
        }
        for entry in &flow.entries {
            model.add_entry(entry)?;
        }
        for alias in &flow.aliases {
            model.add_paths(&alias.paths, Role::Alias(model.aliases.len()))?;
            model.aliases.push(alias.same_as.clone());
        }
        model.add_paths(&flow.wrappers, Role::Wrapper)?;
        model.add_paths(&flow.ends, Role::End)?;
        Ok(model)
    }

    fn add_rule(&mut self, index: usize, rule: &TaintSpec) -> Result<(), PatternProblem> {
        let says = |word: &str| rule.sources.iter().any(|source| source == word);
        let (literal, anything) = (says("literal"), says("anything"));
        let kinds = self.kind_bits(&rule.sources);
        let class = self.class_bits(std::slice::from_ref(&rule.class));
        self.rules.push(FlowRule { kinds, class, literal, anything, check: rule.check.clone() });
        self.add_paths(&rule.sanitizers, Role::Sanitizer(self.sanitizers.len()))?;
        let conditions = Vec::new();
        self.sanitizers.push(Sanitizer {
            selectors: Vec::new(),
            clears: class,
            restores: 0,
            conditions,
        });
        for sink in &rule.sinks {
            self.add_sink(index, sink)?;
        }
        Ok(())
    }

    fn add_sink(&mut self, rule: usize, spec: &SinkSpec) -> Result<(), PatternProblem> {
        let selectors = selectors(&spec.args)?;
        let conditions = conditions(&spec.when)?;
        let class = match &spec.class {
            Some(class) => self.class_bits(std::slice::from_ref(class)),
            None => self.rules.get(rule).map_or(0, |rule| rule.class),
        };
        let sink = self.sinks.len();
        self.sinks.push(Sink { rule, selectors, conditions, not_in: spec.not_in.clone(), class });
        self.add_paths(&spec.call, Role::CallSink(sink))?;
        self.add_paths(&spec.write, Role::WriteSink(sink))?;
        self.add_paths(&spec.give, Role::GiveSink(sink))
    }

    fn add_sanitizer(&mut self, spec: &SanitizerSpec) -> Result<(), PatternProblem> {
        let selectors = selectors(&spec.args)?;
        let clears = self.class_bits(&spec.clears);
        let restores = self.class_bits(&spec.restores);
        self.add_paths(&spec.calls, Role::Sanitizer(self.sanitizers.len()))?;
        let conditions = conditions(&spec.when)?;
        self.sanitizers.push(Sanitizer { selectors, clears, restores, conditions });
        Ok(())
    }

    fn add_propagator(&mut self, spec: &PropagatorSpec) -> Result<(), PatternProblem> {
        let from = selectors(&spec.from)?;
        let adds = self.kind_bits(&spec.adds);
        let to = self.kind_bits(&spec.to);
        let drops = self.kind_bits(&spec.drops);
        self.add_paths(&spec.calls, Role::Propagator(self.propagators.len()))?;
        self.propagators.push(Propagator { from, callback: spec.callback, adds, to, drops });
        Ok(())
    }

    fn add_entry(&mut self, spec: &EntrySpec) -> Result<(), PatternProblem> {
        let index = self.entries.len();
        self.add_paths(&spec.callback_of, Role::Callback(index))?;
        self.add_paths(&spec.decorators, Role::Decorator(index))?;
        self.add_paths(&spec.types, Role::Type(index))?;
        let names = spec.names.iter().map(|names| globs(names)).collect::<Result<_, _>>()?;
        self.entries.push(Entry {
            names,
            functions: globs(&spec.functions)?,
            stored_in: spec.stored_in.clone(),
            binds: spec.binds.clone(),
        });
        Ok(())
    }

    fn add_paths(&mut self, paths: &[String], role: Role) -> Result<(), PatternProblem> {
        for path in paths {
            for choice in choices(path)? {
                self.add_path(PathPattern::parse(&choice)?, role);
            }
        }
        Ok(())
    }

    fn add_path(&mut self, pattern: PathPattern, role: Role) {
        let index = self.patterns.len();
        match pattern.ending() {
            Ending::Name(name) => self.by_name.entry(name).or_default().push(index),
            Ending::Call => self.calls.push(index),
            Ending::Parameter => self.parameters.push(index),
            Ending::Anything => self.anything.push(index),
        }
        self.patterns.push((pattern, role));
    }

    /// What is said about a path.
    pub(crate) fn roles(&self, steps: &[Edge], names: &Names) -> Vec<Role> {
        let empty = Vec::new();
        let ending = match steps.last() {
            Some(Edge::Name(name)) => self.by_name.get(names.text(*name)).unwrap_or(&empty),
            Some(Edge::Call) => &self.calls,
            Some(Edge::Parameter(_)) => &self.parameters,
            None => &empty,
        };
        ending
            .iter()
            .chain(&self.anything)
            .filter_map(|index| self.patterns.get(*index))
            .filter(|(pattern, _)| pattern.matches(steps, names))
            .map(|(_, role)| *role)
            .collect()
    }

    /// The rules that ask for a check of the engine.
    pub(crate) fn rules_with_check(&self, check: &str) -> Vec<usize> {
        let rules = self.rules.iter().enumerate();
        rules.filter(|(_, rule)| rule.check.as_deref() == Some(check)).map(|(at, _)| at).collect()
    }

    /// The bits of kinds by their names.
    pub(crate) fn kind_bits(&mut self, names: &[String]) -> Bits {
        bits(&mut self.kinds, names)
    }

    /// The bits of classes by their names; `all` is every one.
    pub(crate) fn class_bits(&mut self, names: &[String]) -> Bits {
        if names.iter().any(|name| name == "all") { ALL } else { bits(&mut self.classes, names) }
    }

    /// The bit of a kind that some rule or source names.
    pub(crate) fn kind(&self, name: &str) -> Bits {
        bit(&self.kinds, name)
    }

    /// The bit of a class that some rule or sanitizer names.
    pub(crate) fn class(&self, name: &str) -> Bits {
        bit(&self.classes, name)
    }
}

fn conditions(texts: &[String]) -> Result<Vec<Condition>, PatternProblem> {
    texts.iter().map(|text| Condition::parse(text)).collect()
}

fn selectors(texts: &[String]) -> Result<Vec<Selector>, PatternProblem> {
    texts.iter().map(|text| Selector::parse(text)).collect()
}

fn globs(names: &[String]) -> Result<Vec<Glob>, PatternProblem> {
    let mut found = Vec::new();
    for name in names {
        found.extend(choices(name)?.iter().map(|name| Glob::new(name)));
    }
    Ok(found)
}

fn bits(known: &mut Vec<String>, names: &[String]) -> Bits {
    let mut found = 0;
    for name in names {
        if !known.contains(name) {
            known.push(name.clone());
        }
        found |= bit(known, name);
    }
    found
}

/// The bit of a name; names past the last bit have none, so that they match nothing.
fn bit(known: &[String], name: &str) -> Bits {
    let position = known.iter().position(|known| known == name);
    position.and_then(|at| u32::try_from(at).ok()).and_then(|at| 1_u64.checked_shl(at)).unwrap_or(0)
}
