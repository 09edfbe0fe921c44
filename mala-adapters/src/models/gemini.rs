//! Google's Gemini API.

use super::endpoint::{Endpoint, Secret};
use super::error::{ProviderError, RequestError, one_line};
use super::http::HttpClient;
use super::http_model::HttpModel;
use super::optional_parts::{AllowedParts, OptionalPart};
use super::output_schema::{SchemaEnforced, system, without_schema_keyword};
use super::protocol::{
    ModelResponse, Protocol, ResponseReader, number, own_content, text, verbatim,
};
use mala_domain::conversation::{
    AnswerFormat, AssistantTurn, ChatRequest, ChatTurn, FinishReason, TokenCounts, ToolCall,
    ToolChoice, TurnPart,
};
use mala_domain::ports::LanguageModel;
use serde_json::{Value, json};

const NAME: &str = "gemini";

/// A model at this endpoint.
pub fn model(endpoint: Endpoint, http: HttpClient) -> impl LanguageModel {
    HttpModel::new(GeminiApi, endpoint, http)
}

pub(super) struct GeminiApi;

impl Protocol for GeminiApi {
    fn url(&self, endpoint: &Endpoint, ask: &ChatRequest) -> String {
        let model = ask.model.strip_prefix("models/").unwrap_or(&ask.model);
        // The name becomes a part of the path and must not leave it.
        let model: String = model
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
            .collect();
        endpoint.url(&format!("/v1beta/models/{model}:streamGenerateContent?alt=sse"))
    }

    fn key_header(&self, key: &Secret) -> (&'static str, String) {
        ("x-goog-api-key", key.expose().to_owned())
    }

    /// Models before the third generation accept either tools or a schema.
    fn optional(&self, ask: &ChatRequest) -> Vec<OptionalPart> {
        let takes_both = !["gemini-1", "gemini-2"].iter().any(|old| ask.model.contains(old));
        match ask.form {
            AnswerFormat::Json { .. } if ask.tools.is_empty() || takes_both => {
                vec![OptionalPart::Form]
            }
            _ => Vec::new(),
        }
    }

    fn body(&self, ask: &ChatRequest, allowed: AllowedParts) -> Value {
        request_body(ask, allowed)
    }

    fn response_reader(&self) -> Box<dyn ResponseReader + Send> {
        Box::new(GeminiResponse::default())
    }
}

fn request_body(ask: &ChatRequest, allowed: AllowedParts) -> Value {
    let form = allowed.form(ask);
    let enforced = match ask.form {
        AnswerFormat::Json { .. } if form.is_none() => SchemaEnforced::No,
        _ => SchemaEnforced::Yes,
    };
    let mut body = json!({
        "contents": ask.turns.iter().map(|turn| content(&ask.model, turn)).collect::<Vec<Value>>(),
        "generationConfig": {"maxOutputTokens": ask.max_output_tokens},
    });
    let system = system(ask, enforced);
    if !system.is_empty() {
        body["systemInstruction"] = json!({"parts": [{"text": system}]});
    }
    if !ask.tools.is_empty() {
        let declarations: Vec<Value> = ask
            .tools
            .iter()
            .map(|tool| {
                json!({
                    "name": tool.name,
                    "description": tool.description,
                    "parametersJsonSchema": without_schema_keyword(&tool.arguments),
                })
            })
            .collect();
        body["tools"] = json!([{"functionDeclarations": declarations}]);
        if ask.tool_choice == ToolChoice::None {
            body["toolConfig"] = json!({"functionCallingConfig": {"mode": "NONE"}});
        }
    }
    if let Some((_, schema)) = form {
        let config = &mut body["generationConfig"];
        config["responseMimeType"] = json!("application/json");
        config["responseJsonSchema"] = without_schema_keyword(schema);
    }
    body
}

fn content(model: &str, turn: &ChatTurn) -> Value {
    match turn {
        ChatTurn::User(parts) => {
            json!({"role": "user", "parts": parts.iter().map(part).collect::<Vec<Value>>()})
        }
        ChatTurn::Model(said) => json!({"role": "model", "parts": response_parts(model, said)}),
    }
}

fn part(part: &TurnPart) -> Value {
    let result = match part {
        TurnPart::Text(text) | TurnPart::Repeated(text) => return json!({"text": text}),
        TurnPart::ToolResult(result) => result,
    };
    let key = if result.is_error { "error" } else { "output" };
    let mut response = json!({"name": result.call.name, "response": {key: result.text}});
    if !result.call.id.starts_with(OWN_IDS) {
        response["id"] = json!(result.call.id);
    }
    json!({"functionResponse": response})
}

fn response_parts(model: &str, said: &AssistantTurn) -> Value {
    if let Some(parts) = own_content(NAME, model, said) {
        return parts.clone();
    }
    let text = (!said.text.is_empty()).then(|| json!({"text": said.text}));
    let calls = said.calls.iter().map(|call| {
        let args: Value = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
        json!({"functionCall": {"name": call.name, "args": args}})
    });
    text.into_iter().chain(calls).collect()
}

// The response: chunks with some parts each. Parts are kept as they are, because they contain
// signatures.

/// The prefix of ids for calls that come without one.
pub(super) const OWN_IDS: &str = "mala-call-";

/// The most parts of a response.
const MAX_PARTS: usize = 1 << 16;

#[derive(Debug, Default)]
pub(super) struct GeminiResponse {
    model: String,
    parts: Vec<Value>,
    finish: Option<String>,
    why: String,
    blocked: Option<String>,
    tokens: TokenCounts,
}

impl ResponseReader for GeminiResponse {
    fn read_event(&mut self, mut event: Value) -> Result<(), RequestError> {
        if event.get("error").is_some() {
            return Err(ProviderError::of(&event).unwrap_or_default().error());
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
                return Err(RequestError::malformed("the response has too many parts"));
            }
            self.parts.append(parts);
        }
        Ok(())
    }

    /// Without streaming, the body is one response or a list of them.
    fn read_whole(&mut self, body: Value) -> Result<(), RequestError> {
        match body {
            Value::Array(events) => events.into_iter().try_for_each(|event| self.read_event(event)),
            event => self.read_event(event),
        }
    }

    fn finish(self: Box<Self>) -> Result<ModelResponse, RequestError> {
        let stop = match (&self.blocked, &self.finish) {
            (Some(reason), _) => FinishReason::Filtered(one_line(reason)),
            (None, Some(reason)) => stop(reason, &self.why)?,
            (None, None) => {
                return Err(RequestError::cut("the response ended before it was complete"));
            }
        };
        let spoken = self.parts.iter().filter(|part| part.get("thought") != Some(&json!(true)));
        let said = AssistantTurn {
            text: spoken.map(|part| text(part, "/text")).collect(),
            calls: calls(&self.parts),
            verbatim: verbatim(NAME, Value::Array(self.parts)),
        };
        ModelResponse { said, stop, tokens: self.tokens, model: self.model }.settle()
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

fn stop(reason: &str, why: &str) -> Result<FinishReason, RequestError> {
    match reason {
        "STOP" => Ok(FinishReason::Complete),
        "MAX_TOKENS" => Ok(FinishReason::MaxTokens),
        "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
        | "IMAGE_SAFETY" => Ok(FinishReason::Filtered(one_line(&format!("{reason} {why}")))),
        other => {
            let why = one_line(&format!("{other} {why}"));
            Err(RequestError::malformed(format!("unknown stop reason: {why}")))
        }
    }
}

fn tokens(usage: &Value) -> TokenCounts {
    let sum = |names: [&str; 2]| {
        let counts: Vec<u64> = names.iter().filter_map(|name| number(usage, name)).collect();
        (!counts.is_empty()).then(|| counts.iter().fold(0, |sum: u64, n| sum.saturating_add(*n)))
    };
    TokenCounts {
        input: sum(["/promptTokenCount", "/toolUsePromptTokenCount"]),
        output: sum(["/candidatesTokenCount", "/thoughtsTokenCount"]),
        cache_read: number(usage, "/cachedContentTokenCount"),
        cache_write: None,
    }
}
