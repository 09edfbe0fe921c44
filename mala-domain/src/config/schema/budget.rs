//! The `review.budget` block.

use super::Seconds;
use crate::agent::budget::Profile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limits on what an agent may spend on one review. A limit set here replaces that of the profile. A call
/// that could exceed a limit is not made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// The profile that provides the limits not set here: `quick`, `standard` or `thorough`.
    #[schemars(extend("default" = "standard"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Model calls. `quick`: 2, `standard`: 2, `thorough`: 24.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_llm_calls: Option<u32>,
    /// Tool calls. `quick`: 0, `standard`: 3, `thorough`: 60.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tool_calls: Option<u32>,
    /// Claims that are verified in a fresh context. `quick`: 0, `standard`: 5, `thorough`: 15.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_verify_candidates: Option<u32>,
    /// Reported findings, worst first. `quick`: 10, `standard`: 15, `thorough`: 30.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_issues: Option<u32>,
    /// Total time in seconds. `quick`: 30, `standard`: 60, `thorough`: 600. The time limit of the review
    /// applies too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_wall_time_seconds: Option<Seconds>,
    /// Cost in US dollars. `quick`: 0.10, `standard`: 0.50, `thorough`: 5.00.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
    /// Input and output tokens of all calls, estimated at one per byte until the provider reports the
    /// count. `quick`: 120000, `standard`: 400000, `thorough`: 6000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Allow models without a known price. Their cost is unknown, so no cost limit applies.
    #[schemars(extend("default" = false))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_unknown_price: Option<bool>,
}
