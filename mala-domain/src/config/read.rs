//! From text to `Config`, and from the YAML reader's complaints to ours.

use super::locate::Outline;
use super::problem::{ConfigError, Place};
use super::schema::Config;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_saphyr::Error;

/// A configuration file is small; a larger one is a mistake or an attack.
const MAX_BYTES: usize = 1024 * 1024;
const MAX_DEPTH: usize = 32;
const MAX_NODES: usize = 50_000;

pub(super) fn read(file: &str, text: &str) -> Result<Config, Box<ConfigError>> {
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes, and {MAX_BYTES} is the limit", text.len());
        return Err(Box::new(ConfigError::new(file, Place::start(), &message)));
    }
    match yaml::<Config>(text) {
        Ok(config) => Ok(config.unwrap_or_default()),
        // What is no YAML at all is said first: a key cannot be wrong before its brackets are closed.
        Err(error) => match yaml::<IgnoredAny>(text) {
            Err(broken) => Err(Box::new(explain(file, text, &broken))),
            Ok(_) => Err(Box::new(explain(file, text, &error))),
        },
    }
}

/// The text of a file; the first byte that is none is shown.
pub(super) fn text<'b>(file: &str, bytes: &'b [u8]) -> Result<&'b str, Box<ConfigError>> {
    std::str::from_utf8(bytes).map_err(|error| {
        let (valid, rest) = bytes.split_at(error.valid_up_to());
        let above = String::from_utf8_lossy(valid);
        let line = above.matches('\n').count() + 1;
        let column = above.chars().rev().take_while(|c| *c != '\n').count() + 1;
        let place = Place { line, column, bytes: valid.len()..valid.len() + 1 };
        let whole = above.into_owned() + &String::from_utf8_lossy(rest);
        Box::new(
            ConfigError::new(file, place, "this byte is no UTF-8")
                .hint(Some("save the file as UTF-8"))
                .frame(&whole, "here"),
        )
    })
}

/// One YAML document, or `None` when the text has nothing but comments.
pub(super) fn yaml<'t, T: Deserialize<'t>>(text: &'t str) -> Result<Option<T>, Box<Error>> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_depth: MAX_DEPTH, max_nodes: MAX_NODES },
        emit_comments: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(Box::new)
}

fn explain(file: &str, text: &str, error: &Error) -> ConfigError {
    let outline = Outline::of(text);
    let mut place = error.location().map_or_else(Place::start, |at| outline.place(at));
    if place.line > text.lines().count() {
        place = end_of(text);
    }
    let block = outline.block_around(&place);
    let error = error.without_snippet();
    if let Error::SerdeUnknownVariant { .. } = error
        && let Some(value) = outline.value_of_key_at(&place)
    {
        place = value;
    }
    let said = say(error, &block);
    ConfigError::new(file, place, &said.message).hint(said.hint.as_deref()).frame(text, said.label)
}

/// The end of the last line: where a text ends too early.
fn end_of(text: &str) -> Place {
    let line = text.lines().last().unwrap_or_default();
    let end = text.trim_end_matches(['\n', '\r']).len();
    let (line, column) = (text.lines().count().max(1), line.chars().count() + 1);
    Place { line, column, bytes: end..end }
}

struct Said {
    message: String,
    label: &'static str,
    hint: Option<String>,
}

fn say(error: &Error, block: &[String]) -> Said {
    match error {
        Error::SerdeUnknownField { field, expected, .. } => {
            let block = match block.join(".") {
                path if path.is_empty() => String::new(),
                path => format!(" in `{path}`"),
            };
            Said {
                message: format!("unknown key `{field}`{block}"),
                label: "no such key",
                hint: Some(nearest(field, expected, "key")),
            }
        }
        Error::SerdeUnknownVariant { variant, expected, .. } => Said {
            message: format!("`{variant}` is not a valid value"),
            label: "not a valid value",
            hint: Some(nearest(variant, expected, "value")),
        },
        Error::DuplicateMappingKey { key, .. } => Said {
            message: match key {
                Some(key) => format!("the key `{key}` is there twice"),
                None => "a key is there twice".to_owned(),
            },
            label: "the second one",
            hint: Some("keep one of them".to_owned()),
        },
        Error::SerdeMissingField { field, .. } => Said {
            message: format!("the key `{field}` is missing"),
            label: "in this entry",
            hint: None,
        },
        other => {
            let message = plain_message(other);
            let hint = way_out(&message).map(str::to_owned);
            Said { message, label: "here", hint }
        }
    }
}

/// What to do about a text that is no YAML.
fn way_out(message: &str) -> Option<&'static str> {
    const WAYS: &[(&str, &str)] = &[
        ("unclosed bracket '['", "close it with `]`, or write the entries below it as `- entry`"),
        ("unclosed bracket '{'", "close it with `}`, or write the keys below it, indented"),
        ("a block with keys", "write the keys below it, indented, as `key: value`"),
        ("a list is expected", "write `[a, b]`, or the entries below it as `- entry`"),
        ("tab", "indent with spaces"),
        ("quoted scalar", "close the quote on the line where it starts"),
        ("belongs to no block", "indent the keys of one block alike, each with a `:`"),
        ("mapping values", "quote a value that holds `: `, or indent the keys of a block alike"),
        ("simple key", "write `key: value`, with a space after the `:`"),
        ("found character that cannot start", "quote the value"),
    ];
    WAYS.iter().find(|(sign, _)| message.contains(sign)).map(|(_, way)| *way)
}

/// The reader's own words, without the place, which we show ourselves, and without its jargon.
fn plain_message(error: &Error) -> String {
    let mut text = error.to_string();
    if let Some(at) = text.rfind(" at line ") {
        text.truncate(at);
    }
    let text = text.lines().next().unwrap_or("not valid YAML");
    match text {
        "while parsing a block mapping, did not find expected key" => {
            "this line belongs to no block: it is indented unlike the keys above it"
        }
        "tabs disallowed within this context (block indentation)" => "a tab where spaces belong",
        "expected mapping start" => "a block with keys is expected here",
        "expected sequence start" => "a list is expected here",
        "expected string scalar" | "expected scalar" => "a single value is expected here",
        "invalid i64" | "invalid u32" => "a whole number is expected here",
        "invalid bool" | "invalid boolean" => "`true` or `false` is expected here",
        other => other,
    }
    .to_owned()
}

/// The valid word that a person most likely meant, or all of them.
pub(crate) fn nearest(word: &str, valid: &[&str], what: &str) -> String {
    match valid {
        [] => format!("no {what} is valid here"),
        valid => nearest_or(word, valid, &format!("valid {what}s: {}", valid.join(", "))),
    }
}

/// The valid word that a person most likely meant, or what to say when there is none.
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
