//! Where the result of a run goes, and in what form.

use super::format::EvalFormat;
use super::{kept, page};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::console;
use crate::surroundings::Surroundings;
use clap::{Args, ValueEnum};
use mala_adapters::store::write_output;
use mala_eval::EvalResult;
use mala_eval::render::{self as render, Document};
use mala_eval::store::runs::{EvalRunFolder, EvalStore};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Where the result goes
#[derive(Debug, Args)]
pub(super) struct ResultOutput {
    /// How to show it; without it, what the file's name ends with says so
    #[arg(long, value_name = "FORMAT")]
    format: Option<ResultFormat>,

    /// Write it to this file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// How to show a result
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ResultFormat {
    Text,
    Markdown,
    Json,
    /// One page with plots and every case, which needs nothing else
    Html,
}

impl ResultOutput {
    /// Shows the results of these runs.
    pub(super) fn show(
        &self,
        evals: &EvalStore,
        runs: &[EvalRunFolder],
        here: &Surroundings,
    ) -> anyhow::Result<()> {
        let text = match self.plain() {
            None => page::page(evals, runs)?,
            Some(format) => {
                let results = runs.iter().map(kept::scored).collect::<anyhow::Result<Vec<_>>>()?;
                match results.as_slice() {
                    [only] => format.shown(here, only, || document(&results))?,
                    several => format.shown(here, &several, || document(several))?,
                }
            }
        };
        match &self.output {
            Some(file) => Ok(write(file, &text, here)?),
            None => Ok(console::data(&text)?),
        }
    }

    /// The form, unless it is a page.
    fn plain(&self) -> Option<EvalFormat> {
        let ending =
            self.output.as_deref().and_then(Path::extension).and_then(|ending| ending.to_str());
        let by_name = match ending.map(str::to_ascii_lowercase).as_deref() {
            Some("html" | "htm") => ResultFormat::Html,
            Some("md") => ResultFormat::Markdown,
            Some("json") => ResultFormat::Json,
            _ => ResultFormat::Text,
        };
        match self.format.unwrap_or(by_name) {
            ResultFormat::Text => Some(EvalFormat::Text),
            ResultFormat::Markdown => Some(EvalFormat::Markdown),
            ResultFormat::Json => Some(EvalFormat::Json),
            ResultFormat::Html => None,
        }
    }
}

fn document(results: &[EvalResult]) -> Document {
    let blocks = results.iter().flat_map(|result| render::result(result).blocks);
    Document { blocks: blocks.collect() }
}

fn write(file: &Path, text: &str, here: &Surroundings) -> Result<(), Failure> {
    write_output(&here.folder.join(file), text.as_bytes()).map_err(|error| {
        // The path in the error is that of the draft.
        let why = match error.kind() {
            ErrorKind::NotFound => "there is no such folder".to_owned(),
            kind => kind.to_string(),
        };
        Failure::new(Exit::CouldNotReview, format!("writing {}: {why}", file.display()))
            .hint("the run is kept: 'mala eval report --output FILE' writes it again")
    })?;
    console::say(&format!("wrote {}", file.display()));
    Ok(())
}
