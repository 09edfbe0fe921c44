//! The `review` block.

use super::{CerberusSettings, RuleSetting, Seconds, null_is_default, rules};
use crate::agent::budget::Profile;
use crate::review::suppress::SuppressionPolicy;
use crate::verdict::Threshold;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Review settings.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReviewSettings {
    /// The least urgent priority that fails a review: `P0`, `P1`, `P2`, `P3` or `none`.
    #[schemars(extend("default" = "P1"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_on: Option<Threshold>,
    /// Time limit of a review in seconds, for every reviewer. Default: `agent_sdk_review_timeout`
    /// for the agent, 300 for the others.
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
    /// Which `mala: ignore[rule] reason` comments suppress findings: `all`; `trusted` for those
    /// that existed before the change; or `off`.
    #[schemars(extend("default" = "all"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppressions: Option<SuppressionPolicy>,
    /// `extended` turns on the extended set of rules, as `"*": on` does. A map or a list turns rules off or on,
    /// or changes their priority, for all files or by path. The last matching entry applies.
    #[serde(deserialize_with = "rules::list_or_map", skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "rules::list_or_map_schema")]
    pub rules: Vec<RuleSetting>,
    /// Linters of the project.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<LinterConfig>")]
    pub linters: LinterConfig,
    /// Settings of the `cerberus` reviewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cerberus: Option<CerberusSettings>,
    /// Settings of the `command` reviewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandReviewerSettings>,
    /// Limits on what the agent may spend on one review.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<BudgetSettings>")]
    pub budget: BudgetSettings,
    /// Reviewing a change again: what counts in later rounds, and when a person takes over.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<RoundSettings>")]
    pub rounds: RoundSettings,
}

/// Rounds: reviews of the same change by the same reviewers. They concern the agent, commands and lanes; findings
/// of built-in rules count in every round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RoundSettings {
    /// The least urgent priority that counts among new findings in round 2, 3 and so on; the last one holds
    /// from there on.
    #[schemars(extend("default" = ["P2", "P1"]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bars: Option<Vec<Threshold>>,
    /// Rounds before a person takes over.
    #[schemars(extend("default" = 6))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_rounds: Option<u32>,
    /// Rounds in a row without fewer blocking findings before a person takes over.
    #[schemars(extend("default" = 2))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plateau_rounds: Option<u32>,
    /// Rounds in which the same kind of finding appears in the same symbol before a person takes over.
    #[schemars(extend("default" = 3))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recurring_rounds: Option<u32>,
    /// Cost of all rounds together in US dollars, after which a person takes over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
}

/// Which linters of the project run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LinterConfig {
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

/// Limits on what an agent may spend on one review. A limit set here replaces that of the profile.
/// A call that could exceed a limit is not made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetSettings {
    /// The profile that provides the limits not set here: `lean`, `standard` or `thorough`.
    /// `quick` is another name of `lean`.
    #[schemars(extend("default" = "standard"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Model calls. `lean`: 2, `standard`: 60, `thorough`: 120.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_llm_calls: Option<u32>,
    /// Tool calls. `lean`: 3, `standard`: 80, `thorough`: 160.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tool_calls: Option<u32>,
    /// Claims that are verified in a fresh context. `lean`: 5, `standard`: 50, `thorough`: 80.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_verify_candidates: Option<u32>,
    /// Reported findings, worst first. `lean`: 15, `standard`: 40, `thorough`: 60.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_issues: Option<u32>,
    /// Total time in seconds. `lean`: 60, `standard`: 600, `thorough`: 600. A time limit that is
    /// set for the review replaces that of the profile; if both are set, the shorter one applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_wall_time_seconds: Option<Seconds>,
    /// Cost in US dollars. `lean`: 0.50, `standard`: 5.00, `thorough`: 12.00.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
    /// Input and output tokens of all calls, estimated at one per byte until the provider reports
    /// the count. `lean`: 400000, `standard`: 6000000, `thorough`: 12000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Allow models without a known price. Their cost is unknown, so no cost limit applies.
    #[schemars(extend("default" = false))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_unknown_price: Option<bool>,
}

/// The `command` reviewer: a command that reads the change on stdin and answers in any format, and
/// a parser that converts the answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CommandReviewerSettings {
    /// The review command: a program and its arguments, run without a shell. Placeholders:
    /// `{model}`, `{prompt_file}`, `{tree}`, `{home}`, `{timeout}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<Vec<String>>,
    /// The parser command. It reads the review on stdin and prints `{result, issues, summary,
    /// blocking}` as JSON. Default: the model of the agent reviewer parses the review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parser: Option<Vec<String>>,
    /// The model for the command, passed as `{model}` and as `MALA_REVIEW_MODEL`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model that parses reviews if `parser` is not set. Default: the model of the agent
    /// reviewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parser_model: Option<String>,
    /// Time limit without output, in seconds, for each command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<Seconds>,
    /// Maximum output of each command, in bytes.
    #[schemars(extend("default" = 16_777_216))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u32>,
    /// Environment variables to pass through, in addition to those that every program gets.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<Vec<String>>")]
    pub keep: Vec<String>,
    /// Environment variables to set.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    pub env: BTreeMap<String, String>,
    /// What to include in the prompt.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<CommandPromptSettings>")]
    pub context: CommandPromptSettings,
}

/// What to include in the prompt of the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CommandPromptSettings {
    /// The purpose of the change, if known (`--context-file`).
    pub include_task_definition: bool,
    /// The diff.
    pub include_git_diff: bool,
}

impl Default for CommandPromptSettings {
    fn default() -> Self {
        Self { include_task_definition: true, include_git_diff: true }
    }
}
