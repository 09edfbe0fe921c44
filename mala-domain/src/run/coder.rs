//! A coder: a coding agent as data. The built-in coders are a table in `coders.toml`; `run.coders`
//! in a configuration file adds arguments to them, and other coders as command templates.

mod output;

pub use output::{CoderOutput, CoderReader, LinePlace, shown_line};

use crate::config::{CoderTemplate, nearest_or};
use crate::gate::lane::{HomeFile, HomeLink, filled};
use serde::Deserialize;
use std::collections::BTreeMap;
use thiserror::Error;

const KNOWN: &str = include_str!("coders.toml");

/// How to start and resume a coder, and how to read its output.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CoderSpec {
    /// The program and arguments that start a session.
    pub command: Vec<String>,
    /// The program and arguments that resume a session.
    pub resume: Vec<String>,
    /// The value of `{common}`.
    pub common: Vec<String>,
    /// The value of `{args}`: the user's own arguments.
    pub args: Vec<String>,
    /// The value of `{budget}`, if there is a cost limit.
    pub budget: Vec<String>,
    /// The value of `{permissions}` in a sandboxed session.
    pub confined: Vec<String>,
    /// The value of `{permissions}` in other sessions.
    pub unconfined: Vec<String>,
    /// How to install the program, shown to the user.
    pub install: Option<String>,
    /// Variables of the user that it may see.
    pub keep: Vec<String>,
    /// Variables that get the value of another variable of the user if they are not set.
    pub lent: BTreeMap<String, String>,
    /// Default values of variables.
    pub defaults: BTreeMap<String, String>,
    /// Variables that are set.
    pub set: BTreeMap<String, String>,
    /// Variables that are set in a sandboxed session.
    pub set_confined: BTreeMap<String, String>,
    /// Files of the user that are linked into its home.
    pub links: Vec<HomeLink>,
    /// Files that are written into its home.
    pub files: Vec<HomeFile>,
    /// Files below its home with the history of sessions, in which the results of tools occur
    /// twice.
    pub doubled_results: Option<String>,
    /// How to read its output; `None` for plain lines of text.
    pub output: Option<CoderOutput>,
    /// Whether it uses the user's home and all of the user's variables, as a command template does.
    #[serde(skip)]
    pub is_template: bool,
}

/// Why a coder cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CoderProblem {
    /// The table of mala itself cannot be read.
    #[error("coders.toml: {0}")]
    Table(String),
    /// No coder has this name.
    #[error("no coder is named `{0}`: {1}")]
    Unknown(String, String),
}

/// The values of the placeholders of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CoderCall<'c> {
    /// Whether a session is resumed.
    pub is_resumed: bool,
    /// Whether bubblewrap sandboxes the session.
    pub is_confined: bool,
    /// The cost limit.
    pub max_cost: Option<String>,
    /// Names and values, such as `session` and `tree`.
    pub values: Vec<(&'c str, String)>,
}

impl CoderSpec {
    /// The built-in coders, by name.
    pub fn known() -> Result<BTreeMap<String, Self>, CoderProblem> {
        toml::from_str(KNOWN).map_err(|error| CoderProblem::Table(error.to_string()))
    }

    /// The coder with this name, among those of mala and of the user.
    pub fn find(name: &str, own: &BTreeMap<String, CoderTemplate>) -> Result<Self, CoderProblem> {
        let mut known = Self::known()?;
        match (own.get(name), known.remove(name)) {
            (Some(template), Some(spec)) if template.command.is_empty() => {
                let set = spec.set.into_iter().chain(template.env.clone()).collect();
                Ok(Self { args: template.args.clone(), set, ..spec })
            }
            (Some(template), _) => Ok(Self::from_template(template)),
            (None, Some(spec)) => Ok(spec),
            (None, None) => {
                let names: Vec<&str> = known.keys().chain(own.keys()).map(String::as_str).collect();
                let otherwise = format!("there are {}", names.join(", "));
                Err(CoderProblem::Unknown(name.to_owned(), nearest_or(name, &names, &otherwise)))
            }
        }
    }

    fn from_template(template: &CoderTemplate) -> Self {
        Self {
            command: template.command.iter().chain(&template.args).cloned().collect(),
            resume: template.resume.clone().unwrap_or_else(|| template.command.clone()),
            set: template.env.clone(),
            is_template: true,
            ..Self::default()
        }
    }

    /// Whether the prompt goes to stdin: if no argument names its file.
    pub fn reads_stdin(&self, is_resumed: bool) -> bool {
        let command = if is_resumed { &self.resume } else { &self.command };
        !command.iter().chain(&self.common).any(|argument| argument.contains("{prompt_file}"))
    }

    /// The program and its arguments for one part of a session.
    pub fn arguments(&self, call: &CoderCall<'_>) -> Vec<String> {
        let template = if call.is_resumed { &self.resume } else { &self.command };
        let mut out = Vec::new();
        self.expand(template, call, &mut out);
        out
    }

    fn expand(&self, template: &[String], call: &CoderCall<'_>, out: &mut Vec<String>) {
        let permissions = if call.is_confined { &self.confined } else { &self.unconfined };
        for argument in template {
            match argument.as_str() {
                "{common}" => self.expand(&self.common, call, out),
                "{permissions}" => self.expand(permissions, call, out),
                "{args}" => out.extend(self.args.iter().cloned()),
                "{budget}" if call.max_cost.is_none() => {}
                "{budget}" => self.expand(&self.budget, call, out),
                other => out.push(call.fill(other)),
            }
        }
    }
}

impl CoderCall<'_> {
    /// Fills in the placeholders of a text.
    pub fn fill(&self, template: &str) -> String {
        let mut values: Vec<(&str, &str)> =
            self.values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        values.extend(self.max_cost.as_deref().map(|cost| ("max_cost", cost)));
        filled(template, &values)
    }
}

#[cfg(test)]
mod tests;
