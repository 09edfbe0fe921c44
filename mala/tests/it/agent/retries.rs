//! Every request that reaches the model counts, those that are made again too; and the last one that
//! the limits leave is for the answer.

use super::*;
use mala_domain::agent::prompts;
use mala_testkit::model_server::{ServerFault, WireProtocol};

fn busy() -> ServerStep {
    ServerFault::retry_after(429, "0.05").into()
}

/// A row: the steps of the server, the limits, and what comes of it.
struct Row {
    steps: Vec<ServerStep>,
    budget: &'static str,
    code: i32,
    n_requests: usize,
    /// Whether its cost is known.
    priced: bool,
    /// How the reason ends, where there is no answer.
    reason: &'static str,
}

#[test]
fn requests_that_are_made_again_are_charged() {
    let pass = || says(PASS);
    let broken = || ServerStep::from(ServerFault::status(500));
    let half = || ServerStep::from(ServerFault::ErrorAfter(1, ModelAnswer::text(PASS)));
    let row = |steps, budget, code, n_requests, priced, reason| Row {
        steps,
        budget,
        code,
        n_requests,
        priced,
        reason,
    };
    let spent = "not retried: all 2 retries are spent";
    for Row { steps, budget, code, n_requests, priced, reason } in [
        row(vec![busy(), pass()], "{}", 0, 2, true, ""),
        row(vec![busy(), busy(), pass()], "{}", 0, 3, true, ""),
        row(vec![busy(), busy(), busy(), pass()], "{}", 2, 3, true, spent),
        // The cost of a failed request is unknown, so its worst case stays reserved.
        row(vec![broken(), pass()], "{}", 0, 2, false, ""),
        row(vec![half(), pass()], "{}", 0, 2, false, ""),
        row(
            vec![broken(), pass()],
            "{max_cost_usd: 0.15}",
            2,
            1,
            false,
            "not retried: the call could exceed the budget of $0.15",
        ),
        row(
            vec![broken(), pass()],
            "{max_tokens: 26000}",
            2,
            1,
            false,
            "not retried: the call could exceed the budget of 26000 tokens",
        ),
    ] {
        let server = ModelServer::steps(steps);
        let world = with_server(changed(), &server);
        world.commit_file("mala.yaml", format!("review: {{budget: {budget}}}\n"));
        let (found, report) = review(&world, &["--no-save"]);
        let case = format!("{budget} {reason}: {report:#}");
        assert_eq!((found, server.requests().len()), (code, n_requests), "{case}");
        assert_eq!(report["stats"]["llm_calls"], json!(1), "a retry uses no call: {case}");
        assert_eq!(report["stats"]["cost_usd"].is_number(), priced, "{case}");
        let said = report["parse_error"].as_str().unwrap_or_default();
        assert!(said.ends_with(reason), "{case}");
    }
}

#[test]
fn a_wait_beyond_the_time_limit_is_not_begun() {
    let (code, report, server) =
        reviewed(vec![ServerFault::retry_after(429, "3600").into(), says(PASS)], &["--no-save"]);
    assert_eq!((code, server.requests().len()), (2, 1));
    assert!(report["parse_error"].as_str().unwrap().ends_with("after the deadline"));
}

#[test]
fn the_last_call_withholds_the_tools_and_asks_for_the_answer() {
    for (wire, model) in WIRES {
        let look = ModelAnswer::call("read_file", json!({"path": "app.py"}));
        let server = ModelServer::steps(vec![look.into(), says(PASS)]);
        let world = with_all_keys(changed(), &server);
        let (code, report) = review(&world, &["--no-save", "--model", model]);
        assert_eq!((code, &report["passed"]), (0, &json!(true)), "{wire:?}: {report:#}");
        let requests = server.requests();
        assert_eq!(requests.len(), 2, "{wire:?}");
        assert!(requests.iter().all(|request| request.wire == wire), "{wire:?}");
        let choice = |request: &ModelRequest| match wire {
            WireProtocol::Anthropic => request.body["tool_choice"]["type"].clone(),
            WireProtocol::Responses | WireProtocol::Chat => request.body["tool_choice"].clone(),
            WireProtocol::Gemini => {
                request.body["toolConfig"]["functionCallingConfig"]["mode"].clone()
            }
        };
        let none = if wire == WireProtocol::Gemini { "NONE" } else { "none" };
        assert_eq!(choice(&requests[0]), Value::Null, "{wire:?}: tools are free at first");
        assert_eq!(choice(&requests[1]), json!(none), "{wire:?}");
        assert_eq!(requests[1].tools(), requests[0].tools(), "{wire:?}: earlier turns name them");
        assert!(requests[1].user_text().contains(prompts::LAST_CALL.trim_end()), "{wire:?}");
        assert!(!requests[0].user_text().contains(prompts::LAST_CALL.trim_end()), "{wire:?}");
    }
}

#[test]
fn with_one_call_no_tool_is_offered() {
    for (wire, model) in WIRES {
        let server = ModelServer::always(ModelAnswer::text(PASS));
        let world = with_all_keys(changed(), &server);
        world.commit_file("mala.yaml", "review: {budget: {max_llm_calls: 1}}\n");
        let (code, _) = review(&world, &["--no-save", "--model", model]);
        assert_eq!(code, 0, "{wire:?}");
        assert!(server.requests()[0].tools().is_empty(), "{wire:?}");
    }
}

#[test]
fn a_model_that_calls_tools_to_the_end_has_not_reviewed() {
    for (wire, model) in WIRES {
        let server = ModelServer::always(ModelAnswer::call("read_file", json!({"path": "app.py"})));
        let world = with_all_keys(changed(), &server);
        let (code, report) = review(&world, &["--no-save", "--model", model]);
        assert_eq!((code, &report["passed"]), (2, &json!(false)), "{wire:?}: {report:#}");
        assert_eq!(server.requests().len(), 2, "{wire:?}");
    }
}
