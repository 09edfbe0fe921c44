//! Parses YAML into `Config` and rewrites the errors of the YAML parser.

use super::error::{ConfigError, ConfigPosition};
use super::positions::YamlPositions;
use super::schema::Config;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_saphyr::Error;

/// Limits on the file, since configuration files are small.
const MAX_BYTES: usize = 1024 * 1024;
const MAX_DEPTH: usize = 32;
const MAX_NODES: usize = 50_000;

pub(super) fn read(file: &str, text: &str) -> Result<Config, Box<ConfigError>> {
    if text.len() > MAX_BYTES {
        let message = format!("the file is too large: {} bytes, maximum {MAX_BYTES}", text.len());
        return Err(Box::new(ConfigError::new(file, ConfigPosition::start(), &message)));
    }
    match yaml::<Config>(text) {
        Ok(config) => Ok(config.unwrap_or_default()),
        // Report syntax errors first: an unknown key may only be the result of an unclosed bracket.
        Err(error) => match yaml::<IgnoredAny>(text) {
            Err(broken) => Err(Box::new(explain(file, text, &broken))),
            Ok(_) => Err(Box::new(explain(file, text, &error))),
        },
    }
}

/// Decodes a file as UTF-8; the error shows the first invalid byte.
pub(super) fn text<'b>(file: &str, bytes: &'b [u8]) -> Result<&'b str, Box<ConfigError>> {
    std::str::from_utf8(bytes).map_err(|error| {
        let (valid, rest) = bytes.split_at(error.valid_up_to());
        let above = String::from_utf8_lossy(valid);
        let line = above.matches('\n').count() + 1;
        let column = above.chars().rev().take_while(|c| *c != '\n').count() + 1;
        let place = ConfigPosition { line, column, bytes: valid.len()..valid.len() + 1 };
        let whole = above.into_owned() + &String::from_utf8_lossy(rest);
        Box::new(
            ConfigError::new(file, place, "invalid UTF-8")
                .hint(Some("save the file as UTF-8"))
                .frame(&whole, "here"),
        )
    })
}

/// Parses one YAML document; `None` if the text contains only comments.
pub(crate) fn yaml<'t, T: Deserialize<'t>>(text: &'t str) -> Result<Option<T>, Box<Error>> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_depth: MAX_DEPTH, max_nodes: MAX_NODES },
        emit_comments: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(Box::new)
}

fn explain(file: &str, text: &str, error: &Error) -> ConfigError {
    let positions = YamlPositions::of(text);
    let mut place = error.location().map_or_else(ConfigPosition::start, |at| positions.place(at));
    if place.line > text.lines().count() {
        place = end_of(text);
    }
    let block = positions.block_around(&place);
    let error = error.without_snippet();
    if let Error::SerdeUnknownVariant { .. } = error
        && let Some(value) = positions.value_of_key_at(&place)
    {
        place = value;
    }
    let explained = explain_error(error, &block);
    ConfigError::new(file, place, &explained.message)
        .hint(explained.hint.as_deref())
        .frame(text, explained.label)
}

/// The end of the last line.
fn end_of(text: &str) -> ConfigPosition {
    let line = text.lines().last().unwrap_or_default();
    let end = text.trim_end_matches(['\n', '\r']).len();
    let (line, column) = (text.lines().count().max(1), line.chars().count() + 1);
    ConfigPosition { line, column, bytes: end..end }
}

struct ExplainedError {
    message: String,
    label: &'static str,
    hint: Option<String>,
}

fn explain_error(error: &Error, block: &[String]) -> ExplainedError {
    match error {
        Error::SerdeUnknownField { field, expected, .. } => {
            let block = match block.join(".") {
                path if path.is_empty() => String::new(),
                path => format!(" in `{path}`"),
            };
            ExplainedError {
                message: format!("unknown key `{field}`{block}"),
                label: "unknown key",
                hint: Some(nearest(field, expected, "key")),
            }
        }
        Error::SerdeUnknownVariant { variant, expected, .. } => ExplainedError {
            message: format!("invalid value `{variant}`"),
            label: "invalid value",
            hint: Some(nearest(variant, expected, "value")),
        },
        Error::DuplicateMappingKey { key, .. } => ExplainedError {
            message: match key {
                Some(key) => format!("duplicate key `{key}`"),
                None => "duplicate key".to_owned(),
            },
            label: "second occurrence",
            hint: Some("remove one of them".to_owned()),
        },
        Error::SerdeMissingField { field, .. } => ExplainedError {
            message: format!("missing key `{field}`"),
            label: "in this entry",
            hint: None,
        },
        other => {
            let message = plain_message(other);
            let hint = yaml_hint(&message).map(str::to_owned);
            ExplainedError { message, label: "here", hint }
        }
    }
}

/// The fix for a common YAML error.
fn yaml_hint(message: &str) -> Option<&'static str> {
    const HINTS: &[(&str, &str)] = &[
        (
            "unclosed bracket '['",
            "close it with `]`, or write one `- entry` per line below the key",
        ),
        ("unclosed bracket '{'", "close it with `}`, or write the keys indented below"),
        ("expected a block", "write the keys indented below, as `key: value`"),
        ("expected a list", "write `[a, b]`, or one `- entry` per line below the key"),
        ("tab", "indent with spaces"),
        ("quoted scalar", "close the quote on the same line"),
        ("does not match", "indent all keys of a block by the same number of spaces"),
        ("mapping values", "quote a value that contains `: `, or fix the indentation"),
        ("simple key", "write `key: value`, with a space after the `:`"),
        ("found character that cannot start", "quote the value"),
    ];
    HINTS.iter().find(|(sign, _)| message.contains(sign)).map(|(_, way)| *way)
}

/// The message of the YAML parser, without its location and in simpler words.
fn plain_message(error: &Error) -> String {
    let mut text = error.to_string();
    if let Some(at) = text.rfind(" at line ") {
        text.truncate(at);
    }
    let text = text.lines().next().unwrap_or("invalid YAML");
    match text {
        "while parsing a block mapping, did not find expected key" => {
            "the indentation does not match any block above"
        }
        "tabs disallowed within this context (block indentation)" => {
            "tabs are not allowed for indentation"
        }
        "expected mapping start" => "expected a block of keys",
        "expected sequence start" => "expected a list",
        "expected string scalar" | "expected scalar" => "expected a single value",
        other if other.contains("externally tagged enum") => "expected a single value",
        "invalid i64" | "invalid u32" => "expected an integer",
        "invalid bool" | "invalid boolean" => "expected `true` or `false`",
        other => other,
    }
    .to_owned()
}

/// A hint with the most similar valid word, or with all of them.
pub(crate) fn nearest(word: &str, valid: &[&str], what: &str) -> String {
    match valid {
        [] => format!("no {what} is valid here"),
        valid => nearest_or(word, valid, &format!("valid {what}s: {}", valid.join(", "))),
    }
}

/// A hint with the most similar valid word, or `otherwise`.
pub(crate) fn nearest_or(word: &str, valid: &[&str], otherwise: &str) -> String {
    let close = valid
        .iter()
        .map(|candidate| (strsim::normalized_damerau_levenshtein(word, candidate), candidate))
        .filter(|(similarity, _)| *similarity >= 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match close {
        Some((_, candidate)) => format!("did you mean `{candidate}`?"),
        None => otherwise.to_owned(),
    }
}
