//! Reads the claims and reviewers in a gate's JSON; each format has other names for their fields.

use super::votes::MemberVote;
use super::{GateClaim, unreadable};
use crate::agent::answer::fields::{cut, list, object, optional_text, required, text};
use crate::agent::answer::{JsonObject, ParseProblem};
use crate::change::{FilePath, LineSpan};
use crate::finding::{Category, Priority, ReviewClaim, Verification};
use crate::ports::ReviewerFailure;
use crate::review::GateMember;
use crate::verdict::Verdict;
use serde_json::Value;

const MAX_ISSUES: usize = 2_000;
const MAX_TITLE: usize = 300;
const MAX_BODY: usize = 8_000;
pub(super) const MAX_NAME: usize = 100;

/// The confidence of a claim without one.
const DEFAULT_CONFIDENCE: f64 = 0.7;

/// The field names of a format, and which fields are optional.
pub(super) struct GateDialect {
    /// The list with the claims.
    pub(super) claims: &'static str,
    /// The field with the file of a claim.
    pub(super) file: &'static str,
    pub(super) lines_may_be_null: bool,
    /// The fields of a reviewer that gave a verdict, null or not.
    pub(super) of_reviewers: &'static [&'static str],
    /// The values of `verdict` for a reviewer that failed.
    pub(super) failed: &'static [&'static str],
}

/// The claims in a list, each by the reviewer that it names, or by `reviewer`.
pub(super) fn claims(
    of: &JsonObject,
    dialect: &GateDialect,
    reviewer: Option<&str>,
) -> Result<Vec<GateClaim>, ReviewerFailure> {
    let all = list(of, dialect.claims).map_err(unreadable)?;
    if all.len() > MAX_ISSUES {
        return Err(unreadable(ParseProblem::InvalidFormat));
    }
    let read = all.iter().map(|issue| claim(object(issue)?, dialect, reviewer));
    read.collect::<Result<_, _>>().map_err(unreadable)
}

fn claim(
    issue: &JsonObject,
    dialect: &GateDialect,
    reviewer: Option<&str>,
) -> Result<GateClaim, ParseProblem> {
    let reviewer = match reviewer {
        Some(name) => name,
        None => text(issue, "reviewer")?,
    };
    let file = text(issue, dialect.file)?;
    let lines = lines(issue, dialect)?;
    if file.trim().is_empty() || reviewer.trim().is_empty() {
        return Err(ParseProblem::InvalidFormat);
    }
    Ok(GateClaim {
        has_lines: lines.is_some(),
        candidate: ReviewClaim {
            file: FilePath::parse(file.trim().trim_start_matches("./")),
            span: lines.unwrap_or(LineSpan::line(1)),
            priority: priority(issue)?,
            category: category(issue),
            title: cut(text(issue, "title")?.trim(), MAX_TITLE),
            body: cut(text(issue, "body")?.trim(), MAX_BODY),
            suggestion: optional_text(issue, "suggestion")?.map(|text| cut(text, MAX_BODY)),
            evidence: None,
            confidence: confidence(issue),
            reviewer: cut(reviewer.trim(), MAX_NAME),
            rule: None,
            verification: Verification::default(),
        },
    })
}

/// The lines of a claim; `None` if the gate prints null.
fn lines(issue: &JsonObject, dialect: &GateDialect) -> Result<Option<LineSpan>, ParseProblem> {
    let is_null = |key: &str| matches!(issue.get(key), Some(Value::Null));
    if dialect.lines_may_be_null && (is_null("line_start") || is_null("line_end")) {
        return Ok(None);
    }
    let number = |key: &str| {
        let number = required(issue, key)?.as_u64();
        number.and_then(|it| u32::try_from(it).ok()).ok_or(ParseProblem::InvalidFormat)
    };
    let span = LineSpan::new(number("line_start")?, number("line_end")?);
    span.map(Some).ok_or(ParseProblem::InvalidFormat)
}

/// The priority. Null is allowed; a missing field or another number is an error.
fn priority(issue: &JsonObject) -> Result<Option<Priority>, ParseProblem> {
    let number = match issue.get("priority") {
        None => return Err(ParseProblem::MissingField("priority".to_owned())),
        Some(Value::Null) => None,
        Some(value) => {
            let number = value.as_i64().and_then(Priority::from_number);
            Some(number.ok_or(ParseProblem::InvalidFormat)?)
        }
    };
    Ok(raised(number, issue))
}

/// The more urgent one of the priority and the severity.
pub(super) fn raised(priority: Option<Priority>, issue: &JsonObject) -> Option<Priority> {
    let severity = match issue.get("severity").and_then(Value::as_str).unwrap_or_default() {
        word if word.eq_ignore_ascii_case("critical") => Priority::P0,
        word if word.eq_ignore_ascii_case("high") => Priority::P1,
        word if word.eq_ignore_ascii_case("blocking") => Priority::P1,
        _ => return priority,
    };
    if severity < effective(priority) { Some(severity) } else { priority }
}

/// The priority, or P2 without one.
pub(super) fn effective(priority: Option<Priority>) -> Priority {
    priority.unwrap_or(Priority::P2)
}

fn category(issue: &JsonObject) -> Category {
    let word = issue.get("category").and_then(Value::as_str).unwrap_or_default();
    Category::ALL.into_iter().find(|it| it.name() == word).unwrap_or(Category::Bug)
}

fn confidence(issue: &JsonObject) -> f64 {
    let said = issue.get("confidence").and_then(Value::as_f64);
    said.filter(|number| (0.0..=1.0).contains(number)).unwrap_or(DEFAULT_CONFIDENCE)
}

/// The reviewers by name, each with its verdict.
pub(super) fn votes(
    of: &JsonObject,
    dialect: &GateDialect,
) -> Result<Vec<MemberVote>, ReviewerFailure> {
    let all = required(of, "reviewers").and_then(object).map_err(unreadable)?;
    all.iter().map(|(name, entry)| vote(name, entry, dialect).map_err(unreadable)).collect()
}

fn vote(name: &str, entry: &Value, dialect: &GateDialect) -> Result<MemberVote, ParseProblem> {
    let entry = object(entry)?;
    let word = optional_text(entry, "verdict")?;
    let failed = word.filter(|word| dialect.failed.contains(word));
    let error = match (optional_text(entry, "error")?, failed) {
        (None, Some(word)) => {
            let summary = optional_text(entry, "summary")?.filter(|words| !words.trim().is_empty());
            Some(summary.unwrap_or(word))
        }
        (error, _) => error,
    };
    if error.is_none() {
        is_whole(entry, dialect)?;
    }
    let verdict = word.filter(|_| failed.is_none()).map(verdict).transpose()?;
    let error = error.map(|error| cut(error, MAX_TITLE));
    Ok((GateMember { name: cut(name, MAX_NAME), error, ..GateMember::default() }, verdict))
}

/// Whether a reviewer that did not fail has all required fields.
fn is_whole(entry: &JsonObject, dialect: &GateDialect) -> Result<(), ParseProblem> {
    for key in dialect.of_reviewers {
        match *key {
            "summary" => text(entry, key).map(|_| ())?,
            "issues" | "findings" => list(entry, key).map(|_| ())?,
            key if entry.contains_key(key) => {}
            key => return Err(ParseProblem::MissingField(key.to_owned())),
        }
    }
    Ok(())
}

/// A verdict as the contract spells it.
pub(super) fn verdict(word: &str) -> Result<Verdict, ParseProblem> {
    [Verdict::Pass, Verdict::Fail, Verdict::NeedsWork]
        .into_iter()
        .find(|verdict| verdict.name() == word)
        .ok_or_else(|| ParseProblem::InvalidVerdict(cut(word, 80)))
}

/// Why reviewers gave no answer: strings, or objects with `reviewer` and `error`.
pub(super) fn parse_errors(of: &JsonObject) -> Result<Vec<String>, ReviewerFailure> {
    let all = list(of, "parse_errors").map_err(unreadable)?;
    let one = |error: &Value| match error {
        Value::String(words) => cut(words, MAX_TITLE),
        Value::Object(error) => {
            let field = |key| error.get(key).and_then(Value::as_str).unwrap_or("?");
            cut(&format!("{}: {}", field("reviewer"), field("error")), MAX_TITLE)
        }
        other => cut(&other.to_string(), MAX_TITLE),
    };
    Ok(all.iter().take(100).map(one).collect())
}

/// The folder of the session.
pub(super) fn log(object: &JsonObject) -> Result<Option<String>, ReviewerFailure> {
    Ok(optional_text(object, "session_dir").map_err(unreadable)?.map(str::to_owned))
}
