//! What a reviewer is told, and what it contributes.

use crate::agent::answer::Rung;
use crate::change::{Change, FilePath};
use crate::finding::Candidate;
use crate::ports::{Repository, ReviewerFailure};
use crate::review::Texts;
use crate::scope::Scope;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// What a reviewer is told.
#[derive(Clone)]
pub struct ReviewRequest {
    /// What changed.
    pub change: Arc<Change>,
    /// The tree it is in.
    pub tree: Arc<dyn Repository>,
    /// Exactly which states are compared.
    pub scope: Scope,
    /// The texts of the changed files.
    pub texts: Arc<Texts>,
    /// How long it may take.
    pub timeout: Duration,
}

/// One reviewer's contribution.
#[derive(Debug, Clone, Default)]
pub struct Hearing {
    /// Who.
    pub reviewer: String,
    /// The model behind it, if any.
    pub model: Option<String>,
    /// What it claims.
    pub candidates: Vec<Candidate>,
    /// The hunks it accounts for, as indices into the file's hunks.
    pub accounted: Vec<(FilePath, Vec<usize>)>,
    /// The most findings that are to be reported of its review; those that block come on top.
    pub max_findings: Option<usize>,
    /// What went wrong without stopping it.
    pub warnings: Vec<String>,
    /// Whether work that it wanted to do was not done: a check, a look at a file.
    pub cut_short: bool,
    /// What it used.
    pub usage: Usage,
    /// Why it could not finish; what it claims then is what it had until there.
    pub failure: Option<ReviewerFailure>,
    /// Those it speaks for, when it speaks for others: each has an entry of its own in the report.
    pub voices: Vec<Voice>,
    /// Where its own files are.
    pub log: Option<String>,
    /// Whether it objects to the change by a rule of its own, as a panel does.
    pub objects: bool,
}

/// One of those that a reviewer speaks for, such as a lane of a panel.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Voice {
    /// Its name, as its claims have it.
    pub name: String,
    /// The model behind it, if anybody knows.
    pub model: Option<String>,
    /// Why it has no verdict.
    pub error: Option<String>,
    /// What it used.
    pub usage: Usage,
}

/// What a reviewer used; what it did not say is unknown, not zero.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Calls to a model that mala made itself; those of a lane or a command are not known.
    pub llm_calls: u64,
    /// Calls to tools that mala made itself.
    pub tool_calls: u64,
    /// Tokens in and out; null when unknown.
    pub tokens_used: Option<u64>,
    /// Tokens read from the provider's cache; null when unknown.
    pub cache_read_tokens: Option<u64>,
    /// Dollars; null when unknown.
    pub cost_usd: Option<f64>,
    /// Seconds spent waiting for a model.
    pub latency_seconds_llm: f64,
    /// How many answers were read in which way.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub answers_read: BTreeMap<Rung, u64>,
}
