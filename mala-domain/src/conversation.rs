//! Requests to language models and their replies, independent of the provider. Every request
//! contains the whole conversation.

mod redact;

use serde::{Deserialize, Serialize};

/// A request to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// The name of the model that the provider uses.
    pub model: String,
    /// The instructions. Equal for all requests of a kind, so that providers can cache them.
    pub system: String,
    /// The available tools.
    pub tools: Vec<ToolDefinition>,
    /// Whether the model may call tools in this turn.
    #[serde(default)]
    pub tool_choice: ToolChoice,
    /// The conversation so far. The first turn is ours.
    pub turns: Vec<ChatTurn>,
    /// The format of the answer.
    pub form: AnswerFormat,
    /// Maximum number of output tokens.
    pub max_output_tokens: u32,
}

/// Whether a model may call tools. The tools stay in the prompt either way, since earlier turns
/// mention them and providers cache them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Free,
    /// The model must answer without tool calls.
    None,
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// The name.
    pub name: String,
    /// What the tool does.
    pub description: String,
    /// The JSON Schema of the arguments, an object.
    pub arguments: serde_json::Value,
}

/// The format of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum AnswerFormat {
    /// Any text.
    Text,
    /// JSON with a schema. Some providers enforce it.
    Json {
        /// The name of the schema.
        name: String,
        /// The JSON Schema: closed objects, all fields required.
        schema: serde_json::Value,
    },
}

/// A turn of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum ChatTurn {
    /// Our turn.
    #[serde(rename = "Ours")]
    User(Vec<TurnPart>),
    /// The turn of the model.
    Model(AssistantTurn),
}

/// A part of our turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum TurnPart {
    /// Text.
    Text(String),
    /// Text that later requests repeat up to here, so that caching it pays off.
    Repeated(String),
    /// The result of a tool call.
    ToolResult(ToolResult),
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The tool call.
    pub call: ToolCall,
    /// The result, or the error.
    pub text: String,
    /// Whether the tool failed.
    pub is_error: bool,
}

/// A turn of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AssistantTurn {
    /// The text.
    pub text: String,
    /// The requested tool calls.
    pub calls: Vec<ToolCall>,
    /// The turn in the format of the provider, to be sent back unchanged: it may be signed.
    pub verbatim: serde_json::Value,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id of the call, assigned by the provider.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments as the model wrote them, normally JSON.
    pub arguments: String,
}

/// The reply to a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChatReply {
    /// The turn of the model.
    pub said: AssistantTurn,
    /// Why the model stopped.
    pub stop: FinishReason,
    /// The tokens used.
    pub tokens: TokenCounts,
    /// The name of the model, as the provider reports it.
    pub model: String,
    /// Whether the provider enforced the requested format.
    pub form_enforced: bool,
    /// Number of requests, including the successful one.
    pub attempts: u32,
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FinishReason {
    /// The answer is complete.
    Complete,
    /// The model waits for tool results.
    Tools,
    /// The answer was cut at the maximum number of tokens.
    MaxTokens,
    /// The model refused to answer.
    Refused(String),
    /// The provider's filter stopped the answer.
    Filtered(String),
}

/// Token counts of one call. A count that the provider does not report is unknown, not zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenCounts {
    /// All input, cached or not.
    pub input: Option<u64>,
    /// All output, including reasoning.
    pub output: Option<u64>,
    /// Input read from the provider's cache.
    pub cache_read: Option<u64>,
    /// Input written to the provider's cache.
    pub cache_write: Option<u64>,
}
