//! OpenAI's Chat Completions API, which many servers implement: Ollama, vLLM, llama.cpp,
//! OpenRouter. They differ in the fields that they omit and reject.

use super::endpoint::{Endpoint, Secret};
use super::error::{ProviderError, RequestError, one_line};
use super::http::HttpClient;
use super::http_model::HttpModel;
use super::openai_responses::cache_key;
use super::optional_parts::{AllowedParts, OptionalPart};
use super::output_schema::{SchemaEnforced, system, without_schema_keyword};
use super::protocol::{
    ModelResponse, Protocol, ResponseReader, append, list, number, own_content, text, verbatim,
};
use mala_domain::conversation::{
    AnswerFormat, AssistantTurn, ChatRequest, ChatTurn, FinishReason, TokenCounts, ToolCall,
    ToolChoice, TurnPart,
};
use mala_domain::ports::LanguageModel;
use serde_json::{Map, Value, json};

const NAME: &str = "openai-chat";

/// The kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatServer {
    /// OpenAI.
    OpenAi,
    /// A server with a compatible API.
    Compatible,
}

/// A model at this endpoint.
pub fn model(server: ChatServer, endpoint: Endpoint, http: HttpClient) -> impl LanguageModel {
    HttpModel::new(OpenAiChatApi { server }, endpoint, http)
}

pub(super) struct OpenAiChatApi {
    pub(super) server: ChatServer,
}

impl Protocol for OpenAiChatApi {
    fn url(&self, endpoint: &Endpoint, _: &ChatRequest) -> String {
        endpoint.url("/v1/chat/completions")
    }

    fn key_header(&self, key: &Secret) -> (&'static str, String) {
        ("authorization", format!("Bearer {}", key.expose()))
    }

    fn optional(&self, ask: &ChatRequest) -> Vec<OptionalPart> {
        let mut parts = vec![OptionalPart::StreamedUsage];
        if matches!(ask.form, AnswerFormat::Json { .. }) {
            parts.push(OptionalPart::Form);
        }
        if self.server == ChatServer::OpenAi {
            parts.extend([OptionalPart::CacheKey, OptionalPart::NewLimitName]);
        }
        parts
    }

    fn body(&self, ask: &ChatRequest, allowed: AllowedParts) -> Value {
        request_body(ask, allowed)
    }

    fn response_reader(&self) -> Box<dyn ResponseReader + Send> {
        Box::new(OpenAiChatResponse::default())
    }
}

fn request_body(ask: &ChatRequest, allowed: AllowedParts) -> Value {
    let form = allowed.form(ask);
    let enforced = match ask.form {
        AnswerFormat::Json { .. } if form.is_none() => SchemaEnforced::No,
        _ => SchemaEnforced::Yes,
    };
    let system = json!({"role": "system", "content": system(ask, enforced)});
    let messages =
        std::iter::once(system).chain(ask.turns.iter().flat_map(|turn| messages(&ask.model, turn)));
    let mut body = json!({
        "model": ask.model,
        "messages": messages.collect::<Vec<Value>>(),
        "stream": true,
    });
    let limit = match allowed.has(OptionalPart::NewLimitName) {
        true => "max_completion_tokens",
        false => "max_tokens",
    };
    body[limit] = json!(ask.max_output_tokens);
    if !ask.tools.is_empty() {
        body["tools"] = ask
            .tools
            .iter()
            .map(|tool| {
                let function = json!({
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.arguments,
                });
                json!({"type": "function", "function": function})
            })
            .collect();
        if ask.tool_choice == ToolChoice::None {
            body["tool_choice"] = json!("none");
        }
    }
    if let Some((name, schema)) = form {
        let schema =
            json!({"name": name, "schema": without_schema_keyword(schema), "strict": true});
        body["response_format"] = json!({"type": "json_schema", "json_schema": schema});
    }
    if allowed.has(OptionalPart::StreamedUsage) {
        body["stream_options"] = json!({"include_usage": true});
    }
    if allowed.has(OptionalPart::CacheKey) {
        body["prompt_cache_key"] = json!(cache_key(ask));
    }
    body
}

/// Tool results come first: they must follow the calls directly.
fn messages(model: &str, turn: &ChatTurn) -> Vec<Value> {
    let parts = match turn {
        ChatTurn::Model(said) => return vec![message(model, said)],
        ChatTurn::User(parts) => parts,
    };
    let results = parts.iter().filter_map(|part| match part {
        TurnPart::ToolResult(result) => Some(json!({
            "role": "tool",
            "tool_call_id": result.call.id,
            "content": result.text,
        })),
        TurnPart::Text(_) | TurnPart::Repeated(_) => None,
    });
    let texts: Vec<Value> = parts
        .iter()
        .filter_map(|part| match part {
            TurnPart::Text(text) | TurnPart::Repeated(text) => {
                Some(json!({"type": "text", "text": text}))
            }
            TurnPart::ToolResult(_) => None,
        })
        .collect();
    // Some servers accept only a plain string for a single part.
    let content = match texts.as_slice() {
        [] => None,
        [only] => only.get("text").cloned(),
        _ => Some(Value::Array(texts)),
    };
    let text = content.map(|content| json!({"role": "user", "content": content}));
    results.chain(text).collect()
}

fn message(model: &str, said: &AssistantTurn) -> Value {
    if let Some(message) = own_content(NAME, model, said) {
        return message.clone();
    }
    let mut message = json!({"role": "assistant", "content": said.text});
    if !said.calls.is_empty() {
        message["tool_calls"] = said
            .calls
            .iter()
            .map(|call| {
                let function = json!({"name": call.name, "arguments": call.arguments});
                json!({"id": call.id, "type": "function", "function": function})
            })
            .collect();
    }
    message
}

// The response: pieces of one message. Unknown fields are merged in the same way and sent back,
// because some servers keep signatures in them.

/// The most tool calls of a response.
const MAX_CALLS: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct OpenAiChatResponse {
    model: String,
    /// The message so far, without its calls.
    message: Map<String, Value>,
    calls: Vec<(Option<u64>, Value)>,
    finish: Option<String>,
    is_done: bool,
    tokens: TokenCounts,
}

impl ResponseReader for OpenAiChatResponse {
    fn read_event(&mut self, event: Value) -> Result<(), RequestError> {
        if event.get("error").is_some_and(|error| !error.is_null()) {
            return Err(ProviderError::of(&event).unwrap_or_default().error());
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

    fn read_whole(&mut self, body: Value) -> Result<(), RequestError> {
        if body.get("choices").is_none() && ProviderError::of(&body).is_none() {
            return Err(RequestError::malformed("the response is not a chat completion"));
        }
        self.read_event(body)
    }

    fn read_done(&mut self) {
        self.is_done = true;
    }

    fn finish(mut self: Box<Self>) -> Result<ModelResponse, RequestError> {
        let spoken = self.field("content").to_owned();
        let refusal = self.field("refusal").to_owned();
        let calls: Vec<ToolCall> = self.named_calls();
        let stop = match self.finish.as_deref() {
            Some(reason) => stop(reason)?,
            // The end marker of the stream counts as a stop reason if there is content.
            None if self.is_done && !(spoken.is_empty() && calls.is_empty()) => {
                FinishReason::Complete
            }
            None => {
                return Err(RequestError::cut("the response ended before it was complete"));
            }
        };
        let stop = match refusal.is_empty() {
            true => stop,
            false => FinishReason::Refused(one_line(&refusal)),
        };
        let verbatim = verbatim(NAME, self.replayed());
        let said = AssistantTurn { text: spoken, calls, verbatim };
        ModelResponse { said, stop, tokens: self.tokens, model: self.model }.settle()
    }
}

impl OpenAiChatResponse {
    fn grow(&mut self, piece: &Map<String, Value>) -> Result<(), RequestError> {
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

    /// A piece belongs to the call with its index. Without an index, an id starts a call, and a
    /// piece without an id belongs to the last call.
    fn grow_call(&mut self, piece: &Value) -> Result<(), RequestError> {
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
                return Err(RequestError::malformed("the response has too many tool calls"));
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

    /// The calls. A call without an id gets one.
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

/// The arguments as text. Some servers send them as JSON.
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

fn stop(reason: &str) -> Result<FinishReason, RequestError> {
    match reason.to_ascii_lowercase().as_str() {
        "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" => Ok(FinishReason::Complete),
        "tool_calls" | "function_call" | "tool_use" => Ok(FinishReason::Tools),
        "length" | "max_tokens" => Ok(FinishReason::MaxTokens),
        "content_filter" => Ok(FinishReason::Filtered("content_filter".to_owned())),
        "refusal" => Ok(FinishReason::Refused(String::new())),
        // OpenRouter reports a failure of the provider behind it this way.
        "error" => Err(RequestError::interrupted(
            mala_domain::ports::ModelFailureKind::ProviderFailed,
            "the provider failed during the response",
        )),
        other => {
            let what = format!("unknown stop reason: {}", one_line(other));
            Err(RequestError::malformed(what))
        }
    }
}

fn tokens(usage: &Value) -> TokenCounts {
    TokenCounts {
        input: number(usage, "/prompt_tokens"),
        output: number(usage, "/completion_tokens"),
        cache_read: number(usage, "/prompt_tokens_details/cached_tokens")
            .or_else(|| number(usage, "/prompt_cache_hit_tokens")),
        cache_write: number(usage, "/prompt_tokens_details/cache_write_tokens"),
    }
}
