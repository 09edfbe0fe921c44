//! The header of a run: the reviewer, the cases, and the match rule.

use crate::case::language_word;
use crate::judging::JudgeUsed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The header of a run: all settings that affect its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "EvalRun")]
pub struct RunHeader {
    /// The version of this format.
    pub schema_version: u32,
    /// The run's name.
    pub run_id: String,
    /// When it started, as UTC.
    pub started_at: String,
    /// The version of mala.
    pub mala_version: String,
    /// The reviewer.
    pub reviewer: ReviewerUsed,
    /// The sets of cases.
    pub sets: Vec<SetUsed>,
    /// The selected cases.
    #[serde(default)]
    pub selection: Selection,
    /// The number of reviews of each case.
    pub trials: u32,
    /// The random seed, for dummy reviewers and intervals.
    pub seed: u64,
    /// How many lines of a finding count.
    pub max_span: u32,
    /// The cost limit of the run, in dollars.
    #[serde(default)]
    pub max_cost_usd: Option<f64>,
    /// The judge of the semantic mode, if any.
    #[serde(default)]
    pub judge: Option<JudgeUsed>,
}

impl RunHeader {
    /// Whether the run is over the same cases as another: only then their numbers can be compared.
    pub fn has_cases_of(&self, other: &Self) -> bool {
        let cases = |run: &Self| -> Vec<(String, String)> {
            run.sets.iter().map(|set| (set.name.clone(), set.sha256.clone())).collect()
        };
        cases(self) == cases(other)
    }
}

/// The reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewerUsed {
    /// The name that a user writes.
    pub name: String,
    /// The model behind it.
    #[serde(default)]
    pub model: Option<String>,
    /// The name of its limits.
    #[serde(default)]
    pub profile: Option<String>,
    /// The version of its rules or prompts.
    #[serde(default)]
    pub version: Option<String>,
}

impl std::fmt::Display for ReviewerUsed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)?;
        for part in [&self.model, &self.profile].into_iter().flatten() {
            write!(f, " {part}")?;
        }
        Ok(())
    }
}

/// A set of cases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SetUsed {
    /// Its name.
    pub name: String,
    /// The source as requested.
    pub source: String,
    /// SHA-256 over its cases.
    pub sha256: String,
    /// How many of its cases are selected.
    pub cases: usize,
}

/// The selected cases of a set: those that match every list that is not empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Selection {
    /// Of these languages.
    #[serde(default)]
    pub languages: Vec<String>,
    /// With one of these tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// With one of these ids.
    #[serde(default)]
    pub cases: Vec<String>,
    /// The maximum number.
    #[serde(default)]
    pub limit: Option<usize>,
}

impl Selection {
    /// Whether a case meets every list; the limit is counted elsewhere.
    pub fn takes(&self, case: &crate::EvalCase) -> bool {
        let meets = |list: &[String], value: &str| {
            list.is_empty() || list.iter().any(|wanted| wanted.eq_ignore_ascii_case(value))
        };
        let languages: Vec<String> =
            self.languages.iter().map(|name| language_word(name).to_owned()).collect();
        meets(&languages, language_word(&case.language))
            && meets(&self.cases, &case.id)
            && (self.tags.is_empty() || case.tags.iter().any(|tag| meets(&self.tags, tag)))
    }
}
