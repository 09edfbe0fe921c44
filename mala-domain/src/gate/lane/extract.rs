//! Finds the answer and the usage in the output of a lane.

use super::{AnswerForm, AnswerPlace, Lane};
use crate::review::Usage;
use serde_json::Value;

/// The output of a lane so far.
#[derive(Debug, Clone, Copy, Default)]
pub struct LaneStreams<'s> {
    /// Its stdout.
    pub stdout: &'s str,
    /// The text of the answer file, if it exists.
    pub file: Option<&'s str>,
}

/// The answer in the output of a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LaneOutput {
    /// A text that may be its answer.
    Answer(String),
    /// The lane reports an error.
    Failed(String),
    /// No text that could be an answer.
    Nothing,
}

/// Finds the answer in the output of a lane.
pub fn lane_output(place: &AnswerPlace, stream: LaneStreams<'_>) -> LaneOutput {
    match place.form {
        AnswerForm::Text => text(stream.stdout),
        AnswerForm::File => stream.file.map_or(LaneOutput::Nothing, text),
        AnswerForm::Json => match serde_json::from_str::<Value>(stream.stdout.trim()) {
            Ok(value) => in_value(place, &value).unwrap_or(LaneOutput::Nothing),
            Err(_) => LaneOutput::Nothing,
        },
        AnswerForm::JsonLines => in_lines(place, stream.stdout),
    }
}

fn text(text: &str) -> LaneOutput {
    match text.trim() {
        "" => LaneOutput::Nothing,
        text => LaneOutput::Answer(text.to_owned()),
    }
}

fn in_value(place: &AnswerPlace, value: &Value) -> Option<LaneOutput> {
    let failed = place.failed.as_ref().and_then(|pointer| value.pointer(pointer));
    if failed == Some(&Value::Bool(true)) {
        let why = first(&place.error, value).unwrap_or_else(|| "it says that it failed".to_owned());
        return Some(LaneOutput::Failed(why));
    }
    let fits = place
        .when
        .iter()
        .all(|(pointer, word)| value.pointer(pointer).and_then(Value::as_str) == Some(word));
    let answer = fits.then(|| first(&place.at, value)).flatten();
    answer.map(LaneOutput::Answer).or_else(|| first(&place.error, value).map(LaneOutput::Failed))
}

/// The last line with an answer, or else the last line with an error.
fn in_lines(place: &AnswerPlace, stdout: &str) -> LaneOutput {
    let mut failed = LaneOutput::Nothing;
    for line in stdout.lines().rev() {
        let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
        match in_value(place, &value) {
            Some(LaneOutput::Answer(answer)) => return LaneOutput::Answer(answer),
            Some(said) if failed == LaneOutput::Nothing => failed = said,
            _ => {}
        }
    }
    failed
}

/// The first value that one of the pointers finds: a string as it is, other values as JSON.
fn first(pointers: &[String], value: &Value) -> Option<String> {
    pointers.iter().find_map(|pointer| match value.pointer(pointer)? {
        Value::Null => None,
        Value::String(text) if text.trim().is_empty() => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    })
}

/// The usage that the lane reports; unknown numbers are `None`.
pub fn usage(lane: &Lane, stdout: &str) -> Usage {
    let Some(place) = &lane.settings.usage else { return Usage::default() };
    let values: Vec<Value> = match lane.answer().form {
        AnswerForm::JsonLines => {
            stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
        }
        _ => serde_json::from_str(stdout.trim()).into_iter().collect(),
    };
    let sum = |pointer: &Option<String>| -> Option<f64> {
        let numbers = values.iter().filter_map(|value| total(value, pointer.as_deref()?));
        numbers.reduce(|a, b| a + b)
    };
    let tokens = |pointer: &Option<String>| sum(pointer).map(whole);
    let (input, output) = (tokens(&place.input), tokens(&place.output));
    Usage {
        tokens_used: input.zip(output).map(|(input, output)| input.saturating_add(output)),
        cache_read_tokens: tokens(&place.cached),
        cost_usd: sum(&place.cost),
        ..Usage::default()
    }
}

/// Converts a number of tokens; negative numbers and NaN become 0.
fn whole(number: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "casts of floats saturate, and tokens are far below the limit"
    )]
    {
        number as u64
    }
}

/// The number at a pointer; a `*` sums over all keys.
fn total(value: &Value, pointer: &str) -> Option<f64> {
    let Some(rest) = pointer.strip_prefix('/') else {
        return if pointer.is_empty() { value.as_f64().filter(|it| *it >= 0.0) } else { None };
    };
    let (step, below) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match value {
        Value::Object(fields) if step == "*" => {
            fields.values().filter_map(|field| total(field, below)).reduce(|a, b| a + b)
        }
        Value::Object(fields) => total(fields.get(step)?, below),
        _ => None,
    }
}
/// Texts in the output of a lane, and the limits that they show.
const LIMITS: &[(&[&str], &str)] = &[
    (&["usage limit", "out of credits", "credit balance"], "usage limit"),
    (&["429", "rate limit", "rate_limit", "resource_exhausted", "quota"], "rate limit (429)"),
    (
        &[
            "401",
            "unauthorized",
            "invalid api key",
            "not logged in",
            "unauthenticated",
            "api key not valid",
        ],
        "not signed in (401)",
    ),
    (&["529", "overloaded"], "overloaded (529)"),
];

/// The limit of a provider that the output of a lane shows.
pub fn known_limit(printed: &str) -> Option<&'static str> {
    let printed = printed.to_ascii_lowercase();
    let is_word = |at: usize, sign: &str| {
        let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
        let bytes = printed.as_bytes();
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        let is_number = sign.bytes().all(|byte| byte.is_ascii_digit());
        let is_whole = !is_digit(before) && !is_digit(bytes.get(at + sign.len()));
        is_whole && (!is_number || is_status(printed.get(..at).unwrap_or_default()))
    };
    let has = |sign: &&str| printed.match_indices(*sign).any(|(at, sign)| is_word(at, sign));
    LIMITS.iter().find(|(signs, _)| signs.iter().any(has)).map(|(_, limit)| *limit)
}

/// Whether a number after this text is a status: after punctuation, or after a word such as `HTTP` or `status`.
fn is_status(before: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '/' || c == '.';
    let word = before.trim_end_matches(' ').rsplit(|c| !is_part(c)).next().unwrap_or_default();
    let known = ["http", "status", "code", "error"];
    word.is_empty() || known.iter().any(|it| word.starts_with(it) || word.ends_with(it))
}

/// The error message in the output of a program: from a JSON object, or else the last line of text.
pub fn error_message(printed: &str) -> Option<String> {
    let objects = printed.match_indices('{').map(|(at, _)| at).take(MAX_OBJECTS);
    let message = |at: usize| {
        let text = printed.get(at..)?;
        let object: Value = serde_json::Deserializer::from_str(text).into_iter().next()?.ok()?;
        let found = ["/error/message", "/error", "/message"].iter();
        let found = found.filter_map(|pointer| object.pointer(pointer)?.as_str()).next()?;
        Some(found.to_owned())
    };
    let line = || {
        let lines = printed.lines().rev().map(str::trim);
        let has_words = |line: &&str| line.chars().filter(|c| c.is_alphabetic()).count() >= 3;
        lines.filter(|line| line.len() < 10_000).find(has_words).map(str::to_owned)
    };
    objects.filter_map(message).find(|message| !message.is_empty()).or_else(line)
}

/// How many objects are read in search of an error message.
const MAX_OBJECTS: usize = 50;
