//! A request as it came, and what it says whatever its protocol is.

use serde_json::Value;

/// A wire protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wire {
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
    /// How many came before it.
    pub number: usize,
    /// The protocol.
    pub wire: Wire,
    /// The path, with its query.
    pub path: String,
    /// The headers; names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Value,
}

/// A part of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeardTurn {
    /// What the user says.
    User(String),
    /// What the model said.
    Model(String),
    /// A call that the model made: the tool and its arguments.
    Call(String, String),
    /// What a tool gave.
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
            Wire::Gemini => {
                let name = self.path.rsplit('/').next().unwrap_or_default();
                name.split(':').next().unwrap_or_default().to_owned()
            }
            _ => text(&self.body["model"]),
        }
    }

    /// The system prompt.
    pub fn system(&self) -> String {
        match self.wire {
            Wire::Anthropic => texts(&self.body["system"]),
            Wire::Responses => text(&self.body["instructions"]),
            Wire::Chat => texts(&self.body["messages"][0]["content"]),
            Wire::Gemini => texts(&self.body["systemInstruction"]["parts"]),
        }
    }

    /// The names of the tools.
    pub fn tools(&self) -> Vec<String> {
        let (list, name) = match self.wire {
            Wire::Anthropic | Wire::Responses => (&self.body["tools"], "/name"),
            Wire::Chat => (&self.body["tools"], "/function/name"),
            Wire::Gemini => (&self.body["tools"][0]["functionDeclarations"], "/name"),
        };
        items(list).iter().filter_map(|tool| tool.pointer(name)).map(text).collect()
    }

    /// The schema that the answer must have.
    pub fn schema(&self) -> Option<&Value> {
        self.body.pointer(match self.wire {
            Wire::Anthropic => "/output_config/format/schema",
            Wire::Responses => "/text/format/schema",
            Wire::Chat => "/response_format/json_schema/schema",
            Wire::Gemini => "/generationConfig/responseJsonSchema",
        })
    }

    /// The most tokens that the answer may have.
    pub fn max_output_tokens(&self) -> Option<u64> {
        let names = match self.wire {
            Wire::Anthropic => ["/max_tokens", ""],
            Wire::Responses => ["/max_output_tokens", ""],
            Wire::Chat => ["/max_completion_tokens", "/max_tokens"],
            Wire::Gemini => ["/generationConfig/maxOutputTokens", ""],
        };
        names.iter().find_map(|name| self.body.pointer(name)?.as_u64())
    }

    /// The conversation, in order, without the system prompt.
    pub fn turns(&self) -> Vec<HeardTurn> {
        match self.wire {
            Wire::Anthropic => {
                items(&self.body["messages"]).iter().flat_map(of_anthropic).collect()
            }
            Wire::Responses => items(&self.body["input"]).iter().flat_map(of_responses).collect(),
            Wire::Chat => items(&self.body["messages"]).iter().skip(1).flat_map(of_chat).collect(),
            Wire::Gemini => items(&self.body["contents"]).iter().flat_map(of_gemini).collect(),
        }
    }

    /// All that the user says, in one text.
    pub fn user_text(&self) -> String {
        let turns = self.turns();
        let said = turns.iter().filter_map(|turn| match turn {
            HeardTurn::User(text) => Some(text.as_str()),
            _ => None,
        });
        said.collect::<Vec<_>>().join("\n")
    }

    /// What tools gave, in order.
    pub fn tool_results(&self) -> Vec<String> {
        let turns = self.turns().into_iter();
        let results = turns.filter_map(|turn| match turn {
            HeardTurn::Result(text) => Some(text),
            _ => None,
        });
        results.collect()
    }

    /// Everything that the model is told, for a search.
    pub fn prompt(&self) -> String {
        let turns = self.turns().into_iter().map(|turn| match turn {
            HeardTurn::User(text) | HeardTurn::Model(text) | HeardTurn::Result(text) => text,
            HeardTurn::Call(name, arguments) => format!("{name} {arguments}"),
        });
        std::iter::once(self.system()).chain(turns).collect::<Vec<_>>().join("\n")
    }

    /// The parts of the prompt in the order in which a provider caches them, and which of them the
    /// request marks as worth keeping.
    pub(super) fn pieces(&self) -> Vec<(String, bool)> {
        let form = self.schema().map(Value::to_string).unwrap_or_default();
        let tools = self.body["tools"].to_string();
        if self.wire == Wire::Anthropic {
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
            Wire::Responses => items(&self.body["input"]).to_vec(),
            Wire::Chat => items(&self.body["messages"]).iter().flat_map(parts_of).collect(),
            _ => {
                let contents = items(&self.body["contents"]).iter();
                contents.flat_map(|content| items(&content["parts"])).cloned().collect()
            }
        };
        let start = [form, tools, self.system()].into_iter();
        start.chain(turns.iter().map(Value::to_string)).map(|piece| (piece, true)).collect()
    }
}

/// A message of several parts as so many pieces: a cache ends at any token, not at messages.
fn parts_of(message: &Value) -> Vec<Value> {
    match &message["content"] {
        Value::Array(parts) => {
            std::iter::once(message["role"].clone()).chain(parts.iter().cloned()).collect()
        }
        _ => vec![message.clone()],
    }
}

fn of_anthropic(message: &Value) -> Vec<HeardTurn> {
    let is_user = message["role"] == "user";
    let said = |text| if is_user { HeardTurn::User(text) } else { HeardTurn::Model(text) };
    if let Value::String(only) = &message["content"] {
        return vec![said(only.clone())];
    }
    let blocks = items(&message["content"]).iter();
    let turns = blocks.filter_map(|block| match block["type"].as_str()? {
        "text" => Some(said(text(&block["text"]))),
        "tool_use" => Some(HeardTurn::Call(text(&block["name"]), block["input"].to_string())),
        "tool_result" => Some(HeardTurn::Result(texts(&block["content"]))),
        _ => None,
    });
    turns.collect()
}

fn of_responses(item: &Value) -> Option<HeardTurn> {
    match item["type"].as_str() {
        Some("function_call") => {
            Some(HeardTurn::Call(text(&item["name"]), text(&item["arguments"])))
        }
        Some("function_call_output") => Some(HeardTurn::Result(text(&item["output"]))),
        None | Some("message") if item["role"] == "user" => {
            Some(HeardTurn::User(texts(&item["content"])))
        }
        None | Some("message") => Some(HeardTurn::Model(texts(&item["content"]))),
        Some(_) => None,
    }
}

fn of_chat(message: &Value) -> Vec<HeardTurn> {
    let content = texts(&message["content"]);
    match message["role"].as_str() {
        Some("user") => vec![HeardTurn::User(content)],
        Some("tool") => vec![HeardTurn::Result(content)],
        _ => {
            let said = (!content.is_empty()).then_some(HeardTurn::Model(content));
            let calls = items(&message["tool_calls"]).iter().map(|call| {
                let function = &call["function"];
                HeardTurn::Call(text(&function["name"]), text(&function["arguments"]))
            });
            said.into_iter().chain(calls).collect()
        }
    }
}

fn of_gemini(content: &Value) -> Vec<HeardTurn> {
    let is_user = content["role"] != "model";
    let parts = items(&content["parts"]).iter();
    let turns = parts.filter_map(|part| {
        if let Some(call) = part.get("functionCall") {
            return Some(HeardTurn::Call(text(&call["name"]), call["args"].to_string()));
        }
        if let Some(result) = part.get("functionResponse") {
            let fields = result["response"].as_object()?;
            return Some(HeardTurn::Result(fields.values().map(text).collect()));
        }
        let said = text(part.get("text")?);
        Some(if is_user { HeardTurn::User(said) } else { HeardTurn::Model(said) })
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
