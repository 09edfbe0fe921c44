//! A question as Anthropic takes it. What is marked as worth caching: the system prompt, the last
//! repeated parts, and in a conversation with tools all that was said so far. Four marks are the most.

use super::NAME;
use crate::models::form::{Enforced, system, without_bounds};
use crate::models::optional::Allowed;
use crate::models::protocol::own_words;
use mala_domain::conversation::{Ask, Form, Part, Said, ToolChoice, Turn};
use serde_json::{Value, json};

/// Repeated parts that are marked, beside the system prompt and the end.
const MAX_REPEATED: usize = 2;

pub(super) fn body(ask: &Ask, allowed: Allowed) -> Value {
    let form = allowed.form(ask);
    let enforced = match ask.form {
        Form::Json { .. } if form.is_none() => Enforced::No,
        _ => Enforced::Yes,
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
        let schema = without_bounds(schema);
        body["output_config"] = json!({"format": {"type": "json_schema", "schema": schema}});
    }
    body
}

fn messages(ask: &Ask) -> Vec<Value> {
    let n_repeated = ask.turns.iter().map(repeated).sum::<usize>();
    let mut unmarked = n_repeated.saturating_sub(MAX_REPEATED);
    let mut messages: Vec<Value> = ask
        .turns
        .iter()
        .map(|turn| match turn {
            Turn::Ours(parts) => {
                let content: Vec<Value> =
                    parts.iter().map(|part| block(part, &mut unmarked)).collect();
                json!({"role": "user", "content": content})
            }
            Turn::Model(said) => json!({"role": "assistant", "content": content(&ask.model, said)}),
        })
        .collect();
    // What a model looks up is repeated in the next call; what it is told at first has its own marks.
    let looks_up = matches!(ask.turns.as_slice(), [_, .., Turn::Ours(_)]) && !ask.tools.is_empty();
    let last = messages.last_mut().and_then(|m| m["content"].as_array_mut()?.last_mut());
    if let Some(last) = last.filter(|_| looks_up) {
        last["cache_control"] = mark();
    }
    messages
}

fn repeated(turn: &Turn) -> usize {
    match turn {
        Turn::Ours(parts) => parts.iter().filter(|part| matches!(part, Part::Repeated(_))).count(),
        Turn::Model(_) => 0,
    }
}

fn block(part: &Part, unmarked: &mut usize) -> Value {
    match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Repeated(text) if *unmarked > 0 => {
            *unmarked -= 1;
            json!({"type": "text", "text": text})
        }
        Part::Repeated(text) => json!({"type": "text", "text": text, "cache_control": mark()}),
        Part::ToolResult(result) => json!({
            "type": "tool_result",
            "tool_use_id": result.call.id,
            "content": result.text,
            "is_error": result.is_error,
        }),
    }
}

fn content(model: &str, said: &Said) -> Value {
    if let Some(content) = own_words(NAME, model, said) {
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

/// A call's arguments; what is no object cannot be sent back and becomes an empty one.
pub(super) fn arguments(text: &str) -> Value {
    let arguments: Option<Value> = serde_json::from_str(text).ok();
    arguments.filter(Value::is_object).unwrap_or_else(|| json!({}))
}

fn mark() -> Value {
    json!({"type": "ephemeral"})
}

#[cfg(test)]
mod tests {
    use super::*;
    use mala_domain::conversation::{Tool, ToolCall, ToolResult};

    fn ask(turns: Vec<Turn>, tools: usize) -> Ask {
        let tool = Tool { name: "t".into(), description: "d".into(), arguments: json!({}) };
        Ask {
            model: "m".into(),
            system: "s".into(),
            tools: vec![tool; tools],
            tool_choice: ToolChoice::Free,
            turns,
            form: Form::Text,
            max_output_tokens: 5,
        }
    }

    #[test]
    fn at_most_four_places_are_marked() {
        let ours = Turn::Ours((0..9).map(|n| Part::Repeated(n.to_string())).collect());
        let result = ToolResult {
            call: ToolCall { id: "1".into(), name: "t".into(), arguments: "{}".into() },
            text: "r".into(),
            is_error: false,
        };
        let turns = vec![ours, Turn::Ours(vec![Part::ToolResult(result)])];
        let body = body(&ask(turns, 1), Allowed::ALL).to_string();
        assert_eq!(body.matches("cache_control").count(), 4);
    }

    #[test]
    fn a_turn_of_another_provider_is_told_again() {
        let said = Said {
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
}
