//! Every provider against the scripted model server: the same table for all of them.

mod answers;
mod compatible;
mod faults;
mod recording;

use mala_adapters::models::openai_chat::ChatServer;
use mala_adapters::models::{
    Endpoint, HttpClient, RequestLimits, Secret, anthropic, gemini, openai_chat, openai_responses,
};
use mala_domain::conversation::{
    AnswerFormat, ChatReply, ChatRequest, ChatTurn, ToolChoice, ToolDefinition, TurnPart,
};
use mala_domain::ports::{LanguageModel, ModelFailure};
use mala_testkit::ModelServer;
use mala_testkit::model_server::ServerStep;
use serde_json::json;
use std::time::Duration;

pub(crate) const KEY: &str = "the-secret-key-of-the-test";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TestProvider {
    Anthropic,
    Responses,
    Chat,
    Gemini,
}

pub(crate) const PROVIDERS: [TestProvider; 4] =
    [TestProvider::Anthropic, TestProvider::Responses, TestProvider::Chat, TestProvider::Gemini];

/// A provider at a server, with short waits.
pub(crate) fn model(provider: TestProvider, server: &ModelServer) -> Box<dyn LanguageModel> {
    let limits = RequestLimits {
        first_byte: Duration::from_millis(400),
        idle: Duration::from_millis(400),
        first_wait: Duration::from_millis(2),
        longest_wait: Duration::from_millis(10),
        max_attempts: 4,
        ..RequestLimits::default()
    };
    let endpoint = Endpoint::new(&server.url(), Some(Secret::new(KEY))).unwrap().limits(limits);
    let http = HttpClient::new(None).unwrap();
    match provider {
        TestProvider::Anthropic => Box::new(anthropic::model(endpoint, http)),
        TestProvider::Responses => Box::new(openai_responses::model(endpoint, http)),
        TestProvider::Chat => Box::new(openai_chat::model(ChatServer::OpenAi, endpoint, http)),
        TestProvider::Gemini => Box::new(gemini::model(endpoint, http)),
    }
}

/// A request with a tool.
pub(crate) fn ask() -> ChatRequest {
    ChatRequest {
        model: "gemini-3-model".to_owned(),
        system: "You review.".to_owned(),
        tools: vec![ToolDefinition {
            name: "read_file".to_owned(),
            description: "Reads a file".to_owned(),
            arguments: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        }],
        tool_choice: ToolChoice::Free,
        turns: vec![ChatTurn::User(vec![
            TurnPart::Repeated("The change, which all passes see.".to_owned()),
            TurnPart::Text("Look for bugs.".to_owned()),
        ])],
        form: AnswerFormat::Text,
        max_output_tokens: 1000,
    }
}

/// A schema for the answer.
pub(crate) fn form() -> AnswerFormat {
    let schema = json!({"type": "object", "additionalProperties": false,
        "required": ["n"], "properties": {"n": {"type": "integer", "minimum": 0}}});
    AnswerFormat::Json { name: "review".to_owned(), schema }
}

/// Asks a provider whose server follows these steps.
pub(crate) fn run(
    provider: TestProvider,
    ask: &ChatRequest,
    steps: impl IntoIterator<Item = ServerStep>,
) -> (Result<ChatReply, ModelFailure>, ModelServer) {
    let server = ModelServer::steps(steps);
    let model = model(provider, &server);
    (wait(model.ask(ask, Duration::from_secs(20).into())), server)
}

/// Runs a future.
pub(crate) fn wait<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
