//! Answers as each protocol streams them.

use super::cache::PromptTokens;
use super::request::{ModelRequest, WireProtocol};
use super::script::{AnswerEnd, AnswerUsage, ModelAnswer};
use serde_json::{Value, json};

/// The events of an answer in wire format.
pub(super) fn events(
    request: &ModelRequest,
    answer: &ModelAnswer,
    counted: PromptTokens,
) -> Vec<String> {
    let events = AnswerEvents { request, answer, usage: usage(answer, counted) };
    match request.wire {
        WireProtocol::Anthropic => events.anthropic().iter().map(named).collect(),
        WireProtocol::Responses => events.responses().iter().map(named).collect(),
        WireProtocol::Chat => {
            let done = "data: [DONE]\n\n".to_owned();
            events.chat().iter().map(plain).chain([done]).collect()
        }
        WireProtocol::Gemini => events.gemini().iter().map(plain).collect(),
    }
}

/// An error inside a stream.
pub(super) fn error_event(wire: WireProtocol) -> String {
    let message = "Overloaded, as scripted";
    match wire {
        WireProtocol::Anthropic => named(&json!({"type": "error",
            "error": {"type": "overloaded_error", "message": message}})),
        WireProtocol::Responses => {
            named(&json!({"type": "response.failed", "response": {"status": "failed",
            "error": {"code": "server_is_overloaded", "message": message}}}))
        }
        WireProtocol::Chat => {
            plain(&json!({"error": {"type": "overloaded_error", "message": message}}))
        }
        WireProtocol::Gemini => {
            plain(&json!({"error": {"code": 503, "status": "UNAVAILABLE", "message": message}}))
        }
    }
}

/// The body of an error response.
pub(super) fn error_body(wire: WireProtocol, status: u16) -> Value {
    let (kind, google) = match status {
        400 => ("invalid_request_error", "INVALID_ARGUMENT"),
        401 => ("authentication_error", "UNAUTHENTICATED"),
        402 => ("billing_error", "FAILED_PRECONDITION"),
        403 => ("permission_error", "PERMISSION_DENIED"),
        404 => ("not_found_error", "NOT_FOUND"),
        429 => ("rate_limit_error", "RESOURCE_EXHAUSTED"),
        503 | 529 => ("overloaded_error", "UNAVAILABLE"),
        _ => ("api_error", "INTERNAL"),
    };
    error_of(wire, kind, google, &format!("scripted {status}"))
}

/// The error for a request that exceeds the context window.
pub(super) fn too_long_body(wire: WireProtocol) -> Value {
    match wire {
        WireProtocol::Anthropic => error_of(
            wire,
            "invalid_request_error",
            "",
            "prompt is too long: 210000 tokens > 200000 maximum",
        ),
        WireProtocol::Responses | WireProtocol::Chat => {
            json!({"error": {"type": "invalid_request_error",
            "code": "context_length_exceeded",
            "message": "Your input exceeds the context window of this model."}})
        }
        WireProtocol::Gemini => error_of(
            wire,
            "",
            "INVALID_ARGUMENT",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        ),
    }
}

fn error_of(wire: WireProtocol, kind: &str, google: &str, message: &str) -> Value {
    match wire {
        WireProtocol::Anthropic => {
            json!({"type": "error", "error": {"type": kind, "message": message}})
        }
        WireProtocol::Responses | WireProtocol::Chat => {
            json!({"error": {"type": kind, "code": null, "param": null, "message": message}})
        }
        WireProtocol::Gemini => json!({"error": {"status": google, "message": message}}),
    }
}

fn usage(answer: &ModelAnswer, counted: PromptTokens) -> Option<UsageCounters> {
    let spoken = answer.text.len() + answer.calls.iter().map(|c| c.arguments.len()).sum::<usize>();
    match answer.usage {
        Some(AnswerUsage::Unsaid) => None,
        Some(AnswerUsage::Said { input, cached, output }) => {
            Some(UsageCounters { input, read: cached, written: 0, output })
        }
        None => Some(UsageCounters {
            input: counted.all,
            read: counted.read,
            written: counted.written,
            output: (spoken as u64).div_ceil(4).max(1),
        }),
    }
}

struct UsageCounters {
    input: u64,
    read: u64,
    written: u64,
    output: u64,
}

struct AnswerEvents<'a> {
    request: &'a ModelRequest,
    answer: &'a ModelAnswer,
    usage: Option<UsageCounters>,
}

impl AnswerEvents<'_> {
    fn model(&self) -> String {
        self.answer.model.clone().unwrap_or_else(|| self.request.model())
    }

    fn anthropic(&self) -> Vec<Value> {
        let usage = self.usage.as_ref().map(|used| {
            json!({
                "input_tokens": used.input.saturating_sub(used.read + used.written),
                "cache_creation_input_tokens": used.written,
                "cache_read_input_tokens": used.read,
                "output_tokens": 1,
            })
        });
        let mut events = vec![
            json!({"type": "message_start", "message": {"id": "msg_1", "type": "message",
                "role": "assistant", "model": self.model(), "content": [],
                "stop_reason": null, "usage": usage.unwrap_or_default()}}),
            json!({"type": "ping"}),
        ];
        let mut blocks = Vec::new();
        if !self.answer.text.is_empty() {
            let deltas =
                halves(&self.answer.text).map(|text| json!({"type": "text_delta", "text": text}));
            blocks.push((json!({"type": "text", "text": ""}), deltas));
        }
        for (number, call) in self.answer.calls.iter().enumerate() {
            let deltas = halves(&call.arguments)
                .map(|json| json!({"type": "input_json_delta", "partial_json": json}));
            let id = self.call_id("toolu", number);
            let start = json!({"type": "tool_use", "id": id, "name": call.name, "input": {}});
            blocks.push((start, deltas));
        }
        for (index, (start, deltas)) in blocks.into_iter().enumerate() {
            let start =
                json!({"type": "content_block_start", "index": index, "content_block": start});
            events.push(start);
            events.extend(deltas.map(
                |delta| json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ));
            events.push(json!({"type": "content_block_stop", "index": index}));
        }
        let stop = match self.answer.ending() {
            AnswerEnd::Done => "end_turn".to_owned(),
            AnswerEnd::Tools => "tool_use".to_owned(),
            AnswerEnd::MaxTokens => "max_tokens".to_owned(),
            AnswerEnd::Refusal | AnswerEnd::Filter => "refusal".to_owned(),
            AnswerEnd::Unknown(word) => word,
        };
        let usage = self.usage.as_ref().map(|used| json!({"output_tokens": used.output}));
        events.push(json!({"type": "message_delta", "usage": usage.unwrap_or_default(),
            "delta": {"stop_reason": stop, "stop_sequence": null}}));
        events.push(json!({"type": "message_stop"}));
        events
    }

    fn responses(&self) -> Vec<Value> {
        let mut items = Vec::new();
        let refuses = self.answer.ending() == AnswerEnd::Refusal;
        let part = match refuses {
            true => json!({"type": "refusal", "refusal": self.answer.text}),
            false => json!({"type": "output_text", "text": self.answer.text, "annotations": []}),
        };
        if !self.answer.text.is_empty() || refuses {
            items.push(json!({"type": "message", "id": "msg_1", "role": "assistant",
                "status": "completed", "content": [part]}));
        }
        for (number, call) in self.answer.calls.iter().enumerate() {
            items.push(json!({"type": "function_call", "id": format!("fc_{number}"),
                "call_id": self.call_id("call", number), "name": call.name,
                "arguments": call.arguments, "status": "completed"}));
        }
        let mut events = vec![json!({"type": "response.created",
            "response": {"id": "resp_1", "object": "response", "status": "in_progress"}})];
        for (index, item) in items.iter().enumerate() {
            events.push(json!({"type": "response.output_item.added", "output_index": index,
                "item": {"type": item["type"]}}));
            for text in halves(&self.answer.text).into_iter().filter(|_| item["type"] == "message")
            {
                events.push(json!({"type": "response.output_text.delta", "output_index": index,
                    "delta": text}));
            }
            events.push(json!({"type": "response.output_item.done", "output_index": index,
                "item": item}));
        }
        let (status, reason) = match self.answer.ending() {
            AnswerEnd::Done | AnswerEnd::Tools | AnswerEnd::Refusal => ("completed", None),
            AnswerEnd::MaxTokens => ("incomplete", Some("max_output_tokens".to_owned())),
            AnswerEnd::Filter => ("incomplete", Some("content_filter".to_owned())),
            AnswerEnd::Unknown(word) => ("incomplete", Some(word)),
        };
        let usage = self.usage.as_ref().map(|used| {
            json!({"input_tokens": used.input, "output_tokens": used.output,
                "input_tokens_details": {"cached_tokens": used.read},
                "total_tokens": used.input + used.output})
        });
        events.push(json!({"type": format!("response.{status}"), "response": {"id": "resp_1",
            "object": "response", "status": status, "model": self.model(),
            "incomplete_details": reason.map(|reason| json!({"reason": reason})),
            "output": items, "usage": usage}}));
        events
    }

    fn chat(&self) -> Vec<Value> {
        let chunk = |delta: Value, finish: Value| {
            json!({"id": "c1", "object": "chat.completion.chunk", "model": self.model(),
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
        };
        let mut events = vec![chunk(json!({"role": "assistant", "content": ""}), Value::Null)];
        let field = if self.answer.ending() == AnswerEnd::Refusal { "refusal" } else { "content" };
        for text in halves(&self.answer.text).into_iter().filter(|text| !text.is_empty()) {
            events.push(chunk(json!({field: text}), Value::Null));
        }
        for (index, call) in self.answer.calls.iter().enumerate() {
            let function = json!({"name": call.name, "arguments": ""});
            let id = self.call_id("call", index);
            let start = json!({"index": index, "id": id, "type": "function", "function": function});
            events.push(chunk(json!({"tool_calls": [start]}), Value::Null));
            for text in halves(&call.arguments) {
                let more = json!({"index": index, "function": {"arguments": text}});
                events.push(chunk(json!({"tool_calls": [more]}), Value::Null));
            }
        }
        let finish = match self.answer.ending() {
            AnswerEnd::Done | AnswerEnd::Refusal => "stop".to_owned(),
            AnswerEnd::Tools => "tool_calls".to_owned(),
            AnswerEnd::MaxTokens => "length".to_owned(),
            AnswerEnd::Filter => "content_filter".to_owned(),
            AnswerEnd::Unknown(word) => word,
        };
        events.push(chunk(json!({}), json!(finish)));
        let asked = self.request.body.pointer("/stream_options/include_usage").is_some();
        if let Some(used) = self.usage.as_ref().filter(|_| asked) {
            events.push(json!({"id": "c1", "object": "chat.completion.chunk", "choices": [],
                "usage": {"prompt_tokens": used.input, "completion_tokens": used.output,
                    "prompt_tokens_details": {"cached_tokens": used.read}}}));
        }
        events
    }

    fn gemini(&self) -> Vec<Value> {
        let texts = halves(&self.answer.text).into_iter().filter(|text| !text.is_empty());
        let mut parts: Vec<Value> = texts.map(|text| json!({"text": text})).collect();
        for call in &self.answer.calls {
            let args: Value = serde_json::from_str(&call.arguments).unwrap_or_else(|_| json!({}));
            parts.push(json!({"functionCall": {"name": call.name, "args": args},
                "thoughtSignature": "c2ln"}));
        }
        let finish = match self.answer.ending() {
            AnswerEnd::Done | AnswerEnd::Tools => "STOP".to_owned(),
            AnswerEnd::MaxTokens => "MAX_TOKENS".to_owned(),
            AnswerEnd::Refusal | AnswerEnd::Filter => "SAFETY".to_owned(),
            AnswerEnd::Unknown(word) => word,
        };
        let usage = self.usage.as_ref().map(|used| {
            json!({"promptTokenCount": used.input, "candidatesTokenCount": used.output,
                "cachedContentTokenCount": used.read, "totalTokenCount": used.input + used.output})
        });
        let model = self.model();
        let mut events: Vec<Value> = parts
            .into_iter()
            .map(|part| {
                json!({"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}],
                    "modelVersion": model})
            })
            .collect();
        let mut last = json!({"modelVersion": model, "candidates": [{"index": 0,
            "content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": finish}]});
        if let Some(usage) = usage {
            last["usageMetadata"] = usage;
        }
        events.push(last);
        events
    }

    /// Ids differ between the calls of a conversation, as with real providers.
    fn call_id(&self, prefix: &str, number: usize) -> String {
        format!("{prefix}_{}_{number}", self.request.turns().len())
    }
}

/// A text in two pieces, split at a character boundary.
fn halves(text: &str) -> [&str; 2] {
    let middle = (text.len() / 2..=text.len()).find(|at| text.is_char_boundary(*at));
    let (first, second) = text.split_at(middle.unwrap_or(text.len()));
    [first, second]
}

fn named(event: &Value) -> String {
    format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
}

fn plain(event: &Value) -> String {
    format!("data: {event}\n\n")
}
