//! An answer as the Responses API streams it. Items come whole when they are done; the last event
//! repeats all of them, unless a server in between leaves them out.

use super::NAME;
use crate::models::fault::{Fault, ProviderError, shortened};
use crate::models::fields::{list, number, text};
use crate::models::protocol::{Heard, Listener, verbatim};
use mala_domain::conversation::{Said, Stop, Tokens, ToolCall};
use serde_json::Value;

/// The most items of an answer.
const MAX_ITEMS: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Answer {
    items: Vec<Value>,
    response: Option<Value>,
}

impl Listener for Answer {
    fn hear(&mut self, mut event: Value) -> Result<(), Fault> {
        match text(&event, "/type") {
            "response.output_item.done" => {
                if self.items.len() >= MAX_ITEMS {
                    return Err(Fault::malformed("an answer of too many items"));
                }
                self.items.extend(event.get_mut("item").map(Value::take));
            }
            "response.completed" | "response.incomplete" => {
                self.response = event.get_mut("response").map(Value::take);
            }
            "response.failed" => {
                let error = event.pointer("/response").and_then(ProviderError::of);
                return Err(error.unwrap_or_default().fault());
            }
            "error" => return Err(ProviderError::of(&event).unwrap_or_default().fault()),
            _ => {}
        }
        Ok(())
    }

    fn hear_whole(&mut self, body: Value) -> Result<(), Fault> {
        if let Some(error) = body.get("error").filter(|error| !error.is_null()) {
            return Err(ProviderError::of(error).unwrap_or_default().fault());
        }
        if text(&body, "/object") != "response" {
            return Err(Fault::malformed("JSON that is no response"));
        }
        self.response = Some(body);
        Ok(())
    }

    fn answer(self: Box<Self>) -> Result<Heard, Fault> {
        let Some(response) = self.response else {
            return Err(Fault::cut("the answer ended before the provider said that it is done"));
        };
        let items = match list(&response, "/output") {
            [] => self.items,
            items => items.to_vec(),
        };
        let said = Said {
            text: parts(&items, "output_text").map(|part| text(part, "/text")).collect(),
            calls: items.iter().filter(|item| is(item, "function_call")).map(call).collect(),
            verbatim: Value::Null,
        };
        let refusal = parts(&items, "refusal").next().map(|part| text(part, "/refusal"));
        let stop = match refusal {
            Some(words) => Stop::Refused(shortened(words)),
            None => stop(&response)?,
        };
        let tokens = tokens(&response);
        let model = text(&response, "/model").to_owned();
        let said = Said { verbatim: verbatim(NAME, Value::Array(items)), ..said };
        Heard { said, stop, tokens, model }.settle()
    }
}

fn is(value: &Value, kind: &str) -> bool {
    text(value, "/type") == kind
}

fn parts<'a>(items: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    let messages = items.iter().filter(|item| is(item, "message"));
    messages.flat_map(|item| list(item, "/content")).filter(move |part| is(part, kind))
}

fn call(item: &Value) -> ToolCall {
    ToolCall {
        id: text(item, "/call_id").to_owned(),
        name: text(item, "/name").to_owned(),
        arguments: text(item, "/arguments").to_owned(),
    }
}

fn stop(response: &Value) -> Result<Stop, Fault> {
    match (text(response, "/status"), text(response, "/incomplete_details/reason")) {
        ("completed", _) => Ok(Stop::Complete),
        ("incomplete", "max_output_tokens" | "max_tokens") => Ok(Stop::MaxTokens),
        ("incomplete", "content_filter") => Ok(Stop::Filtered("content_filter".to_owned())),
        (status, reason) => {
            let why = shortened(&format!("{status} {reason}"));
            Err(Fault::malformed(format!("the answer ended for an unknown reason: {why}")))
        }
    }
}

fn tokens(response: &Value) -> Tokens {
    Tokens {
        input: number(response, "/usage/input_tokens"),
        output: number(response, "/usage/output_tokens"),
        cache_read: number(response, "/usage/input_tokens_details/cached_tokens"),
        cache_write: number(response, "/usage/input_tokens_details/cache_write_tokens"),
    }
}
