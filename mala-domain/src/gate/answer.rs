//! Reads the answer of a lane. It must have the nonce and the head commit of its session, and list the hunks
//! that were reviewed; other answers are rejected.

mod objections;

pub use objections::{objects, speaks_of_claims};

use crate::agent::answer::{
    AnswerSource, JsonObject, ParseMethod, ParseProblem, RawAnswer, checks_format, find_object,
    have_same_value, read_checks, read_object, review_format,
};
use crate::agent::answer::{CheckOutcome, ClaimCheck};
use crate::agent::fence::Nonce;
use crate::change::{Change, FilePath};
use crate::conversation::AnswerFormat;
use crate::finding::ReviewClaim;
use crate::verdict::Verdict;
use serde_json::{Value, json};
use std::collections::HashSet;
use thiserror::Error;

/// The values that tie an answer to its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerBinding {
    /// The session's nonce.
    pub nonce: Nonce,
    /// The commit under review.
    pub head: String,
}

/// A valid answer of a lane.
#[derive(Debug, Clone, PartialEq)]
pub struct LaneAnswer {
    /// How it was parsed.
    pub method: ParseMethod,
    /// The lane's own verdict.
    pub verdict: Verdict,
    /// Its summary of the change.
    pub summary: String,
    /// Its claims.
    pub claims: Vec<ReviewClaim>,
    /// The hunks that it reviewed, as indices into the file's hunks.
    pub accounted: Vec<(FilePath, Vec<usize>)>,
}

impl LaneAnswer {
    /// The answer with the paths of the change. A path may start with one of the folders in which the lane
    /// ran, or have `./` or spaces around it.
    #[must_use]
    pub fn inside(mut self, roots: &[String], change: &Change) -> Self {
        let changed: HashSet<&FilePath> = change.files.iter().map(|file| &file.path).collect();
        let place = |file: &FilePath| {
            if changed.contains(file) {
                return file.clone();
            }
            let text = file.to_text();
            let plain = text.trim().trim_start_matches("./");
            let below = roots.iter().find_map(|root| plain.strip_prefix(root)?.strip_prefix('/'));
            match below {
                Some(below) => FilePath::from(below),
                None if plain == text => file.clone(),
                None => FilePath::parse(plain),
            }
        };
        for claim in &mut self.claims {
            claim.file = place(&claim.file);
        }
        for (file, _) in &mut self.accounted {
            *file = place(file);
        }
        self
    }
}

/// Why an answer is rejected.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AnswerProblem {
    /// It cannot be read.
    #[error("{0}")]
    Unreadable(#[from] ParseProblem),
    /// It has no nonce, or the nonce of another session.
    #[error("the answer does not have this session's nonce")]
    OtherSession,
    /// It is for another commit, or names no commit.
    #[error("the answer is for the commit `{0}`, not for the one under review")]
    OtherCommit(String),
}

/// The maximum number of files, and of hunks in a file, that an answer may list.
const MAX_ACCOUNT: usize = 100_000;

/// Reads a lane's answer to a review; its claims get the name of the lane. A claim with an empty field is
/// kept: the missing text is taken from the lines that it cites.
pub fn read(text: &str, binding: &AnswerBinding, lane: &str) -> Result<LaneAnswer, AnswerProblem> {
    let words = RawAnswer { text, form_enforced: false, nonce: &binding.nonce };
    let found = find_object(&words, &["verdict", "findings"]);
    let (object, method) = found.map_err(|problem| named(problem, &words))?;
    check_binding(&object, binding)?;
    if !objections::agrees(&words, &object) {
        return Err(two_answers().into());
    }
    let answer = read_object(&object, method, AnswerSource::Lane)?;
    let verdict = verdict(&object)?;
    if verdict == Verdict::Pass && objects_elsewhere(&object) {
        return Err(two_answers().into());
    }
    let claims = answer.claims.into_iter().chain(answer.incomplete).map(|claim| claim.candidate);
    Ok(LaneAnswer {
        method,
        verdict,
        summary: answer.summary,
        claims: claims.map(|claim| ReviewClaim { reviewer: lane.to_owned(), ..claim }).collect(),
        accounted: account(&object)?,
    })
}

/// Reads a lane's answer to a check of claims.
pub fn read_check(text: &str, binding: &AnswerBinding) -> Result<Vec<ClaimCheck>, AnswerProblem> {
    let words = RawAnswer { text, form_enforced: false, nonce: &binding.nonce };
    let found = find_object(&words, &["checks"]);
    let (object, _) = found.map_err(|problem| named(problem, &words))?;
    check_binding(&object, binding)?;
    if !have_same_value(&words, "checks") {
        return Err(two_answers().into());
    }
    Ok(read_checks(&words)?.0)
}

/// Whether another list in the answer looks like findings.
fn objects_elsewhere(object: &JsonObject) -> bool {
    let is_finding = |item: &Value| {
        let names = ["title", "body", "message", "priority", "severity"];
        names.iter().any(|name| item.get(name).is_some())
    };
    let lists = object.iter().filter(|(name, _)| *name != "findings");
    lists.filter_map(|(_, value)| value.as_array()).flatten().any(is_finding)
}

fn two_answers() -> ParseProblem {
    ParseProblem::InvalidVerdict("two answers that contradict each other".to_owned())
}

/// Whether a check refutes its claim.
pub fn refutes(check: &ClaimCheck) -> bool {
    check.outcome == CheckOutcome::Refuted
}

/// Why a text was rejected: an answer with another nonce belongs to another session.
fn named(problem: ParseProblem, words: &RawAnswer<'_>) -> AnswerProblem {
    let object: Option<JsonObject> = serde_json::from_str(words.text.trim()).ok();
    let nonce = object.as_ref().and_then(|object| object.get("nonce")?.as_str());
    match nonce {
        Some(nonce) if nonce != words.nonce.as_str() => AnswerProblem::OtherSession,
        _ => problem.into(),
    }
}

fn check_binding(object: &JsonObject, binding: &AnswerBinding) -> Result<(), AnswerProblem> {
    let field = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
    if field("nonce") != binding.nonce.as_str() {
        return Err(AnswerProblem::OtherSession);
    }
    match field("head_sha") {
        head if head == binding.head && !head.is_empty() => Ok(()),
        other => Err(AnswerProblem::OtherCommit(other.chars().take(80).collect())),
    }
}

fn verdict(object: &JsonObject) -> Result<Verdict, ParseProblem> {
    let verdict = object.get("verdict").cloned().unwrap_or_default();
    serde_json::from_value(verdict).map_err(|_| ParseProblem::InvalidFormat)
}

fn account(object: &JsonObject) -> Result<Vec<(FilePath, Vec<usize>)>, ParseProblem> {
    let Some(Value::Array(files)) = object.get("reviewed") else {
        return Err(ParseProblem::MissingField("reviewed".to_owned()));
    };
    let one = |entry: &Value| {
        let file = FilePath::parse(entry.get("file_path")?.as_str()?);
        let hunks = entry.get("hunks")?.as_array()?.iter().take(MAX_ACCOUNT);
        // Lanes count from one.
        let hunks = hunks.map(|hunk| usize::try_from(hunk.as_u64()?).ok()?.checked_sub(1));
        Some((file, hunks.collect::<Option<Vec<_>>>()?))
    };
    let files: Option<Vec<_>> = files.iter().take(MAX_ACCOUNT).map(one).collect();
    files.ok_or(ParseProblem::InvalidFormat)
}

/// The schema of a lane's answer to the review.
pub fn review_schema() -> Value {
    let account = json!({
        "type": "object",
        "properties": {
            "file_path": {"type": "string"},
            "hunks": {"type": "array", "items": {"type": "integer"}},
        },
        "required": ["file_path", "hunks"],
        "additionalProperties": false,
    });
    let schema = with_field(schema(review_format(1)), "summary", json!({"type": "string"}));
    let schema = with_field(schema, "head_sha", json!({"type": "string"}));
    let mut schema = with_field(schema, "reviewed", json!({"type": "array", "items": account}));
    if let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        fields.remove("hints");
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name != "hints");
    }
    schema
}

/// The schema of a lane's answer to a check of claims.
pub fn check_schema() -> Value {
    with_field(schema(checks_format()), "head_sha", json!({"type": "string"}))
}

fn schema(form: AnswerFormat) -> Value {
    match form {
        AnswerFormat::Json { schema, .. } => schema,
        _ => Value::Null,
    }
}

fn with_field(mut schema: Value, name: &str, field: Value) -> Value {
    if let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        fields.insert(name.to_owned(), field);
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.push(Value::String(name.to_owned()));
    }
    schema
}

#[cfg(test)]
mod tests;
