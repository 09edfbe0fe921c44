//! OpenAI's Responses API. The provider stores nothing: each call sends the whole conversation.

use super::endpoint::{Endpoint, Secret};
use super::error::{ProviderError, RequestError, one_line};
use super::http::HttpClient;
use super::http_model::HttpModel;
use super::optional_parts::{AllowedParts, OptionalPart};
use super::output_schema::{SchemaEnforced, system, without_schema_keyword};
use super::protocol::{
    ModelResponse, Protocol, ResponseReader, list, number, own_content, text, verbatim,
};
use mala_domain::conversation::{
    AnswerFormat, AssistantTurn, ChatRequest, ChatTurn, FinishReason, TokenCounts, ToolCall,
    ToolChoice, TurnPart,
};
use mala_domain::ports::LanguageModel;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

const NAME: &str = "openai-responses";

/// A model at this endpoint.
pub fn model(endpoint: Endpoint, http: HttpClient) -> impl LanguageModel {
    HttpModel::new(OpenAiResponsesApi, endpoint, http)
}

pub(super) struct OpenAiResponsesApi;

impl Protocol for OpenAiResponsesApi {
    fn url(&self, endpoint: &Endpoint, _: &ChatRequest) -> String {
        endpoint.url("/v1/responses")
    }

    fn key_header(&self, key: &Secret) -> (&'static str, String) {
        ("authorization", format!("Bearer {}", key.expose()))
    }

    fn optional(&self, ask: &ChatRequest) -> Vec<OptionalPart> {
        let mut parts = vec![OptionalPart::CacheKey];
        if matches!(ask.form, AnswerFormat::Json { .. }) {
            parts.push(OptionalPart::Form);
        }
        // Models without reasoning reject the request for it.
        if !ask.model.starts_with("gpt-4") && !ask.model.starts_with("gpt-3") {
            parts.push(OptionalPart::Reasoning);
        }
        parts
    }

    fn body(&self, ask: &ChatRequest, allowed: AllowedParts) -> Value {
        request_body(ask, allowed)
    }

    fn response_reader(&self) -> Box<dyn ResponseReader + Send> {
        Box::new(OpenAiResponsesResponse::default())
    }
}

fn request_body(ask: &ChatRequest, allowed: AllowedParts) -> Value {
    let form = allowed.form(ask);
    let enforced = match ask.form {
        AnswerFormat::Json { .. } if form.is_none() => SchemaEnforced::No,
        _ => SchemaEnforced::Yes,
    };
    let mut body = json!({
        "model": ask.model,
        "instructions": system(ask, enforced),
        "input": ask.turns.iter().flat_map(|turn| items(&ask.model, turn)).collect::<Vec<Value>>(),
        "max_output_tokens": ask.max_output_tokens,
        "stream": true,
        "store": false,
    });
    if !ask.tools.is_empty() {
        body["tools"] = ask
            .tools
            .iter()
            .map(|tool| {
                json!({
                    "type": "function",
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.arguments,
                    "strict": false,
                })
            })
            .collect();
        if ask.tool_choice == ToolChoice::None {
            body["tool_choice"] = json!("none");
        }
    }
    if let Some((name, schema)) = form {
        let format = json!({"type": "json_schema", "name": name, "schema": without_schema_keyword(schema), "strict": true});
        body["text"] = json!({"format": format});
    }
    if allowed.has(OptionalPart::Reasoning) {
        body["include"] = json!(["reasoning.encrypted_content"]);
    }
    if allowed.has(OptionalPart::CacheKey) {
        body["prompt_cache_key"] = json!(cache_key(ask));
    }
    body
}

/// Calls with the same key are routed to the same machine and its cache.
pub(crate) fn cache_key(ask: &ChatRequest) -> String {
    let mut hash = Sha256::new();
    hash.update(&ask.model);
    hash.update([0]);
    hash.update(&ask.system);
    let hash = hash.finalize();
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn items(model: &str, turn: &ChatTurn) -> Vec<Value> {
    match turn {
        ChatTurn::Model(said) => response_items(model, said),
        ChatTurn::User(parts) => parts.iter().map(item).collect(),
    }
}

fn item(part: &TurnPart) -> Value {
    match part {
        TurnPart::Text(text) | TurnPart::Repeated(text) => {
            json!({"role": "user", "content": [{"type": "input_text", "text": text}]})
        }
        TurnPart::ToolResult(result) => json!({
            "type": "function_call_output",
            "call_id": result.call.id,
            "output": result.text,
        }),
    }
}

fn response_items(model: &str, said: &AssistantTurn) -> Vec<Value> {
    if let Some(Value::Array(items)) = own_content(NAME, model, said) {
        return items.clone();
    }
    let text = (!said.text.is_empty()).then(
        || json!({"role": "assistant", "content": [{"type": "output_text", "text": said.text}]}),
    );
    let calls = said.calls.iter().map(|call| {
        json!({
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
        })
    });
    text.into_iter().chain(calls).collect()
}

// The response. Items are complete when they arrive. The last event repeats them all, unless a
// proxy omits them.

/// The most items of a response.
const MAX_ITEMS: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct OpenAiResponsesResponse {
    items: Vec<Value>,
    response: Option<Value>,
}

impl ResponseReader for OpenAiResponsesResponse {
    fn read_event(&mut self, mut event: Value) -> Result<(), RequestError> {
        match text(&event, "/type") {
            "response.output_item.done" => {
                if self.items.len() >= MAX_ITEMS {
                    return Err(RequestError::malformed("the response has too many items"));
                }
                self.items.extend(event.get_mut("item").map(Value::take));
            }
            "response.completed" | "response.incomplete" => {
                self.response = event.get_mut("response").map(Value::take);
            }
            "response.failed" => {
                let error = event.pointer("/response").and_then(ProviderError::of);
                return Err(error.unwrap_or_default().error());
            }
            "error" => return Err(ProviderError::of(&event).unwrap_or_default().error()),
            _ => {}
        }
        Ok(())
    }

    fn read_whole(&mut self, body: Value) -> Result<(), RequestError> {
        if let Some(error) = body.get("error").filter(|error| !error.is_null()) {
            return Err(ProviderError::of(error).unwrap_or_default().error());
        }
        if text(&body, "/object") != "response" {
            return Err(RequestError::malformed("the body is not a response object"));
        }
        self.response = Some(body);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<ModelResponse, RequestError> {
        let Some(response) = self.response else {
            return Err(RequestError::cut("the response ended before it was complete"));
        };
        let items = match list(&response, "/output") {
            [] => self.items,
            items => items.to_vec(),
        };
        let said = AssistantTurn {
            text: parts(&items, "output_text").map(|part| text(part, "/text")).collect(),
            calls: items.iter().filter(|item| is(item, "function_call")).map(call).collect(),
            verbatim: Value::Null,
        };
        let refusal = parts(&items, "refusal").next().map(|part| text(part, "/refusal"));
        let stop = match refusal {
            Some(words) => FinishReason::Refused(one_line(words)),
            None => stop(&response)?,
        };
        let tokens = tokens(&response);
        let model = text(&response, "/model").to_owned();
        let said = AssistantTurn { verbatim: verbatim(NAME, Value::Array(items)), ..said };
        ModelResponse { said, stop, tokens, model }.settle()
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

fn stop(response: &Value) -> Result<FinishReason, RequestError> {
    match (text(response, "/status"), text(response, "/incomplete_details/reason")) {
        ("completed", _) => Ok(FinishReason::Complete),
        ("incomplete", "max_output_tokens" | "max_tokens") => Ok(FinishReason::MaxTokens),
        ("incomplete", "content_filter") => Ok(FinishReason::Filtered("content_filter".to_owned())),
        (status, reason) => {
            let why = one_line(&format!("{status} {reason}"));
            Err(RequestError::malformed(format!("unknown response status: {why}")))
        }
    }
}

fn tokens(response: &Value) -> TokenCounts {
    TokenCounts {
        input: number(response, "/usage/input_tokens"),
        output: number(response, "/usage/output_tokens"),
        cache_read: number(response, "/usage/input_tokens_details/cached_tokens"),
        cache_write: number(response, "/usage/input_tokens_details/cache_write_tokens"),
    }
}
