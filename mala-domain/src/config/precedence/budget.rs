//! What an agent may spend, with every limit from the first place that gives one, else from the
//! profile.

use super::{Origin, Pick, Sourced, entry};
use crate::agent::budget::{Dollars, Limits, Profile, Unpriced};
use crate::config::{Budget, Seconds};
use serde_json::Value;

/// What an agent may spend.
#[derive(Debug, Clone, PartialEq)]
pub struct BudgetPolicy {
    /// The profile.
    pub profile: Sourced<Profile>,
    max_llm_calls: Sourced<Option<u32>>,
    max_tool_calls: Sourced<Option<u32>>,
    max_verify_candidates: Sourced<Option<u32>>,
    max_output_issues: Sourced<Option<u32>>,
    max_wall_time_seconds: Sourced<Option<Seconds>>,
    max_cost_usd: Sourced<Option<f64>>,
    max_tokens: Sourced<Option<u64>>,
    allow_unknown_price: Sourced<bool>,
}

pub(super) fn policy(pick: &Pick<'_>) -> BudgetPolicy {
    BudgetPolicy {
        profile: pick.or(|config| config.review.budget.profile, Profile::Standard),
        max_llm_calls: pick.maybe(|config| config.review.budget.max_llm_calls),
        max_tool_calls: pick.maybe(|config| config.review.budget.max_tool_calls),
        max_verify_candidates: pick.maybe(|config| config.review.budget.max_verify_candidates),
        max_output_issues: pick.maybe(|config| config.review.budget.max_output_issues),
        max_wall_time_seconds: pick.maybe(|config| config.review.budget.max_wall_time_seconds),
        max_cost_usd: pick.maybe(|config| config.review.budget.max_cost_usd),
        max_tokens: pick.maybe(|config| config.review.budget.max_tokens),
        allow_unknown_price: pick.or(|config| config.review.budget.allow_unknown_price, false),
    }
}

impl BudgetPolicy {
    /// The limits that hold.
    pub fn limits(&self) -> Limits {
        let profile = self.profile.value.limits();
        let or = |own: &Sourced<Option<u32>>, profile| own.value.unwrap_or(profile);
        let allowed = self.allow_unknown_price.value;
        Limits {
            max_llm_calls: or(&self.max_llm_calls, profile.max_llm_calls),
            max_tool_calls: or(&self.max_tool_calls, profile.max_tool_calls),
            max_verify_candidates: or(&self.max_verify_candidates, profile.max_verify_candidates),
            max_output_issues: or(&self.max_output_issues, profile.max_output_issues),
            max_wall_time: self
                .max_wall_time_seconds
                .value
                .map_or(profile.max_wall_time, Seconds::duration),
            max_cost: self.max_cost_usd.value.map_or(profile.max_cost, Dollars::at_least),
            max_tokens: self.max_tokens.value.unwrap_or(profile.max_tokens),
            unpriced: if allowed { Unpriced::Allow } else { Unpriced::Refuse },
            ..profile
        }
    }

    /// The same as a block of a file.
    pub fn as_written(&self) -> Budget {
        Budget {
            profile: Some(self.profile.value),
            max_llm_calls: self.max_llm_calls.value,
            max_tool_calls: self.max_tool_calls.value,
            max_verify_candidates: self.max_verify_candidates.value,
            max_output_issues: self.max_output_issues.value,
            max_wall_time_seconds: self.max_wall_time_seconds.value,
            max_cost_usd: self.max_cost_usd.value,
            max_tokens: self.max_tokens.value,
            allow_unknown_price: Some(self.allow_unknown_price.value),
        }
    }

    /// The name of the limits, for the review's id: the profile and what differs from it.
    pub fn name(&self) -> String {
        let differs = self.limits() != self.profile.value.limits();
        let name = self.profile.value.name();
        if differs { format!("{name} {:?}", self.limits()) } else { name.to_owned() }
    }

    pub(super) fn entries(&self) -> Vec<(&'static str, Value, &Origin)> {
        vec![
            entry("review.budget.profile", &self.profile),
            entry("review.budget.max_llm_calls", &self.max_llm_calls),
            entry("review.budget.max_tool_calls", &self.max_tool_calls),
            entry("review.budget.max_verify_candidates", &self.max_verify_candidates),
            entry("review.budget.max_output_issues", &self.max_output_issues),
            entry("review.budget.max_wall_time_seconds", &self.max_wall_time_seconds),
            entry("review.budget.max_cost_usd", &self.max_cost_usd),
            entry("review.budget.max_tokens", &self.max_tokens),
            entry("review.budget.allow_unknown_price", &self.allow_unknown_price),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Layer, policy};

    fn limits(text: &str) -> Limits {
        let config = Config::parse("x", text).unwrap().0;
        policy(&[Layer { origin: Origin::Default, config }]).budget.limits()
    }

    #[test]
    fn each_limit_holds_instead_of_the_profiles() {
        let standard = Profile::Standard.limits();
        let budget = |inside: &str| limits(&format!("review: {{budget: {{{inside}}}}}"));
        for (inside, expected) in [
            ("", standard),
            ("profile: thorough", Profile::Thorough.limits()),
            ("max_llm_calls: 7", Limits { max_llm_calls: 7, ..standard }),
            ("max_tool_calls: 0", Limits { max_tool_calls: 0, ..standard }),
            ("max_verify_candidates: 1", Limits { max_verify_candidates: 1, ..standard }),
            ("max_output_issues: 1", Limits { max_output_issues: 1, ..standard }),
            ("max_cost_usd: 0.25", Limits { max_cost: Dollars::at_least(0.25), ..standard }),
            ("max_tokens: 9", Limits { max_tokens: 9, ..standard }),
            ("allow_unknown_price: true", Limits { unpriced: Unpriced::Allow, ..standard }),
        ] {
            assert_eq!(budget(inside), expected, "{inside}");
        }
        assert_eq!(budget("max_wall_time_seconds: 5").max_wall_time.as_secs(), 5);
    }
}
