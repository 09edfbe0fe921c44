//! Parses the answers of models. An answer counts if the provider enforced its schema, if it is the
//! whole text, or if it carries the nonce of the run. Everything else is a `ParseProblem`, never an
//! empty list of findings.

mod checks;
mod edits;
pub(crate) mod fields;
mod json_object;
mod review;
mod schema;
mod unique;

pub use checks::{CheckOutcome, ClaimCheck, Correction, find_check, read_checks};
pub use edits::{CauseGroups, EditedFinding, read_edit, read_groups};
pub use json_object::{JsonObject, ParseMethod, find as find_object, with_escaped_controls};
pub(crate) use json_object::{have_same_value, text_around_objects, values_with_nonce};
pub(crate) use review::{AnswerSource, read_object};
pub use review::{HintOpinion, ModelClaim, ReviewAnswer, read_restructured, read_review};
pub use schema::{checks_format, edit_format, groups_format, review_format};
pub(crate) use unique::parse as parse_unique;

use crate::agent::fence::Nonce;
use crate::finding::Priority;
use crate::verdict::Verdict;
use regex::Regex;
use std::sync::LazyLock;
use thiserror::Error;

/// The text of a model's answer, before it is parsed.
#[derive(Debug, Clone, Copy)]
pub struct RawAnswer<'w> {
    /// The text.
    pub text: &'w str,
    /// Whether the provider enforced the schema.
    pub form_enforced: bool,
    /// The nonce of the run.
    pub nonce: &'w Nonce,
}

/// Why an answer cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ParseProblem {
    /// A field is missing.
    #[error("missing field: {0}")]
    MissingField(String),
    /// The verdict is unknown, or contradicts the findings.
    #[error("invalid verdict: {0}")]
    InvalidVerdict(String),
    /// The answer is not JSON, or JSON in other text without the nonce.
    #[error("invalid json: {0}")]
    InvalidJson(String),
    /// The answer objects, and none of its evidence is in the reviewed tree.
    #[error("invalid evidence: {0}")]
    InvalidEvidence(String),
    /// A field has the wrong type or value, or the answer repeats the prompt.
    #[error("invalid format")]
    InvalidFormat,
}

impl ParseProblem {
    /// The problem without text of the model. The reviewed code may have told the model what to write, so
    /// a retry prompt must not repeat it.
    pub fn without_model_text(&self) -> String {
        match self {
            Self::InvalidVerdict(_) => "invalid verdict: it is PASS without findings, FAIL with a \
                                        P0 or P1 among them, NEEDS_WORK otherwise"
                .to_owned(),
            Self::InvalidEvidence(_) => {
                "invalid evidence: no finding quotes lines that are in its \
                                         file after the change"
                    .to_owned()
            }
            other => other.to_string(),
        }
    }
}

/// Words of an objection in prose or in invalid JSON, for FAIL and for NEEDS_WORK.
#[expect(clippy::expect_used, reason = "a constant pattern, compiled by every test")]
static OBJECTIONS: LazyLock<[(Regex, Verdict); 2]> = LazyLock::new(|| {
    let pattern = |words: &str| Regex::new(words).expect("the pattern is valid");
    let blocks = r#"\b(?:FAIL|FAILED|BLOCK|BLOCKED|REJECT|REJECTED)\b|\[P[01]\]|(?i:\bverdict\b["'*`]*\s*[:=]?\s*["'*`]*(?:fail|block|reject))"#;
    let needs_work = r"\b(?i:NEEDS[_ ](?:WORK|REVISION))\b|\[P[23]\]";
    [(pattern(blocks), Verdict::Fail), (pattern(needs_work), Verdict::NeedsWork)]
});

/// Verdicts of models that mean PASS.
const APPROVALS: [&str; 7] = ["pass", "passed", "approve", "approved", "accept", "ok", "lgtm"];

/// The objection of an answer to the change, whether it can be parsed or not: FAIL for a verdict or a
/// finding that blocks, NEEDS_WORK for others. A later answer that is milder does not withdraw it.
pub fn objection(raw: &RawAnswer<'_>) -> Option<Verdict> {
    match json_object::find(raw, &["verdict", "findings"]) {
        Ok((object, _)) => objection_of(&object),
        Err(_) => {
            let said = OBJECTIONS.iter().filter(|(words, _)| words.is_match(raw.text));
            let objects = json_object::json_objects_in(raw.text);
            let found = objects.filter_map(|object| objection_of(&object));
            stronger(said.map(|(_, verdict)| *verdict).chain(found))
        }
    }
}

/// Whether an answer is milder than an earlier objection: it has no finding, or none that blocks though
/// the objection does.
pub fn is_milder(answer: &ReviewAnswer, objection: Verdict) -> bool {
    let urgent = |claim: &ModelClaim| claim.candidate.priority.is_some_and(|it| it <= Priority::P1);
    match objection {
        Verdict::Fail => !answer.claims.iter().any(urgent),
        _ => answer.claims.is_empty(),
    }
}

fn objection_of(object: &JsonObject) -> Option<Verdict> {
    let verdict = object.get("verdict").and_then(|verdict| verdict.as_str()).map(str::trim);
    let by_verdict = match verdict {
        None | Some("") => None,
        Some(word) if APPROVALS.iter().any(|known| word.eq_ignore_ascii_case(known)) => None,
        Some(word) if word.eq_ignore_ascii_case("NEEDS_WORK") => Some(Verdict::NeedsWork),
        Some(_) => Some(Verdict::Fail),
    };
    let findings = object.get("findings").and_then(|findings| findings.as_array());
    let by_findings = findings.into_iter().flatten().map(|finding| {
        let priority = finding.get("priority").map(|priority| priority.to_string());
        let number = priority.as_deref().map(|text| text.trim_matches(['"', 'P', 'p', ' ']));
        if matches!(number, Some("0" | "1")) { Verdict::Fail } else { Verdict::NeedsWork }
    });
    stronger(by_verdict.into_iter().chain(by_findings))
}

fn stronger(verdicts: impl Iterator<Item = Verdict>) -> Option<Verdict> {
    verdicts.min_by_key(|verdict| *verdict != Verdict::Fail)
}

#[cfg(test)]
mod tests;
