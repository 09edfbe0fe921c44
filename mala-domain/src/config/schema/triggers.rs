//! `validation_triggers` and `commands`: what happens when a session, an epic or a run ends. The
//! `code_review` block has the same shape in every trigger, and nothing is inherited.

use super::{Retries, ReviewerType, Seconds, null_is_default};
use crate::verdict::Threshold;
use schemars::JsonSchema;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// What happens at the ends of sessions, epics and runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Triggers {
    /// When the coding session of one issue ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_end: Option<SessionEnd>,
    /// When all issues of an epic are done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epic_completion: Option<EpicCompletion>,
    /// When the whole run ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_end: Option<RunEnd>,
    /// Every few issues.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub periodic: Option<Periodic>,
}

/// When the coding session of one issue ends.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SessionEnd {
    /// What becomes of a run whose commands fail.
    pub failure_mode: FailureMode,
    /// The commands to run, by name.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<Vec<CommandRef>>")]
    pub commands: Vec<CommandRef>,
    /// How often failed commands are tried again.
    pub max_retries: Option<Retries>,
    /// The review of the commits.
    pub code_review: Option<CodeReview>,
}

/// When all issues of an epic are done.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EpicCompletion {
    /// What becomes of a run whose commands fail.
    pub failure_mode: FailureMode,
    /// The commands to run, by name.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<Vec<CommandRef>>")]
    pub commands: Vec<CommandRef>,
    /// How often failed commands are tried again.
    pub max_retries: Option<Retries>,
    /// The cumulative review.
    pub code_review: Option<CodeReview>,
    /// Which epics count.
    pub epic_depth: EpicDepth,
    /// On which outcome it happens.
    pub fire_on: FireOn,
}

/// When the whole run ends.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RunEnd {
    /// What becomes of a run whose commands fail.
    pub failure_mode: FailureMode,
    /// The commands to run, by name.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<Vec<CommandRef>>")]
    pub commands: Vec<CommandRef>,
    /// How often failed commands are tried again.
    pub max_retries: Option<Retries>,
    /// The cumulative review.
    pub code_review: Option<CodeReview>,
    /// On which outcome it happens.
    pub fire_on: FireOn,
}

/// Every few issues.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Periodic {
    /// What becomes of a run whose commands fail.
    pub failure_mode: FailureMode,
    /// The commands to run, by name.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<Vec<CommandRef>>")]
    pub commands: Vec<CommandRef>,
    /// How often failed commands are tried again.
    pub max_retries: Option<Retries>,
    /// The cumulative review.
    pub code_review: Option<CodeReview>,
    /// After how many issues it happens again.
    pub interval: Option<u32>,
}

/// The review that a trigger asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CodeReview {
    /// Whether it happens.
    pub enabled: bool,
    /// Who reviews.
    pub reviewer_type: ReviewerType,
    /// What becomes of a run whose review cannot be done. Findings are the matter of
    /// `finding_threshold`.
    pub failure_mode: FailureMode,
    /// How often a review that could not be done is tried again.
    pub max_retries: Retries,
    /// From which priority on findings fail the run.
    pub finding_threshold: Threshold,
    /// Where a cumulative review starts. Not for `session_end`, which reviews the issue's own commits.
    pub baseline: Option<Baseline>,
    /// Settings of the `cerberus` reviewer.
    pub cerberus: Option<Cerberus>,
}

impl Default for CodeReview {
    fn default() -> Self {
        Self {
            enabled: false,
            reviewer_type: ReviewerType::AgentSdk,
            failure_mode: FailureMode::Continue,
            max_retries: Retries::default(),
            finding_threshold: Threshold::None,
            baseline: None,
            cerberus: None,
        }
    }
}

/// Settings of the `cerberus` reviewer, handed to `review-gate`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Cerberus {
    /// The program of the gate, and arguments that go before its command; no shell reads them. With
    /// nothing said, it is the `review-gate` beside `mala`, else the one on the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// How long the panel may take.
    #[schemars(extend("default" = 300))]
    pub timeout: Option<Seconds>,
    /// More arguments for `review-gate spawn-code-review`, one per entry; no shell reads them.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<Vec<String>>")]
    pub spawn_args: Vec<String>,
    /// More arguments for `review-gate wait`, one per entry; no shell reads them.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<Vec<String>>")]
    pub wait_args: Vec<String>,
    /// Environment variables for the reviewers.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    pub env: BTreeMap<String, String>,
}

impl Cerberus {
    /// How long the panel may take: what is said, else what `wait_args` say, else nothing.
    pub fn patience(&self) -> Option<Seconds> {
        let args = &self.wait_args;
        let after = args.iter().position(|arg| arg == "--timeout").and_then(|at| args.get(at + 1));
        let joined = || args.iter().find_map(|arg| arg.strip_prefix("--timeout="));
        let told = after.map(String::as_str).or_else(joined).and_then(|text| text.parse().ok());
        self.timeout.or(told)
    }
}

/// A command of `commands`, by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandRef {
    /// The name.
    #[serde(rename = "ref")]
    pub name: String,
}

/// A command of the project: the text alone, or with a time limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommandSetting {
    /// What the shell runs.
    pub command: String,
    /// How long it may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Seconds>,
}

/// What becomes of a run when something fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailureMode {
    /// The run fails at once.
    Abort,
    /// It is logged, and the run goes on.
    #[default]
    Continue,
    /// It is tried again, up to `max_retries` times; then the run goes on.
    Remediate,
}

/// On which outcome a trigger happens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FireOn {
    /// Only if everything succeeded.
    #[default]
    Success,
    /// Only if something failed.
    Failure,
    /// Always.
    Both,
}

/// Which epics count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EpicDepth {
    /// Epics that are in no other epic.
    #[default]
    TopLevel,
    /// Every epic.
    All,
}

/// Where a cumulative review starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Baseline {
    /// At the commit that the run started from.
    SinceRunStart,
    /// At the last commit that was reviewed.
    SinceLastReview,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Spelled {
    /// What the shell runs.
    command: String,
    /// How long it may take.
    timeout: Option<Seconds>,
}

impl<'de> Deserialize<'de> for CommandSetting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrMap)
    }
}

struct TextOrMap;

impl<'de> Visitor<'de> for TextOrMap {
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
        let Spelled { command, timeout } =
            Spelled::deserialize(serde::de::value::MapAccessDeserializer::new(map))?;
        Ok(CommandSetting { command, timeout })
    }
}

impl JsonSchema for CommandSetting {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CommandSetting".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let spelled = generator.subschema_for::<Spelled>();
        schemars::json_schema!({
            "description": "A command of the project: the text alone, or with a time limit.",
            "anyOf": [{ "type": "string" }, spelled]
        })
    }
}
