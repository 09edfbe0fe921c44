//! Every failure, with every provider.

use super::{KEY, PROVIDERS, TestProvider, ask, model, run, wait};
use mala_adapters::models::{Endpoint, HttpClient, Secret, anthropic};
use mala_domain::conversation::FinishReason;
use mala_domain::ports::{LanguageModel, ModelFailureKind as Kind};
use mala_testkit::ModelServer;
use mala_testkit::model_server::{AnswerEnd, ModelAnswer, ServerFault, ServerStep};
use std::time::{Duration, Instant};

fn good() -> ModelAnswer {
    ModelAnswer::text("a good answer")
}

/// The result of a provider that always fails in this way: the kind of failure, and the number of
/// requests.
fn failure(provider: TestProvider, fault: ServerFault) -> (Kind, u32, String) {
    let steps = vec![ServerStep::from(fault); 9];
    let (reply, server) = run(provider, &ask(), steps);
    let failure = reply.unwrap_err();
    assert!(!failure.what.is_empty(), "{provider:?}");
    assert!(!failure.what.contains(KEY), "{provider:?} {}", failure.what);
    assert_eq!(server.requests().len(), failure.attempts as usize, "{provider:?}");
    (failure.kind, failure.attempts, failure.what)
}

#[test]
fn every_fault_has_its_kind_and_its_number_of_tries() {
    let table: [(ServerFault, Kind, u32); 20] = [
        (ServerFault::status(400), Kind::BadRequest, 1),
        (ServerFault::status(401), Kind::Unauthorized, 1),
        (ServerFault::status(402), Kind::Unauthorized, 1),
        (ServerFault::status(403), Kind::Forbidden, 1),
        (ServerFault::status(404), Kind::NotFound, 1),
        (ServerFault::TooLong, Kind::TooLong, 1),
        (ServerFault::status(413), Kind::TooLong, 1),
        (ServerFault::status(408), Kind::TimedOut, 4),
        (ServerFault::status(429), Kind::RateLimited, 4),
        (ServerFault::status(500), Kind::ProviderFailed, 4),
        (ServerFault::status(503), Kind::Overloaded, 4),
        (ServerFault::status(529), Kind::Overloaded, 4),
        (ServerFault::Html, Kind::Malformed, 1),
        (ServerFault::Malformed, Kind::Malformed, 2),
        (ServerFault::EmptyStream, Kind::Cut, 2),
        (ServerFault::CutAfter(1, good()), Kind::Cut, 2),
        (ServerFault::EndAfter(1, good()), Kind::Cut, 2),
        (ServerFault::StallAfter(1, good()), Kind::TimedOut, 2),
        (ServerFault::ErrorAfter(1, good()), Kind::Overloaded, 4),
        (ServerFault::Hang, Kind::TimedOut, 2),
    ];
    for provider in PROVIDERS {
        for (fault, kind, attempts) in &table {
            let (found, tried, what) = failure(provider, fault.clone());
            assert_eq!((found, tried), (*kind, *attempts), "{provider:?} {fault:?}: {what}");
        }
    }
}

#[test]
fn what_passes_is_tried_again() {
    for provider in PROVIDERS {
        for fault in [
            ServerFault::retry_after(429, "0.02"),
            ServerFault::status(529),
            ServerFault::status(500),
            ServerFault::CutAfter(1, good()),
            ServerFault::Malformed,
            ServerFault::EmptyStream,
            ServerFault::ErrorAfter(1, good()),
        ] {
            let steps = [fault.clone().into(), good().into()];
            let (reply, _) = run(provider, &ask(), steps);
            let reply = reply.unwrap_or_else(|why| panic!("{provider:?} {fault:?}: {why}"));
            assert_eq!(reply.said.text, "a good answer", "nothing of the first try is left");
            assert_eq!(
                (reply.stop, reply.attempts),
                (FinishReason::Complete, 2),
                "{provider:?} {fault:?}"
            );
        }
    }
}

#[test]
fn a_wait_that_the_provider_asks_for_is_kept() {
    let start = Instant::now();
    let steps = [ServerFault::retry_after(429, "0.3").into(), good().into()];
    let (reply, _) = run(TestProvider::Anthropic, &ask(), steps);
    assert_eq!(reply.unwrap().attempts, 2);
    assert!(start.elapsed() >= Duration::from_millis(300), "{:?}", start.elapsed());
}

#[test]
fn a_wait_beyond_the_patience_is_not_begun() {
    let start = Instant::now();
    let server = ModelServer::always(ServerFault::retry_after(429, "3600"));
    let model = model(TestProvider::Responses, &server);
    let failure = wait(model.ask(&ask(), Duration::from_secs(5).into())).unwrap_err();
    assert_eq!((failure.kind, failure.attempts), (Kind::RateLimited, 1));
    assert!(failure.what.contains("after the deadline"), "{}", failure.what);
    assert!(start.elapsed() < Duration::from_secs(3));
}

#[test]
fn patience_ends_a_slow_answer() {
    for provider in PROVIDERS {
        let server =
            ModelServer::always(ServerStep::from(good()).after(Duration::from_millis(300)));
        let model = model(provider, &server);
        let failure = wait(model.ask(&ask(), Duration::from_millis(100).into())).unwrap_err();
        assert_eq!((failure.kind, failure.attempts), (Kind::TimedOut, 1), "{provider:?}");
    }
}

#[test]
fn half_answers_are_not_paid_for_again_and_again() {
    let cut = || ServerStep::from(ServerFault::CutAfter(2, good()));
    let (reply, server) = run(
        TestProvider::Chat,
        &ask(),
        [cut(), ServerFault::status(500).into(), cut(), good().into()],
    );
    assert_eq!(reply.unwrap_err().kind, Kind::Cut);
    assert_eq!(server.requests().len(), 3, "an error between them does not start over");
}

#[test]
fn an_unknown_stop_reason_is_an_error() {
    for provider in PROVIDERS {
        let answer = good().end(AnswerEnd::Unknown("because".to_owned()));
        let (reply, _) = run(provider, &ask(), vec![ServerStep::from(answer); 2]);
        let failure = reply.unwrap_err();
        assert_eq!(failure.kind, Kind::Malformed, "{provider:?}");
        assert!(failure.what.contains("because"), "{provider:?} {}", failure.what);
    }
}

#[test]
fn the_provider_says_whether_to_try_again() {
    let header = |value: &str| vec![("x-should-retry".to_owned(), value.to_owned())];
    let (_, attempts, _) =
        failure(TestProvider::Anthropic, ServerFault::Status(500, header("false"), String::new()));
    assert_eq!(attempts, 1);
    let (_, attempts, _) =
        failure(TestProvider::Anthropic, ServerFault::Status(400, header("true"), String::new()));
    assert_eq!(attempts, 4);
}

#[test]
fn a_redirect_does_not_take_the_key_along() {
    let elsewhere = ModelServer::always(good());
    let header = ("location".to_owned(), format!("{}/v1/messages", elsewhere.url()));
    let (kind, attempts, what) =
        failure(TestProvider::Anthropic, ServerFault::Status(307, vec![header], " ".to_owned()));
    assert_eq!((kind, attempts), (Kind::BadRequest, 1), "{what}");
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn the_key_is_in_no_message_even_when_the_server_repeats_it() {
    for provider in PROVIDERS {
        let body = format!("{{\"error\": {{\"message\": \"Incorrect API key: {KEY}\"}}}}");
        let (kind, _, what) = failure(provider, ServerFault::Status(401, Vec::new(), body));
        assert_eq!(kind, Kind::Unauthorized);
        assert!(what.contains("[redacted:key]"), "{provider:?} {what}");
    }
}

#[test]
fn each_provider_takes_the_key_in_its_own_header() {
    for (provider, header, value) in [
        (TestProvider::Anthropic, "x-api-key", KEY.to_owned()),
        (TestProvider::Responses, "authorization", format!("Bearer {KEY}")),
        (TestProvider::Chat, "authorization", format!("Bearer {KEY}")),
        (TestProvider::Gemini, "x-goog-api-key", KEY.to_owned()),
    ] {
        let (_, server) = run(provider, &ask(), [good().into()]);
        let request = &server.requests()[0];
        assert_eq!(request.header(header), Some(value.as_str()), "{provider:?}");
        assert!(!request.path.contains(KEY), "{provider:?}");
        assert!(!request.body.to_string().contains(KEY), "{provider:?}");
    }
}

#[test]
fn an_unreachable_server_is_reported_without_the_key() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let endpoint = Endpoint::new(&format!("http://127.0.0.1:{port}"), Some(Secret::new(KEY)));
    let model = anthropic::model(endpoint.unwrap(), HttpClient::new(None).unwrap());
    let failure = wait(model.ask(&ask(), Duration::from_millis(300).into())).unwrap_err();
    assert!(matches!(failure.kind, Kind::Unreachable | Kind::TimedOut), "{failure:?}");
    assert!(!failure.what.contains(KEY));
}

#[test]
fn a_key_that_no_header_can_carry_is_a_bad_key() {
    let server = ModelServer::always(good());
    let endpoint = Endpoint::new(&server.url(), Some(Secret::new("a\nb"))).unwrap();
    let model = anthropic::model(endpoint, HttpClient::new(None).unwrap());
    let failure = wait(model.ask(&ask(), Duration::from_secs(5).into())).unwrap_err();
    assert_eq!(failure.kind, Kind::Unauthorized);
    assert!(server.requests().is_empty());
}
