//! Response readers with events that no provider sends.

use super::*;
use crate::models::{anthropic, gemini, openai_chat, openai_responses};
use serde_json::json;

type NewReader = fn() -> Box<dyn ResponseReader + Send>;

/// The response reader of each protocol, with its events.
fn protocols() -> Vec<(NewReader, Vec<Value>)> {
    let call = json!({"index": 0, "id": "c", "function": {"name": "f", "arguments": "{"}});
    vec![
        (
            || anthropic::AnthropicMessages.response_reader(),
            vec![
                json!({"type": "message_start", "message": {"model": "m", "usage": {"input_tokens": 1}}}),
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
                json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "i", "name": "n", "input": {}}}),
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "a"}}),
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": {}}}),
                json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{"}}),
                json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}),
                json!({"type": "error", "error": {"type": "overloaded_error", "message": "m"}}),
                json!({"type": "message", "content": [{"type": "text", "text": "x"}], "stop_reason": "end_turn"}),
            ],
        ),
        (
            || openai_responses::OpenAiResponsesApi.response_reader(),
            vec![
                json!({"type": "response.output_item.done", "item": {"type": "function_call", "call_id": "c", "name": "n", "arguments": "{}"}}),
                json!({"type": "response.completed", "response": {"status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": "t"}]}], "usage": {"input_tokens": 1}}}),
                json!({"type": "response.failed", "response": {"error": {"code": "c", "message": "m"}}}),
            ],
        ),
        (
            || {
                openai_chat::OpenAiChatApi { server: openai_chat::ChatServer::Compatible }
                    .response_reader()
            },
            vec![
                json!({"model": "m", "choices": [{"delta": {"content": "a", "other": ["x"]}, "finish_reason": null}]}),
                json!({"choices": [{"delta": {"tool_calls": [call]}}]}),
                json!({"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1}}),
                json!({"error": {"message": "m"}}),
            ],
        ),
        (
            || gemini::GeminiApi.response_reader(),
            vec![
                json!({"candidates": [{"content": {"parts": [{"text": "a"}, {"functionCall": {"name": "f", "args": {}}}]}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 1}}),
                json!({"promptFeedback": {"blockReason": "SAFETY"}}),
                json!({"error": {"code": 503, "message": "m"}}),
            ],
        ),
    ]
}

/// Replaces the value at position `at` of a traversal.
fn spoil(value: &mut Value, at: &mut usize, with: &Value) {
    if *at == 0 {
        *value = with.clone();
    }
    *at = at.wrapping_sub(1);
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| spoil(item, at, with)),
        Value::Object(fields) => fields.values_mut().for_each(|field| spoil(field, at, with)),
        _ => {}
    }
}

#[test]
fn strange_events_do_not_break_a_reader() {
    let strange = [
        json!(null),
        json!("text"),
        json!(-1),
        json!(u64::MAX),
        json!([]),
        json!([1, null]),
        json!({}),
        json!({"type": "tool_use", "message": 1}),
        json!(true),
    ];
    let protocols = protocols();
    bolero::check!().with_iterations(4_000).with_type::<Vec<(u8, u8, u8)>>().for_each(|picks| {
        for (new_reader, events) in &protocols {
            let mut reader = new_reader();
            for (event, place, with) in picks {
                let mut event = events[usize::from(*event) % events.len()].clone();
                let with = &strange[usize::from(*with) % strange.len()];
                spoil(&mut event, &mut usize::from(*place % 24), with);
                let response = match place % 5 {
                    0 => reader.read_whole(event),
                    _ => reader.read_event(event),
                };
                if response.is_err() {
                    reader = new_reader();
                }
            }
            reader.read_done();
            if let Ok(response) = reader.finish() {
                let calls = !response.said.calls.is_empty();
                assert!(
                    response.stop != FinishReason::Tools || calls,
                    "a response without calls does not wait for tools"
                );
                assert!(
                    response.stop != FinishReason::Complete || !calls,
                    "calls are never dropped"
                );
            }
        }
    });
}

#[test]
fn content_of_another_model_is_not_sent_back() {
    let said = AssistantTurn {
        text: "t".into(),
        calls: Vec::new(),
        verbatim: with_model(verbatim("anthropic", json!([1])), "one"),
    };
    assert_eq!(own_content("anthropic", "one", &said), Some(&json!([1])));
    assert_eq!(own_content("anthropic", "two", &said), None);
    assert_eq!(own_content("gemini", "one", &said), None);
}
