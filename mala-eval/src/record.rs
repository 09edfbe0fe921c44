//! The stored content of a run: one header, and one record per case and trial. A record has everything that
//! scoring needs, so that a run can be scored again without its set.

mod header;
mod prediction;

pub use header::{ReviewerUsed, RunHeader, Selection, SetUsed};
pub use prediction::Prediction;

use super::case::{EvalCase, KnownProblem, language_word};
use super::judging::Judgement;
use mala_domain::change::{Change, FilePath, LineCounts, LineSpan};
use mala_domain::secrets;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the JSON of a `CaseRecord` and a `RunHeader`.
pub const SCHEMA_VERSION: u32 = 1;

/// The result of one case in one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "EvalCaseRecord")]
pub struct CaseRecord {
    /// The version of this format.
    pub schema_version: u32,
    /// The set that the case is of.
    pub set: String,
    /// The case.
    pub case: String,
    /// The number of the trial, from 1.
    pub trial: u32,
    /// Its language.
    pub language: String,
    /// Its tags.
    #[serde(default)]
    pub tags: Vec<String>,
    /// The title of the pull request.
    #[serde(default)]
    pub title: String,
    /// The reviewed change, without secrets; cut when it is very long.
    #[serde(default)]
    pub diff: String,
    /// Why it could not be reviewed; null when it was. What was found until then does not count.
    pub could_not_review: Option<String>,
    /// The claims of the reviewer.
    pub predictions: Vec<Prediction>,
    /// The notes of the review: minor or uncertain claims. They count only for the recall with notes.
    #[serde(default)]
    pub minor_predictions: Vec<Prediction>,
    /// The problems that it should find.
    pub truths: Vec<KnownProblem>,
    /// Claims that people judged to be wrong.
    #[serde(default)]
    pub rejected: Vec<KnownProblem>,
    /// The changed regions at head.
    pub hunks: Vec<ChangedRegion>,
    /// How many lines the change adds and removes.
    pub changed_lines: LineCounts,
    /// The origin of the files at base.
    pub base: BaseOrigin,
    /// Notes about how the case was set up or reviewed.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The usage.
    pub spent: CaseUsage,
    /// The judgement; null without a judge.
    #[serde(default)]
    pub judgement: Option<Judgement>,
}

/// The most characters of a diff that a record keeps.
const MAX_DIFF: usize = 200_000;

impl CaseRecord {
    /// The record of a trial before its review.
    pub fn open(set: &str, case: &EvalCase, trial: u32, change: &Change) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            set: set.to_owned(),
            case: case.id.clone(),
            trial,
            language: language_word(&case.language).to_owned(),
            tags: case.tags.clone(),
            title: case.pr_title.clone(),
            diff: shown(case, change),
            could_not_review: None,
            predictions: Vec::new(),
            minor_predictions: Vec::new(),
            truths: case.ground_truth.clone(),
            rejected: case.rejected_findings.clone(),
            hunks: ChangedRegion::all(change),
            changed_lines: change.n_lines(),
            base: BaseOrigin::Unused,
            notes: Vec::new(),
            spent: CaseUsage::default(),
            judgement: None,
        }
    }

    /// The cost of the review and its judge; unknown if one of them is unknown.
    pub fn cost_usd(&self) -> Option<f64> {
        let judge = self.judgement.as_ref().map_or(Some(0.0), |judged| judged.spent.cost_usd);
        self.spent.cost_usd.zip(judge).map(|(review, judge)| review + judge)
    }

    /// The key of the record.
    pub fn key(&self) -> (&str, &str, u32) {
        (&self.set, &self.case, self.trial)
    }

    /// Whether the case has no known problem.
    pub fn is_clean(&self) -> bool {
        self.truths.is_empty()
    }
}

/// The case's own diff; without one, the diff between its trees.
fn shown(case: &EvalCase, change: &Change) -> String {
    match case.diff.trim().is_empty() {
        true => shortened(&secrets::redact(&change.to_string())),
        false => shortened(&secrets::redact(&case.diff)),
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_DIFF) {
        Some((end, _)) => format!("{}\n[cut]\n", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A changed region at head.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedRegion {
    /// The file.
    pub file: FilePath,
    /// Its first line.
    pub line_start: u32,
    /// Its last line.
    pub line_end: u32,
}

impl ChangedRegion {
    /// The regions of a change that have lines at head: from the first to the last added line;
    /// without added lines, the lines around removed ones.
    pub fn all(change: &Change) -> Vec<Self> {
        let files = change.files.iter().filter(|file| file.exists_at_head());
        let hunks = files.flat_map(|file| file.hunks.iter().map(move |hunk| (&file.path, hunk)));
        hunks
            .filter_map(|(file, hunk)| {
                let mut added = hunk.added_lines().map(|(line, _)| line);
                let span = match added.next() {
                    Some(first) => LineSpan::between(first, added.last().unwrap_or(first)),
                    None => hunk.head_span()?,
                };
                let (line_start, line_end) = (span.start(), span.end());
                Some(Self { file: file.clone(), line_start, line_end })
            })
            .collect()
    }

    /// Its lines.
    pub fn span(&self) -> LineSpan {
        LineSpan::between(self.line_start, self.line_end)
    }
}

/// The origin of the files at base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BaseOrigin {
    /// The case has them.
    Given,
    /// The diff was taken back from the files at head.
    Reverted,
    /// The diff could be reverted in some files; the others count as new.
    PartlyReverted,
    /// All files count as new.
    Empty,
    /// Not needed.
    Unused,
}

/// The usage of a case. A value that was not reported is unknown, not zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CaseUsage {
    /// Dollars; null when unknown.
    pub cost_usd: Option<f64>,
    /// Tokens in and out; null when unknown.
    pub tokens_used: Option<u64>,
    /// Calls to models.
    pub llm_calls: u64,
    /// Calls to tools.
    pub tool_calls: u64,
    /// Seconds from start to end.
    pub seconds: f64,
    /// Seconds waiting for models.
    pub seconds_llm: f64,
}

impl CaseUsage {
    /// The usage of a reviewer without model calls.
    pub fn nothing() -> Self {
        Self { cost_usd: Some(0.0), tokens_used: Some(0), ..Self::default() }
    }
}

/// The JSON Schema of a record.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(CaseRecord)
}
