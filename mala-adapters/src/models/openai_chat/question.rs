//! A question as Chat Completions takes it.

use super::NAME;
use crate::models::form::{Enforced, bare, system};
use crate::models::openai_responses::cache_key;
use crate::models::optional::{Allowed, Optional};
use crate::models::protocol::own_words;
use mala_domain::conversation::{Ask, Form, Part, Said, ToolChoice, Turn};
use serde_json::{Value, json};

pub(super) fn body(ask: &Ask, allowed: Allowed) -> Value {
    let form = allowed.form(ask);
    let enforced = match ask.form {
        Form::Json { .. } if form.is_none() => Enforced::No,
        _ => Enforced::Yes,
    };
    let system = json!({"role": "system", "content": system(ask, enforced)});
    let messages =
        std::iter::once(system).chain(ask.turns.iter().flat_map(|turn| messages(&ask.model, turn)));
    let mut body = json!({
        "model": ask.model,
        "messages": messages.collect::<Vec<Value>>(),
        "stream": true,
    });
    let limit = match allowed.has(Optional::NewLimitName) {
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
        let schema = json!({"name": name, "schema": bare(schema), "strict": true});
        body["response_format"] = json!({"type": "json_schema", "json_schema": schema});
    }
    if allowed.has(Optional::StreamedUsage) {
        body["stream_options"] = json!({"include_usage": true});
    }
    if allowed.has(Optional::CacheKey) {
        body["prompt_cache_key"] = json!(cache_key(ask));
    }
    body
}

/// The results of tools come first: they must follow the calls at once.
fn messages(model: &str, turn: &Turn) -> Vec<Value> {
    let parts = match turn {
        Turn::Model(said) => return vec![message(model, said)],
        Turn::Ours(parts) => parts,
    };
    let results = parts.iter().filter_map(|part| match part {
        Part::ToolResult(result) => Some(json!({
            "role": "tool",
            "tool_call_id": result.call.id,
            "content": result.text,
        })),
        Part::Text(_) | Part::Repeated(_) => None,
    });
    let texts: Vec<Value> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) | Part::Repeated(text) => Some(json!({"type": "text", "text": text})),
            Part::ToolResult(_) => None,
        })
        .collect();
    // Some servers take only plain text where one part is all there is.
    let content = match texts.as_slice() {
        [] => None,
        [only] => only.get("text").cloned(),
        _ => Some(Value::Array(texts)),
    };
    let text = content.map(|content| json!({"role": "user", "content": content}));
    results.chain(text).collect()
}

fn message(model: &str, said: &Said) -> Value {
    if let Some(message) = own_words(NAME, model, said) {
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
