//! The format of rule files. The structs are read from YAML and described by a JSON Schema for
//! editors; `rule.rs` turns a file into a checked `Rule`.

use crate::taint::TaintSpec;
use ast_grep_config::SerializableRule;
use mala_domain::finding::{Category, Priority};
use mala_domain::language::Language;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::HashMap;

/// One rule file.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleFile {
    /// Folder and file name without `.yaml`, such as `python/mutable-default`.
    pub id: String,
    /// The languages it looks at.
    pub languages: Vec<Language>,
    /// One line, no period at its end.
    pub title: String,
    /// The concrete failure: "When X, Y happens." `{{NAME}}` is replaced by the match of `$NAME`.
    pub message: String,
    /// How to fix it. `{{NAME}}` works here too.
    pub suggestion: String,
    /// The kind of problem.
    pub category: Category,
    /// 0 (blocker) to 3 (nit).
    pub priority: Priority,
    /// The probability that a match is a real problem, 0 to 1.
    pub confidence: f64,
    /// The set that it belongs to. Without this key it runs by default.
    #[serde(default)]
    pub set: RuleGroup,
    /// Words to select rules by.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Whether matches in test files are dropped.
    #[serde(default)]
    pub skip_tests: bool,
    /// The metavariable whose node is reported; without it, the whole match.
    #[serde(default)]
    pub at: Option<String>,
    /// The pattern, as an ast-grep rule object.
    #[serde(default)]
    pub rule: Option<SerializableRule>,
    /// Conditions for single metavariables.
    #[serde(default)]
    pub constraints: Option<HashMap<String, SerializableRule>>,
    /// Rules that other rules refer to with `matches`.
    #[serde(default)]
    pub utils: Option<HashMap<String, SerializableRule>>,
    /// Data that flows from a source to a sink, in place of `rule`.
    #[serde(default)]
    pub taint: Option<TaintSpec>,
    /// The name of a check written in Rust, in place of `rule`.
    #[serde(default)]
    pub native: Option<String>,
    /// Code that the rule must and must not match.
    pub examples: Examples,
}

/// The set that a rule belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RuleGroup {
    /// It runs by default.
    #[default]
    Default,
    /// It runs with `review.rules: extended`, or when the project turns it on by its id.
    Extended,
}

impl RuleGroup {
    /// The name in rule files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Extended => "extended",
        }
    }
}

/// Code that a rule must and must not match.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Examples {
    /// Each matches at least once, and on the lines that end with the comment `# !` or `// !`.
    pub bad: Vec<String>,
    /// None matches.
    pub good: Vec<String>,
}

/// The JSON Schema of a rule file.
pub fn json_schema() -> schemars::Schema {
    schemars::schema_for!(RuleFile)
}
