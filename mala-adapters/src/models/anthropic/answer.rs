//! An answer as Anthropic streams it: blocks that start, grow and stop. Blocks of kinds that are not
//! known here are kept as they came.

use super::NAME;
use super::question::arguments;
use crate::models::fault::{Fault, ProviderError, shortened};
use crate::models::fields::{append, list, number, push, text};
use crate::models::protocol::{Heard, Listener, verbatim};
use mala_domain::conversation::{Said, Stop, Tokens, ToolCall};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The most blocks of an answer.
const MAX_BLOCKS: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Answer {
    model: String,
    blocks: BTreeMap<u64, Block>,
    stop: Option<Stop>,
    usage: Usage,
}

#[derive(Debug)]
struct Block {
    value: Value,
    /// The arguments of a call, which come in pieces.
    json: String,
}

#[derive(Debug, Default)]
struct Usage {
    fresh: Option<u64>,
    read: Option<u64>,
    written: Option<u64>,
    output: Option<u64>,
}

impl Listener for Answer {
    fn hear(&mut self, event: Value) -> Result<(), Fault> {
        match text(&event, "/type") {
            "message_start" => {
                self.model = text(&event, "/message/model").to_owned();
                self.usage.update(event.pointer("/message/usage"));
                // The output has only begun: what it comes to is said at its end, or unknown.
                self.usage.output = None;
            }
            "content_block_start" => self.start(&event)?,
            "content_block_delta" => self.grow(&event)?,
            "message_delta" => {
                self.usage.update(event.get("usage"));
                self.stop = stop(event.get("delta"))?.or_else(|| self.stop.take());
            }
            "error" => {
                let error = ProviderError::of(&event).unwrap_or_default();
                return Err(error.fault());
            }
            // A server that does not stream sends the message itself.
            "message" => self.take_whole(&event)?,
            _ => {}
        }
        Ok(())
    }

    fn answer(self: Box<Self>) -> Result<Heard, Fault> {
        let Some(stop) = self.stop else {
            return Err(Fault::cut("the answer ended before the model said that it is done"));
        };
        let blocks: Vec<Block> = self.blocks.into_values().collect();
        let of_kind = |kind: &'static str| {
            blocks.iter().filter(move |block| text(&block.value, "/type") == kind)
        };
        let said = Said {
            text: of_kind("text").map(|block| text(&block.value, "/text")).collect(),
            calls: of_kind("tool_use").map(Block::call).collect(),
            verbatim: verbatim(NAME, blocks.iter().map(Block::replayed).collect()),
        };
        let stop = match stop {
            Stop::Refused(why) if why.is_empty() => Stop::Refused(shortened(&said.text)),
            other => other,
        };
        Heard { said, stop, tokens: self.usage.tokens(), model: self.model }.settle()
    }
}

impl Answer {
    fn start(&mut self, event: &Value) -> Result<(), Fault> {
        let index = number(event, "/index").unwrap_or(self.blocks.len() as u64);
        if self.blocks.len() >= MAX_BLOCKS {
            return Err(Fault::malformed("an answer of too many blocks"));
        }
        let Some(value) = event.get("content_block").filter(|block| block.is_object()).cloned()
        else {
            return Err(Fault::malformed("a block that is none"));
        };
        self.blocks.insert(index, Block { value, json: String::new() });
        Ok(())
    }

    fn grow(&mut self, event: &Value) -> Result<(), Fault> {
        let index = number(event, "/index").unwrap_or_default();
        let Some(block) = self.blocks.get_mut(&index) else {
            return Err(Fault::malformed("a piece of a block that has not started"));
        };
        let value = &mut block.value;
        match text(event, "/delta/type") {
            "text_delta" => append(value, "text", text(event, "/delta/text")),
            "thinking_delta" => append(value, "thinking", text(event, "/delta/thinking")),
            "signature_delta" => append(value, "signature", text(event, "/delta/signature")),
            "input_json_delta" => block.json.push_str(text(event, "/delta/partial_json")),
            "citations_delta" => {
                let citation = event.pointer("/delta/citation").cloned().unwrap_or_default();
                push(value, "citations", citation);
            }
            _ => {}
        }
        Ok(())
    }

    fn take_whole(&mut self, message: &Value) -> Result<(), Fault> {
        self.model = text(message, "/model").to_owned();
        self.usage.update(message.get("usage"));
        self.stop = stop(Some(message))?;
        let blocks = list(message, "/content").iter().take(MAX_BLOCKS).cloned();
        let blocks = blocks.map(|value| Block { value, json: String::new() });
        self.blocks = (0..).zip(blocks).collect();
        Ok(())
    }
}

impl Block {
    /// The arguments as the model wrote them, or as they came with the block's start.
    fn arguments(&self) -> String {
        match self.json.is_empty() {
            true => self.value.get("input").unwrap_or(&json!({})).to_string(),
            false => self.json.clone(),
        }
    }

    fn call(&self) -> ToolCall {
        ToolCall {
            id: text(&self.value, "/id").to_owned(),
            name: text(&self.value, "/name").to_owned(),
            arguments: self.arguments(),
        }
    }

    fn replayed(&self) -> Value {
        let mut value = self.value.clone();
        if value.get("input").is_some() {
            value["input"] = arguments(&self.arguments());
        }
        value
    }
}

impl Usage {
    /// Later counts stand for the whole answer, so they replace earlier ones.
    fn update(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage else { return };
        for (count, name) in [
            (&mut self.fresh, "/input_tokens"),
            (&mut self.read, "/cache_read_input_tokens"),
            (&mut self.written, "/cache_creation_input_tokens"),
            (&mut self.output, "/output_tokens"),
        ] {
            *count = number(usage, name).or(*count);
        }
    }

    fn tokens(&self) -> Tokens {
        let cached = [self.read, self.written].into_iter().flatten();
        Tokens {
            input: self.fresh.map(|fresh| cached.fold(fresh, u64::saturating_add)),
            output: self.output,
            cache_read: self.read,
            cache_write: self.written,
        }
    }
}

fn stop(delta: Option<&Value>) -> Result<Option<Stop>, Fault> {
    let Some(delta) = delta else { return Ok(None) };
    Ok(Some(match text(delta, "/stop_reason") {
        "" => return Ok(None),
        "end_turn" | "stop_sequence" => Stop::Complete,
        "tool_use" => Stop::Tools,
        "max_tokens" | "model_context_window_exceeded" => Stop::MaxTokens,
        "refusal" => Stop::Refused(shortened(text(delta, "/stop_details/explanation"))),
        other => {
            let what = format!("the model stopped for an unknown reason: {}", shortened(other));
            return Err(Fault::malformed(what));
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_that_is_not_counted_at_the_end_is_unknown() {
        let start = json!({"type": "message_start", "message": {"model": "m",
            "usage": {"input_tokens": 9, "output_tokens": 1}}});
        let end = |usage: Value| {
            json!({"type": "message_delta", "usage": usage,
            "delta": {"stop_reason": "end_turn"}})
        };
        for (usage, output) in [(json!({"output_tokens": 7}), Some(7)), (Value::Null, None)] {
            let mut answer = Answer::default();
            answer.hear(start.clone()).unwrap();
            answer.hear(end(usage)).unwrap();
            let tokens = Box::new(answer).answer().unwrap().tokens;
            assert_eq!((tokens.input, tokens.output), (Some(9), output));
        }
    }
}
