//! `mala schema`: the JSON Schemas of the files and outputs of mala.

use crate::console;
use crate::exit::Exit;
use clap::{Args, ValueEnum};

/// Print the JSON Schema of a file or an output of mala
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// Name of the schema
    name: SchemaName,
}

/// A document with a schema
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaName {
    /// Result of a review (`review.json`)
    ReviewResult,
    /// Configuration file (`mala.yaml`)
    MalaConfig,
    /// Rule (`.mala/rules/*.yaml`)
    Rule,
    /// Output of `review-gate spawn-code-review`
    GateSpawned,
    /// Output of `review-gate wait --json`
    GateWaited,
    /// Task (`mala task show --format json`)
    Task,
    /// Case with known problems (a line of a `.jsonl` file)
    EvalCase,
    /// Record of a reviewed case (a line of `results.jsonl`)
    EvalRecord,
    /// Result of a run (`result.json`)
    EvalResult,
    /// Reviewed case with its hits and misses (`mala eval show --format json`)
    EvalCaseView,
    /// Comparison of two runs (`mala eval compare --format json`)
    EvalComparison,
}

impl SchemaName {
    /// The schema as JSON, with a newline at the end. A test compares these files with the types.
    pub fn text(self) -> &'static str {
        match self {
            Self::ReviewResult => include_str!("../../../schemas/review-result.schema.json"),
            Self::Rule => include_str!("../../../schemas/rule.schema.json"),
            Self::GateSpawned => include_str!("../../../schemas/gate-spawned.schema.json"),
            Self::GateWaited => include_str!("../../../schemas/gate-waited.schema.json"),
            Self::Task => include_str!("../../../schemas/task.schema.json"),
            Self::EvalCase => include_str!("../../../schemas/eval-case.schema.json"),
            Self::EvalRecord => include_str!("../../../schemas/eval-record.schema.json"),
            Self::EvalResult => include_str!("../../../schemas/eval-result.schema.json"),
            Self::EvalCaseView => include_str!("../../../schemas/eval-case-view.schema.json"),
            Self::EvalComparison => include_str!("../../../schemas/eval-comparison.schema.json"),
            Self::MalaConfig => include_str!("../../../schemas/mala-config.schema.json"),
        }
    }
}

pub(super) fn run(args: &SchemaArgs) -> anyhow::Result<Exit> {
    console::data(args.name.text())?;
    Ok(Exit::Passed)
}
