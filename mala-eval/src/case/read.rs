//! Parses and checks a case. Errors have the exact position.

use super::places::CaseLocations;
use super::{EvalCase, KnownProblem, SCHEMA_VERSION};
use mala_domain::change::FilePath;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use thiserror::Error;

/// Why a case cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}:{column}: {why}")]
pub struct CaseError {
    /// The file.
    pub file: String,
    /// The 1-based line: in a file of cases, the line of the case.
    pub line: usize,
    /// The 1-based column, in bytes.
    pub column: usize,
    /// What is wrong.
    pub why: String,
}

impl CaseError {
    /// An error that concerns a whole line.
    pub fn at_line(file: &str, line: usize, why: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, column: 1, why: why.into() }
    }
}

impl EvalCase {
    /// Reads the case whose text begins on this line of a file, and checks it.
    pub fn parse(file: &str, first_line: usize, text: &str) -> Result<Self, CaseError> {
        if let Some(other) = other_than_object(text) {
            let why = format!("expected an object, found {other}");
            return Err(CaseError::at_line(file, first_line, why));
        }
        let case: Self = serde_json::from_str(text).map_err(|error| {
            // serde_json counts lines from 1 and puts its own position into its message.
            let said = error.to_string();
            let place = format!(" at line {} column {}", error.line(), error.column());
            CaseError {
                file: file.to_owned(),
                line: first_line + error.line().max(1) - 1,
                column: error.column().max(1),
                why: said.strip_suffix(&place).unwrap_or(&said).to_owned(),
            }
        })?;
        match case.problem() {
            None => Ok(case),
            Some(why) => Err(CaseError::at_line(file, first_line, case.named(&why))),
        }
    }

    /// The problem of a case that has the right format.
    pub fn problem(&self) -> Option<String> {
        if self.schema_version != SCHEMA_VERSION {
            let version = self.schema_version;
            return Some(format!(
                "unsupported schema_version {version}, expected {SCHEMA_VERSION}"
            ));
        }
        if self.id.trim().is_empty() || self.id.chars().any(char::is_control) {
            return Some("id must not be empty or contain control characters".to_owned());
        }
        if self.diff.trim().is_empty() && self.files.is_empty() && self.base_files.is_none() {
            return Some("the case has neither a diff nor files".to_owned());
        }
        let trees = [Some(&self.files), self.base_files.as_ref()];
        let in_trees = trees.into_iter().flatten().find_map(tree_problem);
        in_trees.or_else(|| {
            let mut places = match CaseLocations::of(self) {
                Ok(places) => places,
                Err(why) => return Some(why),
            };
            let truths = self.ground_truth.iter().map(|truth| ("ground_truth", truth));
            let rejected = self.rejected_findings.iter().map(|truth| ("rejected_findings", truth));
            truths.chain(rejected).find_map(|(list, truth)| {
                let why = line_problem(truth).or_else(|| places.problem(truth))?;
                Some(format!("{list}: {why}"))
            })
        })
    }

    fn named(&self, why: &str) -> String {
        match self.id.trim() {
            "" => why.to_owned(),
            id => format!("case {id:?}: {why}"),
        }
    }
}

/// The type of JSON that is not an object. It is rejected, because serde would read a list as the
/// fields of a case, by their order.
fn other_than_object(text: &str) -> Option<&'static str> {
    let other = match text.trim_start().chars().next()? {
        '{' => return None,
        '[' => "a list",
        '"' => "a text",
        _ => "a single value",
    };
    serde_json::from_str::<IgnoredAny>(text).ok().map(|_| other)
}

/// A tree that can be written: no path leaves it, is git's own, or is both a file and a folder.
fn tree_problem(tree: &BTreeMap<FilePath, String>) -> Option<String> {
    for path in tree.keys() {
        if !path.stays_inside() {
            return Some(format!("the path {path} leaves the tree"));
        }
        let parts = path.as_bytes().split(|byte| *byte == b'/');
        if parts.into_iter().any(|part| part.eq_ignore_ascii_case(b".git")) {
            return Some(format!("the path {path} is inside .git"));
        }
        let bytes = path.as_bytes();
        let slashes = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        for (end, _) in slashes {
            let folder = FilePath::from_bytes(bytes.get(..end).unwrap_or_default());
            if tree.contains_key(&folder) {
                return Some(format!("{folder} is both a file and a folder"));
            }
        }
    }
    None
}

fn line_problem(truth: &KnownProblem) -> Option<String> {
    let file = &truth.file;
    if truth.line_start == 0 {
        return Some(format!("{file} has no line 0"));
    }
    match truth.line_end {
        Some(end) if end < truth.line_start => {
            let start = truth.line_start;
            Some(format!("{file}:{start}: line_end {end} is before line_start"))
        }
        _ => None,
    }
}
