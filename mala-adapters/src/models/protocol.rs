//! A wire protocol: how a request is written and how its response is read. Both are pure.

use super::endpoint::{Endpoint, Secret};
use super::error::RequestError;
use super::optional_parts::{AllowedParts, OptionalPart};
use mala_domain::conversation::{AssistantTurn, ChatRequest, FinishReason, TokenCounts};
use serde_json::Value;

/// A wire protocol.
pub(crate) trait Protocol: Send + Sync {
    /// The URL of a call.
    fn url(&self, endpoint: &Endpoint, ask: &ChatRequest) -> String;

    /// The name and value of the header that carries the key.
    fn key_header(&self, key: &Secret) -> (&'static str, String);

    /// Headers of every request.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The optional parts that a request can have.
    fn optional(&self, ask: &ChatRequest) -> Vec<OptionalPart>;

    /// The body of a request.
    fn body(&self, ask: &ChatRequest, allowed: AllowedParts) -> Value;

    /// Reads one response.
    fn response_reader(&self) -> Box<dyn ResponseReader + Send>;
}

/// Assembles one response from its events.
pub(crate) trait ResponseReader {
    /// Reads the JSON of one event. An error ends the response.
    fn read_event(&mut self, event: Value) -> Result<(), RequestError>;

    /// Reads a response that was not streamed.
    fn read_whole(&mut self, body: Value) -> Result<(), RequestError> {
        self.read_event(body)
    }

    /// Reads the end marker of a stream, which is not JSON.
    fn read_done(&mut self) {}

    /// The response, if it is complete.
    fn finish(self: Box<Self>) -> Result<ModelResponse, RequestError>;
}

/// A complete response.
#[derive(Debug)]
pub(crate) struct ModelResponse {
    pub(crate) said: AssistantTurn,
    pub(crate) stop: FinishReason,
    pub(crate) tokens: TokenCounts,
    pub(crate) model: String,
}

impl ModelResponse {
    /// Makes the stop reason match the content: a response with tool calls waits for them.
    pub(crate) fn settle(mut self) -> Result<Self, RequestError> {
        match self.stop {
            FinishReason::Complete if !self.said.calls.is_empty() => {
                self.stop = FinishReason::Tools
            }
            FinishReason::Tools if self.said.calls.is_empty() => {
                return Err(RequestError::malformed(
                    "the model waits for tool results but called no tool",
                ));
            }
            _ => {}
        }
        Ok(self)
    }
}

/// A turn in this protocol's own format, marked with the protocol.
pub(crate) fn verbatim(protocol: &str, content: Value) -> Value {
    serde_json::json!({"protocol": protocol, "content": content})
}

/// Marks a turn with its model: another model rejects signed reasoning.
pub(crate) fn with_model(mut verbatim: Value, model: &str) -> Value {
    if let Some(marks) = verbatim.as_object_mut() {
        marks.insert("model".to_owned(), Value::String(model.to_owned()));
    }
    verbatim
}

/// The content of a turn that this protocol and this model produced. A turn of another model is
/// rebuilt from its text and calls.
pub(crate) fn own_content<'a>(
    protocol: &str,
    model: &str,
    said: &'a AssistantTurn,
) -> Option<&'a Value> {
    let is = |mark: &str, name: &str| said.verbatim.get(mark).and_then(Value::as_str) == Some(name);
    (is("protocol", protocol) && is("model", model)).then(|| said.verbatim.get("content")).flatten()
}

#[cfg(test)]
mod tests;

// JSON from a provider: a field that is missing or has another type counts as absent.

/// The text at this path, or an empty one.
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// The unsigned integer at this path.
pub(crate) fn number(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer).and_then(Value::as_u64)
}

/// The list at this path, or an empty one.
pub(crate) fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Appends text to a text field. Creates the field if it is missing.
pub(crate) fn append(value: &mut Value, field: &str, more: &str) {
    if let Some(object) = value.as_object_mut() {
        match object.get_mut(field) {
            Some(Value::String(known)) => known.push_str(more),
            _ => {
                object.insert(field.to_owned(), Value::String(more.to_owned()));
            }
        }
    }
}

/// Appends an item to a list field. Creates the field if it is missing.
pub(crate) fn push(value: &mut Value, field: &str, item: Value) {
    if let Some(object) = value.as_object_mut() {
        match object.get_mut(field) {
            Some(Value::Array(known)) => known.push(item),
            _ => {
                object.insert(field.to_owned(), Value::Array(vec![item]));
            }
        }
    }
}
