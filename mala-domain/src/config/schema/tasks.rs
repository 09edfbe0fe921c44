//! The `tasks` block: how `mala task` reviews tasks and notifies their user.

use super::{ReviewerType, Seconds, null_is_default};
use schemars::JsonSchema;
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt::{self, Formatter};

/// How `mala task` reviews tasks and notifies their user.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TaskSettings {
    /// The review that decides whether a task is complete.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<TaskReviewSettings>")]
    pub review: TaskReviewSettings,
    /// Shell command that produces the test results. It runs in the work tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests: Option<String>,
    /// Shell command that produces the lint results. It runs in the work tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lint: Option<String>,
    /// Time limit of `tests` and of `lint`, in seconds.
    #[schemars(extend("default" = 600))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Seconds>,
    /// How the user is notified when a person must look at a task: `desktop`, `bell`, `webhook: URL`, `command:
    /// [PROGRAM, ARGUMENTS...]`. Default: not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notify: Option<Vec<NotificationChannel>>,
}

/// The review of a task.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TaskReviewSettings {
    /// Whether tasks are reviewed. Without a review, a task that is done is complete.
    #[schemars(extend("default" = true))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// A slash command of `agent`, or a program and its arguments. The context goes to its stdin. If neither this
    /// nor `reviewer` is set and the agent has no `/review-task`, the default reviewer of mala is used.
    #[schemars(extend("default" = "/review-task"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<TaskCommand>,
    /// A reviewer of mala instead of a command: `builtin`, `agent_sdk` or `cerberus`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewer: Option<ReviewerType>,
    /// Brings the answer of the command into a form: a program and its arguments, or a slash command, which `agent`
    /// runs when it runs `command` too. By default, the model of the agent reviewer parses the answer of a program.
    #[schemars(extend("default" = "/parse-review"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parser: Option<TaskCommand>,
    /// Whose slash commands are run: `claude`, `codex`, `gemini` or an entry of `run.coders`. Default: `run.coder`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The model for the command, passed as `{model}` and as `MALA_REVIEW_MODEL`. Default: that of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The attempt whose objection blocks the task.
    #[schemars(extend("default" = 3))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_revisions: Option<u32>,
    /// What starts a review.
    #[schemars(extend("default" = "script_completion"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trigger: Option<TaskTrigger>,
    /// What to include in the context for the reviewer.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<TaskContextSettings>")]
    pub context: TaskContextSettings,
}

/// What to include in the context for the reviewer of a task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TaskContextSettings {
    /// Title, scope and acceptance criteria.
    #[schemars(extend("default" = true))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_task_definition: Option<bool>,
    /// The diff of the task: its commits and its working tree.
    #[schemars(extend("default" = true))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_git_diff: Option<bool>,
    /// The output of `tests`.
    #[schemars(extend("default" = true))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_test_results: Option<bool>,
    /// The output of `lint`.
    #[schemars(extend("default" = false))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_lint_results: Option<bool>,
    /// The newest part of the log of the coding session.
    #[schemars(extend("default" = false))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_session_log: Option<bool>,
}

/// What starts the review of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskTrigger {
    /// A script or a coding session says that the task is done: `mala task done`.
    ScriptCompletion,
    /// The conversation that works on the task goes idle: the stop hook.
    SessionIdle,
    /// Only `mala task review`.
    Explicit,
}

/// A way to notify the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotificationChannel {
    /// A notification of the desktop.
    Desktop,
    /// The bell of the terminal.
    Bell,
    /// A URL that gets the notification as JSON; signed if `MALA_WEBHOOK_SECRET` is set.
    Webhook(String),
    /// A program and its arguments, with the notification as JSON on its stdin.
    Command(Vec<String>),
}

/// A slash command, or a program and its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskCommand {
    /// A slash command, with its slash.
    Slash(String),
    /// A program and its arguments.
    Program(Vec<String>),
}

impl TaskCommand {
    /// The slash command with this name.
    pub fn slash(name: &str) -> Self {
        Self::Slash(name.to_owned())
    }
}

impl fmt::Display for TaskCommand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Slash(name) => f.write_str(name),
            Self::Program(words) => f.write_str(&words.join(" ")),
        }
    }
}

impl Serialize for TaskCommand {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Slash(name) => name.serialize(serializer),
            Self::Program(words) => words.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for TaskCommand {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TaskCommandVisitor)
    }
}

struct TaskCommandVisitor;

impl<'de> Visitor<'de> for TaskCommandVisitor {
    type Value = TaskCommand;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a slash command such as `/review-task`, or a list with a program and its arguments",
        )
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<TaskCommand, E> {
        Ok(TaskCommand::slash(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<TaskCommand, A::Error> {
        let mut words = Vec::new();
        while let Some(word) = list.next_element()? {
            words.push(word);
        }
        Ok(TaskCommand::Program(words))
    }
}

impl JsonSchema for TaskCommand {
    fn schema_name() -> Cow<'static, str> {
        "TaskCommand".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A slash command, or a program and its arguments",
            "anyOf": [
                { "type": "string" },
                { "type": "array", "items": { "type": "string" }, "minItems": 1 },
            ],
        })
    }
}

impl TaskSettings {
    /// Whether no key is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
