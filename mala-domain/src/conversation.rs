//! What is said to a language model and what it answers, in no provider's words. A conversation is a
//! value: asking again means to send all of it again, with one more turn.

mod without_secrets;

use serde::{Deserialize, Serialize};

/// One call to a model: everything that it is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// The model, by the name that its provider knows.
    pub model: String,
    /// What it is to do. The same for all calls of a kind, so that a provider can cache it.
    pub system: String,
    /// The tools that there are.
    pub tools: Vec<Tool>,
    /// Whether it may call them in this turn.
    #[serde(default)]
    pub tool_choice: ToolChoice,
    /// What was said so far, in order. The first turn is ours.
    pub turns: Vec<Turn>,
    /// The form of the answer.
    pub form: Form,
    /// The most tokens that it may answer with.
    pub max_output_tokens: u32,
}

/// Whether a model may call tools. The tools themselves stay in the prompt either way: earlier turns
/// speak of them, and providers cache them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToolChoice {
    /// As it sees fit.
    #[default]
    Free,
    /// It has to answer.
    None,
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The JSON Schema of its arguments, an object.
    pub arguments: serde_json::Value,
}

/// The form that an answer must have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Form {
    /// Any text.
    Text,
    /// JSON by a schema. A provider that can enforce it does; others are only told.
    Json {
        /// A name for the schema.
        name: String,
        /// The JSON Schema: closed objects whose fields are all required.
        schema: serde_json::Value,
    },
}

/// A turn of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Turn {
    /// What we say.
    Ours(Vec<Part>),
    /// What the model said.
    Model(Said),
}

/// A part of what we say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Part {
    /// Text.
    Text(String),
    /// Text that later calls repeat, up to here: worth caching.
    Repeated(String),
    /// The result of a tool call.
    ToolResult(ToolResult),
}

/// What a tool gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call that it answers.
    pub call: ToolCall,
    /// The result, or why there is none.
    pub text: String,
    /// Whether the tool refused or failed.
    pub is_error: bool,
}

/// A model's turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Said {
    /// The text.
    pub text: String,
    /// The tools that it wants called.
    pub calls: Vec<ToolCall>,
    /// The turn in the provider's own words, sent back as it came: some hold signatures that must
    /// not change.
    pub verbatim: serde_json::Value,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The provider's id of the call.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments as the model wrote them: JSON, if it did well.
    pub arguments: String,
}

/// What came back from one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The model's turn.
    pub said: Said,
    /// Why it stopped.
    pub stop: Stop,
    /// What it used.
    pub tokens: Tokens,
    /// The model that answered, as the provider names it.
    pub model: String,
    /// Whether the provider enforced the form that was asked for.
    pub form_enforced: bool,
    /// Requests that were made until this answer, the last one included.
    pub attempts: u32,
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stop {
    /// It is done.
    Complete,
    /// It waits for tools.
    Tools,
    /// It reached the most tokens that it may answer with: the answer is cut.
    MaxTokens,
    /// It will not answer.
    Refused(String),
    /// A filter of the provider stopped it.
    Filtered(String),
}

/// Tokens of one call. What a provider does not say is unknown, not zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// All input, cached or not.
    pub input: Option<u64>,
    /// All output, reasoning included.
    pub output: Option<u64>,
    /// The part of the input that was read from the provider's cache.
    pub cache_read: Option<u64>,
    /// The part of the input that was written to the provider's cache.
    pub cache_write: Option<u64>,
}
