//! The `review.command:` block: the reviewer that is a command of the user, and its parser.

use super::{Seconds, null_is_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The reviewer `command`: a command that gets the context of a change on stdin and answers freely,
/// and a parser that brings the answer into form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CommandReviewer {
    /// The command that reviews, as a program and its arguments; no shell reads them. `{model}` stands
    /// for `model`; `{prompt_file}`, `{tree}`, `{home}` and `{timeout}` are filled in too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<Vec<String>>,
    /// The command that brings the answer into form: it gets the review on stdin and prints
    /// `{result, issues, summary, blocking}` as JSON. Without it, the agent's model does that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parser: Option<Vec<String>>,
    /// The model that the command is to use, in place of `{model}` and as `MALA_REVIEW_MODEL`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model that brings answers into form when there is no `parser`; with nothing said, the agent's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parser_model: Option<String>,
    /// How long each command may print nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<Seconds>,
    /// How many bytes each command may print.
    #[schemars(extend("default" = 16_777_216))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u32>,
    /// Variables of the user that the commands may see, beside those that every program needs.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<Vec<String>>")]
    pub keep: Vec<String>,
    /// Variables that are set for the commands.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    pub env: BTreeMap<String, String>,
    /// What the command is told.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<CommandContext>")]
    pub context: CommandContext,
}

/// What a command is told of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CommandContext {
    /// What the change is for, when that is known (`--context-file`).
    pub include_task_definition: bool,
    /// What changed.
    pub include_git_diff: bool,
}

impl Default for CommandContext {
    fn default() -> Self {
        Self { include_task_definition: true, include_git_diff: true }
    }
}
