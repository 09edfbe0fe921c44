//! Anthropic's Messages API. A request marks at most four parts for caching: the system prompt,
//! the last repeated parts and, with tools, the end of the conversation.

use super::endpoint::{Endpoint, Secret};
use super::error::{ProviderError, RequestError, one_line};
use super::http::HttpClient;
use super::http_model::HttpModel;
use super::optional_parts::{AllowedParts, OptionalPart};
use super::output_schema::{SchemaEnforced, system, without_unsupported_keywords};
use super::protocol::{
    ModelResponse, Protocol, ResponseReader, append, list, number, own_content, push, text,
    verbatim,
};
use mala_domain::conversation::{
    AnswerFormat, AssistantTurn, ChatRequest, ChatTurn, FinishReason, TokenCounts, ToolCall,
    ToolChoice, TurnPart,
};
use mala_domain::ports::LanguageModel;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const NAME: &str = "anthropic";

/// A model at this endpoint.
pub fn model(endpoint: Endpoint, http: HttpClient) -> impl LanguageModel {
    HttpModel::new(AnthropicMessages, endpoint, http)
}

pub(super) struct AnthropicMessages;

impl Protocol for AnthropicMessages {
    fn url(&self, endpoint: &Endpoint, _: &ChatRequest) -> String {
        endpoint.url("/v1/messages")
    }

    fn key_header(&self, key: &Secret) -> (&'static str, String) {
        match key.is_bearer() {
            true => ("authorization", format!("Bearer {}", key.expose())),
            false => ("x-api-key", key.expose().to_owned()),
        }
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }

    fn optional(&self, ask: &ChatRequest) -> Vec<OptionalPart> {
        match ask.form {
            AnswerFormat::Json { .. } => vec![OptionalPart::Form],
            AnswerFormat::Text => Vec::new(),
        }
    }

    fn body(&self, ask: &ChatRequest, allowed: AllowedParts) -> Value {
        request_body(ask, allowed)
    }

    fn response_reader(&self) -> Box<dyn ResponseReader + Send> {
        Box::new(AnthropicResponse::default())
    }
}

/// Repeated parts that are marked, besides the system prompt and the end.
const MAX_REPEATED: usize = 2;

fn request_body(ask: &ChatRequest, allowed: AllowedParts) -> Value {
    let form = allowed.form(ask);
    let enforced = match ask.form {
        AnswerFormat::Json { .. } if form.is_none() => SchemaEnforced::No,
        _ => SchemaEnforced::Yes,
    };
    let mut body = json!({
        "model": ask.model,
        "max_tokens": ask.max_output_tokens,
        "stream": true,
        "messages": messages(ask),
    });
    let system = system(ask, enforced);
    if !system.is_empty() {
        body["system"] = json!([{"type": "text", "text": system, "cache_control": mark()}]);
    }
    if !ask.tools.is_empty() {
        body["tools"] = ask
            .tools
            .iter()
            .map(|tool| {
                json!({
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": tool.arguments,
                })
            })
            .collect();
        if ask.tool_choice == ToolChoice::None {
            body["tool_choice"] = json!({"type": "none"});
        }
    }
    if let Some((_, schema)) = form {
        let schema = without_unsupported_keywords(schema);
        body["output_config"] = json!({"format": {"type": "json_schema", "schema": schema}});
    }
    body
}

fn messages(ask: &ChatRequest) -> Vec<Value> {
    let n_repeated = ask.turns.iter().map(repeated).sum::<usize>();
    let mut unmarked = n_repeated.saturating_sub(MAX_REPEATED);
    let mut messages: Vec<Value> = ask
        .turns
        .iter()
        .map(|turn| match turn {
            ChatTurn::User(parts) => {
                let content: Vec<Value> =
                    parts.iter().map(|part| block(part, &mut unmarked)).collect();
                json!({"role": "user", "content": content})
            }
            ChatTurn::Model(said) => {
                json!({"role": "assistant", "content": content(&ask.model, said)})
            }
        })
        .collect();
    // The next call repeats tool results. The first turn has its own marks.
    let looks_up =
        matches!(ask.turns.as_slice(), [_, .., ChatTurn::User(_)]) && !ask.tools.is_empty();
    let last = messages.last_mut().and_then(|m| m["content"].as_array_mut()?.last_mut());
    if let Some(last) = last.filter(|_| looks_up) {
        last["cache_control"] = mark();
    }
    messages
}

fn repeated(turn: &ChatTurn) -> usize {
    match turn {
        ChatTurn::User(parts) => {
            parts.iter().filter(|part| matches!(part, TurnPart::Repeated(_))).count()
        }
        ChatTurn::Model(_) => 0,
    }
}

fn block(part: &TurnPart, unmarked: &mut usize) -> Value {
    match part {
        TurnPart::Text(text) => json!({"type": "text", "text": text}),
        TurnPart::Repeated(text) if *unmarked > 0 => {
            *unmarked -= 1;
            json!({"type": "text", "text": text})
        }
        TurnPart::Repeated(text) => json!({"type": "text", "text": text, "cache_control": mark()}),
        TurnPart::ToolResult(result) => json!({
            "type": "tool_result",
            "tool_use_id": result.call.id,
            "content": result.text,
            "is_error": result.is_error,
        }),
    }
}

fn content(model: &str, said: &AssistantTurn) -> Value {
    if let Some(content) = own_content(NAME, model, said) {
        return content.clone();
    }
    let text = (!said.text.is_empty()).then(|| json!({"type": "text", "text": said.text}));
    let calls = said.calls.iter().map(|call| {
        json!({
            "type": "tool_use",
            "id": call.id,
            "name": call.name,
            "input": arguments(&call.arguments),
        })
    });
    text.into_iter().chain(calls).collect()
}

/// The arguments of a call. Only an object can be sent back; anything else becomes an empty one.
pub(super) fn arguments(text: &str) -> Value {
    let arguments: Option<Value> = serde_json::from_str(text).ok();
    arguments.filter(Value::is_object).unwrap_or_else(|| json!({}))
}

fn mark() -> Value {
    json!({"type": "ephemeral"})
}

// The response: blocks that start, grow and stop. Unknown kinds of blocks are kept as they are.

/// The most blocks of a response.
const MAX_BLOCKS: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct AnthropicResponse {
    model: String,
    blocks: BTreeMap<u64, AnthropicBlock>,
    stop: Option<FinishReason>,
    usage: AnthropicUsage,
}

#[derive(Debug)]
struct AnthropicBlock {
    value: Value,
    /// The arguments of a call, which are streamed in pieces.
    json: String,
}

#[derive(Debug, Default)]
struct AnthropicUsage {
    fresh: Option<u64>,
    read: Option<u64>,
    written: Option<u64>,
    output: Option<u64>,
}

impl ResponseReader for AnthropicResponse {
    fn read_event(&mut self, event: Value) -> Result<(), RequestError> {
        match text(&event, "/type") {
            "message_start" => {
                self.model = text(&event, "/message/model").to_owned();
                self.usage.update(event.pointer("/message/usage"));
                // Output has only begun. The count at the end is the real one.
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
                return Err(error.error());
            }
            // A server that does not stream sends the message itself.
            "message" => self.take_whole(&event)?,
            _ => {}
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ModelResponse, RequestError> {
        let Some(stop) = self.stop else {
            return Err(RequestError::cut("the response ended before it was complete"));
        };
        let blocks: Vec<AnthropicBlock> = self.blocks.into_values().collect();
        let of_kind = |kind: &'static str| {
            blocks.iter().filter(move |block| text(&block.value, "/type") == kind)
        };
        let said = AssistantTurn {
            text: of_kind("text").map(|block| text(&block.value, "/text")).collect(),
            calls: of_kind("tool_use").map(AnthropicBlock::call).collect(),
            verbatim: verbatim(NAME, blocks.iter().map(AnthropicBlock::replayed).collect()),
        };
        let stop = match stop {
            FinishReason::Refused(why) if why.is_empty() => {
                FinishReason::Refused(one_line(&said.text))
            }
            other => other,
        };
        ModelResponse { said, stop, tokens: self.usage.tokens(), model: self.model }.settle()
    }
}

impl AnthropicResponse {
    fn start(&mut self, event: &Value) -> Result<(), RequestError> {
        let index = number(event, "/index").unwrap_or(self.blocks.len() as u64);
        if self.blocks.len() >= MAX_BLOCKS {
            return Err(RequestError::malformed("the response has too many blocks"));
        }
        let Some(value) = event.get("content_block").filter(|block| block.is_object()).cloned()
        else {
            return Err(RequestError::malformed("a content block is not an object"));
        };
        self.blocks.insert(index, AnthropicBlock { value, json: String::new() });
        Ok(())
    }

    fn grow(&mut self, event: &Value) -> Result<(), RequestError> {
        let index = number(event, "/index").unwrap_or_default();
        let Some(block) = self.blocks.get_mut(&index) else {
            return Err(RequestError::malformed("a delta of a content block that has not started"));
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

    fn take_whole(&mut self, message: &Value) -> Result<(), RequestError> {
        self.model = text(message, "/model").to_owned();
        self.usage.update(message.get("usage"));
        self.stop = stop(Some(message))?;
        let blocks = list(message, "/content").iter().take(MAX_BLOCKS).cloned();
        let blocks = blocks.map(|value| AnthropicBlock { value, json: String::new() });
        self.blocks = (0..).zip(blocks).collect();
        Ok(())
    }
}

impl AnthropicBlock {
    /// The arguments as the model wrote them, or as they came with the start of the block.
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

impl AnthropicUsage {
    /// Later counts include earlier ones, so they replace them.
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

    fn tokens(&self) -> TokenCounts {
        let cached = [self.read, self.written].into_iter().flatten();
        TokenCounts {
            input: self.fresh.map(|fresh| cached.fold(fresh, u64::saturating_add)),
            output: self.output,
            cache_read: self.read,
            cache_write: self.written,
        }
    }
}

fn stop(delta: Option<&Value>) -> Result<Option<FinishReason>, RequestError> {
    let Some(delta) = delta else { return Ok(None) };
    Ok(Some(match text(delta, "/stop_reason") {
        "" => return Ok(None),
        "end_turn" | "stop_sequence" => FinishReason::Complete,
        "tool_use" => FinishReason::Tools,
        "max_tokens" | "model_context_window_exceeded" => FinishReason::MaxTokens,
        "refusal" => FinishReason::Refused(one_line(text(delta, "/stop_details/explanation"))),
        other => {
            let what = format!("unknown stop reason: {}", one_line(other));
            return Err(RequestError::malformed(what));
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mala_domain::conversation::{ToolCall, ToolDefinition, ToolResult};

    fn ask(turns: Vec<ChatTurn>, tools: usize) -> ChatRequest {
        let tool =
            ToolDefinition { name: "t".into(), description: "d".into(), arguments: json!({}) };
        ChatRequest {
            model: "m".into(),
            system: "s".into(),
            tools: vec![tool; tools],
            tool_choice: ToolChoice::Free,
            turns,
            form: AnswerFormat::Text,
            max_output_tokens: 5,
        }
    }

    #[test]
    fn at_most_four_places_are_marked() {
        let ours = ChatTurn::User((0..9).map(|n| TurnPart::Repeated(n.to_string())).collect());
        let result = ToolResult {
            call: ToolCall { id: "1".into(), name: "t".into(), arguments: "{}".into() },
            text: "r".into(),
            is_error: false,
        };
        let turns = vec![ours, ChatTurn::User(vec![TurnPart::ToolResult(result)])];
        let body = request_body(&ask(turns, 1), AllowedParts::ALL).to_string();
        assert_eq!(body.matches("cache_control").count(), 4);
    }

    #[test]
    fn a_turn_of_another_provider_is_rebuilt() {
        let said = AssistantTurn {
            text: "look".into(),
            calls: vec![ToolCall { id: "c".into(), name: "t".into(), arguments: "no".into() }],
            verbatim: json!({"protocol": "gemini", "content": [{"text": "look"}]}),
        };
        assert_eq!(
            content("m", &said),
            json!([
                {"type": "text", "text": "look"},
                {"type": "tool_use", "id": "c", "name": "t", "input": {}},
            ])
        );
    }

    #[test]
    fn output_that_is_not_counted_at_the_end_is_unknown() {
        let start = json!({"type": "message_start", "message": {"model": "m",
            "usage": {"input_tokens": 9, "output_tokens": 1}}});
        let end = |usage: Value| {
            json!({"type": "message_delta", "usage": usage,
            "delta": {"stop_reason": "end_turn"}})
        };
        for (usage, output) in [(json!({"output_tokens": 7}), Some(7)), (Value::Null, None)] {
            let mut answer = AnthropicResponse::default();
            answer.read_event(start.clone()).unwrap();
            answer.read_event(end(usage)).unwrap();
            let tokens = Box::new(answer).finish().unwrap().tokens;
            assert_eq!((tokens.input, tokens.output), (Some(9), output));
        }
    }
}
