//! Finds the JSON object in an answer. Tries the most reliable form first: schema enforced by the
//! provider, the whole text, a known envelope, and last an object in other text that has the nonce.

use super::unique::{self, UniqueKeys};
use super::{ParseProblem, RawAnswer};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::ops::Range;

/// How an answer was parsed.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ParseMethod {
    /// The provider enforced the schema.
    Schema,
    /// The whole answer is the object.
    Strict,
    /// The object was in an envelope, a code fence, or other text with the nonce.
    Envelope,
    /// Another model call restructured it.
    Restructured,
}

/// Longer answers are rejected.
const MAX_BYTES: usize = 1 << 20;
const MAX_DEPTH: usize = 4;
/// The maximum number of `{` to try in other text.
const MAX_STARTS: usize = 2_000;
/// Keys under which programs wrap an answer.
const ENVELOPES: [&str; 2] = ["output", "result"];
/// Keys under which programs put the text of an answer.
const TEXTS: [&str; 6] = ["answer", "content", "message", "response", "review", "text"];

/// A JSON object.
pub type JsonObject = Map<String, Value>;

/// Finds the object that has one of these keys, and says how it was found.
pub fn find(raw: &RawAnswer<'_>, keys: &[&str]) -> Result<(JsonObject, ParseMethod), ParseProblem> {
    let text = raw.text.trim();
    if text.len() > MAX_BYTES {
        return Err(ParseProblem::InvalidJson(format!("{} bytes", text.len())));
    }
    let (object, method) = match unique::parse(text) {
        Ok(value) => from_whole_text(value, raw, keys)?,
        Err(error) => (find_in_text(text, raw, keys, &error)?, ParseMethod::Envelope),
    };
    check_nonce(&object, raw)?;
    Ok((object, method))
}

/// Escapes control characters in strings if that alone makes the text one JSON object: some models
/// write tabs and line breaks into strings as they are.
pub fn with_escaped_controls(text: &str) -> Cow<'_, str> {
    let whole = text.trim();
    let is_candidate = whole.starts_with('{') && whole.len() <= MAX_BYTES;
    if !is_candidate || unique::parse(whole).is_ok() {
        return Cow::Borrowed(text);
    }
    let escaped = escape_controls(whole);
    if unique::parse(&escaped).is_ok() { Cow::Owned(escaped) } else { Cow::Borrowed(text) }
}

fn escape_controls(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 64);
    let (mut is_in_string, mut is_after_backslash) = (false, false);
    for c in text.chars() {
        if is_in_string && c.is_ascii_control() {
            escaped.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            escaped.push(c);
        }
        is_in_string ^= c == '"' && !is_after_backslash;
        is_after_backslash = is_in_string && c == '\\' && !is_after_backslash;
    }
    escaped
}

fn from_whole_text(
    value: Value,
    raw: &RawAnswer<'_>,
    keys: &[&str],
) -> Result<(JsonObject, ParseMethod), ParseProblem> {
    match value {
        Value::Object(object) if has_key(&object, keys) => {
            Ok((object, if raw.form_enforced { ParseMethod::Schema } else { ParseMethod::Strict }))
        }
        other => match unwrap_envelope(other, raw, keys, MAX_DEPTH) {
            Some(object) => Ok((object, ParseMethod::Envelope)),
            None => Err(missing_first_key(keys)),
        },
    }
}

/// Unwraps the object from known envelopes: under `output` or `result`, as JSON in a string, or as
/// the only entry of an object. Under an unknown key it must carry the nonce, because it could be
/// anything, for example a bad example.
fn unwrap_envelope(
    value: Value,
    raw: &RawAnswer<'_>,
    keys: &[&str],
    depth: usize,
) -> Option<JsonObject> {
    let depth = depth.checked_sub(1)?;
    match value {
        Value::Object(object) if has_key(&object, keys) => Some(object),
        Value::Object(mut object) => {
            if let Some(named) = ENVELOPES.iter().find_map(|key| object.remove(*key)) {
                return unwrap_envelope(named, raw, keys, depth);
            }
            let only = (object.len() == 1).then(|| object.into_iter().next()).flatten();
            let (key, value) = only?;
            let is_text = TEXTS.contains(&key.as_str()) && value.is_string();
            let inner = unwrap_envelope(value, raw, keys, depth)?;
            (is_text || nonce_of(&inner) == Some(raw.nonce.as_str())).then_some(inner)
        }
        Value::String(text) => {
            let text = text.trim();
            let inner = in_code_fence(text).unwrap_or(text);
            unwrap_envelope(unique::parse(inner).ok()?, raw, keys, depth)
        }
        _ => None,
    }
}

/// Finds the object in text that is not JSON as a whole: inside a code fence around all of it, or
/// as an object with the nonce.
fn find_in_text(
    text: &str,
    raw: &RawAnswer<'_>,
    keys: &[&str],
    error: &serde_json::Error,
) -> Result<JsonObject, ParseProblem> {
    if let Some(inner) = in_code_fence(text) {
        let value = unique::parse(inner).map_err(invalid)?;
        return unwrap_envelope(value, raw, keys, MAX_DEPTH).ok_or_else(|| missing_first_key(keys));
    }
    let last = json_objects_in(text).last().filter(|object| has_key(object, keys));
    match last {
        Some(object) if nonce_of(&object) == Some(raw.nonce.as_str()) => Ok(object),
        Some(_) => {
            Err(ParseProblem::InvalidJson("text around JSON that lacks the nonce".to_owned()))
        }
        None => Err(invalid_ref(error)),
    }
}

/// The text inside a code fence that is the whole answer.
fn in_code_fence(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("```")?.strip_suffix("```")?;
    let (language, body) = inner.split_once('\n')?;
    let is_name = language.trim().chars().all(|c| c.is_ascii_alphanumeric());
    (is_name && !body.contains("\n```")).then_some(body)
}

/// Refuses a text with answers that carry the nonce and differ under one of these keys.
pub(super) fn require_agreement(raw: &RawAnswer<'_>, keys: &[&str]) -> Result<(), ParseProblem> {
    match keys.iter().all(|key| have_same_value(raw, key)) {
        true => Ok(()),
        false => Err(ParseProblem::InvalidJson("answers that contradict each other".to_owned())),
    }
}

/// Whether all answers in a text that carry the nonce have the same value for this key. Contradicting
/// verdicts are ambiguous, so none of them counts.
pub(crate) fn have_same_value(raw: &RawAnswer<'_>, key: &str) -> bool {
    values_with_nonce(raw, key).windows(2).all(|two| two.first() == two.last())
}

/// The values of this key in all objects that carry the nonce, in order, including nested objects
/// and objects in strings.
pub(crate) fn values_with_nonce(raw: &RawAnswer<'_>, key: &str) -> Vec<Value> {
    let mut found = Vec::new();
    for object in json_objects_in(raw.text) {
        collect(&Value::Object(object), raw, key, MAX_DEPTH, &mut found);
    }
    found
}

fn collect(value: &Value, raw: &RawAnswer<'_>, key: &str, depth: usize, found: &mut Vec<Value>) {
    match value {
        Value::Object(object) => {
            if nonce_of(object) == Some(raw.nonce.as_str()) {
                found.extend(object.get(key).cloned());
            }
            object.values().for_each(|inner| collect(inner, raw, key, depth, found));
        }
        Value::Array(values) => {
            values.iter().for_each(|inner| collect(inner, raw, key, depth, found));
        }
        Value::String(text) if depth > 0 && text.contains(raw.nonce.as_str()) => {
            for object in json_objects_in(text) {
                collect(&Value::Object(object), raw, key, depth - 1, found);
            }
        }
        _ => {}
    }
}

/// The text around the objects; `None` if the text has too many objects to scan.
pub(crate) fn text_around_objects(text: &str) -> Option<String> {
    let mut objects = JsonObjectScanner::of(text);
    let mut around = String::new();
    let mut at = 0;
    for (place, _) in objects.by_ref() {
        around.push_str(text.get(at..place.start).unwrap_or_default());
        around.push(' ');
        at = place.end;
    }
    let rest = text.get(at..).unwrap_or_default();
    around.push_str(rest);
    (!objects.is_cut()).then_some(around)
}

/// The top-level JSON objects in a text, in order.
pub(super) fn json_objects_in(text: &str) -> impl Iterator<Item = JsonObject> {
    JsonObjectScanner::of(text).map(|(_, object)| object)
}

/// Looks for the objects in a text.
struct JsonObjectScanner<'t> {
    text: &'t str,
    at: usize,
    starts: usize,
}

impl<'t> JsonObjectScanner<'t> {
    fn of(text: &'t str) -> Self {
        Self { text, at: 0, starts: 0 }
    }

    /// Whether scanning stopped before the end of the text.
    fn is_cut(&self) -> bool {
        self.starts >= MAX_STARTS && self.text.get(self.at..).is_some_and(|it| it.contains('{'))
    }
}

impl Iterator for JsonObjectScanner<'_> {
    type Item = (Range<usize>, JsonObject);

    fn next(&mut self) -> Option<Self::Item> {
        while self.starts < MAX_STARTS {
            self.starts += 1;
            let start = self.at + self.text.get(self.at..)?.find('{')?;
            let mut reader = serde_json::Deserializer::from_str(self.text.get(start..)?)
                .into_iter::<UniqueKeys>();
            match reader.next() {
                Some(Ok(UniqueKeys(Value::Object(object)))) => {
                    self.at = start + reader.byte_offset().max(1);
                    return Some((start..self.at, object));
                }
                _ => self.at = start + 1,
            }
        }
        None
    }
}

/// Checks the nonce of an answer. A missing nonce is allowed here; a wrong one is an error.
fn check_nonce(object: &JsonObject, raw: &RawAnswer<'_>) -> Result<(), ParseProblem> {
    match object.get("nonce") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::String(nonce)) if nonce.is_empty() || nonce == raw.nonce.as_str() => Ok(()),
        Some(_) => Err(ParseProblem::InvalidFormat),
    }
}

fn nonce_of(object: &JsonObject) -> Option<&str> {
    object.get("nonce")?.as_str()
}

fn has_key(object: &JsonObject, keys: &[&str]) -> bool {
    keys.iter().any(|key| object.contains_key(*key))
}

fn missing_first_key(keys: &[&str]) -> ParseProblem {
    ParseProblem::MissingField(keys.first().copied().unwrap_or_default().to_owned())
}

fn invalid(error: serde_json::Error) -> ParseProblem {
    invalid_ref(&error)
}

fn invalid_ref(error: &serde_json::Error) -> ParseProblem {
    ParseProblem::InvalidJson(error.to_string())
}
