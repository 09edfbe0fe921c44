//! `validation_triggers` and `commands`: what to run when a session, an epic or a run ends. The
//! `code_review` block is the same in every trigger; nothing is inherited.

use super::{RetryCount, ReviewerType, Seconds, null_is_default};
use crate::verdict::Threshold;
use schemars::JsonSchema;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// What to run when sessions, epics and runs end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ValidationTriggers {
    /// Runs when the coding session of an issue ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_end: Option<SessionEndTrigger>,
    /// Runs when all issues of an epic are done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epic_completion: Option<EpicCompletionTrigger>,
    /// Runs when the whole run ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_end: Option<RunEndTrigger>,
    /// Runs after every few issues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub periodic: Option<PeriodicTrigger>,
}

/// Runs when the coding session of an issue ends.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SessionEndTrigger {
    /// What to do if a command fails.
    pub failure_mode: FailureMode,
    /// The commands to run.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<Vec<TriggerCommand>>")]
    pub commands: Vec<TriggerCommand>,
    /// How many times to retry failed commands.
    pub max_retries: Option<RetryCount>,
    /// The review of the commits of the issue.
    pub code_review: Option<CodeReviewSettings>,
}

/// Runs when all issues of an epic are done.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EpicCompletionTrigger {
    /// What to do if a command fails.
    pub failure_mode: FailureMode,
    /// The commands to run.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<Vec<TriggerCommand>>")]
    pub commands: Vec<TriggerCommand>,
    /// How many times to retry failed commands.
    pub max_retries: Option<RetryCount>,
    /// The cumulative review.
    pub code_review: Option<CodeReviewSettings>,
    /// Which epics count.
    pub epic_depth: EpicDepth,
    /// On which outcome to run.
    pub fire_on: FireOn,
}

/// Runs when the whole run ends.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RunEndTrigger {
    /// What to do if a command fails.
    pub failure_mode: FailureMode,
    /// The commands to run.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<Vec<TriggerCommand>>")]
    pub commands: Vec<TriggerCommand>,
    /// How many times to retry failed commands.
    pub max_retries: Option<RetryCount>,
    /// The cumulative review.
    pub code_review: Option<CodeReviewSettings>,
    /// On which outcome to run.
    pub fire_on: FireOn,
}

/// Runs after every few issues.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PeriodicTrigger {
    /// What to do if a command fails.
    pub failure_mode: FailureMode,
    /// The commands to run.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<Vec<TriggerCommand>>")]
    pub commands: Vec<TriggerCommand>,
    /// How many times to retry failed commands.
    pub max_retries: Option<RetryCount>,
    /// The cumulative review.
    pub code_review: Option<CodeReviewSettings>,
    /// The number of issues between two runs of the trigger.
    pub interval: Option<u32>,
}

/// The review of a trigger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CodeReviewSettings {
    /// Whether to review.
    pub enabled: bool,
    /// The reviewer. Default: `agent_sdk`, or `builtin` if no model key is set. A reviewer set here
    /// never falls back to another one.
    #[schemars(extend("default" = "agent_sdk"))]
    pub reviewer_type: Option<ReviewerType>,
    /// What to do if the review cannot be done. For findings, see `finding_threshold`.
    pub failure_mode: FailureMode,
    /// How many times to retry a review that could not be done, and how many times to have findings
    /// fixed; counted separately, for each time the trigger runs.
    #[schemars(extend("default" = 3))]
    pub max_retries: Option<RetryCount>,
    /// The least urgent priority that fails the run.
    pub finding_threshold: Threshold,
    /// Where a cumulative review starts. Not used by `session_end`, which reviews the commits of
    /// its issue.
    pub baseline: Option<Baseline>,
    /// Settings of the `cerberus` reviewer.
    pub cerberus: Option<CerberusSettings>,
}

impl Default for CodeReviewSettings {
    fn default() -> Self {
        Self {
            enabled: false,
            reviewer_type: None,
            failure_mode: FailureMode::Continue,
            max_retries: None,
            finding_threshold: Threshold::None,
            baseline: None,
            cerberus: None,
        }
    }
}

impl CodeReviewSettings {
    /// The number of retries.
    pub fn retries(&self) -> u32 {
        self.max_retries.unwrap_or_default().get()
    }
}

/// Settings of the `cerberus` reviewer, passed to `review-gate`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CerberusSettings {
    /// The gate program, and arguments before its subcommand; run without a shell. Default: the
    /// `review-gate` next to `mala`, else the one in `PATH`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// Time limit of the panel, in seconds.
    #[schemars(extend("default" = 300))]
    pub timeout: Option<Seconds>,
    /// Additional arguments for `review-gate spawn-code-review`.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<Vec<String>>")]
    pub spawn_args: Vec<String>,
    /// Additional arguments for `review-gate wait`.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<Vec<String>>")]
    pub wait_args: Vec<String>,
    /// Environment variables for the gate.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    pub env: BTreeMap<String, String>,
}

impl CerberusSettings {
    /// Whether an external gate program reviews, instead of a panel in this process.
    pub fn is_external(&self) -> bool {
        self.command.is_some()
            || !self.spawn_args.is_empty()
            || !self.wait_args.is_empty()
            || !self.env.is_empty()
    }

    /// The time limit of the panel: `timeout`, else `--timeout` in `wait_args`.
    pub fn time_limit(&self) -> Option<Seconds> {
        let args = &self.wait_args;
        let after = args.iter().position(|arg| arg == "--timeout").and_then(|at| args.get(at + 1));
        let joined = || args.iter().find_map(|arg| arg.strip_prefix("--timeout="));
        let argument = after.map(String::as_str).or_else(joined).and_then(|text| text.parse().ok());
        self.timeout.or(argument)
    }
}

/// A command of a trigger: a reference to an entry of `commands`, or a command of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TriggerCommand {
    /// The name of an entry of `commands`.
    #[serde(rename = "ref", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The shell command, instead of `ref`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Its time limit, in seconds. Default: that of the entry, else 600.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Seconds>,
}

/// A command of the project: its text, or a map with a time limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommandSetting {
    /// The shell command.
    pub command: String,
    /// Its time limit, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Seconds>,
}

/// What to do after a failure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureMode {
    /// Fail the run.
    Abort,
    /// Log the failure and continue.
    #[default]
    Continue,
    /// Retry up to `max_retries` times, then continue.
    Remediate,
}

/// On which outcome a trigger runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FireOn {
    /// Only on success.
    #[default]
    Success,
    /// Only on failure.
    Failure,
    /// Always.
    Both,
}

/// Which epics count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EpicDepth {
    /// Epics without a parent epic.
    #[default]
    TopLevel,
    /// Every epic.
    All,
}

/// Where a cumulative review starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Baseline {
    /// The commit where the run started.
    SinceRunStart,
    /// The last reviewed commit.
    SinceLastReview,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CommandSettingFields {
    /// The shell command.
    command: String,
    /// Its time limit, in seconds.
    timeout: Option<Seconds>,
}

impl<'de> Deserialize<'de> for CommandSetting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CommandSettingVisitor)
    }
}

struct CommandSettingVisitor;

impl<'de> Visitor<'de> for CommandSettingVisitor {
    type Value = CommandSetting;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a command, or a map with `command` and `timeout`")
    }

    fn visit_str<E: Error>(self, command: &str) -> Result<Self::Value, E> {
        Ok(CommandSetting { command: command.to_owned(), timeout: None })
    }

    fn visit_bool<E: Error>(self, word: bool) -> Result<Self::Value, E> {
        // `true` and `false` are programs too.
        self.visit_str(if word { "true" } else { "false" })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        let CommandSettingFields { command, timeout } =
            CommandSettingFields::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
        Ok(CommandSetting { command, timeout })
    }
}

impl JsonSchema for CommandSetting {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CommandSetting".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let spelled = generator.subschema_for::<CommandSettingFields>();
        schemars::json_schema!({
            "description": "A command of the project: its text, or a map with a time limit",
            "anyOf": [{ "type": "string" }, spelled]
        })
    }
}
