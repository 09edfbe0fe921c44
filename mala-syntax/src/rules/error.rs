//! Why a rule file is refused, with the place in it.

use serde_saphyr::Error as YamlError;
use std::fmt;

/// Why a rule file is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleError {
    /// The file, as the caller names it.
    pub file: String,
    /// 1-based; 0 when it concerns the whole file.
    pub line: u32,
    /// 1-based; 0 when it concerns the whole line.
    pub column: u32,
    /// What is wrong.
    pub what: String,
    /// The probable intention.
    pub hint: Option<String>,
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if self.line > 0 {
            write!(f, ":{}:{}", self.line, self.column)?;
        }
        write!(f, ": {}", self.what)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for RuleError {}

/// The problem and its place, before the file's name is known.
#[derive(Debug)]
pub(super) struct RuleProblem {
    pub(super) place: ProblemPlace,
    pub(super) what: String,
    pub(super) hint: Option<String>,
}

/// How to find the place of a problem in the text.
#[derive(Debug)]
pub(super) enum ProblemPlace {
    /// Line and column are known.
    At(u32, u32),
    /// At a top-level key.
    Key(&'static str),
    /// At a text after a top-level key.
    Text(&'static str, String),
    /// Somewhere.
    File,
}

impl RuleProblem {
    pub(super) fn new(place: ProblemPlace, what: impl Into<String>) -> Self {
        Self { place, what: what.into(), hint: None }
    }

    /// Adds the most similar candidate.
    pub(super) fn with_nearest<'a>(
        mut self,
        written: &str,
        candidates: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        self.hint = nearest(written, candidates).map(|name| format!("did you mean `{name}`?"));
        self
    }

    pub(super) fn in_file(self, file: &str, yaml: &str) -> RuleError {
        let (line, column) = match &self.place {
            ProblemPlace::At(line, column) => (*line, *column),
            ProblemPlace::Key(key) => find(yaml, key, None),
            ProblemPlace::Text(key, text) => find(yaml, key, Some(text)),
            ProblemPlace::File => (0, 0),
        };
        RuleError { file: file.to_owned(), line, column, what: self.what, hint: self.hint }
    }
}

impl From<YamlError> for RuleProblem {
    fn from(error: YamlError) -> Self {
        let error = error.without_snippet();
        let place = error.location().map_or(ProblemPlace::File, |location| {
            ProblemPlace::At(clamp(location.line()), clamp(location.column()))
        });
        match error {
            YamlError::SerdeUnknownField { field, expected, .. } => {
                Self::new(place, format!("unknown key `{field}`"))
                    .with_nearest(field, expected.iter().copied())
            }
            YamlError::SerdeUnknownVariant { variant, expected, .. } => {
                let known = expected.join("`, `");
                Self::new(place, format!("unknown value `{variant}`, it is one of `{known}`"))
                    .with_nearest(variant, expected.iter().copied())
            }
            YamlError::SerdeMissingField { field, .. } => {
                Self::new(ProblemPlace::File, format!("key `{field}` is missing"))
            }
            other => Self::new(place, without_place(&other.to_string())),
        }
    }
}

/// The most similar candidate, if one is similar enough.
pub(super) fn nearest<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(written, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// Line and column of a top-level key, or of the first occurrence of a text from there on.
fn find(yaml: &str, key: &str, text: Option<&str>) -> (u32, u32) {
    let key_start = offset_of_key(yaml, key).unwrap_or_default();
    let needle = text.and_then(|text| text.lines().map(str::trim).find(|line| !line.is_empty()));
    let within = yaml.get(key_start..).unwrap_or_default();
    let offset =
        needle.and_then(|needle| within.find(needle)).map_or(key_start, |at| key_start + at);
    let before = yaml.get(..offset).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    let line = before.matches('\n').count() + 1;
    (clamp(line as u64), clamp(column as u64))
}

fn offset_of_key(yaml: &str, key: &str) -> Option<usize> {
    let mut offset = 0;
    for line in yaml.split_inclusive('\n') {
        if line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':')) {
            return Some(offset);
        }
        offset += line.len();
    }
    None
}

fn without_place(text: &str) -> String {
    let first_line = text.lines().next().unwrap_or_default();
    first_line.rsplit_once(" at line ").map_or(first_line, |(what, _)| what).to_owned()
}

fn clamp(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
