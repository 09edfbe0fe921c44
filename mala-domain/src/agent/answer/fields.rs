//! Reads fields of JSON objects. The error names a missing field; a field with the wrong type is an
//! invalid answer.

use super::ParseProblem;
use super::json_object::JsonObject;
use serde_json::Value;

/// A required field; null counts as missing.
pub(crate) fn required<'o>(object: &'o JsonObject, key: &str) -> Result<&'o Value, ParseProblem> {
    match object.get(key) {
        None | Some(Value::Null) => Err(ParseProblem::MissingField(key.to_owned())),
        Some(value) => Ok(value),
    }
}

pub(crate) fn text<'o>(object: &'o JsonObject, key: &str) -> Result<&'o str, ParseProblem> {
    required(object, key)?.as_str().ok_or(ParseProblem::InvalidFormat)
}

/// An optional field.
pub(crate) fn optional_text<'o>(
    object: &'o JsonObject,
    key: &str,
) -> Result<Option<&'o str>, ParseProblem> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(ParseProblem::InvalidFormat),
    }
}

pub(crate) fn number(object: &JsonObject, key: &str) -> Result<u32, ParseProblem> {
    let number = required(object, key)?.as_u64();
    number.and_then(|number| u32::try_from(number).ok()).ok_or(ParseProblem::InvalidFormat)
}

/// A number of percent. Models also write a fraction of one.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is 0 to 100")]
pub(crate) fn percent(worth: &Value) -> Option<u8> {
    let number = worth.as_f64()?;
    let is_fraction = worth.is_f64() && number <= 1.0;
    let percent = if is_fraction { number * 100.0 } else { number };
    Some(percent.clamp(0.0, 100.0).round() as u8)
}

pub(crate) fn list<'o>(object: &'o JsonObject, key: &str) -> Result<&'o [Value], ParseProblem> {
    required(object, key)?.as_array().map(Vec::as_slice).ok_or(ParseProblem::InvalidFormat)
}

pub(crate) fn object(value: &Value) -> Result<&JsonObject, ParseProblem> {
    value.as_object().ok_or(ParseProblem::InvalidFormat)
}

/// The first complete lines of a text, at most `n_chars` characters, so that every line is still an
/// exact quote. A single longer line is cut.
pub(crate) fn first_lines(text: &str, n_chars: usize) -> String {
    let text = text.trim();
    let Some((at, _)) = text.char_indices().nth(n_chars) else { return text.to_owned() };
    let start = text.get(..at).unwrap_or_default();
    start.rsplit_once('\n').map_or(start, |(lines, _)| lines).to_owned()
}

/// The first `n_chars` characters of a text, with `…` if it is cut.
pub(crate) fn cut(text: &str, n_chars: usize) -> String {
    match text.char_indices().nth(n_chars) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
    }
}
