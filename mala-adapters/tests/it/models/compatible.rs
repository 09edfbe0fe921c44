//! Servers with an OpenAI-compatible API, which omit and reject things.

use super::{ask, form, wait};
use mala_adapters::models::openai_chat::{self, ChatServer};
use mala_adapters::models::{Endpoint, HttpClient};
use mala_domain::conversation::{FinishReason, TokenCounts};
use mala_domain::ports::LanguageModel;
use mala_testkit::ModelServer;
use mala_testkit::model_server::{ModelAnswer, ServerFault};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(9);

fn model(server: &ModelServer) -> impl LanguageModel {
    let endpoint = Endpoint::new(&format!("{}/v1", server.url()), None).unwrap();
    openai_chat::model(ChatServer::Compatible, endpoint, HttpClient::new(None).unwrap())
}

#[test]
fn a_server_without_a_key_is_asked_without_one() {
    let server = ModelServer::always(ModelAnswer::text("hi"));
    let reply = wait(model(&server).ask(&ask(), PATIENCE.into())).unwrap();
    assert_eq!(reply.said.text, "hi");
    let request = &server.requests()[0];
    assert_eq!(request.header("authorization"), None);
    assert_eq!(request.path, "/v1/chat/completions");
    assert_eq!(request.body["max_tokens"], 1000);
    assert_eq!(request.body.get("prompt_cache_key"), None);
}

#[test]
fn a_refused_parameter_is_left_out_once_and_for_all() {
    for (name, is_enforced) in [("stream_options", true), ("response_format", false)] {
        let refusal = ServerFault::RefuseParameter(name.to_owned(), ModelAnswer::text("{}"));
        let server = ModelServer::always(refusal);
        let model = model(&server);
        let mut ask = ask();
        ask.form = form();
        let first = wait(model.ask(&ask, PATIENCE.into())).unwrap();
        assert_eq!((first.attempts, first.form_enforced), (2, is_enforced), "{name}");
        let second = wait(model.ask(&ask, PATIENCE.into())).unwrap();
        assert_eq!((second.attempts, second.form_enforced), (1, is_enforced), "{name}");
        let requests = server.requests();
        assert_eq!(requests.len(), 3, "{name}");
        assert!(requests[1..].iter().all(|request| request.body.get(name).is_none()), "{name}");
    }
}

#[test]
fn usage_that_is_not_said_is_unknown() {
    let refusal = ServerFault::RefuseParameter("stream_options".to_owned(), ModelAnswer::text("x"));
    let server = ModelServer::always(refusal);
    let reply = wait(model(&server).ask(&ask(), PATIENCE.into())).unwrap();
    assert_eq!(reply.tokens, TokenCounts::default());
}

#[test]
fn a_server_that_does_not_stream_is_understood() {
    let body = r#"{"object": "chat.completion", "model": "m", "choices": [{"index": 0,
        "message": {"role": "assistant", "content": null, "tool_calls": [
            {"function": {"name": "read_file", "arguments": {"path": "a"}}}]},
        "finish_reason": "stop"}], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}"#;
    let server = ModelServer::always(ServerFault::Status(200, Vec::new(), body.to_owned()));
    let reply = wait(model(&server).ask(&ask(), PATIENCE.into())).unwrap();
    assert_eq!(reply.stop, FinishReason::Tools, "calls count more than the word 'stop'");
    let call = &reply.said.calls[0];
    assert_eq!((call.id.as_str(), call.arguments.as_str()), ("call_0", r#"{"path":"a"}"#));
    assert_eq!((reply.tokens.input, reply.tokens.cache_read), (Some(3), None));
}
