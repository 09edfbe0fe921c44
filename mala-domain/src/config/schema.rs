//! The shape of `mala.yaml`. Keys that a file leaves out stay `None`, so that layers of
//! configuration can be laid over each other; what they then mean is in their documentation and in
//! `precedence`.

mod budget;
mod command;
mod gate;
mod models;
mod numbers;
mod review;
mod rules;
mod triggers;

pub use budget::Budget;
pub use command::{CommandContext, CommandReviewer};
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

/// A `mala.yaml`, as written.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "mala.yaml")]
pub struct Config {
    /// Who reviews. With nothing said here, on the command line or in the environment, it is
    /// `agent_sdk`, or `builtin` when no model key is set. A reviewer that is named never falls back
    /// to another one.
    #[schemars(extend("default" = "agent_sdk"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewer_type: Option<ReviewerType>,
    /// How long the agent may review.
    #[schemars(extend("default" = 600))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_sdk_review_timeout: Option<Seconds>,
    /// The model behind the agent.
    #[schemars(extend("default" = "sonnet"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_sdk_reviewer_model: Option<String>,
    /// The stronger model that looks at urgent findings which the agent is not sure of. Without it,
    /// nobody does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_sdk_escalation_model: Option<String>,
    /// How a change is reviewed.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<ReviewBlock>")]
    pub review: ReviewBlock,
    /// Which models can be asked, and how.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "ModelsBlock::is_empty")]
    #[schemars(with = "Option<ModelsBlock>")]
    pub models: ModelsBlock,
    /// The panel of external reviewers behind `review-gate`.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "GateBlock::is_empty")]
    #[schemars(with = "Option<GateBlock>")]
    pub gate: GateBlock,
    /// What happens at the ends of sessions, epics and runs. Accepted and checked; nothing in this
    /// version runs it.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<Triggers>")]
    pub validation_triggers: Triggers,
    /// The project's commands by name, for `ref` in the triggers. Accepted and checked; nothing in
    /// this version runs them.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<BTreeMap<String, CommandSetting>>")]
    pub commands: BTreeMap<String, CommandSetting>,
}

/// Who reviews.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewerType {
    /// An agent inside mala; `agent-sdk` is the same word.
    #[serde(alias = "agent-sdk")]
    AgentSdk,
    /// A panel of external reviewers through `review-gate`.
    Cerberus,
    /// A command of the user.
    Command,
    /// The built-in analyzers, without a model.
    Builtin,
}

impl ReviewerType {
    /// All of them, in the order in which they are listed to users.
    pub const ALL: [Self; 4] = [Self::Builtin, Self::AgentSdk, Self::Cerberus, Self::Command];

    /// The word that users write.
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
            .ok_or_else(|| format!("'{text}' is none of builtin, agent_sdk, cerberus, command"))
    }
}

/// A block whose keys are all commented out reads as null; it means the defaults.
fn null_is_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}
