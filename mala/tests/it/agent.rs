//! The agent from the outside: the real binary against a model server on loopback.

mod answers;
mod budgets;
mod choice;
mod claims;
mod edges;
mod losses;
mod retries;
mod second_answers;
mod secrets;
mod shown;
mod spec_agent;
mod spec_context;
mod spec_fields;
mod spec_inputs;
mod spec_reviewer;
mod traffic;
mod unseen;

use crate::world;
use mala_testkit::World;
use mala_testkit::model_server::{
    ModelAnswer, ModelRequest, ModelServer, ServerStep, WireProtocol,
};
use serde_json::{Value, json};

/// The change: `half` loses its check.
const BEFORE: &str = "def half(n):\n    return n and 1 / n\n";
const AFTER: &str = "def half(n):\n    return 1 / n\n";
const PASS: &str = r#"{"verdict": "PASS", "findings": []}"#;
/// The plain form: six fields per finding.
const PLAIN: &str = r#"{"verdict": "FAIL", "findings": [{"file_path": "app.py", "line_start": 2, "line_end": 2, "priority": 1, "title": "[P1] Issue", "body": "Details"}]}"#;

/// A repository whose working tree has the change.
fn changed() -> World {
    let world = world();
    world.git(&["init", "-q", "-b", "main", "."]);
    world.write("app.py", BEFORE).git(&["add", "-A"]).git(&["commit", "-q", "-m", "start"]);
    world.write("app.py", AFTER);
    world
}

/// A world with a key, whose models are this server.
fn with_server(world: World, server: &ModelServer) -> World {
    world.with_env("ANTHROPIC_API_KEY", "test-key").with_env("ANTHROPIC_BASE_URL", server.url())
}

/// Every protocol, and a model that speaks it.
const WIRES: [(WireProtocol, &str); 4] = [
    (WireProtocol::Anthropic, "sonnet"),
    (WireProtocol::Responses, "gpt-4.1-mini"),
    (WireProtocol::Chat, "openai-chat/gpt-4.1-mini"),
    (WireProtocol::Gemini, "gemini-2.5-pro"),
];

/// A world with all keys, whose models are all this server.
fn with_all_keys(world: World, server: &ModelServer) -> World {
    with_server(world, server)
        .with_env("OPENAI_API_KEY", "test-key")
        .with_env("OPENAI_BASE_URL", server.url())
        .with_env("GEMINI_API_KEY", "test-key")
        .with_env("GOOGLE_GEMINI_BASE_URL", server.url())
}

/// The exit code and the report of a review by the agent: with the two calls of the profile `lean`, where
/// no other profile is given.
fn review(world: &World, args: &[&str]) -> (i32, Value) {
    let profile: &[&str] = if args.contains(&"--profile") { &[] } else { &["--profile", "lean"] };
    let args: Vec<&str> = ["review", "--reviewer", "agent_sdk", "--json"]
        .iter()
        .chain(profile)
        .chain(args)
        .copied()
        .collect();
    let output = world.output(&args, b"");
    let code = output.status.code().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let report = serde_json::from_str(&text).unwrap_or_else(|error| {
        panic!("exit {code}: {error}: {text}{}", String::from_utf8_lossy(&output.stderr))
    });
    (code, report)
}

/// A review of the change against these answers.
fn reviewed(steps: Vec<ServerStep>, args: &[&str]) -> (i32, Value, ModelServer) {
    let server = ModelServer::steps(steps);
    let world = with_server(changed(), &server);
    let (code, report) = review(&world, args);
    (code, report, server)
}

fn says(text: impl Into<String>) -> ServerStep {
    ModelAnswer::text(text).into()
}

fn holds() -> ServerStep {
    says(json!({"checks": [{"id": "c1", "outcome": "holds", "why": "n may be 0"}]}).to_string())
}

fn refuted() -> ServerStep {
    says(json!({"checks": [{"id": "c1", "outcome": "refuted", "why": "n is never 0"}]}).to_string())
}
