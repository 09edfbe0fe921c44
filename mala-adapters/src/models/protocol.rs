//! What a wire protocol is: how a question is written and an answer is read. Both are pure.

use super::endpoint::{Endpoint, Secret};
use super::fault::Fault;
use super::optional::{Allowed, Optional};
use mala_domain::conversation::{Ask, Said, Stop, Tokens};
use serde_json::Value;

/// A wire protocol.
pub(crate) trait Protocol: Send + Sync {
    /// The address of a call.
    fn url(&self, endpoint: &Endpoint, ask: &Ask) -> String;

    /// The header that carries the key: its name and value.
    fn key_header(&self, key: &Secret) -> (&'static str, String);

    /// Headers that every request has.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// What of the optional parts this call can have at all.
    fn optional(&self, ask: &Ask) -> Vec<Optional>;

    /// The body of a request.
    fn body(&self, ask: &Ask, allowed: Allowed) -> Value;

    /// A listener for one answer.
    fn listener(&self) -> Box<dyn Listener + Send>;
}

/// Puts one answer together from its events.
pub(crate) trait Listener {
    /// Takes an event's JSON. An error ends the answer.
    fn hear(&mut self, event: Value) -> Result<(), Fault>;

    /// Takes an answer that came whole, from a server that does not stream.
    fn hear_whole(&mut self, body: Value) -> Result<(), Fault> {
        self.hear(body)
    }

    /// The stream's own end marker, which is no JSON.
    fn hear_done(&mut self) {}

    /// The answer, when it is complete.
    fn answer(self: Box<Self>) -> Result<Heard, Fault>;
}

/// A complete answer.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) said: Said,
    pub(crate) stop: Stop,
    pub(crate) tokens: Tokens,
    pub(crate) model: String,
}

impl Heard {
    /// An answer whose stop fits what it says: calls mean that it waits for them, and waiting for
    /// none would never end.
    pub(crate) fn settle(mut self) -> Result<Self, Fault> {
        match self.stop {
            Stop::Complete if !self.said.calls.is_empty() => self.stop = Stop::Tools,
            Stop::Tools if self.said.calls.is_empty() => {
                return Err(Fault::malformed("the model waits for tools and called none"));
            }
            _ => {}
        }
        Ok(self)
    }
}

/// A turn in this protocol's own words, marked with whose they are.
pub(crate) fn verbatim(protocol: &str, content: Value) -> Value {
    serde_json::json!({"protocol": protocol, "content": content})
}

/// The same, marked with the model too: signed reasoning is refused by any other one.
pub(crate) fn by_model(mut verbatim: Value, model: &str) -> Value {
    if let Some(marks) = verbatim.as_object_mut() {
        marks.insert("model".to_owned(), Value::String(model.to_owned()));
    }
    verbatim
}

/// The words of a turn, if they are this protocol's and this model's. A turn of another one is told
/// again by its text and calls.
pub(crate) fn own_words<'a>(protocol: &str, model: &str, said: &'a Said) -> Option<&'a Value> {
    let is = |mark: &str, name: &str| said.verbatim.get(mark).and_then(Value::as_str) == Some(name);
    (is("protocol", protocol) && is("model", model)).then(|| said.verbatim.get("content")).flatten()
}

#[cfg(test)]
mod tests;
