//! The structured form of a review: a result, issues, a summary, and whether a person must decide.

use super::{NAME, ReviewResult};
use crate::agent::answer::fields::{cut, list, optional_text, text};
use crate::agent::answer::{JsonObject, ParseMethod, ParseProblem, RawAnswer, find_object};
use crate::change::{FilePath, LineSpan};
use crate::conversation::AnswerFormat;
use crate::finding::{Category, Priority, ReviewClaim, Verification};
use serde_json::{Value, json};

/// A structured review.
#[derive(Debug, Clone, PartialEq)]
pub struct StructuredReview {
    /// The result.
    pub result: ReviewResult,
    /// The issues that it names.
    pub issues: Vec<ReviewIssue>,
    /// A summary in one or two sentences.
    pub summary: String,
    /// Whether a person must look at it.
    pub blocking: bool,
}

/// One problem that a review names.
#[derive(Debug, Clone, PartialEq)]
pub enum ReviewIssue {
    /// With file and lines.
    Located(Box<ReviewClaim>),
    /// Without a location.
    Prose(String),
}

const MAX_ISSUES: usize = 500;
const MAX_TITLE: usize = 300;
const MAX_BODY: usize = 4_000;
const DEFAULT_CONFIDENCE: f64 = 0.7;

/// Parses the answer of the parser.
pub fn read_structured_review(
    words: &RawAnswer<'_>,
) -> Result<(StructuredReview, ParseMethod), ParseProblem> {
    let (object, method) = find_object(words, &["result"])?;
    let word = text(&object, "result")?;
    let result =
        ReviewResult::parse(word).ok_or_else(|| ParseProblem::InvalidVerdict(cut(word, 80)))?;
    let issues = match object.get("issues") {
        None | Some(Value::Null) => &[],
        Some(_) => list(&object, "issues")?,
    };
    if issues.len() > MAX_ISSUES {
        return Err(ParseProblem::InvalidFormat);
    }
    let parsed = StructuredReview {
        result,
        issues: issues.iter().map(issue).collect::<Result<_, _>>()?,
        summary: cut(optional_text(&object, "summary")?.unwrap_or_default(), MAX_BODY),
        blocking: match object.get("blocking") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(blocking)) => *blocking,
            Some(_) => return Err(ParseProblem::InvalidFormat),
        },
    };
    let contradiction = match (parsed.result, parsed.issues.is_empty()) {
        (ReviewResult::Approved, false) => Some("APPROVED with issues".to_owned()),
        (ReviewResult::Approved, true) if parsed.blocking => {
            Some("APPROVED and blocking".to_owned())
        }
        (ReviewResult::Approved, true) | (_, false) => None,
        (other, true) => Some(format!("{} without issues", other.name())),
    };
    match contradiction {
        Some(words) => Err(ParseProblem::InvalidVerdict(words)),
        None => Ok((parsed, method)),
    }
}

fn issue(value: &Value) -> Result<ReviewIssue, ParseProblem> {
    match value {
        Value::String(words) => Ok(issue_in_prose(words)),
        Value::Object(fields) => located_issue(fields),
        _ => Err(ParseProblem::InvalidFormat),
    }
}

fn located_issue(fields: &JsonObject) -> Result<ReviewIssue, ParseProblem> {
    let title = text(fields, "title")?;
    let body = optional_text(fields, "body")?.unwrap_or(title);
    let file = match optional_text(fields, "file")? {
        Some(file) => Some(file),
        None => optional_text(fields, "file_path")?,
    };
    let line = |key: &str| match fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let line = value.as_u64().and_then(|it| u32::try_from(it).ok());
            line.filter(|line| *line > 0).map(Some).ok_or(ParseProblem::InvalidFormat)
        }
    };
    let priority = match fields.get("priority") {
        None | Some(Value::Null) => priority_tag(title),
        Some(value) => {
            let number = value.as_i64().and_then(Priority::from_number);
            Some(number.ok_or(ParseProblem::InvalidFormat)?)
        }
    };
    let (Some(file), Some(start)) = (file, line("line_start")?) else {
        return Ok(ReviewIssue::Prose(cut(&format!("{title}: {body}"), MAX_BODY)));
    };
    let span = LineSpan::new(start, line("line_end")?.unwrap_or(start));
    let span = span.ok_or(ParseProblem::InvalidFormat)?;
    Ok(ReviewIssue::Located(Box::new(claim(file, span, priority, (title, body)))))
}

fn claim(
    file: &str,
    span: LineSpan,
    priority: Option<Priority>,
    (title, body): (&str, &str),
) -> ReviewClaim {
    ReviewClaim {
        file: FilePath::parse(file.trim().trim_start_matches("./")),
        span,
        priority,
        category: Category::Bug,
        title: cut(title.trim(), MAX_TITLE),
        body: cut(body.trim(), MAX_BODY),
        suggestion: None,
        evidence: None,
        confidence: DEFAULT_CONFIDENCE,
        reviewer: NAME.to_owned(),
        rule: None,
        verification: Verification::default(),
    }
}

/// Parses an issue in prose. It has a location if it contains `path:line` or `path:first-last`.
fn issue_in_prose(words: &str) -> ReviewIssue {
    let marks =
        |c: char| matches!(c, '`' | '(' | ')' | '[' | ']' | ',' | '*' | '"' | '\'' | ':' | '.');
    let place = words.split_whitespace().find_map(|word| place(word.trim_matches(marks)));
    match place {
        Some((file, span)) => {
            let title = words.lines().next().unwrap_or(words);
            let priority = priority_tag(words);
            ReviewIssue::Located(Box::new(claim(file, span, priority, (title, words))))
        }
        None => ReviewIssue::Prose(cut(words, MAX_BODY)),
    }
}

fn place(word: &str) -> Option<(&str, LineSpan)> {
    let (file, lines) = word.split_once(':')?;
    let lines = lines.split(':').next()?;
    let (start, end) = lines.split_once('-').unwrap_or((lines, lines));
    let span = LineSpan::new(start.parse().ok()?, end.parse().ok()?)?;
    (!file.is_empty()).then_some((file, span))
}

/// The priority in a tag such as `[P1]`.
fn priority_tag(text: &str) -> Option<Priority> {
    Priority::ALL.into_iter().find(|priority| text.contains(&format!("[{priority}]")))
}

/// The format of the parser's answer, for providers that can enforce one.
pub fn answer_format() -> AnswerFormat {
    let issue = json!({
        "type": "object",
        "properties": {
            "file": {"type": "string"},
            "line_start": {"type": "integer"},
            "line_end": {"type": "integer"},
            "priority": {"type": ["integer", "null"]},
            "title": {"type": "string"},
            "body": {"type": "string"},
        },
        "required": ["file", "line_start", "line_end", "priority", "title", "body"],
        "additionalProperties": false,
    });
    let schema = json!({
        "type": "object",
        "properties": {
            "nonce": {"type": "string"},
            "result": {"type": "string", "enum": ["APPROVED", "NEEDS_REVISION", "REJECTED"]},
            "issues": {"type": "array", "items": issue},
            "summary": {"type": "string"},
            "blocking": {"type": "boolean"},
        },
        "required": ["nonce", "result", "issues", "summary", "blocking"],
        "additionalProperties": false,
    });
    AnswerFormat::Json { name: "parsed_review".to_owned(), schema }
}
