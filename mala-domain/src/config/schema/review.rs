//! The `review:` block: how `mala review` works in this repository.

use super::{Budget, Cerberus, CommandReviewer, RuleSetting, Seconds, rules};
use crate::review::suppress::SuppressionPolicy;
use crate::verdict::Threshold;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a change is reviewed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReviewBlock {
    /// From which priority on findings fail the review: `P0`, `P1`, `P2`, `P3` or `none`.
    #[schemars(extend("default" = "P1"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_on: Option<Threshold>,
    /// How long a review may take, whoever reviews; with nothing said, the agent has
    /// `agent_sdk_review_timeout` and the others have 300.
    #[schemars(extend("default" = 300))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Seconds>,
    /// The branch that `mala review --base` compares with when it is given no name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Show at most this many findings in the terminal; reports hold all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_findings: Option<u32>,
    /// Files that are left out of the review, as path globs. They are listed as skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore: Option<Vec<String>>,
    /// More files that tools write and nobody reviews, as path globs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generated: Option<Vec<String>>,
    /// Which comments `mala: ignore[rule] reason` set findings aside: `all`; `trusted` for those
    /// that were there before the change, so that a change cannot excuse itself; or `off`.
    #[schemars(extend("default" = "all"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppressions: Option<SuppressionPolicy>,
    /// `extended` turns on the rules of the extended set too, as `"*": on` does. A map or a list turns
    /// rules off, on, or to another priority, everywhere or by path; the last entry that fits a rule
    /// and a file decides.
    #[serde(deserialize_with = "rules::list_or_map", skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "rules::list_or_map_schema")]
    pub rules: Vec<RuleSetting>,
    /// The linters that the project has.
    #[serde(deserialize_with = "super::null_is_default")]
    #[schemars(with = "Option<Linters>")]
    pub linters: Linters,
    /// How the reviewer `cerberus` asks its panel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cerberus: Option<Cerberus>,
    /// The reviewer `command`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandReviewer>,
    /// What an agent may spend on one review.
    #[serde(deserialize_with = "super::null_is_default")]
    #[schemars(with = "Option<Budget>")]
    pub budget: Budget,
}

/// How the project's linters take part.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Linters {
    /// `auto` runs the linters that are installed and that the project is set up for; `off` runs none.
    #[schemars(extend("default" = "auto"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<LinterMode>,
    /// How long one linter may take.
    #[schemars(extend("default" = 60))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Seconds>,
    /// Linters that are never run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off: Option<Vec<LinterName>>,
    /// Slow linters that run too: `clippy`, `tsc` and `golangci-lint` run only when listed here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub also: Option<Vec<LinterName>>,
}

/// Whether linters run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinterMode {
    /// Those that are installed and that the project is set up for.
    Auto,
    /// None.
    Off,
}

/// A linter that mala knows how to run.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "they are names of programs")]
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
    /// All of them, in the order in which they are listed to users.
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

    /// Whether it takes so long that it runs only when `review.linters.also` lists it.
    pub fn is_slow(self) -> bool {
        matches!(self, Self::Tsc | Self::Clippy | Self::GolangciLint)
    }

    /// The word that users write.
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
