//! Parses the answer to a review: verdict and findings. The short form has six fields per finding.
//! The full form has more, and a finding that uses one of them must fill all of them.

use super::fields::{cut, first_lines, list, number, object, optional_text, required, text};
use super::json_object::{self, JsonObject, ParseMethod};
use super::{ParseProblem, RawAnswer};
use crate::agent::NAME;
use crate::change::{FilePath, LineSpan};
use crate::finding::{Category, Priority, ReviewClaim, Verification};
use crate::verdict::Verdict;
use serde_json::Value;
use std::collections::HashSet;

/// A parsed review.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewAnswer {
    /// How it was parsed.
    pub method: ParseMethod,
    /// The model's summary of the review.
    pub summary: String,
    /// The claims.
    pub claims: Vec<ModelClaim>,
    /// The reasons why findings were dropped.
    pub dropped: Vec<String>,
    /// The dropped findings: they leave a field of the full form empty.
    pub incomplete: Vec<ModelClaim>,
    /// The model's opinions on the hints.
    pub hints: Vec<HintOpinion>,
}

/// A claim of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelClaim {
    /// The claim in the form that all reviewers share.
    pub candidate: ReviewClaim,
    /// Whether the model stated its confidence.
    pub has_confidence: bool,
}

/// A model's opinion on a finding of the built-in checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HintOpinion {
    /// The id of the hint.
    pub id: String,
    /// Whether the model agrees with it.
    pub stands: bool,
    /// The reason.
    pub why: String,
}

/// The confidence of a claim that states none.
const DEFAULT_CONFIDENCE: f64 = 0.7;
const MAX_FINDINGS: usize = 500;
const EVIDENCE: &str = "evidence";
const MAX_TITLE: usize = 300;
const MAX_BODY: usize = 4_000;
/// Placeholders of the prompt: an answer with one of them repeats the prompt.
const TEMPLATE: [&str; 3] = ["relative/path/to/file", "[P0-3]", "path from the root of"];

/// The source of an answer. A lane may omit the priority, and its paths are matched with the change
/// later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerSource {
    /// The agent's model.
    Agent,
    /// A lane of a panel.
    Lane,
}

/// Parses the answer to a review.
pub fn read_review(words: &RawAnswer<'_>) -> Result<ReviewAnswer, ParseProblem> {
    let (object, method) = json_object::find(words, &["verdict", "findings"])?;
    json_object::require_agreement(words, &["verdict", "findings"])?;
    let answer = read_object(&object, method, AnswerSource::Agent)?;
    // An answer whose findings are all incomplete still objects, so it cannot count as a pass.
    match answer.claims.is_empty() && !answer.incomplete.is_empty() {
        true => Err(ParseProblem::MissingField(EVIDENCE.to_owned())),
        false => Ok(answer),
    }
}

pub(crate) fn read_object(
    object: &JsonObject,
    method: ParseMethod,
    source: AnswerSource,
) -> Result<ReviewAnswer, ParseProblem> {
    let verdict = verdict(text(object, "verdict")?)?;
    let findings = list(object, "findings")?;
    if findings.len() > MAX_FINDINGS {
        return Err(ParseProblem::InvalidFormat);
    }
    let mut answer = ReviewAnswer {
        method,
        summary: cut(optional_text(object, "summary")?.unwrap_or_default(), MAX_BODY),
        claims: Vec::new(),
        dropped: Vec::new(),
        incomplete: Vec::new(),
        hints: hints(object)?,
    };
    for finding in findings {
        let finding = self::object(finding)?;
        let claim = claim(finding, source)?;
        if lacks_evidence(finding)? {
            let ReviewClaim { file, span, .. } = &claim.candidate;
            answer.dropped.push(format!("{file}:{span}: a finding without `{EVIDENCE}`"));
            answer.incomplete.push(claim);
        } else {
            answer.claims.push(claim);
        }
    }
    check_verdict(verdict, findings.is_empty())?;
    Ok(answer)
}

fn verdict(word: &str) -> Result<Verdict, ParseProblem> {
    [Verdict::Pass, Verdict::Fail, Verdict::NeedsWork]
        .into_iter()
        .find(|verdict| verdict.name() == word)
        .ok_or_else(|| ParseProblem::InvalidVerdict(cut(word, 80)))
}

/// Rejects a verdict that contradicts the findings.
fn check_verdict(verdict: Verdict, no_findings: bool) -> Result<(), ParseProblem> {
    let contradiction = match (verdict, no_findings) {
        (Verdict::Pass, false) => "PASS with findings".to_owned(),
        (Verdict::Fail | Verdict::NeedsWork, true) => {
            format!("{} without findings", verdict.name())
        }
        _ => return Ok(()),
    };
    Err(ParseProblem::InvalidVerdict(contradiction))
}

fn claim(finding: &JsonObject, source: AnswerSource) -> Result<ModelClaim, ParseProblem> {
    let file = text(finding, "file_path")?;
    let start = number(finding, "line_start")?;
    let end = number(finding, "line_end")?;
    let span = LineSpan::new(start, end).ok_or(ParseProblem::InvalidFormat)?;
    let priority = priority(finding, source)?;
    let title = text(finding, "title")?;
    let body = text(finding, "body")?;
    if TEMPLATE.iter().any(|words| file.contains(words) || title.contains(words)) {
        return Err(ParseProblem::InvalidFormat);
    }
    let (priority, title) = with_priority_prefix(priority, title);
    let confidence = confidence(finding)?;
    Ok(ModelClaim {
        has_confidence: confidence.is_some(),
        candidate: ReviewClaim {
            file: match source {
                AnswerSource::Agent => FilePath::parse(file.trim().trim_start_matches("./")),
                AnswerSource::Lane => FilePath::parse(file),
            },
            span,
            priority,
            category: category(finding)?,
            title: cut(&title, MAX_TITLE),
            body: cut(&full_body(body, finding)?, MAX_BODY),
            suggestion: non_empty_text(finding, "suggestion")?.map(|text| cut(text, MAX_BODY)),
            evidence: non_empty_text(finding, EVIDENCE)?.map(|text| first_lines(text, MAX_BODY)),
            confidence: confidence.unwrap_or(DEFAULT_CONFIDENCE),
            reviewer: NAME.to_owned(),
            rule: None,
            verification: Verification::default(),
        },
    })
}

fn priority(finding: &JsonObject, source: AnswerSource) -> Result<Option<Priority>, ParseProblem> {
    if source == AnswerSource::Lane && finding.get("priority") == Some(&Value::Null) {
        return Ok(None);
    }
    let number = required(finding, "priority")?.as_i64().and_then(Priority::from_number);
    number.map(Some).ok_or(ParseProblem::InvalidFormat)
}

/// Puts the priority in front of the title. If the title names another priority, the more urgent
/// one wins.
fn with_priority_prefix(priority: Option<Priority>, title: &str) -> (Option<Priority>, String) {
    let title = title.trim();
    let said = Priority::ALL
        .into_iter()
        .find_map(|said| title.strip_prefix(&format!("[{said}]")).map(|rest| (said, rest.trim())));
    let rest = said.map_or(title, |(_, rest)| rest);
    match priority.into_iter().chain(said.map(|(said, _)| said)).min() {
        Some(priority) => (Some(priority), format!("[{priority}] {rest}")),
        None => (None, rest.to_owned()),
    }
}

/// The body, with the trigger and the effect, where the finding has them as fields of their own.
fn full_body(body: &str, finding: &JsonObject) -> Result<String, ParseProblem> {
    let mut text = body.trim().to_owned();
    for (key, label) in [("when", "\n\nWhen: "), ("then", "\nThen: ")] {
        if let Some(said) = non_empty_text(finding, key)? {
            text.push_str(label);
            text.push_str(said.trim());
        }
    }
    Ok(text)
}

/// Whether a finding that uses the full form has no evidence.
fn lacks_evidence(finding: &JsonObject) -> Result<bool, ParseProblem> {
    let is_full = ["when", "then", EVIDENCE].iter().any(|field| finding.contains_key(*field));
    Ok(is_full && non_empty_text(finding, EVIDENCE)?.is_none())
}

fn non_empty_text<'o>(finding: &'o JsonObject, key: &str) -> Result<Option<&'o str>, ParseProblem> {
    Ok(optional_text(finding, key)?.filter(|text| !text.trim().is_empty()))
}

fn category(finding: &JsonObject) -> Result<Category, ParseProblem> {
    let Some(word) = non_empty_text(finding, "category")? else { return Ok(Category::Bug) };
    Category::ALL
        .into_iter()
        .find(|category| category.name() == word)
        .ok_or(ParseProblem::InvalidFormat)
}

fn confidence(finding: &JsonObject) -> Result<Option<f64>, ParseProblem> {
    match finding.get("confidence") {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let number = value.as_f64().filter(|number| (0.0..=1.0).contains(number));
            number.map(Some).ok_or(ParseProblem::InvalidFormat)
        }
    }
}

fn hints(object: &JsonObject) -> Result<Vec<HintOpinion>, ParseProblem> {
    let Some(Value::Array(hints)) = object.get("hints") else { return Ok(Vec::new()) };
    hints.iter().take(MAX_FINDINGS).map(hint).collect()
}

fn hint(value: &Value) -> Result<HintOpinion, ParseProblem> {
    let hint = object(value)?;
    Ok(HintOpinion {
        id: cut(text(hint, "id")?, 40),
        stands: required(hint, "stands")?.as_bool().ok_or(ParseProblem::InvalidFormat)?,
        why: cut(optional_text(hint, "why")?.unwrap_or_default(), MAX_TITLE),
    })
}

/// Parses an answer that another call restructured. Returns the problem of the original answer if
/// the result contains anything that the original does not.
pub fn read_restructured(
    original: &str,
    words: &RawAnswer<'_>,
    problem: &ParseProblem,
) -> Result<ReviewAnswer, ParseProblem> {
    let read = json_object::find(words, &["verdict", "findings"]).and_then(|(object, _)| {
        read_object(&object, ParseMethod::Restructured, AnswerSource::Agent)
    });
    match read {
        Ok(answer) if !answer.claims.is_empty() && says_only(&answer, original) => Ok(answer),
        _ => Err(problem.clone()),
    }
}

fn says_only(answer: &ReviewAnswer, original: &str) -> bool {
    let known: HashSet<String> = words_of(original).collect();
    answer.claims.iter().all(|claim| {
        let candidate = &claim.candidate;
        let title = candidate.title.get(4..).unwrap_or_default();
        let lines = [candidate.span.start().to_string(), candidate.span.end().to_string()];
        original.contains(&*candidate.file.to_text())
            && candidate.priority.is_some_and(|priority| names(&known, priority))
            && lines.iter().all(|line| known.contains(line))
            && words_of(title).chain(words_of(&candidate.body)).all(|word| known.contains(&word))
    })
}

/// Whether the words contain the priority or the name of its severity.
fn names(known: &HashSet<String>, priority: Priority) -> bool {
    known.contains(&priority.to_string().to_lowercase())
        || known.contains(priority.severity().name())
}

fn words_of(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}
