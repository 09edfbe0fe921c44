//! Compiled flow files and taint rules: the roles of a path are one lookup.

use super::pattern::{
    ArgumentSelector, CallCondition, PathPattern, PatternProblem, last_step, regex,
};
use super::spec::{FlowFile, SinkSpec, TaintSpec};
use super::value::Bits;
use mala_domain::language::Language;
use std::collections::HashMap;
use std::sync::OnceLock;

const FLOW_FILES: [&str; 2] =
    [include_str!("../../flow/javascript.yaml"), include_str!("../../flow/python.yaml")];

static MODELS: [OnceLock<Option<TaintModel>>; 2] = [const { OnceLock::new() }; 2];

/// The flow file of a language; `None` when values are not followed in it.
pub(crate) fn language_model(language: Language) -> Option<&'static TaintModel> {
    let at = match language {
        Language::JavaScript | Language::TypeScript | Language::Tsx => 0,
        Language::Python => 1,
        _ => return None,
    };
    let text = FLOW_FILES.get(at)?;
    let read = || {
        let file: FlowFile = serde_saphyr::from_str(text).ok()?;
        TaintModel::new(&file).ok()
    };
    MODELS.get(at)?.get_or_init(read).as_ref()
}

/// The role of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathRole {
    /// A source with these kinds, clean as a whole for these classes.
    Source(Bits, Bits),
    /// A call that clears these classes.
    Sanitizer(Bits),
    /// A field that is clean for these classes.
    CleanField(Bits),
    /// A call whose result carries taints of these kinds.
    Propagator(Bits),
    Guard(usize),
    SafeAfter(usize),
    CallSink(usize),
    WriteSink(usize),
    ReturnSink(usize),
    /// Functions passed here are entries.
    Callback(usize),
    Decorator(usize),
    ParameterType(usize),
    Store,
    Exit,
    Wrapper,
    Alias(usize),
}

/// A compiled sink.
#[derive(Debug, Clone)]
pub(super) struct CompiledSink {
    pub(super) rule: usize,
    pub(super) selectors: Vec<ArgumentSelector>,
    pub(super) conditions: Vec<CallCondition>,
}

/// A compiled rule.
#[derive(Debug, Clone, Copy)]
pub(super) struct CompiledRule {
    pub(super) kinds: Bits,
    pub(super) class: Bits,
    pub(super) at_start: bool,
}

/// A compiled guard.
#[derive(Debug, Clone)]
pub(super) struct CompiledGuard {
    pub(super) selectors: Vec<ArgumentSelector>,
    pub(super) clears: Bits,
    pub(super) when_false: bool,
}

/// A function that a framework calls.
#[derive(Debug, Clone)]
pub(super) struct CompiledEntry {
    pub(super) names: Vec<Vec<String>>,
    binds: Vec<String>,
}

impl CompiledEntry {
    /// The path that a parameter is bound to.
    pub(super) fn bind(&self, position: usize) -> Option<&str> {
        let rest = || self.binds.last().and_then(|last| last.strip_suffix("..."));
        let path = self.binds.get(position).map(|path| path.strip_suffix("...").unwrap_or(path));
        path.or_else(rest).filter(|path| !path.is_empty())
    }
}

/// The compiled rules and flow file of one language.
#[derive(Debug, Clone, Default)]
pub(crate) struct TaintModel {
    patterns: Vec<(PathPattern, PathRole)>,
    by_last_step: HashMap<String, Vec<usize>>,
    any_last_step: Vec<usize>,
    kinds: Vec<String>,
    classes: Vec<String>,
    aliases: Vec<String>,
    pub(super) rules: Vec<CompiledRule>,
    pub(super) sinks: Vec<CompiledSink>,
    pub(super) name_sinks: Vec<(regex::Regex, usize)>,
    pub(super) guards: Vec<CompiledGuard>,
    pub(super) safe_after: Vec<(Vec<CallCondition>, Bits)>,
    pub(super) entries: Vec<CompiledEntry>,
    pub(super) safe_fields: Vec<String>,
    pub(super) safe_methods: Vec<String>,
}

impl TaintModel {
    /// Compiles a flow file.
    pub(crate) fn new(file: &FlowFile) -> Result<Self, PatternProblem> {
        let mut model = Self {
            safe_fields: file.safe_fields.clone(),
            safe_methods: file.safe_methods.clone(),
            ..Self::default()
        };
        for source in &file.sources {
            let (kinds, clean) = (model.kind_bits(&source.kinds), model.class_bits(&source.clean));
            model.add_paths(&source.paths, PathRole::Source(kinds, clean))?;
        }
        for sanitizer in &file.sanitizers {
            let except = model.class_bits(&sanitizer.except);
            let clears = model.class_bits(&sanitizer.clears) & !except;
            model.add_paths(&sanitizer.calls, PathRole::Sanitizer(clears))?;
            model.add_paths(&sanitizer.fields, PathRole::CleanField(clears))?;
        }
        for propagator in &file.propagators {
            let kinds = model.kind_bits(&propagator.kinds);
            let kinds = if propagator.kinds.is_empty() { Bits::MAX } else { kinds };
            model.add_paths(&propagator.calls, PathRole::Propagator(kinds))?;
        }
        for alias in &file.aliases {
            model.add_paths(&alias.paths, PathRole::Alias(model.aliases.len()))?;
            model.aliases.push(alias.same_as.clone());
        }
        model.add_paths(&file.stores, PathRole::Store)?;
        model.add_paths(&file.exits, PathRole::Exit)?;
        model.add_paths(&file.wrappers, PathRole::Wrapper)?;
        model.add_checks(file)?;
        Ok(model)
    }

    fn add_checks(&mut self, file: &FlowFile) -> Result<(), PatternProblem> {
        for guard in &file.guards {
            self.add_paths(&guard.calls, PathRole::Guard(self.guards.len()))?;
            let (selectors, clears) = (selectors(&guard.args)?, self.class_bits(&guard.clears));
            self.guards.push(CompiledGuard { selectors, clears, when_false: guard.when_false });
        }
        for spec in &file.safe_after {
            self.add_paths(&spec.calls, PathRole::SafeAfter(self.safe_after.len()))?;
            let clears = self.class_bits(&spec.clears);
            self.safe_after.push((conditions(&spec.when)?, clears));
        }
        for entry in &file.entries {
            let at = self.entries.len();
            self.add_paths(&entry.callback_of, PathRole::Callback(at))?;
            self.add_paths(&entry.decorators, PathRole::Decorator(at))?;
            self.add_paths(&entry.types, PathRole::ParameterType(at))?;
            let (names, binds) = (entry.names.clone(), entry.binds.clone());
            self.entries.push(CompiledEntry { names, binds });
        }
        Ok(())
    }

    /// The same model with rules; a flow names a rule by its position here.
    pub(crate) fn with_rules(&self, rules: &[&TaintSpec]) -> Result<Self, PatternProblem> {
        let mut model = self.clone();
        for (at, rule) in rules.iter().enumerate() {
            model.add_rule(at, rule)?;
        }
        Ok(model)
    }

    fn add_rule(&mut self, at: usize, rule: &TaintSpec) -> Result<(), PatternProblem> {
        let class = self.class_bits(std::slice::from_ref(&rule.class));
        let mut kinds = self.kind_bits(&rule.sources);
        if !rule.source_paths.is_empty() {
            let own = self.kind_bits(&[format!("source of rule {at}")]);
            self.add_paths(&rule.source_paths, PathRole::Source(own, 0))?;
            kinds |= own;
        }
        self.rules.push(CompiledRule { kinds, class, at_start: rule.at_start });
        self.add_paths(&rule.sanitizers, PathRole::Sanitizer(class))?;
        rule.sinks.iter().try_for_each(|sink| self.add_sink(at, sink))
    }

    fn add_sink(&mut self, rule: usize, spec: &SinkSpec) -> Result<(), PatternProblem> {
        let at = self.sinks.len();
        let (selectors, conditions) = (selectors(&spec.args)?, conditions(&spec.when)?);
        self.sinks.push(CompiledSink { rule, selectors, conditions });
        self.add_paths(&spec.call, PathRole::CallSink(at))?;
        self.add_paths(&spec.write, PathRole::WriteSink(at))?;
        self.add_paths(&spec.returned_by, PathRole::ReturnSink(at))?;
        if let Some(pattern) = &spec.assign {
            self.name_sinks.push((regex(pattern)?, at));
        }
        Ok(())
    }

    fn add_paths(&mut self, paths: &[String], role: PathRole) -> Result<(), PatternProblem> {
        for path in paths {
            for pattern in PathPattern::parse_all(path)? {
                let at = self.patterns.len();
                match pattern.last_step() {
                    Some(last) => self.by_last_step.entry(last.to_owned()).or_default().push(at),
                    None => self.any_last_step.push(at),
                }
                self.patterns.push((pattern, role));
            }
        }
        Ok(())
    }

    /// The roles of a path.
    pub(super) fn roles(&self, path: &str) -> Vec<PathRole> {
        let known = self.by_last_step.get(last_step(path)).into_iter().flatten();
        known
            .chain(&self.any_last_step)
            .filter_map(|at| self.patterns.get(*at))
            .filter(|(pattern, _)| pattern.matches(path))
            .map(|(_, role)| *role)
            .collect()
    }

    pub(super) fn alias(&self, at: usize) -> Option<&str> {
        self.aliases.get(at).map(String::as_str)
    }

    fn kind_bits(&mut self, names: &[String]) -> Bits {
        bits(&mut self.kinds, names)
    }

    fn class_bits(&mut self, names: &[String]) -> Bits {
        if names.iter().any(|name| name == "all") {
            return Bits::MAX;
        }
        bits(&mut self.classes, names)
    }
}

fn conditions(texts: &[String]) -> Result<Vec<CallCondition>, PatternProblem> {
    texts.iter().map(|text| CallCondition::parse(text)).collect()
}

fn selectors(texts: &[String]) -> Result<Vec<ArgumentSelector>, PatternProblem> {
    texts.iter().map(|text| ArgumentSelector::parse(text)).collect()
}

/// The bits of names; names beyond the last bit get none, so that they match nothing.
fn bits(known: &mut Vec<String>, names: &[String]) -> Bits {
    let mut found = 0;
    for name in names {
        let at = known.iter().position(|known| known == name).unwrap_or_else(|| {
            known.push(name.clone());
            known.len() - 1
        });
        found |= u32::try_from(at).ok().and_then(|at| 1_u64.checked_shl(at)).unwrap_or(0);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flow_file_can_be_read() {
        for text in FLOW_FILES {
            let file: FlowFile = serde_saphyr::from_str(text).expect("parses");
            TaintModel::new(&file).expect("has valid paths");
        }
    }
}
