//! Evals of the agent, against a model server on loopback.

use super::*;
use insta::assert_snapshot;
use mala_domain::agent::prompts;
use mala_testkit::model_server::{AnswerUsage, ModelAnswer, ModelRequest, ModelServer, ServerStep};

/// A world with a key, whose models are this server.
pub(super) fn with_server(world: World, server: &ModelServer) -> World {
    world.with_env("ANTHROPIC_API_KEY", "test-key").with_env("ANTHROPIC_BASE_URL", server.url())
}

/// Claims a bug on line 3, and holds on to it when it is asked to check.
pub(super) fn answer(request: &ModelRequest) -> ModelAnswer {
    let is_check = request.schema().is_some_and(|schema| schema.to_string().contains("checks"));
    let text = if is_check {
        json!({"checks": [{"id": "c1", "outcome": "holds", "why": "it is so"}]})
    } else {
        let finding = json!({
            "file_path": "app.py", "line_start": 3, "line_end": 3, "priority": 1,
            "title": "[P1] Wrong value", "body": "The value is wrong.",
        });
        json!({"verdict": "FAIL", "findings": [finding]})
    };
    // What a call uses does not depend on what was asked before.
    ModelAnswer::text(text.to_string()).usage(AnswerUsage::Said {
        input: 1_000,
        cached: 0,
        output: 50,
    })
}

/// Cases with a bug on line 3, 5 or 40, so that one of three is missed.
pub(super) fn cases(n: usize) -> Vec<Value> {
    (0..n).map(|at| case(&format!("case-{at:03}"), 50, &[([3, 5, 40][at % 3], "bug")])).collect()
}

fn agent_run(world: &World, more: &[&str]) -> (i32, Value) {
    let args = [
        "--set",
        "set.jsonl",
        "--reviewer",
        "agent_sdk",
        "--model",
        "haiku",
        "--jobs",
        "4",
        "--profile",
        "lean",
    ];
    let args: Vec<&str> = args.into_iter().chain(more.iter().copied()).collect();
    ran(world, &args)
}

fn world_with(n: usize, server: &ModelServer) -> World {
    let world = with_server(world(), server);
    world.write("set.jsonl", lines(&cases(n)));
    world
}

#[test]
fn the_agent_is_scored_with_what_it_costs() {
    let server = ModelServer::new(|request| answer(request).into());
    let world = world_with(3, &server);
    let (code, result) = agent_run(&world, &[]);
    assert_eq!(code, 0, "{result:#}");
    assert_eq!((&result["scores"]["cases"]["reviewed"], server.requests().len()), (&json!(3), 6));
    let recall = result["scores"]["strict"]["rates"]["found"].as_u64().unwrap();
    assert_eq!(recall, 2, "lines 3 and 5 are near enough, line 40 is not");
    let spent = &result["scores"]["spent"];
    assert_eq!((&spent["llm_calls"], &spent["tokens_used"]), (&json!(6), &json!(6_300)));
    assert!(result["cost_usd"].as_f64().unwrap() > 0.0);
    assert!(result["run"]["reviewer"]["version"].is_string());
    let prompt = server.requests()[0].user_text();
    assert!(prompt.contains("Add case-00"), "the title of the pull request is missing: {prompt}");
}

#[test]
fn notes_count_for_the_recall_with_notes_alone() {
    let server = ModelServer::new(|request| {
        if request.system() == prompts::VERIFY {
            let check = json!({"id": "c1", "outcome": "holds", "why": "as said"});
            return ModelAnswer::text(json!({"checks": [check]}).to_string()).into();
        }
        if request.system() == prompts::EDIT {
            let edited = json!({"id": "c1", "same_as": "", "worth": 10});
            return ModelAnswer::text(json!({"findings": [edited]}).to_string()).into();
        }
        let mut answer = answer(request);
        answer.text = answer.text.replace("\"priority\":1", "\"priority\":3,\"confidence\":0.3");
        answer.text = answer.text.replace("[P1]", "[P3]").replace("FAIL", "NEEDS_WORK");
        answer.into()
    });
    let world = world_with(3, &server);
    let args = ["--set", "set.jsonl", "--reviewer", "agent_sdk", "--profile", "standard"];
    let (code, result) = ran(&world, &args);
    assert_eq!((code, &result["recall"]), (0, &json!(0.0)), "{result:#}");
    let strict = &result["scores"]["strict"];
    assert_eq!(strict["recall_with_notes"], json!(2.0 / 3.0), "{strict:#}");
    assert_eq!(strict["rates"]["findings"], 0, "{strict:#}");
}

#[test]
fn a_run_replays_without_a_model() {
    let server = ModelServer::new(|request| answer(request).into());
    let world = world_with(3, &server);
    let (_, first) = agent_run(&world, &[]);
    let run = first["run"]["run_id"].as_str().unwrap().to_owned();
    let n_requests = server.requests().len();
    let world = world.with_env("ANTHROPIC_API_KEY", "").with_env("ANTHROPIC_BASE_URL", "");
    let (code, again) = agent_run(&world, &["--replay", &run]);
    assert_eq!((code, server.requests().len()), (0, n_requests), "no model was called");
    assert_eq!(first["scores"]["strict"], again["scores"]["strict"]);
}

#[test]
fn what_could_not_be_reviewed_is_counted_apart_and_can_be_tried_again() {
    let broken = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let is_broken = broken.clone();
    let server = ModelServer::new(move |request| {
        let named = request.user_text().contains("Add case-001");
        if named && is_broken.load(std::sync::atomic::Ordering::SeqCst) {
            return ModelAnswer::text("I would rather talk about the weather.").into();
        }
        answer(request).into()
    });
    let world = world_with(3, &server);
    let (code, result) = agent_run(&world, &[]);
    assert_eq!(code, 0);
    let cases = &result["scores"]["cases"];
    assert_eq!((&cases["reviewed"], &cases["could_not_review"]), (&json!(2), &json!(1)));
    assert_eq!(result["scores"]["strict"]["rates"]["truths"], 2, "its problem is not missed");
    assert_eq!(result["scores"]["strict"]["recall_if_unreviewed_missed"], json!(1.0 / 3.0));
    assert_eq!(result["scores"]["unreviewed"][0]["case"], "case-001");
    let run = result["run"]["run_id"].as_str().unwrap().to_owned();
    let gate = world.run(&["eval", "gate", &run, "--min-f1", "0"]);
    assert!(gate.starts_with("[exit 2]"), "{gate}");
    broken.store(false, std::sync::atomic::Ordering::SeqCst);
    let (code, result) = ran(&world, &["--resume", &run, "--retry-failed"]);
    assert_eq!((code, &result["scores"]["cases"]["reviewed"]), (0, &json!(3)), "{result:#}");
}

#[test]
fn one_budget_holds_for_the_whole_run() {
    let server = ModelServer::new(|request| answer(request).into());
    let world = world_with(12, &server);
    // A case may cost 50 cents by its profile; with 1.20 dollars, two are under way at most.
    let (code, result) = agent_run(&world, &["--max-cost", "0.501"]);
    let n_done = result["scores"]["cases"]["reviewed"].as_u64().unwrap();
    assert_eq!(code, 2);
    assert!((1..12).contains(&n_done), "{n_done}");
    assert_eq!((&result["is_complete"], &result["not_run"]), (&json!(false), &json!(12 - n_done)));
    assert!(result["cost_usd"].as_f64().unwrap() <= 0.501);
    let run = result["run"]["run_id"].as_str().unwrap().to_owned();
    let (code, result) = ran(&world, &["--resume", &run, "--max-cost", "100"]);
    assert_eq!((code, &result["is_complete"]), (0, &json!(true)));
    assert_eq!(server.requests().len(), 24, "no call was made twice");
}

#[test]
fn a_reviewer_that_cannot_be_asked_is_found_out_before_the_first_case() {
    let world = world();
    assert_snapshot!(world.run(&["eval", "run", "--reviewer", "agent_sdk", "--model", "haiku"]), @"
    [exit 4]
    [stderr]
    error: cannot run the reviewer agent_sdk: ANTHROPIC_API_KEY is not set
    hint: set ANTHROPIC_API_KEY, or models.key_commands.anthropic in ~/.config/mala/config.yaml
    ");
    assert!(!world.folder().join(".mala/eval").exists(), "nothing began");
    assert_snapshot!(world.run(&["eval", "run", "--reviewer", "unknown"]), @"
    [exit 64]
    [stderr]
    error: 'unknown' is not one of builtin, agent_sdk, cerberus, command, perfect, random, silent, shuffled, hunks
    ");
}

/// The same answer, a little later.
pub(super) fn slowly(request: &ModelRequest) -> ServerStep {
    ServerStep::from(answer(request)).after(std::time::Duration::from_millis(20))
}
