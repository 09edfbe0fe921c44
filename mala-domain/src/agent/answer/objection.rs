//! Whether an answer objects to a change, though it may not be one that can be read.

use super::Words;
use super::ladder::{self, Object};

/// Whether these words hold an objection: a verdict other than PASS, or findings. One that is gone from
/// the next answer was not taken back: nobody said why.
pub fn objects(words: &Words<'_>) -> bool {
    match ladder::find(words, &["verdict", "findings"]) {
        Ok((object, _)) => is_objection(&object),
        Err(_) => ladder::objects_in(words.text).any(|object| is_objection(&object)),
    }
}

fn is_objection(object: &Object) -> bool {
    let verdict = object.get("verdict").and_then(|verdict| verdict.as_str()).unwrap_or_default();
    let findings = object.get("findings").and_then(|findings| findings.as_array());
    ["FAIL", "NEEDS_WORK"].iter().any(|word| verdict.eq_ignore_ascii_case(word))
        || findings.is_some_and(|findings| !findings.is_empty())
}
