//! Formats of results, where they are written, and the numbers that users pass.

use super::{kept, page};
use crate::console;
use crate::environment::Environment;
use crate::failure::{Failure, FailureKind};
use crate::wiring::write_output;
use clap::{Args, ValueEnum};
use mala_eval::EvalResult;
use mala_eval::matching::MatchMode;
use mala_eval::render::{self, Document};
use mala_eval::store::runs::{EvalRunFolder, EvalStore};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The outputs of a result
#[derive(Debug, Args)]
pub(super) struct ResultOutput {
    /// Output format [default: by the extension of the file, or text]
    #[arg(long, value_name = "FORMAT")]
    format: Option<ResultFormat>,

    /// Write to this file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The format of a result
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ResultFormat {
    Text,
    Markdown,
    Json,
    /// One page with plots and all cases
    Html,
}

impl ResultOutput {
    /// Shows the results of these runs.
    pub(super) fn show(
        &self,
        evals: &EvalStore,
        runs: &[EvalRunFolder],
        here: &Environment,
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

    /// The format, unless it is a page.
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

fn write(file: &Path, text: &str, here: &Environment) -> Result<(), Failure> {
    write_output(&here.folder.join(file), text).map_err(|why| {
        Failure::new(FailureKind::CouldNotReview, format!("cannot write {}: {why}", file.display()))
            .hint("the run is kept; run `mala eval report --output FILE` to write it again")
    })?;
    console::say(&format!("wrote {}", file.display()));
    Ok(())
}

/// The output format
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum EvalFormat {
    Text,
    Markdown,
    Json,
}

impl EvalFormat {
    /// Prints a value as JSON or as a document.
    pub(super) fn print(
        self,
        here: &Environment,
        value: &impl Serialize,
        document: impl FnOnce() -> Document,
    ) -> anyhow::Result<()> {
        Ok(console::data(&self.shown(here, value, document)?)?)
    }

    pub(super) fn shown(
        self,
        here: &Environment,
        value: &impl Serialize,
        document: impl FnOnce() -> Document,
    ) -> anyhow::Result<String> {
        Ok(match self {
            Self::Text => document().text(here.terminal().width),
            Self::Markdown => document().markdown(),
            Self::Json => serde_json::to_string_pretty(value)? + "\n",
        })
    }
}

/// Conditions for a hit, besides file and lines
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ModeName {
    /// The category
    Strict,
    /// The category, with bug, logic and error_handling as one
    Grouped,
    /// Nothing else
    Location,
    /// The problem, according to the judge of the run
    Semantic,
}

impl From<ModeName> for MatchMode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Strict => Self::Strict,
            ModeName::Grouped => Self::Grouped,
            ModeName::Location => Self::Location,
            ModeName::Semantic => Self::Semantic,
        }
    }
}

/// A rate, from 0 to 1.
pub(super) fn rate(text: &str) -> Result<f64, String> {
    let is_rate = |rate: &f64| (0.0..=1.0).contains(rate);
    text.parse().ok().filter(is_rate).ok_or_else(|| "expected a number from 0 to 1".to_owned())
}

/// An amount of dollars.
pub(super) fn dollars(text: &str) -> Result<f64, String> {
    let is_amount = |dollars: &f64| dollars.is_finite() && *dollars >= 0.0;
    text.parse().ok().filter(is_amount).ok_or_else(|| "expected an amount of dollars".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_finite_numbers_in_range_are_accepted() {
        for (text, as_rate, as_dollars) in [
            ("0", Some(0.0), Some(0.0)),
            ("0.5", Some(0.5), Some(0.5)),
            ("1", Some(1.0), Some(1.0)),
            ("1.5", None, Some(1.5)),
            ("-0.1", None, None),
            ("nan", None, None),
            ("inf", None, None),
            ("-inf", None, None),
            ("1e999", None, None),
            ("$3", None, None),
            ("", None, None),
        ] {
            assert_eq!((rate(text).ok(), dollars(text).ok()), (as_rate, as_dollars), "{text}");
        }
    }
}
