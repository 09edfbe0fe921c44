//! Every provider against the scripted model server: the same table for all of them.

mod answers;
mod compatible;
mod faults;
mod recorded;

use mala_adapters::models::openai_chat::Server;
use mala_adapters::models::{
    Endpoint, Http, Secret, Timings, anthropic, gemini, openai_chat, openai_responses,
};
use mala_domain::conversation::{Ask, Form, Part, Reply, Tool, ToolChoice, Turn};
use mala_domain::ports::{LanguageModel, ModelFailure};
use mala_testkit::ModelServer;
use mala_testkit::model_server::Step;
use serde_json::json;
use std::time::Duration;

pub(crate) const KEY: &str = "the-key-that-nobody-may-see";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Provider {
    Anthropic,
    Responses,
    Chat,
    Gemini,
}

pub(crate) const PROVIDERS: [Provider; 4] =
    [Provider::Anthropic, Provider::Responses, Provider::Chat, Provider::Gemini];

/// A provider at a server, with waits that a test can bear.
pub(crate) fn model(provider: Provider, server: &ModelServer) -> Box<dyn LanguageModel> {
    let timings = Timings {
        first_byte: Duration::from_millis(400),
        idle: Duration::from_millis(400),
        first_wait: Duration::from_millis(2),
        longest_wait: Duration::from_millis(10),
        max_attempts: 4,
        ..Timings::default()
    };
    let endpoint = Endpoint::new(&server.url(), Some(Secret::new(KEY))).unwrap().timings(timings);
    let http = Http::new(None).unwrap();
    match provider {
        Provider::Anthropic => Box::new(anthropic::model(endpoint, http)),
        Provider::Responses => Box::new(openai_responses::model(endpoint, http)),
        Provider::Chat => Box::new(openai_chat::model(Server::OpenAi, endpoint, http)),
        Provider::Gemini => Box::new(gemini::model(endpoint, http)),
    }
}

/// A question with a tool.
pub(crate) fn ask() -> Ask {
    Ask {
        model: "gemini-3-model".to_owned(),
        system: "You review.".to_owned(),
        tools: vec![Tool {
            name: "read_file".to_owned(),
            description: "Reads a file".to_owned(),
            arguments: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        }],
        tool_choice: ToolChoice::Free,
        turns: vec![Turn::Ours(vec![
            Part::Repeated("The change, which all passes see.".to_owned()),
            Part::Text("Look for bugs.".to_owned()),
        ])],
        form: Form::Text,
        max_output_tokens: 1000,
    }
}

/// A form for the answer.
pub(crate) fn form() -> Form {
    let schema = json!({"type": "object", "additionalProperties": false,
        "required": ["n"], "properties": {"n": {"type": "integer", "minimum": 0}}});
    Form::Json { name: "review".to_owned(), schema }
}

/// Asks a provider that meets these steps.
pub(crate) fn run(
    provider: Provider,
    ask: &Ask,
    steps: impl IntoIterator<Item = Step>,
) -> (Result<Reply, ModelFailure>, ModelServer) {
    let server = ModelServer::steps(steps);
    let model = model(provider, &server);
    (wait(model.ask(ask, Duration::from_secs(20).into())), server)
}

/// Runs a future to its end.
pub(crate) fn wait<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}
