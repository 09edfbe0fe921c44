//! A case: a change with its known problems. The format is one JSON object per case; unknown fields are
//! ignored.

mod meta;
mod places;
mod read;
#[cfg(test)]
mod tests;

pub use meta::CaseMeta;
pub(crate) use places::is_on;
pub use read::CaseError;

use super::matching::ProblemLocation;
use mala_domain::change::{FilePath, LineSpan};
use mala_domain::finding::{Category, Severity};
use mala_domain::language::Language;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of the JSON format of a case.
pub const SCHEMA_VERSION: u32 = 1;

/// A change with known problems. A clean case has no known problems.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "EvalCase")]
pub struct EvalCase {
    /// The version of this format.
    #[serde(default = "first_version")]
    pub schema_version: u32,
    /// Its name, unique in its set.
    pub id: String,
    /// The repository that the change comes from.
    #[serde(default)]
    pub repo: String,
    /// The language of the change, in lower case.
    pub language: String,
    /// The title of the pull request.
    #[serde(default)]
    pub pr_title: String,
    /// The text of the pull request.
    #[serde(default)]
    pub pr_description: String,
    /// The change as a unified diff. It may be empty when `base_files` is given.
    #[serde(default)]
    pub diff: String,
    /// The files at head: path and content.
    #[serde(default)]
    pub files: BTreeMap<FilePath, String>,
    /// The files at base, when they are known; otherwise the diff is reverted from `files`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_files: Option<BTreeMap<FilePath, String>>,
    /// Whether `files` contains the whole project. Otherwise, checks that need all files of the
    /// project report nothing, unless the commit of the case (`meta.head_sha`) is found in a clone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub complete_tree: bool,
    /// The problems that a reviewer should find; empty in a clean case.
    #[serde(default)]
    pub ground_truth: Vec<KnownProblem>,
    /// Claims that people judged to be wrong; repeating one is a mistake.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected_findings: Vec<KnownProblem>,
    /// Words to select cases by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The source, the licence, the commits, and other notes.
    #[serde(default)]
    pub meta: CaseMeta,
}

impl EvalCase {
    /// Whether the case has no known problem.
    pub fn is_clean(&self) -> bool {
        self.ground_truth.is_empty()
    }
}

/// A known problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KnownProblem {
    /// Its file at head.
    pub file: FilePath,
    /// Its first line at head, 1-based.
    pub line_start: u32,
    /// Its last line; the first line by default.
    #[serde(default)]
    pub line_end: Option<u32>,
    /// The kind of problem.
    pub category: Category,
    /// The severity, when it is known.
    #[serde(default)]
    pub severity: Option<Severity>,
    /// A one-line summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The problem.
    #[serde(default)]
    pub description: String,
    /// The name of this kind of problem in its source, such as the rule of another tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_type: Option<String>,
    /// A piece of these lines, to detect moved lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
}

impl KnownProblem {
    /// Its lines.
    pub fn span(&self) -> LineSpan {
        LineSpan::between(self.line_start, self.line_end.unwrap_or(self.line_start))
    }

    /// The location and the kind.
    pub fn location(&self) -> ProblemLocation<'_> {
        ProblemLocation { file: &self.file, span: self.span(), category: self.category }
    }
}

/// The name of a language in cases. TypeScript with markup has its own grammar, but is TypeScript
/// when cases are selected.
pub fn language_word(written: &str) -> &str {
    match written.eq_ignore_ascii_case(Language::Tsx.name()) {
        true => Language::TypeScript.name(),
        false => written,
    }
}

fn first_version() -> u32 {
    1
}

/// The JSON Schema of a case.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(EvalCase)
}
