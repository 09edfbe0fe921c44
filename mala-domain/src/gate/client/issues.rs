//! The claims and reviewers of a gate's JSON, whatever it calls their fields.

use super::{Claim, unreadable};
use crate::agent::answer::fields::{cut, list, maybe_text, object, required, text};
use crate::agent::answer::{Object, ParseProblem};
use crate::change::{FilePath, LineSpan};
use crate::finding::{Candidate, Category, Priority, Verification};
use crate::ports::ReviewerFailure;
use crate::review::Voice;
use crate::verdict::Verdict;
use serde_json::Value;

const MAX_ISSUES: usize = 2_000;
const MAX_TITLE: usize = 300;
const MAX_BODY: usize = 8_000;
const MAX_NAME: usize = 100;

/// How sure a claim is that does not say.
const UNSAID_CONFIDENCE: f64 = 0.7;

/// What one shape calls things, and whether claims need lines.
pub(super) struct Dialect {
    pub(super) file: &'static str,
    pub(super) lines_may_be_null: bool,
}

/// The claims in a list, each by whoever it names, or by `reviewer`.
pub(super) fn claims(
    of: &Object,
    key: &str,
    dialect: &Dialect,
    reviewer: Option<&str>,
) -> Result<Vec<Claim>, ReviewerFailure> {
    let all = list(of, key).map_err(unreadable)?;
    if all.len() > MAX_ISSUES {
        return Err(unreadable(ParseProblem::InvalidFormat));
    }
    let read = all.iter().map(|issue| claim(object(issue)?, dialect, reviewer));
    read.collect::<Result<_, _>>().map_err(unreadable)
}

fn claim(issue: &Object, dialect: &Dialect, reviewer: Option<&str>) -> Result<Claim, ParseProblem> {
    let reviewer = match reviewer {
        Some(name) => name,
        None => text(issue, "reviewer")?,
    };
    let file = text(issue, dialect.file)?;
    let lines = lines(issue, dialect)?;
    if file.trim().is_empty() || reviewer.trim().is_empty() {
        return Err(ParseProblem::InvalidFormat);
    }
    Ok(Claim {
        has_lines: lines.is_some(),
        candidate: Candidate {
            file: FilePath::parse(file.trim().trim_start_matches("./")),
            span: lines.unwrap_or(LineSpan::line(1)),
            priority: priority(issue)?,
            category: category(issue),
            title: cut(text(issue, "title")?.trim(), MAX_TITLE),
            body: cut(text(issue, "body")?.trim(), MAX_BODY),
            suggestion: maybe_text(issue, "suggestion")?.map(|text| cut(text, MAX_BODY)),
            evidence: None,
            confidence: confidence(issue),
            reviewer: cut(reviewer.trim(), MAX_NAME),
            rule: None,
            verification: Verification::default(),
        },
    })
}

/// The lines; a gate that does not know them says null.
fn lines(issue: &Object, dialect: &Dialect) -> Result<Option<LineSpan>, ParseProblem> {
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

/// Null is allowed and stays; a field that is not there, or holds another number, is not.
fn priority(issue: &Object) -> Result<Option<Priority>, ParseProblem> {
    match issue.get("priority") {
        None => Err(ParseProblem::MissingField("priority".to_owned())),
        Some(Value::Null) => Ok(None),
        Some(value) => {
            let number = value.as_i64().and_then(Priority::from_number);
            number.map(Some).ok_or(ParseProblem::InvalidFormat)
        }
    }
}

fn category(issue: &Object) -> Category {
    let word = issue.get("category").and_then(Value::as_str).unwrap_or_default();
    Category::ALL.into_iter().find(|it| it.name() == word).unwrap_or(Category::Bug)
}

fn confidence(issue: &Object) -> f64 {
    let said = issue.get("confidence").and_then(Value::as_f64);
    said.filter(|number| (0.0..=1.0).contains(number)).unwrap_or(UNSAID_CONFIDENCE)
}

/// The reviewers by name, each with its verdict.
pub(super) fn voices(of: &Object) -> Result<Vec<(Voice, Option<Verdict>)>, ReviewerFailure> {
    let all = required(of, "reviewers").and_then(object).map_err(unreadable)?;
    all.iter().map(|(name, entry)| voice(name, entry).map_err(unreadable)).collect()
}

fn voice(name: &str, entry: &Value) -> Result<(Voice, Option<Verdict>), ParseProblem> {
    let entry = object(entry)?;
    let verdict = maybe_text(entry, "verdict")?.map(verdict).transpose()?;
    let error = maybe_text(entry, "error")?.map(|error| cut(error, MAX_TITLE));
    Ok((Voice { name: cut(name, MAX_NAME), error, ..Voice::default() }, verdict))
}

/// A verdict in the contract's words.
pub(super) fn verdict(word: &str) -> Result<Verdict, ParseProblem> {
    [Verdict::Pass, Verdict::Fail, Verdict::NeedsWork]
        .into_iter()
        .find(|verdict| verdict.name() == word)
        .ok_or_else(|| ParseProblem::InvalidVerdict(cut(word, 80)))
}

/// A pass beside which anything is said against the change is none: by the gate, in the words of another
/// shape too, or by a reviewer.
pub(super) fn nobody_objects(of: &Object) -> Result<(), ReviewerFailure> {
    let contradicts = |who: &str, what: &str| {
        unreadable(ParseProblem::InvalidVerdict(format!("PASS though {who} names {what}")))
    };
    let all = required(of, "reviewers").and_then(object).map_err(unreadable)?;
    let all = all.iter().map(|(name, entry)| (name.as_str(), entry.as_object()));
    for (name, entry) in all.chain([("the gate", Some(of))]) {
        let name = cut(name, MAX_NAME);
        for key in ["issues", "findings", "aggregated_findings"] {
            match entry.and_then(|entry| entry.get(key)) {
                None | Some(Value::Null) => {}
                Some(Value::Array(own)) if own.is_empty() => {}
                Some(Value::Array(_)) => return Err(contradicts(&name, key)),
                Some(_) => return Err(unreadable(ParseProblem::InvalidFormat)),
            }
        }
    }
    for (key, harmless) in [("consensus_verdict", "PASS"), ("error", ""), ("fatal_error", "")] {
        match of.get(key) {
            None | Some(Value::Null | Value::Bool(false)) => {}
            Some(Value::String(word)) if word == harmless => {}
            Some(_) => return Err(contradicts("the gate", key)),
        }
    }
    Ok(())
}

/// Why reviewers gave no answer: words, or objects with `reviewer` and `error`.
pub(super) fn parse_errors(of: &Object) -> Result<Vec<String>, ReviewerFailure> {
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

/// Where the session's files are.
pub(super) fn log(object: &Object) -> Result<Option<String>, ReviewerFailure> {
    Ok(maybe_text(object, "session_dir").map_err(unreadable)?.map(str::to_owned))
}
