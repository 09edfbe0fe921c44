//! The `run` block: how `mala run` works on issues.

use super::{RetryCount, null_is_default};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How `mala run` works on issues.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RunSettings {
    /// Where issues come from. Default: `beads` in a repository with a `.beads` folder, else
    /// `builtin`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tracker: Option<TrackerKind>,
    /// The coder: `claude`, `codex`, `gemini`, or an entry of `coders`.
    #[schemars(extend("default" = "claude"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coder: Option<String>,
    /// Coders by name, each a command template.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "Option<BTreeMap<String, CoderTemplate>>")]
    pub coders: BTreeMap<String, CoderTemplate>,
    /// The branch that finished work is merged into. Default: the branch that the HEAD of
    /// `origin` names, `main` or `master`. The run takes its configuration from this branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Shell command that is run once in each new worktree.
    #[schemars(extend("default" = ""))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// How many issues are worked on at a time.
    #[schemars(extend("default" = 2))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_agents: Option<u32>,
    /// Start no further issue and no further session of a coder when coders and reviewers report this total cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
    /// Start no further issue after this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_minutes: Option<u32>,
    /// Limits of one issue.
    #[serde(deserialize_with = "null_is_default")]
    #[schemars(with = "Option<IssueLimits>")]
    pub per_issue: IssueLimits,
    /// The prefix of every commit subject; `{id}` is replaced by the id of the issue.
    #[schemars(extend("default" = "bd-{id}: "))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_prefix: Option<String>,
    /// Minutes without output after which a coder counts as idle and is resumed.
    #[schemars(extend("default" = 10.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_minutes: Option<f64>,
    /// How many times an idle coder is resumed before its issue fails.
    #[schemars(extend("default" = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_resumes: Option<RetryCount>,
    /// File findings below the threshold as one issue per review, not one issue each.
    #[schemars(extend("default" = false))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_findings: Option<bool>,
    /// Work on issues that were filed for findings of the same run.
    #[schemars(extend("default" = false))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_on_findings: Option<bool>,
}

/// Where issues come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrackerKind {
    /// The tracker of mala, in the database of the repository.
    Builtin,
    /// The `bd` program.
    Beads,
}

impl TrackerKind {
    /// The name in configuration files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Beads => "beads",
        }
    }
}

/// Limits of one issue.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct IssueLimits {
    /// Cost limit of its coder and reviews.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
    /// How many minutes a session of its coder may take.
    #[schemars(extend("default" = 60.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_minutes: Option<f64>,
}

/// A coder that is a command. It runs in the worktree of its issue, without a shell; `{prompt_file}`,
/// `{tree}`, `{session}`, `{issue}` and `{prefix}` expand in its arguments. `{prefix}` is what the subjects of its
/// commits start with, and `{issue}` the id in it: that of the epic or the summary issue when findings are fixed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CoderTemplate {
    /// The program and arguments that start a session. An entry with the name of a built-in coder needs none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// More arguments, such as for a built-in coder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The program and arguments that resume a session. Default: those of `command`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<Vec<String>>,
    /// Environment variables.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "Option<BTreeMap<String, String>>")]
    pub env: BTreeMap<String, String>,
}

impl RunSettings {
    /// Whether no key is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
