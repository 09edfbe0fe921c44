//! A request and its content, independent of the protocol.

use serde_json::Value;

/// A wire protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WireProtocol {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Responses.
    Responses,
    /// OpenAI Chat Completions.
    Chat,
    /// Gemini.
    Gemini,
}

/// A request.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// The number of requests before it.
    pub number: usize,
    /// The protocol.
    pub wire: WireProtocol,
    /// The path, with its query.
    pub path: String,
    /// The headers, with lower-case names.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Value,
}

/// A part of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestTurn {
    /// A message of the user.
    User(String),
    /// A message of the model.
    Model(String),
    /// A tool call of the model: the tool and its arguments.
    Call(String, String),
    /// The result of a tool.
    Result(String),
}

impl ModelRequest {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The model.
    pub fn model(&self) -> String {
        match self.wire {
            WireProtocol::Gemini => {
                let name = self.path.rsplit('/').next().unwrap_or_default();
                name.split(':').next().unwrap_or_default().to_owned()
            }
            _ => text(&self.body["model"]),
        }
    }

    /// The system prompt.
    pub fn system(&self) -> String {
        match self.wire {
            WireProtocol::Anthropic => texts(&self.body["system"]),
            WireProtocol::Responses => text(&self.body["instructions"]),
            WireProtocol::Chat => texts(&self.body["messages"][0]["content"]),
            WireProtocol::Gemini => texts(&self.body["systemInstruction"]["parts"]),
        }
    }

    /// The names of the tools.
    pub fn tools(&self) -> Vec<String> {
        let (list, name) = match self.wire {
            WireProtocol::Anthropic | WireProtocol::Responses => (&self.body["tools"], "/name"),
            WireProtocol::Chat => (&self.body["tools"], "/function/name"),
            WireProtocol::Gemini => (&self.body["tools"][0]["functionDeclarations"], "/name"),
        };
        items(list).iter().filter_map(|tool| tool.pointer(name)).map(text).collect()
    }

    /// The schema of the answer.
    pub fn schema(&self) -> Option<&Value> {
        self.body.pointer(match self.wire {
            WireProtocol::Anthropic => "/output_config/format/schema",
            WireProtocol::Responses => "/text/format/schema",
            WireProtocol::Chat => "/response_format/json_schema/schema",
            WireProtocol::Gemini => "/generationConfig/responseJsonSchema",
        })
    }

    /// The limit of output tokens.
    pub fn max_output_tokens(&self) -> Option<u64> {
        let names = match self.wire {
            WireProtocol::Anthropic => ["/max_tokens", ""],
            WireProtocol::Responses => ["/max_output_tokens", ""],
            WireProtocol::Chat => ["/max_completion_tokens", "/max_tokens"],
            WireProtocol::Gemini => ["/generationConfig/maxOutputTokens", ""],
        };
        names.iter().find_map(|name| self.body.pointer(name)?.as_u64())
    }

    /// The conversation, in order, without the system prompt.
    pub fn turns(&self) -> Vec<RequestTurn> {
        match self.wire {
            WireProtocol::Anthropic => {
                items(&self.body["messages"]).iter().flat_map(of_anthropic).collect()
            }
            WireProtocol::Responses => {
                items(&self.body["input"]).iter().flat_map(of_responses).collect()
            }
            WireProtocol::Chat => {
                items(&self.body["messages"]).iter().skip(1).flat_map(of_chat).collect()
            }
            WireProtocol::Gemini => {
                items(&self.body["contents"]).iter().flat_map(of_gemini).collect()
            }
        }
    }

    /// All messages of the user, in one text.
    pub fn user_text(&self) -> String {
        let turns = self.turns();
        let said = turns.iter().filter_map(|turn| match turn {
            RequestTurn::User(text) => Some(text.as_str()),
            _ => None,
        });
        said.collect::<Vec<_>>().join("\n")
    }

    /// The results of tools, in order.
    pub fn tool_results(&self) -> Vec<String> {
        let turns = self.turns().into_iter();
        let results = turns.filter_map(|turn| match turn {
            RequestTurn::Result(text) => Some(text),
            _ => None,
        });
        results.collect()
    }

    /// The whole prompt, for a search.
    pub fn prompt(&self) -> String {
        let turns = self.turns().into_iter().map(|turn| match turn {
            RequestTurn::User(text) | RequestTurn::Model(text) | RequestTurn::Result(text) => text,
            RequestTurn::Call(name, arguments) => format!("{name} {arguments}"),
        });
        std::iter::once(self.system()).chain(turns).collect::<Vec<_>>().join("\n")
    }

    /// The parts of the prompt in the order in which a provider caches them, and whether the
    /// request marks them for caching.
    pub(super) fn pieces(&self) -> Vec<(String, bool)> {
        let form = self.schema().map(Value::to_string).unwrap_or_default();
        let tools = self.body["tools"].to_string();
        if self.wire == WireProtocol::Anthropic {
            let marked = |block: &Value| {
                let mut plain = block.clone();
                let mark = plain.as_object_mut().and_then(|fields| fields.remove("cache_control"));
                (plain.to_string(), mark.is_some())
            };
            let messages = items(&self.body["messages"]).iter();
            let blocks = messages.flat_map(|message| items(&message["content"]));
            let system = items(&self.body["system"]).iter();
            let start = [(form, false), (tools, false)].into_iter();
            return start.chain(system.chain(blocks).map(marked)).collect();
        }
        let turns = match self.wire {
            WireProtocol::Responses => items(&self.body["input"]).to_vec(),
            WireProtocol::Chat => items(&self.body["messages"]).iter().flat_map(parts_of).collect(),
            _ => {
                let contents = items(&self.body["contents"]).iter();
                contents.flat_map(|content| items(&content["parts"])).cloned().collect()
            }
        };
        let start = [form, tools, self.system()].into_iter();
        start.chain(turns.iter().map(Value::to_string)).map(|piece| (piece, true)).collect()
    }
}

/// The parts of a message: a cached prefix can end inside a message.
fn parts_of(message: &Value) -> Vec<Value> {
    match &message["content"] {
        Value::Array(parts) => {
            std::iter::once(message["role"].clone()).chain(parts.iter().cloned()).collect()
        }
        _ => vec![message.clone()],
    }
}

fn of_anthropic(message: &Value) -> Vec<RequestTurn> {
    let is_user = message["role"] == "user";
    let said = |text| if is_user { RequestTurn::User(text) } else { RequestTurn::Model(text) };
    if let Value::String(only) = &message["content"] {
        return vec![said(only.clone())];
    }
    let blocks = items(&message["content"]).iter();
    let turns = blocks.filter_map(|block| match block["type"].as_str()? {
        "text" => Some(said(text(&block["text"]))),
        "tool_use" => Some(RequestTurn::Call(text(&block["name"]), block["input"].to_string())),
        "tool_result" => Some(RequestTurn::Result(texts(&block["content"]))),
        _ => None,
    });
    turns.collect()
}

fn of_responses(item: &Value) -> Option<RequestTurn> {
    match item["type"].as_str() {
        Some("function_call") => {
            Some(RequestTurn::Call(text(&item["name"]), text(&item["arguments"])))
        }
        Some("function_call_output") => Some(RequestTurn::Result(text(&item["output"]))),
        None | Some("message") if item["role"] == "user" => {
            Some(RequestTurn::User(texts(&item["content"])))
        }
        None | Some("message") => Some(RequestTurn::Model(texts(&item["content"]))),
        Some(_) => None,
    }
}

fn of_chat(message: &Value) -> Vec<RequestTurn> {
    let content = texts(&message["content"]);
    match message["role"].as_str() {
        Some("user") => vec![RequestTurn::User(content)],
        Some("tool") => vec![RequestTurn::Result(content)],
        _ => {
            let said = (!content.is_empty()).then_some(RequestTurn::Model(content));
            let calls = items(&message["tool_calls"]).iter().map(|call| {
                let function = &call["function"];
                RequestTurn::Call(text(&function["name"]), text(&function["arguments"]))
            });
            said.into_iter().chain(calls).collect()
        }
    }
}

fn of_gemini(content: &Value) -> Vec<RequestTurn> {
    let is_user = content["role"] != "model";
    let parts = items(&content["parts"]).iter();
    let turns = parts.filter_map(|part| {
        if let Some(call) = part.get("functionCall") {
            return Some(RequestTurn::Call(text(&call["name"]), call["args"].to_string()));
        }
        if let Some(result) = part.get("functionResponse") {
            let fields = result["response"].as_object()?;
            return Some(RequestTurn::Result(fields.values().map(text).collect()));
        }
        let said = text(part.get("text")?);
        Some(if is_user { RequestTurn::User(said) } else { RequestTurn::Model(said) })
    });
    turns.collect()
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A text, or the texts of a list of parts.
fn texts(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        parts => items(parts).iter().map(|part| text(&part["text"])).collect(),
    }
}
