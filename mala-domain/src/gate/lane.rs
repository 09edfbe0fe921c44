//! A lane: an external reviewer in a panel, as data. The built-in lanes are a table in
//! `lanes.toml`; `gate.lanes` in a configuration file changes them and adds others.

mod extract;
mod table;

pub use extract::{LaneOutput, LaneStreams, error_message, known_limit, lane_output, usage};
pub use table::{LaneProblem, LaneTable};

use crate::config::Seconds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How to run a lane and how to find its answer. Fields that are not set are inherited from the
/// lane in `like`, if any.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LaneSettings {
    /// The lane that this one inherits from. A lane with the name of a built-in one always inherits
    /// from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub like: Option<String>,
    /// The program and its arguments. `{prompt_file}`, `{schema}`, `{schema_file}`, `{answer_file}`,
    /// `{tree}`, `{home}`, `{reasoning}` and `{timeout}` are filled in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// More arguments, after those of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<String>>,
    /// Arguments with which the program prints its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<Vec<String>>,
    /// How to install the program, shown to the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub install: Option<String>,
    /// How to detect that the user is signed in: variables of which one must be set, or files of
    /// which one must exist (`~/` is the user's home, `$NAME/` a variable). Not checked if empty.
    /// `$NAME as OTHER` passes the variable to the lane under the other name if no earlier entry
    /// exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed_in: Option<Vec<String>>,
    /// Variables of the user that the lane may see, beside those that every program needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<Vec<String>>,
    /// Variables that are set for the lane; filled in like the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set: Option<BTreeMap<String, String>>,
    /// Variables that are set for the lane unless `keep` names them and the user has set them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_default: Option<BTreeMap<String, String>>,
    /// Files of the user that the lane finds in its own empty home, as links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<Vec<HomeLink>>,
    /// Files that are written into the lane's own home.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<HomeFile>>,
    /// Names of files and folders that are removed from the lane's copy of the tree, at any depth:
    /// settings that a program obeys and that the change under review may have written. Default:
    /// those of all known agents; `[]` removes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hide: Option<Vec<String>>,
    /// Whether the prompt goes to stdin; `false` for a lane that reads `{prompt_file}`.
    #[schemars(extend("default" = true))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin: Option<bool>,
    /// Where to find the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerPlace>,
    /// Where to find the tokens and the cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<UsagePlace>,
    /// Patterns in the output of a lane that explain why there is no answer, such as a usage limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signs: Option<Vec<String>>,
    /// Maximum time without output. Default: only `gate.timeout` applies, as for `claude` and
    /// `gemini`, which print everything at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<Seconds>,
    /// How many bytes the lane may print.
    #[schemars(extend("default" = 16_777_216))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u32>,
}

/// A file of the user, and where the lane finds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HomeLink {
    /// Paths of the file; the first one that exists is used.
    pub from: Vec<String>,
    /// The path in the lane's home.
    pub to: String,
}

/// A file in the lane's home.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HomeFile {
    /// The path in the lane's home.
    pub to: String,
    /// The content.
    pub text: String,
    /// Only when this variable is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_set: Option<String>,
    /// Only when this variable is not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unless_set: Option<String>,
}

/// The format of a lane's answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerForm {
    /// All of stdout.
    #[default]
    Text,
    /// Stdout is one JSON object.
    Json,
    /// Each line of stdout is a JSON object.
    JsonLines,
    /// The file `{answer_file}`.
    File,
}

/// Where to find a lane's answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AnswerPlace {
    /// The format.
    pub form: AnswerForm,
    /// Conditions on a line: JSON pointers and the values that they must have.
    #[serde(rename = "where", skip_serializing_if = "BTreeMap::is_empty")]
    pub when: BTreeMap<String, String>,
    /// JSON pointers to the answer; the first one with a value is used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<String>,
    /// A JSON pointer that is `true` if the run failed, whatever else was printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// JSON pointers to the error message of a failed run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub error: Vec<String>,
}

/// Where to find the usage of a lane: JSON pointers. `*` matches every key; the matches are added
/// up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UsagePlace {
    /// Tokens in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Tokens out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The input tokens that came from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<String>,
    /// Dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<String>,
}

/// A lane with its name, ready to run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lane {
    /// The name in reports.
    pub name: String,
    /// How to run it.
    pub settings: LaneSettings,
}

/// Why a lane has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LaneFailureKind {
    /// It could not be started: not installed, or not signed in.
    Unavailable,
    /// It took too long.
    TimedOut,
    /// It failed, or its answer is not one to this session, or leaves hunks out.
    Unusable,
}

/// Files that agents obey when they find them in a tree: settings, hooks, servers, variables and
/// instructions.
pub const AGENT_SETTINGS: [&str; 18] = [
    ".agents",
    ".aider.conf.yml",
    ".claude",
    ".codex",
    ".cursor",
    ".env",
    ".gemini",
    ".mcp.json",
    ".opencode",
    ".qwen",
    "AGENTS.md",
    "AGENTS.override.md",
    "CLAUDE.local.md",
    "CLAUDE.md",
    "GEMINI.md",
    "QWEN.md",
    "opencode.json",
    "opencode.jsonc",
];

/// The default limit of a lane's output, in bytes.
const MAX_OUTPUT: u32 = 16 << 20;

/// The reviewers of mala itself, which can sit on a panel without a program.
pub const IN_PROCESS: [&str; 2] = ["agent", "builtin"];

impl Lane {
    /// Whether it is a reviewer of mala itself.
    pub fn is_in_process(&self) -> bool {
        self.program().is_empty() && IN_PROCESS.contains(&self.name.as_str())
    }

    /// The program.
    pub fn program(&self) -> &str {
        self.settings.command.as_ref().and_then(|it| it.first()).map_or("", String::as_str)
    }

    /// The arguments, with placeholders.
    pub fn arguments(&self) -> impl Iterator<Item = &str> {
        let own = self.settings.command.iter().flatten().skip(1);
        own.chain(self.settings.args.iter().flatten()).map(String::as_str)
    }

    /// Where to find its answer.
    pub fn answer(&self) -> AnswerPlace {
        self.settings.answer.clone().unwrap_or_default()
    }

    /// The names that are removed from its copy of the tree.
    pub fn hidden(&self) -> Vec<&str> {
        match &self.settings.hide {
            Some(names) => names.iter().map(String::as_str).collect(),
            None => AGENT_SETTINGS.to_vec(),
        }
    }

    /// Whether the prompt goes to stdin.
    pub fn reads_stdin(&self) -> bool {
        self.settings.stdin.unwrap_or(true)
    }

    /// How many bytes it may print.
    pub fn max_output(&self) -> usize {
        usize::try_from(self.settings.max_output.unwrap_or(MAX_OUTPUT)).unwrap_or(usize::MAX)
    }
}

/// Replaces `{name}` for each of these names, and nothing else.
pub fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        out.push_str(before);
        let known = values
            .iter()
            .find_map(|(name, value)| Some((*value, after.strip_prefix(name)?.strip_prefix('}')?)));
        match known {
            Some((value, after)) => {
                out.push_str(value);
                rest = after;
            }
            None => {
                out.push('{');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests;
