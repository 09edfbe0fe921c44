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
    /// The schema as JSON, with a newline at the end.
    pub fn text(self) -> serde_json::Result<String> {
        let schema = match self {
            Self::ReviewResult => mala_domain::report::schema(),
            Self::Rule => mala_syntax::rules::schema::json_schema(),
            Self::GateSpawned => mala_domain::render::gate::spawn_schema(),
            Self::GateWaited => mala_domain::render::gate::result_schema(),
            Self::Task => mala_domain::task::schema(),
            Self::EvalCase => mala_eval::case::schema(),
            Self::EvalRecord => mala_eval::record::schema(),
            Self::EvalResult => mala_eval::result::schema(),
            Self::EvalCaseView => mala_eval::view::schema(),
            Self::EvalComparison => mala_eval::compare::schema(),
            Self::MalaConfig => mala_domain::config::Config::schema(),
        };
        serde_json::to_string_pretty(&schema).map(|text| text + "\n")
    }
}

pub(super) fn run(args: &SchemaArgs) -> anyhow::Result<Exit> {
    console::data(&args.name.text()?)?;
    Ok(Exit::Passed)
}
