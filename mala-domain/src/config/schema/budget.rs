//! The `review.budget:` block: what an agent may spend on one review.

use super::Seconds;
use crate::agent::budget::Profile;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an agent may spend on one review. Limits that are given hold instead of those of the
/// profile. They are reserved before they are spent: a call that could exceed one is not made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// The limits that hold where nothing else is said: `quick`, `standard` or `thorough`.
    #[schemars(extend("default" = "standard"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Calls to models; `quick` 2, `standard` 2, `thorough` 24.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_llm_calls: Option<u32>,
    /// Calls to tools; `quick` 0, `standard` 3, `thorough` 60.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tool_calls: Option<u32>,
    /// Claims that a fresh context checks; `quick` 0, `standard` 5, `thorough` 15.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_verify_candidates: Option<u32>,
    /// Findings that are reported, the worst first; `quick` 10, `standard` 15, `thorough` 30.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_issues: Option<u32>,
    /// Seconds from start to end; `quick` 30, `standard` 60, `thorough` 600. The time limit of the
    /// review holds too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_wall_time_seconds: Option<Seconds>,
    /// Dollars; `quick` 0.10, `standard` 0.50, `thorough` 5.00.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
    /// Tokens of all calls, in and out, counted at one per byte until the provider says how many
    /// there were; `quick` 120000, `standard` 400000, `thorough` 6000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Whether a model without a known price may be asked. What it costs is then unknown, and no
    /// dollar limit holds.
    #[schemars(extend("default" = false))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_unknown_price: Option<bool>,
}
