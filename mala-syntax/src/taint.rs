//! Taint analysis inside one file: finds values that a rule calls harmful and the places they reach.
//! Sources, sinks, sanitizers and guards are data (`spec`); `engine` runs the syntax tree once over
//! abstract values.

mod engine;
mod model;
mod pattern;
mod spec;
mod syntax;
mod value;

pub(crate) use model::{TaintModel, language_model};
pub use pattern::PatternProblem;
pub use spec::{
    AliasSpec, EntrySpec, FlowFile, GuardSpec, PropagatorSpec, SafeAfterSpec, SanitizerSpec,
    SinkSpec, SourceSpec, TaintSpec,
};

use crate::source::Source;
use std::ops::Range;

impl TaintSpec {
    /// Checks that its paths, selectors and conditions can be read.
    pub fn check(&self) -> Result<(), PatternProblem> {
        TaintModel::default().with_rules(&[self]).map(|_| ())
    }
}

/// A tainted value at a sink.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TaintFlow {
    /// Position of the rule in the model.
    pub(crate) rule: usize,
    /// The bytes of the sink.
    pub(crate) sink: Range<usize>,
    /// The bytes of the source.
    pub(crate) source: Range<usize>,
}

/// All flows from a source to a sink in a file. Where several rules report the same value on the
/// same line, the first rule of the model wins.
pub(crate) fn flows(source: &Source, model: &TaintModel) -> Vec<TaintFlow> {
    let mut flows = engine::run(source, model);
    flows.sort_by_key(|flow| (flow.rule, flow.sink.start, flow.sink.end));
    let line_of = |byte: usize| {
        let before = source.text().as_bytes().get(..byte).unwrap_or_default();
        before.iter().filter(|byte| **byte == b'\n').count()
    };
    let mut reported: Vec<(usize, usize)> = Vec::new();
    flows.retain(|flow| {
        let key = (line_of(flow.sink.start), flow.source.start);
        let is_new = !reported.contains(&key);
        reported.push(key);
        is_new
    });
    flows.sort_by_key(|flow| (flow.sink.start, flow.sink.end, flow.rule));
    flows
}

#[cfg(test)]
mod tests;
