//! Answers of every kind, from every provider.

use super::{PROVIDERS, TestProvider, ask, form, model, run, wait};
use mala_domain::conversation::{
    AnswerFormat, ChatTurn, FinishReason, TokenCounts, ToolResult, TurnPart,
};
use mala_testkit::ModelServer;
use mala_testkit::model_server::{AnswerEnd, AnswerUsage, ModelAnswer, RequestTurn};
use serde_json::json;
use std::time::Duration;

#[test]
fn a_plain_text_comes_through() {
    for provider in PROVIDERS {
        let (reply, server) = run(provider, &ask(), [ModelAnswer::text("All göod.").into()]);
        let reply = reply.unwrap();
        assert_eq!(reply.said.text, "All göod.", "{provider:?}");
        assert_eq!(reply.stop, FinishReason::Complete, "{provider:?}");
        assert_eq!((reply.attempts, reply.form_enforced), (1, false), "{provider:?}");
        assert_eq!(reply.model, "gemini-3-model", "{provider:?}");
        let request = &server.requests()[0];
        assert_eq!(request.system(), "You review.", "{provider:?}");
        assert_eq!(request.tools(), ["read_file"], "{provider:?}");
        assert_eq!(request.max_output_tokens(), Some(1000), "{provider:?}");
        assert!(request.user_text().contains("Look for bugs."), "{provider:?}");
    }
}

#[test]
fn a_tool_is_called_and_its_result_sent_back() {
    for provider in PROVIDERS {
        let call = ModelAnswer { text: "Let me look.".into(), ..ModelAnswer::default() }
            .and_call("read_file", json!({"path": "a.rs"}))
            .and_call("read_file", json!({"path": "b.rs"}));
        let server = ModelServer::steps([call.into(), ModelAnswer::text("done").into()]);
        let model = model(provider, &server);
        let mut ask = ask();
        let reply = wait(model.ask(&ask, Duration::from_secs(9).into())).unwrap();
        assert_eq!(reply.stop, FinishReason::Tools, "{provider:?}");
        let calls = &reply.said.calls;
        let arguments: Vec<&str> = calls.iter().map(|call| call.arguments.as_str()).collect();
        assert_eq!(arguments, [r#"{"path":"a.rs"}"#, r#"{"path":"b.rs"}"#], "{provider:?}");
        assert_ne!(calls[0].id, calls[1].id, "{provider:?}");
        let results = calls.iter().map(|call| {
            let text = format!("text of {}", call.arguments);
            TurnPart::ToolResult(ToolResult { call: call.clone(), text, is_error: false })
        });
        let results = results.collect();
        ask.turns.extend([ChatTurn::Model(reply.said.clone()), ChatTurn::User(results)]);
        wait(model.ask(&ask, Duration::from_secs(9).into())).unwrap();
        let turns = server.requests()[1].turns();
        assert!(
            turns.contains(&RequestTurn::Model("Let me look.".into())) || turns.len() > 6,
            "{turns:?}"
        );
        let call = RequestTurn::Call("read_file".into(), r#"{"path":"b.rs"}"#.into());
        assert!(turns.contains(&call), "{provider:?} {turns:?}");
        let results = server.requests()[1].tool_results();
        assert_eq!(results, [r#"text of {"path":"a.rs"}"#, r#"text of {"path":"b.rs"}"#]);
        if provider == TestProvider::Gemini {
            let body = server.requests()[1].body.to_string();
            assert_eq!(body.matches("thoughtSignature").count(), 2, "signatures go back");
        }
    }
}

#[test]
fn a_form_is_asked_for_in_the_providers_way() {
    for provider in PROVIDERS {
        let mut ask = ask();
        ask.form = form();
        let (reply, server) = run(provider, &ask, [ModelAnswer::text(r#"{"n":1}"#).into()]);
        let reply = reply.unwrap();
        assert_eq!((reply.said.text.as_str(), reply.form_enforced), (r#"{"n":1}"#, true));
        let request = &server.requests()[0];
        assert_eq!(request.schema().unwrap()["required"], json!(["n"]), "{provider:?}");
        let has_bounds = request.schema().unwrap().to_string().contains("minimum");
        assert_eq!(has_bounds, provider != TestProvider::Anthropic, "{provider:?}");
        assert_eq!(request.system(), "You review.", "{provider:?}");
    }
}

#[test]
fn a_model_that_takes_either_tools_or_a_form_is_told_in_words() {
    let mut ask = ask();
    ask.model = "gemini-2.5-pro".to_owned();
    ask.form = form();
    let (reply, server) = run(TestProvider::Gemini, &ask, [ModelAnswer::text("{}").into()]);
    assert!(!reply.unwrap().form_enforced);
    let request = &server.requests()[0];
    assert_eq!(request.schema(), None);
    assert!(request.system().contains(r#""required":["n"]"#), "{}", request.system());
    ask.tools.clear();
    let (reply, server) = run(TestProvider::Gemini, &ask, [ModelAnswer::text("{}").into()]);
    assert!(reply.unwrap().form_enforced);
    assert!(server.requests()[0].schema().is_some());
}

#[test]
fn tokens_are_what_the_provider_says() {
    for provider in PROVIDERS {
        let usage = AnswerUsage::Said { input: 100, cached: 60, output: 7 };
        let (reply, _) = run(provider, &ask(), [ModelAnswer::text("x").usage(usage).into()]);
        let TokenCounts { input, output, cache_read, cache_write } = reply.unwrap().tokens;
        assert_eq!((input, output, cache_read), (Some(100), Some(7), Some(60)), "{provider:?}");
        assert_eq!(cache_write, (provider == TestProvider::Anthropic).then_some(0), "{provider:?}");
        let unsaid = ModelAnswer::text("x").usage(AnswerUsage::Unsaid);
        let (reply, _) = run(provider, &ask(), [unsaid.into()]);
        assert_eq!(
            reply.unwrap().tokens,
            TokenCounts::default(),
            "unknown is not zero: {provider:?}"
        );
    }
}

#[test]
fn what_passes_share_is_read_from_the_cache() {
    for provider in PROVIDERS {
        let server = ModelServer::always(ModelAnswer::text("x"));
        let model = model(provider, &server);
        let mut ask = ask();
        ask.turns = vec![ChatTurn::User(vec![
            TurnPart::Repeated("the change ".repeat(400)),
            TurnPart::Text("first pass".to_owned()),
        ])];
        let first = wait(model.ask(&ask, Duration::from_secs(9).into())).unwrap();
        assert_eq!(first.tokens.cache_read, Some(0), "{provider:?}");
        let Some(ChatTurn::User(parts)) = ask.turns.first_mut() else { unreachable!() };
        parts[1] = TurnPart::Text("second pass".to_owned());
        let second = wait(model.ask(&ask, Duration::from_secs(9).into())).unwrap();
        assert!(second.tokens.cache_read > Some(1000), "{provider:?} {:?}", second.tokens);
        assert!(server.cache_count().ratio() > 0.0, "{provider:?}");
    }
}

#[test]
fn every_way_to_stop_has_its_name() {
    let refused = |why: &str| FinishReason::Refused(why.to_owned());
    let filtered = |why: &str| FinishReason::Filtered(why.to_owned());
    for (end, provider, expected) in [
        (AnswerEnd::MaxTokens, TestProvider::Anthropic, FinishReason::MaxTokens),
        (AnswerEnd::MaxTokens, TestProvider::Responses, FinishReason::MaxTokens),
        (AnswerEnd::MaxTokens, TestProvider::Chat, FinishReason::MaxTokens),
        (AnswerEnd::MaxTokens, TestProvider::Gemini, FinishReason::MaxTokens),
        (AnswerEnd::Refusal, TestProvider::Anthropic, refused("No.")),
        (AnswerEnd::Refusal, TestProvider::Responses, refused("No.")),
        (AnswerEnd::Refusal, TestProvider::Chat, refused("No.")),
        (AnswerEnd::Refusal, TestProvider::Gemini, filtered("SAFETY")),
        (AnswerEnd::Filter, TestProvider::Anthropic, refused("No.")),
        (AnswerEnd::Filter, TestProvider::Responses, filtered("content_filter")),
        (AnswerEnd::Filter, TestProvider::Chat, filtered("content_filter")),
        (AnswerEnd::Filter, TestProvider::Gemini, filtered("SAFETY")),
    ] {
        let (reply, _) = run(provider, &ask(), [ModelAnswer::text("No.").end(end.clone()).into()]);
        assert_eq!(reply.unwrap().stop, expected, "{provider:?} {end:?}");
    }
}

#[test]
fn nothing_at_all_is_still_an_answer_when_the_model_says_that_it_is_done() {
    for provider in PROVIDERS {
        let (reply, _) = run(provider, &ask(), [ModelAnswer::text("").into()]);
        let reply = reply.unwrap();
        assert_eq!(
            (reply.said.text.as_str(), reply.stop),
            ("", FinishReason::Complete),
            "{provider:?}"
        );
    }
}

#[test]
fn a_form_in_words_is_not_enforced() {
    let mut question = ask();
    question.form = form();
    assert!(matches!(question.form, AnswerFormat::Json { .. }));
    for provider in PROVIDERS {
        let refusal = mala_testkit::model_server::ServerFault::Status(
            400,
            Vec::new(),
            r#"{"error":{"message":"output_config, response_format, text.format, responseJsonSchema: no"}}"#
                .to_owned(),
        );
        let (reply, server) =
            run(provider, &question, [refusal.into(), ModelAnswer::text("{}").into()]);
        let reply = reply.unwrap();
        assert_eq!((reply.form_enforced, reply.attempts), (false, 2), "{provider:?}");
        let request = &server.requests()[1];
        assert_eq!(request.schema(), None, "{provider:?}");
        assert!(request.system().contains("JSON Schema"), "{provider:?}");
    }
}

#[test]
fn a_server_that_ignores_the_form_did_not_enforce_it() {
    let mut ask = ask();
    ask.form = form();
    for provider in PROVIDERS {
        let (reply, _) = run(provider, &ask, [ModelAnswer::text("Sure! {}").into()]);
        assert!(!reply.unwrap().form_enforced, "{provider:?}");
    }
}

#[test]
fn an_answer_that_ran_into_the_limit_is_cut_whatever_the_server_calls_it() {
    for provider in PROVIDERS {
        let usage = AnswerUsage::Said { input: 1, cached: 0, output: 1000 };
        let (reply, _) = run(provider, &ask(), [ModelAnswer::text("half of").usage(usage).into()]);
        assert_eq!(reply.unwrap().stop, FinishReason::MaxTokens, "{provider:?}");
    }
}
