//! Listeners against events that no provider sends.

use super::*;
use crate::models::{anthropic, gemini, openai_chat, openai_responses};
use serde_json::json;

type NewListener = fn() -> Box<dyn Listener + Send>;

/// Each protocol's listener, with events as the protocol sends them.
fn protocols() -> Vec<(NewListener, Vec<Value>)> {
    let call = json!({"index": 0, "id": "c", "function": {"name": "f", "arguments": "{"}});
    vec![
        (
            || anthropic::Messages.listener(),
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
            || openai_responses::Responses.listener(),
            vec![
                json!({"type": "response.output_item.done", "item": {"type": "function_call", "call_id": "c", "name": "n", "arguments": "{}"}}),
                json!({"type": "response.completed", "response": {"status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": "t"}]}], "usage": {"input_tokens": 1}}}),
                json!({"type": "response.failed", "response": {"error": {"code": "c", "message": "m"}}}),
            ],
        ),
        (
            || openai_chat::Chat { server: openai_chat::Server::Compatible }.listener(),
            vec![
                json!({"model": "m", "choices": [{"delta": {"content": "a", "other": ["x"]}, "finish_reason": null}]}),
                json!({"choices": [{"delta": {"tool_calls": [call]}}]}),
                json!({"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1}}),
                json!({"error": {"message": "m"}}),
            ],
        ),
        (
            || gemini::Gemini.listener(),
            vec![
                json!({"candidates": [{"content": {"parts": [{"text": "a"}, {"functionCall": {"name": "f", "args": {}}}]}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 1}}),
                json!({"promptFeedback": {"blockReason": "SAFETY"}}),
                json!({"error": {"code": 503, "message": "m"}}),
            ],
        ),
    ]
}

/// Replaces the value at step `at` of a walk through all values.
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
fn no_events_break_a_listener() {
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
        for (new_listener, events) in &protocols {
            let mut listener = new_listener();
            for (event, place, with) in picks {
                let mut event = events[usize::from(*event) % events.len()].clone();
                let with = &strange[usize::from(*with) % strange.len()];
                spoil(&mut event, &mut usize::from(*place % 24), with);
                let heard = match place % 5 {
                    0 => listener.hear_whole(event),
                    _ => listener.hear(event),
                };
                if heard.is_err() {
                    listener = new_listener();
                }
            }
            listener.hear_done();
            if let Ok(heard) = listener.answer() {
                let calls = !heard.said.calls.is_empty();
                assert!(heard.stop != Stop::Tools || calls, "nobody waits for no tools");
                assert!(heard.stop != Stop::Complete || !calls, "calls are never dropped");
            }
        }
    });
}

#[test]
fn words_of_another_model_are_not_sent_back() {
    let said = Said {
        text: "t".into(),
        calls: Vec::new(),
        verbatim: by_model(verbatim("anthropic", json!([1])), "one"),
    };
    assert_eq!(own_words("anthropic", "one", &said), Some(&json!([1])));
    assert_eq!(own_words("anthropic", "two", &said), None);
    assert_eq!(own_words("gemini", "one", &said), None);
}
