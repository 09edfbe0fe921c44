//! Makes a case from a kept review and a label for each of its findings: right findings become known
//! problems, wrong ones rejected findings, and missed problems are added.

mod reviewed_code;
#[cfg(test)]
mod tests;

pub use reviewed_code::{ReviewedCodeError, reviewed_code};

use super::case::{CaseMeta, EvalCase, KnownProblem, SCHEMA_VERSION, is_on};
use super::import::{ChangeSides, language_of};
use mala_domain::change::{FilePath, LineSpan};
use mala_domain::finding::{Category, Finding};
use mala_domain::report::Report;
use mala_domain::secrets::redact;
use std::collections::BTreeMap;
use thiserror::Error;

/// The tag of captured cases.
pub const TAG: &str = "captured";

/// A person's label of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingLabel {
    /// It is a problem.
    Right,
    /// It is not a problem.
    Wrong,
    /// Not part of the case.
    LeaveOut,
}

/// The labels that a person gave, by ids of findings or their prefixes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelRequest {
    /// The findings that are right.
    pub right: Vec<String>,
    /// The wrong findings.
    pub wrong: Vec<String>,
    /// The label of all other findings.
    pub rest: Option<FindingLabel>,
}

/// Why labels cannot be assigned to findings.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LabelError {
    /// No finding has this id.
    #[error("the review has no finding '{0}'")]
    Unknown(String),
    /// Findings with several ids start with it.
    #[error("several findings start with '{0}'")]
    Ambiguous(String),
    /// A finding is labeled as right and as wrong.
    #[error("finding {0} is labeled both right and wrong")]
    Both(String),
}

/// The label of each finding; `None` if it has none.
pub fn labels(
    findings: &[Finding],
    requested: &LabelRequest,
) -> Result<Vec<Option<FindingLabel>>, LabelError> {
    let mut labels = vec![None; findings.len()];
    let right = requested.right.iter().map(|id| (id, FindingLabel::Right));
    let wrong = requested.wrong.iter().map(|id| (id, FindingLabel::Wrong));
    for (id, label) in right.chain(wrong) {
        let key = key(findings, id)?;
        for (finding, said) in findings.iter().zip(&mut labels) {
            match said {
                _ if finding.dedupe_key.as_str() != key => {}
                Some(other) if *other != label => return Err(LabelError::Both(key.to_owned())),
                _ => *said = Some(label),
            }
        }
    }
    labels.iter_mut().filter(|label| label.is_none()).for_each(|label| *label = requested.rest);
    Ok(labels)
}

/// The one id that starts so.
fn key<'f>(findings: &'f [Finding], id: &str) -> Result<&'f str, LabelError> {
    let keys = || findings.iter().map(|finding| finding.dedupe_key.as_str());
    if let Some(exact) = keys().find(|key| *key == id) {
        return Ok(exact);
    }
    let mut starting = keys().filter(|key| !id.is_empty() && key.starts_with(id));
    let first = starting.next().ok_or_else(|| LabelError::Unknown(id.to_owned()))?;
    match starting.all(|key| key == first) {
        true => Ok(first),
        false => Err(LabelError::Ambiguous(id.to_owned())),
    }
}

/// A problem that the review missed, from `FILE:LINES:CATEGORY:TEXT`.
pub fn missed(text: &str) -> Result<KnownProblem, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let found = (1..parts.len()).find_map(|at| {
        let (file, rest) = parts.split_at_checked(at)?;
        let [lines, category, text @ ..] = rest else { return None };
        let category = Category::ALL.into_iter().find(|known| known.name() == category.trim())?;
        Some((file.join(":"), span(lines)?, category, text.join(":")))
    });
    let names = Category::ALL.map(Category::name).join(", ");
    let (file, span, category, text) = found.ok_or_else(|| {
        format!(
            "'{text}' is not FILE:LINES:CATEGORY:TEXT, with LINES as 7 or 7-9 and one of {names}"
        )
    })?;
    Ok(KnownProblem {
        file: FilePath::from(file.as_str()),
        line_start: span.start(),
        line_end: Some(span.end()),
        category,
        severity: None,
        title: None,
        description: redact(text.trim()).into_owned(),
        source_type: None,
        evidence: None,
    })
}

fn span(lines: &str) -> Option<LineSpan> {
    let (start, end) = lines.split_once('-').unwrap_or((lines, lines));
    LineSpan::new(start.trim().parse().ok()?, end.trim().parse().ok()?)
}

/// A review with labeled findings.
#[derive(Debug, Clone)]
pub struct LabeledReview<'a> {
    /// The review.
    pub report: &'a Report,
    /// The label of each finding.
    pub labels: &'a [FindingLabel],
    /// The problems that it missed.
    pub missed: Vec<KnownProblem>,
}

/// The case of a judged review. Both sides come without their secrets.
pub fn capture(judged: LabeledReview<'_>, sides: ChangeSides) -> Result<EvalCase, String> {
    let LabeledReview { report, labels, missed } = judged;
    let with = |wanted: FindingLabel| {
        let requested = report.issues.iter().zip(labels);
        requested.filter(move |(_, label)| **label == wanted).map(|(finding, _)| truth(finding))
    };
    let mut ground_truth: Vec<KnownProblem> = with(FindingLabel::Right).chain(missed).collect();
    let mut rejected_findings: Vec<KnownProblem> = with(FindingLabel::Wrong).collect();
    for truth in ground_truth.iter().chain(&rejected_findings) {
        check(truth, &sides.head)?;
    }
    for truth in ground_truth.iter_mut().chain(&mut rejected_findings) {
        settle(truth, &sides.head);
    }
    let (subject, body) = sides.message.split_once('\n').unwrap_or((&sides.message, ""));
    let title = if subject.trim().is_empty() { report.scope.target.as_str() } else { subject };
    let meta = CaseMeta::default()
        .with("source", format!("captured from review {}", report.review_id))
        .with("licence", "that of the repository")
        .with("review_id", report.review_id.as_str())
        .with_commits(sides.base_id.as_deref(), Some(&sides.head_id));
    let case = EvalCase {
        schema_version: SCHEMA_VERSION,
        id: report.review_id.clone(),
        repo: report.scope.repository.clone().unwrap_or_default(),
        language: language_of(&sides.change),
        pr_title: redact(title.trim()).into_owned(),
        pr_description: redact(body.trim()).into_owned(),
        diff: sides.diff,
        files: sides.head,
        base_files: (!sides.base.is_empty()).then_some(sides.base),
        ground_truth,
        rejected_findings,
        tags: vec![TAG.to_owned()],
        complete_tree: false,
        meta,
    };
    match case.problem() {
        Some(why) => Err(why),
        None => Ok(case),
    }
}

fn truth(finding: &Finding) -> KnownProblem {
    let evidence = finding.evidence_snippet.lines().map(str::trim).find(|line| !line.is_empty());
    KnownProblem {
        file: finding.file.clone(),
        line_start: finding.line_start,
        line_end: Some(finding.line_end.max(finding.line_start)),
        category: finding.category,
        severity: Some(finding.severity),
        title: Some(redact(&finding.title).into_owned()),
        description: redact(&finding.body).into_owned(),
        source_type: finding.rule.clone(),
        evidence: evidence.map(|line| redact(line).into_owned()),
    }
}

/// Limits the lines to those of the file, and drops evidence that is not on them.
fn settle(truth: &mut KnownProblem, head: &BTreeMap<FilePath, String>) {
    let text = head.get(&truth.file).map_or("", String::as_str);
    let last = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    truth.line_end = truth.line_end.map(|end| end.min(last));
    let span = truth.span();
    let before = span.start() as usize - 1;
    let lines: Vec<&str> = text.lines().skip(before).take(span.n_lines() as usize).collect();
    truth.evidence = truth.evidence.take().filter(|evidence| is_on(&lines, evidence));
}

fn check(truth: &KnownProblem, head: &BTreeMap<FilePath, String>) -> Result<(), String> {
    let file = &truth.file;
    let text = head.get(file).ok_or_else(|| format!("{file} is not a text file at head"))?;
    let n_lines = text.lines().count();
    match truth.line_start as usize <= n_lines {
        true => Ok(()),
        false => Err(format!("{file} has only {n_lines} lines, not {}", truth.line_start)),
    }
}
