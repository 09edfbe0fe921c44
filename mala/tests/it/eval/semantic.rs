//! The semantic mode: a judge on a loopback server, kept, replayed, and never taken at an unclear word.

use super::agent::with_server;
use super::crashes::{has_asked, interrupt, only_run, repeated, start};
use super::*;
use insta::assert_snapshot;
use mala_testkit::model_server::{AnswerUsage, ModelAnswer, ModelRequest, ModelServer, ServerStep};
use std::time::Duration;

const JUDGED: [&str; 8] =
    ["--set", "set.jsonl", "--reviewer", "shuffled", "--match", "semantic", "--judge", "haiku"];

fn world_with(server: &ModelServer) -> World {
    let world = with_server(world(), server);
    let cases: Vec<Value> = (0..4)
        .map(|at| case(&format!("case-{at}"), 200, &[(3, "bug"), (90, "style"), (190, "logic")]))
        .collect();
    world.write("set.jsonl", lines(&cases));
    world
}

/// A judge that takes texts for the same when they end with the same line.
fn judge(request: &ModelRequest) -> ModelAnswer {
    let told = request.user_text();
    let last_line = |name: &str| {
        let (_, text) = told.split_once(&format!("of=\"{name}\"")).unwrap();
        let (text, _) = text.split_once("</mala-fence").unwrap();
        text.trim().lines().last().unwrap_or_default().to_owned()
    };
    let (_, pairs) = told.split_once("The pairs:\n").unwrap();
    let pairs = pairs.lines().map(|line| {
        let (id, pair) = line.split_once(": finding ").unwrap();
        let (finding, known) = pair.split_once(", known problem ").unwrap();
        let is_same = last_line(&format!("finding {finding}"))
            == last_line(&format!("known problem {known}"));
        let outcome = if is_same { "same" } else { "different" };
        json!({"id": id, "outcome": outcome, "why": format!("{finding} and {known}: {outcome}")})
    });
    let answer = json!({"pairs": pairs.collect::<Vec<Value>>()});
    ModelAnswer::text(answer.to_string()).usage(AnswerUsage::Said {
        input: 900,
        cached: 0,
        output: 90,
    })
}

fn late(request: &ModelRequest) -> ServerStep {
    ServerStep::from(judge(request)).after(Duration::from_millis(400))
}

#[test]
fn a_judge_finds_what_stands_on_other_lines() {
    let server = ModelServer::new(|request| judge(request).into());
    let world = world_with(&server);
    let (code, result) = ran(&world, &JUDGED);
    assert_eq!(code, 0, "{result:#}");
    let scores = &result["scores"];
    assert!(scores["strict"]["rates"]["recall"].as_f64().unwrap() < 0.5, "they are elsewhere");
    assert_eq!(scores["semantic"]["rates"]["f1"], 1.0);
    let judged = &scores["judge"];
    assert_eq!((&judged["pairs"], &judged["same"]), (&json!(36), &json!(12)));
    assert_eq!((&judged["undecided"], &judged["left_out"]), (&json!(0), &json!(0)));
    assert_eq!((&judged["llm_calls"], server.n_requests()), (&json!(4), 4));
    assert!(judged["cost_usd"].as_f64().unwrap() > 0.0);
    assert_eq!(result["run"]["judge"]["model"], "haiku");
    // The judge's answers are stored and not asked for again.
    let world = world.with_env("ANTHROPIC_API_KEY", "").with_env("ANTHROPIC_BASE_URL", "");
    let run = result["run"]["run_id"].as_str().unwrap();
    let case = shown(&world, &["show", "case-1", "--mode", "semantic"], &[]);
    assert_snapshot!(case.split("\nChange\n").next().unwrap(), @"
    [exit 0]
    [stdout]
    case-1 (set, trial 1)

    Add case-1

    Known problems (semantic)

    FOUND app.py:3 bug high (the judge: f1 and k1: same)

    - known: problem on 3
    - found: problem on 3

    FOUND app.py:90 style high (the judge: f2 and k2: same)

    - known: problem on 90
    - found: problem on 90

    FOUND app.py:190 logic high (the judge: f3 and k3: same)

    - known: problem on 190
    - found: problem on 190

    Findings (semantic)

    RIGHT app.py:126 bug high shuffled 1.00 (the judge: f1 and k1: same)

    - it says: problem on 3

    RIGHT app.py:83 style high shuffled 1.00 (the judge: f2 and k2: same)

    - it says: problem on 90

    RIGHT app.py:125 logic high shuffled 1.00 (the judge: f3 and k3: same)

    - it says: problem on 190
    ");
    assert_snapshot!(shown(&world, &["report"], &[(run, "[RUN]")]));
    let compare = ["compare", "latest", "latest", "--mode", "semantic"];
    assert_snapshot!(shown(&world, &compare, &[(run, "[RUN]")]), @"
    [exit 0]
    [stdout]
    [RUN] -> [RUN]

    4 common cases, semantic

               before  after  difference       p
    recall      1.000  1.000      +0.000  1.0000
    precision   1.000  1.000      +0.000  1.0000
    F1          1.000  1.000      +0.000  1.0000

    p: probability of such a difference by chance (paired randomization test)
    ");
    let (code, again) =
        ran(&world, &["--set", "set.jsonl", "--reviewer", "shuffled", "--replay", run]);
    assert_eq!((code, &again["scores"]["semantic"]), (0, &result["scores"]["semantic"]));
    assert_eq!(server.n_requests(), 4, "no model was called");
}

#[test]
fn what_a_judge_does_not_say_clearly_is_no_hit() {
    let server = ModelServer::always(ModelAnswer::text("They are all the same problem, trust me."));
    let world = world_with(&server);
    let (code, result) = ran(&world, &JUDGED);
    assert_eq!((code, &result["scores"]["semantic"]["rates"]["found"]), (0, &json!(0)));
    assert_eq!(result["scores"]["judge"]["undecided"], 36);
    let note = "the judge left 36 pairs undecided: they are no hits";
    assert!(result["notes"].as_array().unwrap().contains(&json!(note)), "{result:#}");
    let case = shown(&world, &["show", "case-1", "--mode", "semantic"], &[]);
    assert_snapshot!(case.split("\nChange\n").next().unwrap(), @"
    [exit 0]
    [stdout]
    case-1 (set, trial 1)

    Add case-1

    Known problems (semantic)

    MISSED app.py:3 bug high (undecided, so not a hit: no valid answer: invalid json: expected value at line 1 column 1)

    - known: problem on 3

    MISSED app.py:90 style high (undecided, so not a hit: no valid answer: invalid json: expected value at line 1 column 1)

    - known: problem on 90

    MISSED app.py:190 logic high (undecided, so not a hit: no valid answer: invalid json: expected value at line 1 column 1)

    - known: problem on 190

    Findings (semantic)

    WRONG app.py:126 bug high shuffled 1.00 (undecided, so not a hit: no valid answer: invalid json: expected value at line 1 column 1)

    - it says: problem on 3

    WRONG app.py:83 style high shuffled 1.00 (undecided, so not a hit: no valid answer: invalid json: expected value at line 1 column 1)

    - it says: problem on 90

    WRONG app.py:125 logic high shuffled 1.00 (undecided, so not a hit: no valid answer: invalid json: expected value at line 1 column 1)

    - it says: problem on 190
    ");
}

#[test]
fn judging_is_paid_from_the_budget_of_the_run() {
    let server = ModelServer::new(|request| judge(request).into());
    let world = world_with(&server);
    let args: Vec<&str> = JUDGED.into_iter().chain(["--max-cost", "0.01"]).collect();
    let (code, result) = ran(&world, &args);
    assert_eq!((code, &result["not_run"], server.n_requests()), (2, &json!(4), 0));
}

#[test]
fn judging_that_is_interrupted_goes_on_and_asks_nothing_twice() {
    let server = ModelServer::new(late);
    let world = world_with(&server);
    let args: Vec<&str> = ["run"].into_iter().chain(JUDGED).chain(["--jobs", "2"]).collect();
    let mut child = start(&world, &args);
    assert!(has_asked(&server, 2, &mut child));
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(server.n_requests(), 2);
    let (code, result) = ran(&world, &["--resume", &only_run(&world)]);
    assert_eq!((code, &result["scores"]["semantic"]["rates"]["f1"]), (0, &json!(1.0)));
    assert_eq!((repeated(&server), server.n_requests()), (0, 4));
}

#[test]
fn a_judge_that_is_not_there_is_said() {
    let server = ModelServer::new(|request| judge(request).into());
    let world = world_with(&server);
    let (_, result) = ran(&world, &["--set", "set.jsonl", "--reviewer", "perfect"]);
    assert_eq!(result["scores"]["semantic"], Value::Null);
    let run = result["run"]["run_id"].as_str().unwrap();
    let names = [(run, "[RUN]")];
    assert_snapshot!(shown(&world, &["show", "case-1", "--mode", "semantic"], &names), @"
    [exit 64]
    [stderr]
    error: [RUN] has no judge
    hint: run `mala eval run --match semantic` to use a judge
    ");
    let compare = ["compare", "latest", "latest", "--mode", "semantic"];
    assert_snapshot!(shown(&world, &compare, &names), @"
    [exit 64]
    [stderr]
    error: [RUN] has no judge
    hint: run `mala eval run --match semantic` to use a judge
    ");
    let replay = ["run", "--reviewer", "perfect", "--replay", run, "--match", "semantic"];
    assert_snapshot!(shown(&world, &replay, &names), @"
    [exit 64]
    [stderr]
    error: [RUN] has no judge answers to replay
    ");
    let unknown = ["run", "--reviewer", "perfect", "--judge", "anthropic/of-tomorrow"];
    assert_snapshot!(shown(&world, &unknown, &names), @"
    [exit 4]
    [stderr]
    error: the price of of-tomorrow is unknown, so it cannot be the judge
    hint: set review.budget.allow_unknown_price in mala.yaml, or choose another model
    ");
    let world = world.with_env("ANTHROPIC_API_KEY", "");
    assert_snapshot!(shown(&world, &["run", "--reviewer", "perfect", "--judge", "haiku"], &names), @"
    [exit 4]
    [stderr]
    error: ANTHROPIC_API_KEY is not set
    hint: set ANTHROPIC_API_KEY, or models.key_commands.anthropic in ~/.config/mala/config.yaml
    ");
}
