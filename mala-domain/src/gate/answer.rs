//! What binds a lane's answer to its session: the nonce, the head sha, and an account of the hunks. An
//! answer without all three is no answer, whatever it says.

mod beside;

pub use beside::{objects, speaks_of_claims};

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

/// What an answer must name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// The session's nonce.
    pub nonce: Nonce,
    /// The commit under review.
    pub head: String,
}

/// A lane's answer, bound to its session.
#[derive(Debug, Clone, PartialEq)]
pub struct LaneAnswer {
    /// How it was read.
    pub method: ParseMethod,
    /// The lane's own verdict.
    pub verdict: Verdict,
    /// What it says of the whole.
    pub summary: String,
    /// What it claims.
    pub claims: Vec<ReviewClaim>,
    /// The hunks that it accounts for, as indices into the file's hunks.
    pub accounted: Vec<(FilePath, Vec<usize>)>,
}

impl LaneAnswer {
    /// With paths as the change has them. A path that is none of its paths may name a file by the folder
    /// that the lane was in, or with something around it.
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

/// Why a text is no answer to this session.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AnswerProblem {
    /// It cannot be read.
    #[error("{0}")]
    Unreadable(#[from] ParseProblem),
    /// It names another session, or none.
    #[error("the answer does not have this session's nonce")]
    OtherSession,
    /// It names another commit, or none.
    #[error("the answer is for the commit `{0}`, not for the one under review")]
    OtherCommit(String),
}

/// The most files and hunks that an account may list.
const MAX_ACCOUNT: usize = 100_000;

/// Reads a lane's answer to the review. Its claims are in the lane's name. One that leaves a field empty
/// is a claim all the same: what is missing is looked for at the lines that it cites.
pub fn read(text: &str, binding: &Binding, lane: &str) -> Result<LaneAnswer, AnswerProblem> {
    let words = RawAnswer { text, form_enforced: false, nonce: &binding.nonce };
    let found = find_object(&words, &["verdict", "findings"]);
    let (object, method) = found.map_err(|problem| named(problem, &words))?;
    check_binding(&object, binding)?;
    if !beside::agrees(&words, &object) {
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
pub fn read_check(text: &str, binding: &Binding) -> Result<Vec<ClaimCheck>, AnswerProblem> {
    let words = RawAnswer { text, form_enforced: false, nonce: &binding.nonce };
    let found = find_object(&words, &["checks"]);
    let (object, _) = found.map_err(|problem| named(problem, &words))?;
    check_binding(&object, binding)?;
    if !have_same_value(&words, "checks") {
        return Err(two_answers().into());
    }
    Ok(read_checks(&words)?.0)
}

/// Whether something stands in the answer that looks like findings, under a name that nobody asked for.
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

/// Whether a check leaves a claim standing.
pub fn refutes(check: &ClaimCheck) -> bool {
    check.outcome == CheckOutcome::Refuted
}

/// What is wrong with a text: an answer with another nonce is one to another session.
fn named(problem: ParseProblem, words: &RawAnswer<'_>) -> AnswerProblem {
    let object: Option<JsonObject> = serde_json::from_str(words.text.trim()).ok();
    let nonce = object.as_ref().and_then(|object| object.get("nonce")?.as_str());
    match nonce {
        Some(nonce) if nonce != words.nonce.as_str() => AnswerProblem::OtherSession,
        _ => problem.into(),
    }
}

fn check_binding(object: &JsonObject, binding: &Binding) -> Result<(), AnswerProblem> {
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
