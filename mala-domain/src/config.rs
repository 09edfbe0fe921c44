//! `mala.yaml`: text in, plain structs and warnings out. Every problem has a place in the file, a
//! reason, and where there is one the nearest thing that would be right.

mod check;
mod globs;
pub mod legacy;
mod locate;
mod precedence;
mod problem;
mod read;
mod reference;
mod schema;
mod switches;

pub(crate) use check::is_of_linter;
pub use globs::{GlobProblem, PathGlobs};
pub use precedence::{
    BudgetPolicy, GatePolicy, Layer, Origin, ReviewPolicy, Sourced, gate_policy, policy,
};
pub use problem::{Concern, ConfigError, ConfigWarning, Place};
pub(crate) use read::{nearest, nearest_or};
pub use reference::reference;
pub use schema::{
    Account, Baseline, Budget, Canaries, Cerberus, CodeReview, CommandContext, CommandRef,
    CommandReviewer, CommandSetting, Config, EpicCompletion, EpicDepth, FailureMode, FireOn,
    GateBlock, LinterMode, LinterName, Linters, ModelsBlock, PerAccount, Periodic, Retries,
    ReviewBlock, ReviewerType, RuleSetting, RuleUse, RunEnd, Seconds, SessionEnd, Triggers,
};
pub use switches::{RuleSwitches, SwitchProblem};

/// The name of the file in a repository.
pub const FILE_NAME: &str = "mala.yaml";

impl Config {
    /// Reads a configuration file's bytes. `file_name` is only for messages.
    pub fn parse_bytes(
        file_name: &str,
        bytes: &[u8],
    ) -> Result<(Self, Vec<ConfigWarning>), Box<ConfigError>> {
        Self::parse(file_name, read::text(file_name, bytes)?)
    }

    /// Reads a configuration file's text. `file_name` is only for messages.
    pub fn parse(
        file_name: &str,
        text: &str,
    ) -> Result<(Self, Vec<ConfigWarning>), Box<ConfigError>> {
        let config = read::read(file_name, text)?;
        let warnings = check::check(&config, &locate::Outline::of(text), file_name, text)?;
        Ok((config, warnings))
    }

    /// Warnings about the entries of `review.rules` that fit none of the rules that there are. The
    /// text is the one that this configuration was read from.
    pub fn unknown_rules(&self, file_name: &str, text: &str, known: &[&str]) -> Vec<ConfigWarning> {
        check::unknown_rules(self, &locate::Outline::of(text), file_name, known)
    }

    /// Refuses what a repository must not decide: where a user's keys and requests go. The text is the
    /// one that this configuration was read from.
    pub fn check_for_repository(
        &self,
        file_name: &str,
        text: &str,
    ) -> Result<(), Box<ConfigError>> {
        check::own_keys(self, &locate::Outline::of(text), file_name, text)
    }

    /// The JSON Schema of the file.
    pub fn schema() -> schemars::Schema {
        schemars::schema_for!(Config)
    }
}

#[cfg(test)]
mod tests;
