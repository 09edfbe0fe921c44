//! Everything that goes wrong, with every provider.

use super::{KEY, PROVIDERS, Provider, ask, model, run, wait};
use mala_adapters::models::{Endpoint, Http, Secret, anthropic};
use mala_domain::conversation::Stop;
use mala_domain::ports::{LanguageModel, ModelFailureKind as Kind};
use mala_testkit::ModelServer;
use mala_testkit::model_server::{Answer, End, Fault, Step};
use std::time::{Duration, Instant};

fn good() -> Answer {
    Answer::text("a good answer")
}

/// What comes of a provider that always fails in this way: the kind, and the requests made.
fn failure(provider: Provider, fault: Fault) -> (Kind, u32, String) {
    let steps = vec![Step::from(fault); 9];
    let (reply, server) = run(provider, &ask(), steps);
    let failure = reply.unwrap_err();
    assert!(!failure.what.is_empty(), "{provider:?}");
    assert!(!failure.what.contains(KEY), "{provider:?} {}", failure.what);
    assert_eq!(server.requests().len(), failure.attempts as usize, "{provider:?}");
    (failure.kind, failure.attempts, failure.what)
}

#[test]
fn every_fault_has_its_kind_and_its_number_of_tries() {
    let table: [(Fault, Kind, u32); 20] = [
        (Fault::status(400), Kind::BadRequest, 1),
        (Fault::status(401), Kind::Unauthorized, 1),
        (Fault::status(402), Kind::Unauthorized, 1),
        (Fault::status(403), Kind::Forbidden, 1),
        (Fault::status(404), Kind::NotFound, 1),
        (Fault::TooLong, Kind::TooLong, 1),
        (Fault::status(413), Kind::TooLong, 1),
        (Fault::status(408), Kind::TimedOut, 4),
        (Fault::status(429), Kind::RateLimited, 4),
        (Fault::status(500), Kind::ProviderFailed, 4),
        (Fault::status(503), Kind::Overloaded, 4),
        (Fault::status(529), Kind::Overloaded, 4),
        (Fault::Html, Kind::Malformed, 1),
        (Fault::Malformed, Kind::Malformed, 2),
        (Fault::EmptyStream, Kind::Cut, 2),
        (Fault::CutAfter(1, good()), Kind::Cut, 2),
        (Fault::EndAfter(1, good()), Kind::Cut, 2),
        (Fault::StallAfter(1, good()), Kind::TimedOut, 2),
        (Fault::ErrorAfter(1, good()), Kind::Overloaded, 4),
        (Fault::Hang, Kind::TimedOut, 2),
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
            Fault::retry_after(429, "0.02"),
            Fault::status(529),
            Fault::status(500),
            Fault::CutAfter(1, good()),
            Fault::Malformed,
            Fault::EmptyStream,
            Fault::ErrorAfter(1, good()),
        ] {
            let steps = [fault.clone().into(), good().into()];
            let (reply, _) = run(provider, &ask(), steps);
            let reply = reply.unwrap_or_else(|why| panic!("{provider:?} {fault:?}: {why}"));
            assert_eq!(reply.said.text, "a good answer", "nothing of the first try is left");
            assert_eq!((reply.stop, reply.attempts), (Stop::Complete, 2), "{provider:?} {fault:?}");
        }
    }
}

#[test]
fn a_wait_that_the_provider_asks_for_is_kept() {
    let start = Instant::now();
    let steps = [Fault::retry_after(429, "0.3").into(), good().into()];
    let (reply, _) = run(Provider::Anthropic, &ask(), steps);
    assert_eq!(reply.unwrap().attempts, 2);
    assert!(start.elapsed() >= Duration::from_millis(300), "{:?}", start.elapsed());
}

#[test]
fn a_wait_beyond_the_patience_is_not_begun() {
    let start = Instant::now();
    let server = ModelServer::always(Fault::retry_after(429, "3600"));
    let model = model(Provider::Responses, &server);
    let failure = wait(model.ask(&ask(), Duration::from_secs(5).into())).unwrap_err();
    assert_eq!((failure.kind, failure.attempts), (Kind::RateLimited, 1));
    assert!(failure.what.contains("the time is up before"), "{}", failure.what);
    assert!(start.elapsed() < Duration::from_secs(3));
}

#[test]
fn patience_ends_a_slow_answer() {
    for provider in PROVIDERS {
        let server = ModelServer::always(Step::from(good()).after(Duration::from_millis(300)));
        let model = model(provider, &server);
        let failure = wait(model.ask(&ask(), Duration::from_millis(100).into())).unwrap_err();
        assert_eq!((failure.kind, failure.attempts), (Kind::TimedOut, 1), "{provider:?}");
    }
}

#[test]
fn half_answers_are_not_paid_for_again_and_again() {
    let cut = || Step::from(Fault::CutAfter(2, good()));
    let (reply, server) =
        run(Provider::Chat, &ask(), [cut(), Fault::status(500).into(), cut(), good().into()]);
    assert_eq!(reply.unwrap_err().kind, Kind::Cut);
    assert_eq!(server.requests().len(), 3, "an error between them does not start over");
}

#[test]
fn a_reason_that_nobody_knows_is_no_success() {
    for provider in PROVIDERS {
        let answer = good().end(End::Unknown("because".to_owned()));
        let (reply, _) = run(provider, &ask(), vec![Step::from(answer); 2]);
        let failure = reply.unwrap_err();
        assert_eq!(failure.kind, Kind::Malformed, "{provider:?}");
        assert!(failure.what.contains("because"), "{provider:?} {}", failure.what);
    }
}

#[test]
fn the_provider_says_whether_to_try_again() {
    let header = |value: &str| vec![("x-should-retry".to_owned(), value.to_owned())];
    let (_, attempts, _) =
        failure(Provider::Anthropic, Fault::Status(500, header("false"), String::new()));
    assert_eq!(attempts, 1);
    let (_, attempts, _) =
        failure(Provider::Anthropic, Fault::Status(400, header("true"), String::new()));
    assert_eq!(attempts, 4);
}

#[test]
fn a_redirect_does_not_take_the_key_along() {
    let elsewhere = ModelServer::always(good());
    let header = ("location".to_owned(), format!("{}/v1/messages", elsewhere.url()));
    let (kind, attempts, what) =
        failure(Provider::Anthropic, Fault::Status(307, vec![header], " ".to_owned()));
    assert_eq!((kind, attempts), (Kind::BadRequest, 1), "{what}");
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn the_key_is_in_no_message_even_when_the_server_repeats_it() {
    for provider in PROVIDERS {
        let body = format!("{{\"error\": {{\"message\": \"Incorrect API key: {KEY}\"}}}}");
        let (kind, _, what) = failure(provider, Fault::Status(401, Vec::new(), body));
        assert_eq!(kind, Kind::Unauthorized);
        assert!(what.contains("[redacted:key]"), "{provider:?} {what}");
    }
}

#[test]
fn each_provider_takes_the_key_in_its_own_header() {
    for (provider, header, value) in [
        (Provider::Anthropic, "x-api-key", KEY.to_owned()),
        (Provider::Responses, "authorization", format!("Bearer {KEY}")),
        (Provider::Chat, "authorization", format!("Bearer {KEY}")),
        (Provider::Gemini, "x-goog-api-key", KEY.to_owned()),
    ] {
        let (_, server) = run(provider, &ask(), [good().into()]);
        let request = &server.requests()[0];
        assert_eq!(request.header(header), Some(value.as_str()), "{provider:?}");
        assert!(!request.path.contains(KEY), "{provider:?}");
        assert!(!request.body.to_string().contains(KEY), "{provider:?}");
    }
}

#[test]
fn nobody_there_is_told_without_the_key() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let endpoint = Endpoint::new(&format!("http://127.0.0.1:{port}"), Some(Secret::new(KEY)));
    let model = anthropic::model(endpoint.unwrap(), Http::new(None).unwrap());
    let failure = wait(model.ask(&ask(), Duration::from_millis(300).into())).unwrap_err();
    assert!(matches!(failure.kind, Kind::Unreachable | Kind::TimedOut), "{failure:?}");
    assert!(!failure.what.contains(KEY));
}

#[test]
fn a_key_that_no_header_can_carry_is_a_bad_key() {
    let server = ModelServer::always(good());
    let endpoint = Endpoint::new(&server.url(), Some(Secret::new("a\nb"))).unwrap();
    let model = anthropic::model(endpoint, Http::new(None).unwrap());
    let failure = wait(model.ask(&ask(), Duration::from_secs(5).into())).unwrap_err();
    assert_eq!(failure.kind, Kind::Unauthorized);
    assert!(server.requests().is_empty());
}
