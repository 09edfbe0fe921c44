//! The limits of a review, by profile.

use super::Dollars;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A set of limits with a name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Two calls: a draft, then tool results or a check of its claims.
    #[serde(alias = "quick")]
    Lean,
    /// Two independent drafts with tools, a check of every finding, and an edit.
    #[default]
    Standard,
    /// The same with a follow-up for what the drafts left out.
    Thorough,
}

impl Profile {
    /// All profiles, the cheapest first.
    pub const ALL: [Self; 3] = [Self::Lean, Self::Standard, Self::Thorough];

    /// The name that users write.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lean => "lean",
            Self::Standard => "standard",
            Self::Thorough => "thorough",
        }
    }

    /// The limits of the profile.
    pub fn limits(self) -> Limits {
        match self {
            Self::Lean => LEAN,
            Self::Standard => STANDARD,
            Self::Thorough => Limits {
                max_llm_calls: 120,
                max_tool_calls: 160,
                max_verify_candidates: 80,
                max_output_issues: 60,
                max_cost: Dollars::millionths(12_000_000),
                max_tokens: 12_000_000,
                max_extra_files: 80,
                ..STANDARD
            },
        }
    }
}

impl std::fmt::Display for Profile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Profile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // The earlier name of the cheapest profile.
        let name = if text == "quick" { Self::Lean.name() } else { text };
        Self::ALL
            .into_iter()
            .find(|profile| profile.name() == name)
            .ok_or_else(|| format!("'{text}' is none of lean, standard, thorough"))
    }
}

/// The limits of one review, over all its passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Calls to models.
    pub max_llm_calls: u32,
    /// Calls to tools.
    pub max_tool_calls: u32,
    /// Claims that are checked by a fresh context.
    pub max_verify_candidates: u32,
    /// Findings that are reported.
    pub max_output_issues: u32,
    /// The time from start to end.
    pub max_wall_time: Duration,
    /// Dollars.
    pub max_cost: Dollars,
    /// Tokens, in and out, of all calls.
    pub max_tokens: u64,
    /// Estimated tokens of the first prompt.
    pub max_prompt_tokens: u64,
    /// Tokens of one answer.
    pub max_answer_tokens: u32,
    /// Files outside of the change that tools may show.
    pub max_extra_files: u32,
    /// Lines of one such file.
    pub max_extra_lines: u32,
    /// Parts of a change; a large change needs several.
    pub max_briefs: u32,
    /// Requests that are repeated after a failure of the provider. They use no call.
    pub max_retries: u32,
    /// What to do if the price of the model is unknown.
    pub unpriced: UnknownPricePolicy,
}

/// What to do if the price of a model is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UnknownPricePolicy {
    /// Do not call the model: the cost could exceed the budget.
    #[default]
    Refuse,
    /// Call the model and do not count its cost.
    Allow,
}

const LEAN: Limits = Limits {
    max_llm_calls: 2,
    max_tool_calls: 3,
    max_verify_candidates: 5,
    max_output_issues: 15,
    max_wall_time: Duration::from_secs(60),
    max_cost: Dollars::millionths(500_000),
    max_tokens: 400_000,
    max_prompt_tokens: 16_000,
    max_answer_tokens: 8_000,
    max_extra_files: 2,
    max_extra_lines: 200,
    max_briefs: 1,
    max_retries: 2,
    unpriced: UnknownPricePolicy::Refuse,
};

const STANDARD: Limits = Limits {
    max_llm_calls: 60,
    max_tool_calls: 80,
    max_verify_candidates: 50,
    max_output_issues: 40,
    max_wall_time: Duration::from_secs(600),
    max_cost: Dollars::millionths(5_000_000),
    max_tokens: 6_000_000,
    max_prompt_tokens: 60_000,
    max_answer_tokens: 32_000,
    max_extra_files: 40,
    max_extra_lines: 2_000,
    max_briefs: 24,
    max_retries: 6,
    unpriced: UnknownPricePolicy::Refuse,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lean_is_what_was_promised() {
        let limits = Profile::Lean.limits();
        assert_eq!((limits.max_llm_calls, limits.max_tool_calls), (2, 3));
        assert_eq!((limits.max_verify_candidates, limits.max_output_issues), (5, 15));
        assert_eq!(limits.max_wall_time.as_secs(), 60);
        assert_eq!(limits.max_cost, Dollars::at_least(0.50));
        assert_eq!((limits.max_extra_files, limits.max_extra_lines), (2, 200));
        assert_eq!(limits.unpriced, UnknownPricePolicy::Refuse);
    }

    #[test]
    fn names_read_back() {
        for profile in Profile::ALL {
            assert_eq!(profile.name().parse(), Ok(profile));
        }
        assert_eq!("quick".parse(), Ok(Profile::Lean), "the earlier name");
        assert!("Standard".parse::<Profile>().is_err());
    }
}
