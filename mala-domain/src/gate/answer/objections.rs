//! Finds objections outside of a lane's answer: in a second answer, inside another JSON object, or in broken
//! JSON. They prevent a pass.

use super::AnswerBinding;
use crate::agent::answer::{
    JsonObject, RawAnswer, have_same_value, text_around_objects, values_with_nonce,
};
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// A nonce in broken JSON.
#[expect(clippy::expect_used, reason = "a constant pattern, compiled by every test")]
static NONCE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#""nonce\\*"\s*:\s*\\*"([0-9a-f]{32})"#).expect("the pattern is valid")
});

/// An objecting verdict in broken JSON.
#[expect(clippy::expect_used, reason = "a constant pattern, compiled by every test")]
static OBJECTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#""verdict\\*"\s*:\s*\\*"(?:FAIL|NEEDS_WORK)\b"#).expect("the pattern is valid")
});

/// Whether the rest of the text agrees with this answer: every other object with the session's nonce has the
/// same verdict and no further findings, and no broken JSON objects to a pass. False for a text that is too
/// long to be searched.
pub(super) fn agrees(words: &RawAnswer<'_>, answer: &JsonObject) -> bool {
    let own = answer.get("findings").and_then(Value::as_array);
    let is_kept = |findings: &Value| match (findings.as_array(), own) {
        (Some(findings), Some(own)) => findings.iter().all(|finding| own.contains(finding)),
        _ => Some(findings) == answer.get("findings"),
    };
    let passes = answer.get("verdict").and_then(Value::as_str) == Some("PASS");
    have_same_value(words, "verdict")
        && values_with_nonce(words, "findings").iter().all(is_kept)
        && text_around_objects(words.text)
            .is_some_and(|around| !(passes && is_broken_objection(words, &around)))
}

/// Whether a text has an objection to the change with the nonce of this session.
pub fn objects(text: &str, binding: &AnswerBinding) -> bool {
    let words = RawAnswer { text, form_enforced: false, nonce: &binding.nonce };
    let is_objection = |verdict: &Value| verdict.as_str() != Some("PASS");
    let is_finding = |findings: &Value| findings.as_array().is_none_or(|it| !it.is_empty());
    values_with_nonce(&words, "verdict").iter().any(is_objection)
        || values_with_nonce(&words, "findings").iter().any(is_finding)
        || text_around_objects(text).is_some_and(|around| is_broken_objection(&words, &around))
}

/// Whether a text has checks of claims with the nonce of this session.
pub fn speaks_of_claims(text: &str, binding: &AnswerBinding) -> bool {
    let words = RawAnswer { text, form_enforced: false, nonce: &binding.nonce };
    !values_with_nonce(&words, "checks").is_empty()
}

fn is_broken_objection(words: &RawAnswer<'_>, around: &str) -> bool {
    let mut nonces = NONCE.captures_iter(around).filter_map(|found| found.get(1));
    nonces.any(|nonce| nonce.as_str() == words.nonce.as_str()) && OBJECTION.is_match(around)
}
