//! A question as Gemini takes it.

use super::NAME;
use super::answer::OWN_IDS;
use crate::models::form::{Enforced, bare, system};
use crate::models::optional::Allowed;
use crate::models::protocol::own_words;
use mala_domain::conversation::{Ask, Form, Part, Said, ToolChoice, Turn};
use serde_json::{Value, json};

pub(super) fn body(ask: &Ask, allowed: Allowed) -> Value {
    let form = allowed.form(ask);
    let enforced = match ask.form {
        Form::Json { .. } if form.is_none() => Enforced::No,
        _ => Enforced::Yes,
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
                    "parametersJsonSchema": bare(&tool.arguments),
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
        config["responseJsonSchema"] = bare(schema);
    }
    body
}

fn content(model: &str, turn: &Turn) -> Value {
    match turn {
        Turn::Ours(parts) => {
            json!({"role": "user", "parts": parts.iter().map(part).collect::<Vec<Value>>()})
        }
        Turn::Model(said) => json!({"role": "model", "parts": said_parts(model, said)}),
    }
}

fn part(part: &Part) -> Value {
    let result = match part {
        Part::Text(text) | Part::Repeated(text) => return json!({"text": text}),
        Part::ToolResult(result) => result,
    };
    let key = if result.is_error { "error" } else { "output" };
    let mut response = json!({"name": result.call.name, "response": {key: result.text}});
    if !result.call.id.starts_with(OWN_IDS) {
        response["id"] = json!(result.call.id);
    }
    json!({"functionResponse": response})
}

fn said_parts(model: &str, said: &Said) -> Value {
    if let Some(parts) = own_words(NAME, model, said) {
        return parts.clone();
    }
    let text = (!said.text.is_empty()).then(|| json!({"text": said.text}));
    let calls = said.calls.iter().map(|call| {
        let args: Value = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
        json!({"functionCall": {"name": call.name, "args": args}})
    });
    text.into_iter().chain(calls).collect()
}
