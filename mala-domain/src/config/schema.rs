//! The structure of `mala.yaml`. A missing key is `None`, so that `precedence` can merge several
//! files.

mod gate;
mod models;
mod review;
mod rules;
mod run;
mod tasks;
mod triggers;

pub use gate::{CanarySettings, GateSettings};
pub use models::{ModelSettings, PerProvider, ProviderAccount};
pub use review::{
    BudgetSettings, CommandPromptSettings, CommandReviewerSettings, LinterConfig, LinterMode,
    LinterName, ReviewSettings, RoundSettings,
};
pub use rules::{RuleLevel, RuleSetting};
pub use run::{CoderTemplate, IssueLimits, RunSettings, TrackerKind};
pub use tasks::{
    NotificationChannel, TaskCommand, TaskContextSettings, TaskReviewSettings, TaskSettings,
    TaskTrigger,
};
pub use triggers::{
    Baseline, CerberusSettings, CodeReviewSettings, CommandSetting, EpicCompletionTrigger,
    EpicDepth, FailureMode, FireOn, PeriodicTrigger, RunEndTrigger, SessionEndTrigger,
    TriggerCommand, ValidationTriggers,
};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

/// The content of a `mala.yaml`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "mala.yaml")]
pub struct Config {
    /// The reviewer. Default: `agent_sdk`, or `builtin` if no model key is set. A reviewer set here
    /// never falls back to another one.
    #[schemars(extend("default" = "agent_sdk"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewer_type: Option<ReviewerType>,
    /// Time limit of the agent reviewer, in seconds.
    #[schemars(extend("default" = 600))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_sdk_review_timeout: Option<Seconds>,
    /// Model of the agent reviewer.
    #[schemars(extend("default" = "sonnet"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_sdk_reviewer_model: Option<String>,
    /// Stronger model that rechecks urgent findings with low confidence. Default: no recheck.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_sdk_escalation_model: Option<String>,
    /// Review settings.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<ReviewSettings>")]
    pub review: ReviewSettings,
    /// Model providers: API keys, addresses, additional models.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "ModelSettings::is_empty")]
    #[schemars(with = "Option<ModelSettings>")]
    pub models: ModelSettings,
    /// Settings of `review-gate`: a panel of external reviewers.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "GateSettings::is_empty")]
    #[schemars(with = "Option<GateSettings>")]
    pub gate: GateSettings,
    /// How `mala pr` treats pull requests.
    #[serde(
        deserialize_with = "null_is_default",
        skip_serializing_if = "PullRequestSettings::is_empty"
    )]
    #[schemars(with = "Option<PullRequestSettings>")]
    pub pull_requests: PullRequestSettings,
    /// How `mala run` works on issues.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "RunSettings::is_empty")]
    #[schemars(with = "Option<RunSettings>")]
    pub run: RunSettings,
    /// How `mala task` reviews tasks and notifies their user.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "TaskSettings::is_empty")]
    #[schemars(with = "Option<TaskSettings>")]
    pub tasks: TaskSettings,
    /// What `mala run` does when sessions, epics and runs end.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<ValidationTriggers>")]
    pub validation_triggers: ValidationTriggers,
    /// The project's commands by name, for `ref` in the triggers.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<BTreeMap<String, CommandSetting>>")]
    pub commands: BTreeMap<String, CommandSetting>,
}

/// How `mala pr` treats pull requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PullRequestSettings {
    /// Address of the API of GitHub, such as `https://git.example.org/api/v3`, or of GitLab, which ends in
    /// `/api/v4`. Only in your own file; `GITHUB_API_URL` and `GITLAB_API_URL` replace it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_url: Option<String>,
    /// Run linters, the `command` reviewer, the program of `review.cerberus` and lanes of `gate.lanes` on forks too.
    #[schemars(extend("default" = false))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fork_commands: Option<bool>,
    /// How a check run ends when the pull request could not be reviewed.
    #[schemars(extend("default" = "neutral"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub could_not_review: Option<UnreviewedCheck>,
}

/// How a check run ends without a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnreviewedCheck {
    /// The check does not block.
    Neutral,
    /// The check blocks.
    Failure,
}

impl PullRequestSettings {
    /// Whether no key is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The type of a reviewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewerType {
    /// The in-process agent; also spelled `agent-sdk`.
    #[serde(alias = "agent-sdk")]
    AgentSdk,
    /// A panel of external reviewers, run by `review-gate`.
    Cerberus,
    /// A command that the user configures.
    Command,
    /// The built-in analyzers, without a model.
    Builtin,
}

impl ReviewerType {
    /// All reviewer types, in the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::Builtin, Self::AgentSdk, Self::Cerberus, Self::Command];

    /// The name in configuration files and flags.
    pub fn name(self) -> &'static str {
        match self {
            Self::AgentSdk => "agent_sdk",
            Self::Cerberus => "cerberus",
            Self::Command => "command",
            Self::Builtin => "builtin",
        }
    }

    /// The name in reports and logs.
    pub fn report_name(self) -> &'static str {
        match self {
            Self::AgentSdk => crate::agent::NAME,
            other => other.name(),
        }
    }

    /// Whether it calls a model through mala, so that models, budgets and recordings have an effect.
    pub fn uses_model(self) -> bool {
        match self {
            Self::AgentSdk | Self::Command => true,
            Self::Cerberus | Self::Builtin => false,
        }
    }

    /// Whether it runs programs of the user in a copy of the repository.
    pub fn runs_programs(self) -> bool {
        match self {
            Self::Cerberus | Self::Command => true,
            Self::AgentSdk | Self::Builtin => false,
        }
    }
}

impl std::fmt::Display for ReviewerType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for ReviewerType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let word = text.replace('-', "_");
        Self::ALL
            .into_iter()
            .find(|reviewer| reviewer.name() == word)
            .ok_or_else(|| format!("'{text}' is not one of builtin, agent_sdk, cerberus, command"))
    }
}

/// Treats a null block, whose keys are all commented out, like a missing one.
fn null_is_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

/// A time limit in seconds: at least 1, at most a week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Seconds(u32);

impl Seconds {
    /// The maximum: a week.
    pub const MAX: u32 = 7 * 24 * 60 * 60;

    /// The minimum: one second.
    pub const SHORTEST: Self = Self(1);

    /// A time limit; `None` if out of range.
    pub fn new(seconds: i64) -> Option<Self> {
        u32::try_from(seconds).ok().filter(|n| (1..=Self::MAX).contains(n)).map(Self)
    }

    /// The number of seconds.
    pub fn get(self) -> u32 {
        self.0
    }

    /// The time limit as a duration.
    pub fn duration(self) -> Duration {
        Duration::from_secs(u64::from(self.0))
    }
}

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl std::str::FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().ok().and_then(Self::new).ok_or_else(|| {
            format!("'{text}' is not a number of seconds between 1 and {}", Self::MAX)
        })
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(deserializer)?;
        Self::new(number).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "{number} is not a number of seconds between 1 and {}",
                Self::MAX
            ))
        })
    }
}

impl JsonSchema for Seconds {
    fn schema_name() -> Cow<'static, str> {
        "Seconds".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "integer", "minimum": 1, "maximum": Self::MAX, "description": "Seconds"
        })
    }
}

/// A number of retries: 0 to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct RetryCount(u32);

impl RetryCount {
    /// The maximum.
    pub const MAX: u32 = 100;

    /// A number of retries; `None` if out of range.
    pub fn new(retries: i64) -> Option<Self> {
        u32::try_from(retries).ok().filter(|n| *n <= Self::MAX).map(Self)
    }

    /// The number.
    pub fn get(self) -> u32 {
        self.0
    }
}

impl Default for RetryCount {
    fn default() -> Self {
        Self(3)
    }
}

impl<'de> Deserialize<'de> for RetryCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(deserializer)?;
        Self::new(number).ok_or_else(|| {
            serde::de::Error::custom(format!(
                "{number} is not a number of retries between 0 and {}",
                Self::MAX
            ))
        })
    }
}

impl JsonSchema for RetryCount {
    fn schema_name() -> Cow<'static, str> {
        "RetryCount".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "integer", "minimum": 0, "maximum": Self::MAX, "description": "Retries"
        })
    }
}
