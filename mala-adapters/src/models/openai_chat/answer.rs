//! An answer as Chat Completions streams it: pieces of one message. Fields that are not known here
//! are put together in the same way and sent back, since some servers keep signatures in them.

use super::NAME;
use crate::models::fault::{Fault, ProviderError, shortened};
use crate::models::fields::{append, list, number, text};
use crate::models::protocol::{Heard, Listener, verbatim};
use mala_domain::conversation::{Said, Stop, Tokens, ToolCall};
use serde_json::{Map, Value, json};

/// The most calls of an answer.
const MAX_CALLS: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Answer {
    model: String,
    /// The message so far, without its calls.
    message: Map<String, Value>,
    calls: Vec<(Option<u64>, Value)>,
    finish: Option<String>,
    is_done: bool,
    tokens: Tokens,
}

impl Listener for Answer {
    fn hear(&mut self, event: Value) -> Result<(), Fault> {
        if event.get("error").is_some_and(|error| !error.is_null()) {
            return Err(ProviderError::of(&event).unwrap_or_default().fault());
        }
        if !text(&event, "/model").is_empty() {
            self.model = text(&event, "/model").to_owned();
        }
        if let Some(usage) = event.get("usage").filter(|usage| usage.is_object()) {
            self.tokens = tokens(usage);
        }
        let Some(choice) = list(&event, "/choices").first() else { return Ok(()) };
        let piece = choice.get("delta").or_else(|| choice.get("message"));
        if let Some(Value::Object(piece)) = piece {
            self.grow(piece)?;
        }
        if let Some(finish) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish = Some(finish.to_owned());
        }
        Ok(())
    }

    fn hear_whole(&mut self, body: Value) -> Result<(), Fault> {
        if body.get("choices").is_none() && ProviderError::of(&body).is_none() {
            return Err(Fault::malformed("JSON that is no completion"));
        }
        self.hear(body)
    }

    fn hear_done(&mut self) {
        self.is_done = true;
    }

    fn answer(mut self: Box<Self>) -> Result<Heard, Fault> {
        let spoken = self.field("content").to_owned();
        let refusal = self.field("refusal").to_owned();
        let calls: Vec<ToolCall> = self.named_calls();
        let stop = match self.finish.as_deref() {
            Some(reason) => stop(reason)?,
            // The stream's own end marker is as good as a reason, if there is something to end.
            None if self.is_done && !(spoken.is_empty() && calls.is_empty()) => Stop::Complete,
            None => {
                return Err(Fault::cut("the answer ended before the model said that it is done"));
            }
        };
        let stop = match refusal.is_empty() {
            true => stop,
            false => Stop::Refused(shortened(&refusal)),
        };
        let verbatim = verbatim(NAME, self.replayed());
        let said = Said { text: spoken, calls, verbatim };
        Heard { said, stop, tokens: self.tokens, model: self.model }.settle()
    }
}

impl Answer {
    fn grow(&mut self, piece: &Map<String, Value>) -> Result<(), Fault> {
        for (field, value) in piece {
            match (field.as_str(), value) {
                ("role", _) | (_, Value::Null) => {}
                ("tool_calls", Value::Array(calls)) => {
                    for call in calls {
                        self.grow_call(call)?;
                    }
                }
                (_, value) => merge(&mut self.message, field, value),
            }
        }
        Ok(())
    }

    /// A piece belongs to the call of its index; without one, an id starts a call and all else
    /// belongs to the last one.
    fn grow_call(&mut self, piece: &Value) -> Result<(), Fault> {
        let index = number(piece, "/index");
        let id = text(piece, "/id");
        let known = self.calls.iter().position(|(known, call)| match index {
            Some(_) => *known == index,
            None => !id.is_empty() && text(call, "/id") == id,
        });
        let place = match known {
            Some(place) => place,
            None if index.is_none() && id.is_empty() && !self.calls.is_empty() => {
                self.calls.len() - 1
            }
            None if self.calls.len() >= MAX_CALLS => {
                return Err(Fault::malformed("an answer of too many calls"));
            }
            None => {
                self.calls.push((index, json!({"type": "function", "function": {}})));
                self.calls.len() - 1
            }
        };
        let Some((_, call)) = self.calls.get_mut(place) else { return Ok(()) };
        let function = &mut call["function"];
        append(function, "name", text(piece, "/function/name"));
        append(function, "arguments", &arguments(piece));
        let others = piece.as_object().into_iter().flatten();
        let others = others.filter(|(field, _)| !matches!(field.as_str(), "index" | "function"));
        for (field, value) in others.filter(|(_, value)| !value.is_null()) {
            call[field] = value.clone();
        }
        Ok(())
    }

    /// The calls, each with an id: some servers give none.
    fn named_calls(&mut self) -> Vec<ToolCall> {
        let calls = self.calls.iter_mut().enumerate().map(|(number, (_, call))| {
            if text(call, "/id").is_empty() {
                call["id"] = json!(format!("call_{number}"));
            }
            ToolCall {
                id: text(call, "/id").to_owned(),
                name: text(call, "/function/name").to_owned(),
                arguments: text(call, "/function/arguments").to_owned(),
            }
        });
        calls.collect()
    }

    fn replayed(&mut self) -> Value {
        let mut message = std::mem::take(&mut self.message);
        message.insert("role".to_owned(), json!("assistant"));
        message.entry("content").or_insert(Value::Null);
        if !self.calls.is_empty() {
            let calls = std::mem::take(&mut self.calls);
            message.insert("tool_calls".to_owned(), calls.into_iter().map(|(_, c)| c).collect());
        }
        Value::Object(message)
    }

    fn field(&self, name: &str) -> &str {
        self.message.get(name).and_then(Value::as_str).unwrap_or_default()
    }
}

/// Arguments are text; some servers send them as JSON.
fn arguments(piece: &Value) -> String {
    match piece.pointer("/function/arguments") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(json) => json.to_string(),
    }
}

fn merge(message: &mut Map<String, Value>, field: &str, value: &Value) {
    match (message.get_mut(field), value) {
        (Some(Value::String(known)), Value::String(more)) => known.push_str(more),
        (Some(Value::Array(known)), Value::Array(more)) => known.extend(more.iter().cloned()),
        _ => {
            message.insert(field.to_owned(), value.clone());
        }
    }
}

fn stop(reason: &str) -> Result<Stop, Fault> {
    match reason.to_ascii_lowercase().as_str() {
        "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" => Ok(Stop::Complete),
        "tool_calls" | "function_call" | "tool_use" => Ok(Stop::Tools),
        "length" | "max_tokens" => Ok(Stop::MaxTokens),
        "content_filter" => Ok(Stop::Filtered("content_filter".to_owned())),
        "refusal" => Ok(Stop::Refused(String::new())),
        // OpenRouter's word for a failure of the provider behind it.
        "error" => Err(Fault::half_way(
            mala_domain::ports::ModelFailureKind::ProviderFailed,
            "the provider failed half way",
        )),
        other => {
            let what = format!("the model stopped for an unknown reason: {}", shortened(other));
            Err(Fault::malformed(what))
        }
    }
}

fn tokens(usage: &Value) -> Tokens {
    Tokens {
        input: number(usage, "/prompt_tokens"),
        output: number(usage, "/completion_tokens"),
        cache_read: number(usage, "/prompt_tokens_details/cached_tokens")
            .or_else(|| number(usage, "/prompt_cache_hit_tokens")),
        cache_write: number(usage, "/prompt_tokens_details/cache_write_tokens"),
    }
}
