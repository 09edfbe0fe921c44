//! Parses the output of a coder: the id of its session, its final message, its cost, and lines to
//! show.

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The longest line that is shown, in characters.
const MAX_SHOWN: usize = 200;

/// The longest message that is kept, in bytes.
const MAX_MESSAGE: usize = 64 << 10;

/// Where to find values in output with one JSON object per line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CoderOutput {
    /// The id of the session.
    pub session: Option<LinePlace>,
    /// The final message: the last line that fits.
    pub message: LinePlace,
    /// Whether the message is all lines that fit since another kind of line.
    pub joins: bool,
    /// The error messages of a session.
    pub failures: Vec<LinePlace>,
    /// A JSON pointer to the dollars that this part of the session cost.
    pub cost: Option<String>,
    /// JSON pointers to texts to show.
    pub shown: Vec<String>,
}

/// A value in lines of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinePlace {
    /// Conditions on a line: JSON pointers and the values that they must have.
    #[serde(rename = "where")]
    pub when: BTreeMap<String, String>,
    /// JSON pointers to the value; the first one with a value is used.
    pub at: Vec<String>,
}

impl LinePlace {
    fn fits(&self, line: &Value) -> bool {
        self.when.iter().all(|(pointer, word)| match line.pointer(pointer) {
            Some(Value::String(text)) => text == word,
            Some(Value::Bool(value)) => word == if *value { "true" } else { "false" },
            _ => false,
        })
    }

    fn find(&self, line: &Value) -> Option<String> {
        if self.fits(line) { first_text(&self.at, line) } else { None }
    }
}

/// Reads the output of a coder, line by line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CoderReader {
    /// The id of the session.
    pub session: Option<String>,
    /// The final message so far.
    pub message: String,
    /// The cost of this part of the session.
    pub cost_usd: Option<f64>,
    /// The error message.
    pub failure: Option<String>,
    /// Whether the last line was a part of the message.
    is_joining: bool,
}

impl CoderReader {
    /// Reads a line. Returns the text to show, if any.
    pub fn read(&mut self, output: Option<&CoderOutput>, line: &str) -> Option<String> {
        let Some(output) = output else {
            self.add_text(line);
            return (!line.trim().is_empty()).then(|| line.to_owned());
        };
        let Ok(value) = serde_json::from_str::<Value>(line) else { return None };
        if !value.is_object() {
            return None;
        }
        if let Some(session) = output.session.as_ref().and_then(|place| place.find(&value)) {
            self.session.get_or_insert(session);
        }
        if let Some(cost) = output.cost.as_ref().and_then(|at| value.pointer(at)?.as_f64())
            && cost.is_finite()
            && cost >= 0.0
        {
            self.cost_usd = Some(cost);
        }
        let failure = output.failures.iter().find_map(|place| place.find(&value));
        self.failure = failure.or(self.failure.take());
        match output.message.find(&value) {
            Some(text) if output.joins && self.is_joining => self.message.push_str(&text),
            Some(text) => self.message = text,
            None => {}
        }
        self.is_joining = output.message.fits(&value);
        limit_from_start(&mut self.message);
        first_text(&output.shown, &value)
    }

    /// Plain text: the message is the end of all that is printed.
    fn add_text(&mut self, line: &str) {
        self.message.push_str(line);
        self.message.push('\n');
        limit_from_start(&mut self.message);
    }
}

/// Keeps the end of a message that is too long.
fn limit_from_start(message: &mut String) {
    if message.len() > 2 * MAX_MESSAGE {
        let start = message.ceil_char_boundary(message.len() - MAX_MESSAGE);
        message.drain(..start);
    }
}

fn first_text(pointers: &[String], value: &Value) -> Option<String> {
    pointers.iter().find_map(|pointer| match value.pointer(pointer)? {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        _ => None,
    })
}

/// The first line of a text, without secrets and without terminal control characters.
pub fn shown_line(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line: String = line.chars().filter(|c| !c.is_control()).take(MAX_SHOWN).collect();
    (!line.is_empty()).then(|| crate::secrets::redact(&line).into_owned())
}
