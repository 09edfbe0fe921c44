//! The `gate:` block: the panel of external reviewers behind `review-gate`.

use super::{Retries, Seconds};
use crate::gate::lane::LaneSettings;
use crate::review::consensus::ConsensusRule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The panel of external reviewers behind `review-gate`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GateBlock {
    /// How many of the panel must pass a change: `unanimous`, `majority`, `any` or `quorum:N`.
    #[schemars(extend("default" = "unanimous"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consensus: Option<ConsensusRule>,
    /// How long a reviewer of the panel may take.
    #[schemars(extend("default" = 300))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Seconds>,
    /// The lanes of the panel. One that is missing is shown as missing, and the change does not pass
    /// without it. With nothing said, the panel is all of the known lanes that are installed, and all
    /// that `lanes` has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub panel: Option<Vec<String>>,
    /// How often in a row `mala hook stop` keeps an agent from stopping. Then it is let go, and the
    /// person is told; 0 only tells.
    #[schemars(extend("default" = 3))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_blocks: Option<Retries>,
    /// Whether the agent checks blocking findings that no other lane could check. It asks the agent's
    /// model, within `review.budget`.
    #[schemars(extend("default" = false))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_checks: Option<bool>,
    /// Planted defects that the lanes are given now and then, so that it is known what each of them
    /// finds.
    #[serde(
        deserialize_with = "super::null_is_default",
        skip_serializing_if = "Canaries::is_empty"
    )]
    #[schemars(with = "Option<Canaries>")]
    pub canaries: Canaries,
    /// Lanes by name: your own commands, and changes to `codex`, `claude` and `gemini`.
    #[serde(
        deserialize_with = "super::null_is_default",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    #[schemars(with = "Option<BTreeMap<String, LaneSettings>>")]
    pub lanes: BTreeMap<String, LaneSettings>,
}

/// Planted defects that the lanes are given after a session, in copies of recent commits. It costs what
/// reviews cost, and never delays or changes a verdict.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Canaries {
    /// After how many days the lanes are measured again, from 1 to 365; not at all when nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every_days: Option<u32>,
    /// How many defects each lane is given, from 1 to 50.
    #[schemars(extend("default" = 5))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Once the lanes say that they cost this much, no further defect is given. What a lane does not
    /// say is not counted.
    #[schemars(extend("default" = 2.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
}

impl Canaries {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl GateBlock {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
