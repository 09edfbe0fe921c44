//! `mala schema`: the JSON Schemas of the documents that mala reads and writes.

use super::exit::Exit;
use crate::console;
use clap::{Args, ValueEnum};

/// Print the JSON Schema of a document that mala reads or writes
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// Which document
    name: SchemaName,
}

/// A document with a schema
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaName {
    /// The result of a review (`review.json`)
    ReviewResult,
    /// The configuration file (`mala.yaml`)
    MalaConfig,
    /// A rule (`.mala/rules/*.yaml`)
    Rule,
    /// What `review-gate spawn-code-review` prints
    GateSpawned,
    /// What `review-gate wait --json` prints
    GateWaited,
    /// A case with known problems (a line of a `.jsonl` file)
    EvalCase,
    /// What is kept of one reviewed case (a line of `results.jsonl`)
    EvalRecord,
    /// The result of a run (`result.json`)
    EvalResult,
    /// One reviewed case with its hits and misses (`mala eval show --format json`)
    EvalCaseView,
    /// How two runs differ (`mala eval compare --format json`)
    EvalComparison,
}

impl SchemaName {
    /// The schema, as JSON that ends in a newline.
    pub fn text(self) -> serde_json::Result<String> {
        let schema = match self {
            Self::ReviewResult => mala_domain::report::schema(),
            Self::Rule => mala_syntax::rules::schema::json_schema(),
            Self::GateSpawned => mala_domain::render::gate::spawn_schema(),
            Self::GateWaited => mala_domain::render::gate::result_schema(),
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
