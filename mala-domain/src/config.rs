//! `mala.yaml`: parses text into plain structs and warnings. Every error has a position in the
//! file, a message, and a hint if there is a likely fix.

mod check;
mod error;
mod globs;
mod parse;
mod positions;
mod precedence;
mod reference;
mod rule_overrides;
mod schema;

pub(crate) use check::is_of_linter;
pub use error::{ConfigError, ConfigPosition, ConfigWarning, WarningTopic};
pub use globs::{GlobError, PathGlobs};
pub(crate) use parse::{nearest, nearest_or, yaml as parse_yaml};
pub use precedence::{
    BudgetPolicy, ConfigLayer, ConfigOrigin, ConfigValue, GatePolicy, LEGACY_REVIEWER_TYPE,
    PolicyEntry, ReviewPolicy, RunPolicy, SessionReview, TaskPolicy, gate_policy, policy,
    run_policy, session_review, task_policy,
};
pub use reference::reference;
pub use rule_overrides::{RuleOverrideError, RuleOverrides};
pub use schema::{
    Baseline, BudgetSettings, CanarySettings, CerberusSettings, CodeReviewSettings, CoderTemplate,
    CommandPromptSettings, CommandReviewerSettings, CommandSetting, Config, EpicCompletionTrigger,
    EpicDepth, FailureMode, FireOn, GateSettings, IssueLimits, LinterConfig, LinterMode,
    LinterName, ModelSettings, NotificationChannel, PerProvider, PeriodicTrigger, ProviderAccount,
    PullRequestSettings, RetryCount, ReviewSettings, ReviewerType, RoundSettings, RuleLevel,
    RuleSetting, RunEndTrigger, RunSettings, Seconds, SessionEndTrigger, TaskCommand,
    TaskContextSettings, TaskReviewSettings, TaskSettings, TaskTrigger, TrackerKind,
    TriggerCommand, UnreviewedCheck, ValidationTriggers,
};

/// The name of the configuration file of a repository.
pub const FILE_NAME: &str = "mala.yaml";

impl Config {
    /// Parses the bytes of a configuration file. `file_name` is used in messages only.
    pub fn parse_bytes(
        file_name: &str,
        bytes: &[u8],
    ) -> Result<(Self, Vec<ConfigWarning>), Box<ConfigError>> {
        Self::parse(file_name, parse::text(file_name, bytes)?)
    }

    /// Parses the text of a configuration file. `file_name` is used in messages only.
    pub fn parse(
        file_name: &str,
        text: &str,
    ) -> Result<(Self, Vec<ConfigWarning>), Box<ConfigError>> {
        let config = parse::read(file_name, text)?;
        let warnings = check::check(&config, &positions::YamlPositions::of(text), file_name, text)?;
        Ok((config, warnings))
    }

    /// Warnings for entries of `review.rules` that match no known rule. `text` must be the text
    /// that this configuration was parsed from.
    pub fn unknown_rules(&self, file_name: &str, text: &str, known: &[&str]) -> Vec<ConfigWarning> {
        check::unknown_rules(self, &positions::YamlPositions::of(text), file_name, known)
    }

    /// Rejects keys that a repository must not set: where the user's API keys and requests go.
    /// `text` must be the text that this configuration was parsed from.
    pub fn check_for_repository(
        &self,
        file_name: &str,
        text: &str,
    ) -> Result<(), Box<ConfigError>> {
        check::check_repository_keys(self, &positions::YamlPositions::of(text), file_name, text)
    }

    /// The JSON Schema of the configuration file.
    pub fn schema() -> schemars::Schema {
        schemars::schema_for!(Config)
    }
}

#[cfg(test)]
mod tests;
