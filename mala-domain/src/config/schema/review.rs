//! The `review` block.

use super::{Budget, Cerberus, CommandReviewer, RuleSetting, Seconds, rules};
use crate::review::suppress::SuppressionPolicy;
use crate::verdict::Threshold;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Review settings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReviewBlock {
    /// The least urgent priority that fails a review: `P0`, `P1`, `P2`, `P3` or `none`.
    #[schemars(extend("default" = "P1"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_on: Option<Threshold>,
    /// Time limit of a review in seconds, for every reviewer. Default: `agent_sdk_review_timeout` for the
    /// agent, 300 for the others.
    #[schemars(extend("default" = 300))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Seconds>,
    /// The branch for `mala review --base` without a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Maximum number of findings shown in the terminal. Reports always contain all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_findings: Option<u32>,
    /// Path globs of files to exclude. They are listed as skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore: Option<Vec<String>>,
    /// Path globs of additional generated files, which are not reviewed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generated: Option<Vec<String>>,
    /// Which `mala: ignore[rule] reason` comments suppress findings: `all`; `trusted` for those that existed
    /// before the change; or `off`.
    #[schemars(extend("default" = "all"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppressions: Option<SuppressionPolicy>,
    /// Turn rules off or on, or change their priority, for all files or by path. The last matching entry
    /// applies.
    #[serde(deserialize_with = "rules::list_or_map", skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "rules::list_or_map_schema")]
    pub rules: Vec<RuleSetting>,
    /// Linters of the project.
    #[serde(deserialize_with = "super::null_is_default")]
    #[schemars(with = "Option<Linters>")]
    pub linters: Linters,
    /// Settings of the `cerberus` reviewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cerberus: Option<Cerberus>,
    /// Settings of the `command` reviewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandReviewer>,
    /// Limits on what the agent may spend on one review.
    #[serde(deserialize_with = "super::null_is_default")]
    #[schemars(with = "Option<Budget>")]
    pub budget: Budget,
}

/// Which linters of the project run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Linters {
    /// `auto` runs the linters that are installed and configured in the project; `off` runs none.
    #[schemars(extend("default" = "auto"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<LinterMode>,
    /// Time limit of each linter, in seconds.
    #[schemars(extend("default" = 60))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Seconds>,
    /// Linters that never run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off: Option<Vec<LinterName>>,
    /// Slow linters to run: `clippy`, `tsc` and `golangci-lint` run only if listed here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub also: Option<Vec<LinterName>>,
}

/// Whether linters run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinterMode {
    /// Run the linters that are installed and configured in the project.
    Auto,
    /// Run none.
    Off,
}

/// A supported linter.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the variants are names of programs")]
pub enum LinterName {
    Ruff,
    Eslint,
    Biome,
    Oxlint,
    Tsc,
    Clippy,
    GolangciLint,
    Shellcheck,
    Semgrep,
    Hadolint,
    Actionlint,
}

impl LinterName {
    /// All linters, in the order in which they are listed.
    pub const ALL: [Self; 11] = [
        Self::Ruff,
        Self::Eslint,
        Self::Biome,
        Self::Oxlint,
        Self::Tsc,
        Self::Clippy,
        Self::GolangciLint,
        Self::Shellcheck,
        Self::Semgrep,
        Self::Hadolint,
        Self::Actionlint,
    ];

    /// Whether it is so slow that it runs only if `review.linters.also` lists it.
    pub fn is_slow(self) -> bool {
        matches!(self, Self::Tsc | Self::Clippy | Self::GolangciLint)
    }

    /// The name in configuration files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ruff => "ruff",
            Self::Eslint => "eslint",
            Self::Biome => "biome",
            Self::Oxlint => "oxlint",
            Self::Tsc => "tsc",
            Self::Clippy => "clippy",
            Self::GolangciLint => "golangci-lint",
            Self::Shellcheck => "shellcheck",
            Self::Semgrep => "semgrep",
            Self::Hadolint => "hadolint",
            Self::Actionlint => "actionlint",
        }
    }
}
