//! An answer as Gemini streams it: responses with some more parts each. Parts are kept as they came,
//! since signatures sit in them.

use super::NAME;
use crate::models::fault::{Fault, ProviderError, shortened};
use crate::models::fields::{number, text};
use crate::models::protocol::{Heard, Listener, verbatim};
use mala_domain::conversation::{Said, Stop, Tokens, ToolCall};
use serde_json::{Value, json};

/// The beginning of ids that are given here, to calls that come without one.
pub(super) const OWN_IDS: &str = "mala-call-";

/// The most parts of an answer.
const MAX_PARTS: usize = 1 << 16;

#[derive(Debug, Default)]
pub(super) struct Answer {
    model: String,
    parts: Vec<Value>,
    finish: Option<String>,
    why: String,
    blocked: Option<String>,
    tokens: Tokens,
}

impl Listener for Answer {
    fn hear(&mut self, mut event: Value) -> Result<(), Fault> {
        if event.get("error").is_some() {
            return Err(ProviderError::of(&event).unwrap_or_default().fault());
        }
        if !text(&event, "/modelVersion").is_empty() {
            self.model = text(&event, "/modelVersion").to_owned();
        }
        if let Some(usage) = event.get("usageMetadata") {
            self.tokens = tokens(usage);
        }
        if let Some(reason) = event.pointer("/promptFeedback/blockReason").and_then(Value::as_str) {
            self.blocked = Some(reason.to_owned());
        }
        let Some(candidate) = event.pointer_mut("/candidates/0") else { return Ok(()) };
        if let Some(reason) = candidate.get("finishReason").and_then(Value::as_str) {
            self.finish = Some(reason.to_owned());
            self.why = text(candidate, "/finishMessage").to_owned();
        }
        if let Some(Value::Array(parts)) = candidate.pointer_mut("/content/parts") {
            if self.parts.len() + parts.len() > MAX_PARTS {
                return Err(Fault::malformed("an answer of too many parts"));
            }
            self.parts.append(parts);
        }
        Ok(())
    }

    /// Without streaming it is a list of the same responses, or one of them.
    fn hear_whole(&mut self, body: Value) -> Result<(), Fault> {
        match body {
            Value::Array(events) => events.into_iter().try_for_each(|event| self.hear(event)),
            event => self.hear(event),
        }
    }

    fn answer(self: Box<Self>) -> Result<Heard, Fault> {
        let stop = match (&self.blocked, &self.finish) {
            (Some(reason), _) => Stop::Filtered(shortened(reason)),
            (None, Some(reason)) => stop(reason, &self.why)?,
            (None, None) => {
                return Err(Fault::cut("the answer ended before the model said that it is done"));
            }
        };
        let spoken = self.parts.iter().filter(|part| part.get("thought") != Some(&json!(true)));
        let said = Said {
            text: spoken.map(|part| text(part, "/text")).collect(),
            calls: calls(&self.parts),
            verbatim: verbatim(NAME, Value::Array(self.parts)),
        };
        Heard { said, stop, tokens: self.tokens, model: self.model }.settle()
    }
}

fn calls(parts: &[Value]) -> Vec<ToolCall> {
    let calls = parts.iter().filter_map(|part| part.get("functionCall")).enumerate();
    let call = |(number, call): (usize, &Value)| ToolCall {
        id: match text(call, "/id") {
            "" => format!("{OWN_IDS}{number}"),
            id => id.to_owned(),
        },
        name: text(call, "/name").to_owned(),
        arguments: call.get("args").unwrap_or(&json!({})).to_string(),
    };
    calls.map(call).collect()
}

fn stop(reason: &str, why: &str) -> Result<Stop, Fault> {
    match reason {
        "STOP" => Ok(Stop::Complete),
        "MAX_TOKENS" => Ok(Stop::MaxTokens),
        "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
        | "IMAGE_SAFETY" => Ok(Stop::Filtered(shortened(&format!("{reason} {why}")))),
        other => {
            let why = shortened(&format!("{other} {why}"));
            Err(Fault::malformed(format!("the model stopped for another reason: {why}")))
        }
    }
}

fn tokens(usage: &Value) -> Tokens {
    let sum = |names: [&str; 2]| {
        let counts: Vec<u64> = names.iter().filter_map(|name| number(usage, name)).collect();
        (!counts.is_empty()).then(|| counts.iter().fold(0, |sum: u64, n| sum.saturating_add(*n)))
    };
    Tokens {
        input: sum(["/promptTokenCount", "/toolUsePromptTokenCount"]),
        output: sum(["/candidatesTokenCount", "/thoughtsTokenCount"]),
        cache_read: number(usage, "/cachedContentTokenCount"),
        cache_write: None,
    }
}
