//! The structure of `mala.yaml`. A missing key is `None`, so that `precedence` can merge several files.

mod budget;
mod command;
mod gate;
mod models;
mod numbers;
mod review;
mod rules;
mod triggers;

pub use budget::Budget;
pub use command::{CommandReviewer, ReviewContext};
pub use gate::{Canaries, GateBlock};
pub use models::{Account, ModelsBlock, PerAccount};
pub use numbers::{Retries, Seconds};
pub use review::{LinterMode, LinterName, Linters, ReviewBlock};
pub use rules::{RuleSetting, RuleUse};
pub use triggers::{
    Baseline, Cerberus, CodeReview, CommandRef, CommandSetting, EpicCompletion, EpicDepth,
    FailureMode, FireOn, Periodic, RunEnd, SessionEnd, Triggers,
};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// The content of a `mala.yaml`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "mala.yaml")]
pub struct Config {
    /// The reviewer. Default: `agent_sdk`, or `builtin` if no model key is set. A reviewer set here never
    /// falls back to another one.
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
    #[schemars(with = "Option<ReviewBlock>")]
    pub review: ReviewBlock,
    /// Model providers: API keys, addresses, additional models.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "ModelsBlock::is_empty")]
    #[schemars(with = "Option<ModelsBlock>")]
    pub models: ModelsBlock,
    /// Settings of `review-gate`: a panel of external reviewers.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "GateBlock::is_empty")]
    #[schemars(with = "Option<GateBlock>")]
    pub gate: GateBlock,
    /// What to run when sessions, epics and runs end. Checked, but without effect in this version.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<Triggers>")]
    pub validation_triggers: Triggers,
    /// The project's commands by name, for `ref` in the triggers. Checked, but without effect in this
    /// version.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<BTreeMap<String, CommandSetting>>")]
    pub commands: BTreeMap<String, CommandSetting>,
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
