//! A question as the Responses API takes it.

use super::NAME;
use crate::models::form::{Enforced, bare, system};
use crate::models::optional::{Allowed, Optional};
use crate::models::protocol::own_words;
use mala_domain::conversation::{Ask, Form, Part, Said, ToolChoice, Turn};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

pub(super) fn body(ask: &Ask, allowed: Allowed) -> Value {
    let form = allowed.form(ask);
    let enforced = match ask.form {
        Form::Json { .. } if form.is_none() => Enforced::No,
        _ => Enforced::Yes,
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
        let format =
            json!({"type": "json_schema", "name": name, "schema": bare(schema), "strict": true});
        body["text"] = json!({"format": format});
    }
    if allowed.has(Optional::Reasoning) {
        body["include"] = json!(["reasoning.encrypted_content"]);
    }
    if allowed.has(Optional::CacheKey) {
        body["prompt_cache_key"] = json!(cache_key(ask));
    }
    body
}

/// Calls with the same beginning go to the same machine, where its cache is.
pub(crate) fn cache_key(ask: &Ask) -> String {
    let mut hash = Sha256::new();
    hash.update(&ask.model);
    hash.update([0]);
    hash.update(&ask.system);
    let hash = hash.finalize();
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn items(model: &str, turn: &Turn) -> Vec<Value> {
    match turn {
        Turn::Model(said) => said_items(model, said),
        Turn::Ours(parts) => parts.iter().map(item).collect(),
    }
}

fn item(part: &Part) -> Value {
    match part {
        Part::Text(text) | Part::Repeated(text) => {
            json!({"role": "user", "content": [{"type": "input_text", "text": text}]})
        }
        Part::ToolResult(result) => json!({
            "type": "function_call_output",
            "call_id": result.call.id,
            "output": result.text,
        }),
    }
}

fn said_items(model: &str, said: &Said) -> Vec<Value> {
    if let Some(Value::Array(items)) = own_words(NAME, model, said) {
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
