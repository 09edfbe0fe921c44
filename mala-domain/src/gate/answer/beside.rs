//! What a lane says beside its answer. Nothing that it objects to is lost, wherever it stands: a second
//! answer, one inside of another object, or one that cannot be read.

use super::Binding;
use crate::agent::answer::{
    JsonObject, RawAnswer, have_same_value, text_around_objects, values_with_nonce,
};
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

/// A nonce as a broken answer has it.
#[expect(clippy::expect_used, reason = "a constant pattern, compiled by every test")]
static NONCE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#""nonce\\*"\s*:\s*\\*"([0-9a-f]{32})"#).expect("the pattern is valid")
});

/// An objection as a broken answer has it.
#[expect(clippy::expect_used, reason = "a constant pattern, compiled by every test")]
static OBJECTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#""verdict\\*"\s*:\s*\\*"(?:FAIL|NEEDS_WORK)\b"#).expect("the pattern is valid")
});

/// Whether nothing else in these words says something else than this answer: all that is bound to the
/// session has its verdict and no finding that it lacks, and what cannot be read objects to nothing that
/// it passes. A text that is too long to look at as a whole may say anything.
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

/// Whether a text that may be no answer objects to the change, in the name of this session.
pub fn objects(text: &str, binding: &Binding) -> bool {
    let words = RawAnswer { text, form_enforced: false, nonce: &binding.nonce };
    let is_objection = |verdict: &Value| verdict.as_str() != Some("PASS");
    let is_finding = |findings: &Value| findings.as_array().is_none_or(|it| !it.is_empty());
    values_with_nonce(&words, "verdict").iter().any(is_objection)
        || values_with_nonce(&words, "findings").iter().any(is_finding)
        || text_around_objects(text).is_some_and(|around| is_broken_objection(&words, &around))
}

/// Whether a text that may be no answer says something of the claims to check, in the name of this session.
pub fn speaks_of_claims(text: &str, binding: &Binding) -> bool {
    let words = RawAnswer { text, form_enforced: false, nonce: &binding.nonce };
    !values_with_nonce(&words, "checks").is_empty()
}

fn is_broken_objection(words: &RawAnswer<'_>, around: &str) -> bool {
    let mut nonces = NONCE.captures_iter(around).filter_map(|found| found.get(1));
    nonces.any(|nonce| nonce.as_str() == words.nonce.as_str()) && OBJECTION.is_match(around)
}
