//! The `review.command` block.

use super::{Seconds, null_is_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The `command` reviewer: a command that reads the change on stdin and answers in any format, and a
/// parser that converts the answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CommandReviewer {
    /// The review command: a program and its arguments, run without a shell. Placeholders: `{model}`,
    /// `{prompt_file}`, `{tree}`, `{home}`, `{timeout}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<Vec<String>>,
    /// The parser command. It reads the review on stdin and prints `{result, issues, summary, blocking}` as
    /// JSON. Default: the model of the agent reviewer parses the review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parser: Option<Vec<String>>,
    /// The model for the command, passed as `{model}` and as `MALA_REVIEW_MODEL`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model that parses reviews if `parser` is not set. Default: the model of the agent reviewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parser_model: Option<String>,
    /// Time limit without output, in seconds, for each command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<Seconds>,
    /// Maximum output of each command, in bytes.
    #[schemars(extend("default" = 16_777_216))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u32>,
    /// Environment variables to pass through, in addition to those that every program gets.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<Vec<String>>")]
    pub keep: Vec<String>,
    /// Environment variables to set.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    pub env: BTreeMap<String, String>,
    /// What to include in the prompt.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<ReviewContext>")]
    pub context: ReviewContext,
}

/// What to include in the prompt of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReviewContext {
    /// The purpose of the change, if known (`--context-file`).
    pub include_task_definition: bool,
    /// The diff.
    pub include_git_diff: bool,
}

impl Default for ReviewContext {
    fn default() -> Self {
        Self { include_task_definition: true, include_git_diff: true }
    }
}
