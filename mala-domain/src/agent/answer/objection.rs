//! Whether an answer objects to a change, though it may not be one that can be read.

use super::Words;
use super::ladder::{self, Object};
use regex::Regex;
use std::sync::LazyLock;

/// An objection in words or in JSON that cannot be read.
#[expect(clippy::expect_used, reason = "a constant pattern, compiled by every test")]
static OBJECTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i)\bverdict\b["'*`]*\s*[:=]?\s*["'*`]*(?:FAIL|NEEDS_WORK)\b|\[P[01]\]"#)
        .expect("the pattern is valid")
});

/// Whether these words hold an objection: a verdict other than PASS, or findings. One that is gone from
/// the next answer was not taken back: nobody said why.
pub fn objects(words: &Words<'_>) -> bool {
    match ladder::find(words, &["verdict", "findings"]) {
        Ok((object, _)) => is_objection(&object),
        Err(_) => {
            OBJECTION.is_match(words.text)
                || ladder::objects_in(words.text).any(|object| is_objection(&object))
        }
    }
}

fn is_objection(object: &Object) -> bool {
    let verdict = object.get("verdict").and_then(|verdict| verdict.as_str()).unwrap_or_default();
    let findings = object.get("findings").and_then(|findings| findings.as_array());
    ["FAIL", "NEEDS_WORK"].iter().any(|word| verdict.eq_ignore_ascii_case(word))
        || findings.is_some_and(|findings| !findings.is_empty())
}
