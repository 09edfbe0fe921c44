//! The `gate` block.

use super::{RetryCount, Seconds};
use crate::gate::lane::LaneSettings;
use crate::review::consensus::ConsensusRule;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A panel of external reviewers, run by `review-gate`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GateSettings {
    /// How many reviewers of the panel must pass a change: `unanimous`, `majority`, `any` or
    /// `quorum:N`.
    #[schemars(extend("default" = "unanimous"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consensus: Option<ConsensusRule>,
    /// Time limit of each reviewer, in seconds.
    #[schemars(extend("default" = 300))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Seconds>,
    /// The lanes of the panel. A lane that is not available counts as a failed vote. Default: all
    /// known lanes that are installed, and all entries of `lanes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub panel: Option<Vec<String>>,
    /// How many times in a row `mala hook stop` may keep an agent from stopping. After that, it
    /// lets the agent stop and tells the user. 0: only tell the user.
    #[schemars(extend("default" = 3))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_blocks: Option<RetryCount>,
    /// Let the agent reviewer check blocking findings that no other lane could check. Uses the
    /// model of the agent reviewer, within `review.budget`.
    #[schemars(extend("default" = false))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_checks: Option<bool>,
    /// Planted defects that measure what each lane finds.
    #[serde(
        deserialize_with = "super::null_is_default",
        skip_serializing_if = "CanarySettings::is_empty"
    )]
    #[schemars(with = "Option<CanarySettings>")]
    pub canaries: CanarySettings,
    /// Lanes by name: your own commands, and changes to the built-in `codex`, `claude` and
    /// `gemini`.
    #[serde(
        deserialize_with = "super::null_is_default",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    #[schemars(with = "Option<BTreeMap<String, LaneSettings>>")]
    pub lanes: BTreeMap<String, LaneSettings>,
}

/// Planted defects in copies of recent commits, reviewed by the lanes after a session. They cost as
/// much as other reviews, and never delay or change a result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CanarySettings {
    /// Days between measurements, from 1 to 365. Default: never measure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every_days: Option<u32>,
    /// Number of defects per lane, from 1 to 50.
    #[schemars(extend("default" = 5))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Stop when the lanes report this total cost. Costs that a lane does not report are not
    /// counted.
    #[schemars(extend("default" = 2.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
}

impl CanarySettings {
    /// Whether no key is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl GateSettings {
    /// Whether no key is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
