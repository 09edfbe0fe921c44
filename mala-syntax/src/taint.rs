//! Data flow inside one file: where a value that an outsider chooses reaches a place where it does
//! harm. The tree is lowered to a small language (`ir`), which is run once over abstract values.

mod api;
mod flow_files;
mod ir;
mod lower;
mod machine;
mod model;
mod spec;
mod state;
mod trail;
mod value;

pub(crate) use flow_files::flow_model;
pub use model::Model;
pub use model::pattern::PatternProblem;
pub use spec::{
    AliasSpec, EntrySpec, FlowFile, PropagatorSpec, SanitizerSpec, SinkSpec, SourceSpec, TaintSpec,
};

use crate::source::Source;
use machine::Machine;
use mala_domain::change::LineSpan;
use std::ops::Range;

impl TaintSpec {
    /// Checks that its paths, selectors and conditions can be read.
    pub fn check(&self) -> Result<(), PatternProblem> {
        Model::default().with_rules(&[self]).map(|_| ())
    }
}

/// A piece of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spot {
    /// Its bytes.
    pub bytes: Range<usize>,
    /// Its 1-based lines.
    pub lines: LineSpan,
}

/// A tainted value at a sink.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// Which of the model's rules, by its position.
    pub rule: usize,
    /// Where harm is done.
    pub sink: Spot,
    /// Where the value comes from; `None` when it is written at the sink.
    pub source: Option<Spot>,
    /// Places on the way, the first one first.
    pub way: Vec<Spot>,
}

/// All flows from a source to a sink in a file. Where several rules speak about the same value on
/// the same line, the first one in the model does.
pub fn flows(source: &Source, model: &Model) -> Vec<Flow> {
    let Some(mut program) = lower::lower(source) else { return Vec::new() };
    let names = std::mem::take(&mut program.names);
    let hits = Machine::new(source.language(), &program, names, model).run();
    let mut flows: Vec<Flow> = hits
        .into_iter()
        .map(|hit| Flow {
            rule: hit.rule,
            sink: spot(hit.sink),
            source: hit.source.map(spot),
            way: hit.way.into_iter().map(spot).collect(),
        })
        .collect();
    flows.sort_by_key(|flow| (flow.rule, flow.sink.bytes.start, flow.sink.bytes.end));
    let mut told: Vec<(LineSpan, usize)> = Vec::new();
    // One value on one line is told once, by the first rule that says so.
    flows.retain(|flow| {
        let Some(source) = &flow.source else { return true };
        let same = (flow.sink.lines, source.bytes.start);
        let known = told.contains(&same);
        told.push(same);
        !known
    });
    flows.sort_by_key(|flow| (flow.sink.bytes.start, flow.sink.bytes.end, flow.rule));
    flows
}

fn spot(place: ir::Place) -> Spot {
    Spot {
        bytes: place.start as usize..place.end as usize,
        lines: LineSpan::between(place.first_row + 1, place.last_row + 1),
    }
}
