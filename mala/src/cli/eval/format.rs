//! How evals are printed.

use crate::console;
use crate::surroundings::Surroundings;
use clap::ValueEnum;
use mala_eval::matching::MatchMode;
use mala_eval::render::Document;
use serde::Serialize;

/// How to print it
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum EvalFormat {
    Text,
    Markdown,
    Json,
}

impl EvalFormat {
    /// Prints a value in its own form or as a document.
    pub(super) fn print(
        self,
        here: &Surroundings,
        value: &impl Serialize,
        document: impl FnOnce() -> Document,
    ) -> anyhow::Result<()> {
        Ok(console::data(&self.shown(here, value, document)?)?)
    }

    pub(super) fn shown(
        self,
        here: &Surroundings,
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

/// What has to be the same for a hit, besides file and lines
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ModeName {
    /// The category
    Strict,
    /// The category, with bug, logic and error_handling as one
    Grouped,
    /// Nothing more
    Location,
    /// The problem itself, by the word of the judge that the run had
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
