//! `kill -9` at random points of `mala task done`: every review has one start and one end.

use super::TaskBench;
use super::states::rebuilt;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::process::Stdio;
use std::time::{Duration, Instant};

const KILLS: u32 = 50;

/// How often the points are spread at most.
const ROUNDS: u32 = 3;

/// A number from 0 to 1.
fn random() -> f64 {
    let bits = RandomState::new().build_hasher().finish() >> 32;
    f64::from(u32::try_from(bits).unwrap()) / f64::from(u32::MAX)
}

/// How far `mala task done` came before it ended or was killed, after this time.
fn stage_of_kill(bench: &TaskBench, id: &str, after: Option<Duration>) -> &'static str {
    ["order", "notes"].iter().for_each(|file| bench.forget(file));
    let mut command = bench.world.command(env!("CARGO_BIN_EXE_mala"));
    command
        .args(["task", "done", id])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    if let Some(after) = after {
        std::thread::sleep(after);
        child.kill().unwrap();
    }
    child.wait().unwrap();
    let has_ended = match bench.status(id).as_str() {
        "IN_PROGRESS" | "AWAITING_REVIEW" => false,
        "BLOCKED" => true,
        other => panic!("{other}"),
    };
    for command in ["reopen", "start"].iter().filter(|_| has_ended) {
        assert_eq!(bench.mala(&["task", command, id]).0, 0);
    }
    match (bench.said("order").as_str(), has_ended) {
        ("", _) => "before the review",
        ("rev\n", _) => "in the review",
        (_, false) => "in the parser",
        (_, true) => "in the notification",
    }
}

/// Rows 004-094 and 004-095. The review ends with a notification, so that there is something after its end.
#[test]
fn a_killed_review_has_one_start_and_one_end() {
    let bench = TaskBench::new();
    bench.answer("slow");
    bench.set(
        "parse",
        r#"{"result": "REJECTED", "issues": ["x"], "summary": "S", "blocking": true}"#,
    );
    bench.set("slow-note", "");
    let id = bench.task();
    let all = ["before the review", "in the review", "in the parser", "in the notification"];
    let all = BTreeSet::from(all);
    let mut stages = BTreeSet::new();
    // The points are spread over the time that a whole review takes. If the machine becomes slower meanwhile, none is
    // late enough, and they are spread again.
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        assert_eq!(stage_of_kill(&bench, &id, None), "in the notification");
        let span = begun.elapsed();
        stages.extend((0..KILLS).map(|number| {
            let part = (f64::from(number) + random()) / f64::from(KILLS);
            stage_of_kill(&bench, &id, Some(span.mul_f64(part)))
        }));
        if stages == all {
            break;
        }
    }
    assert_eq!(stages, all);
    bench.forget("parse");
    bench.answer("APPROVED");
    assert_eq!(bench.done(&id), (0, "COMPLETE".to_owned()));
    check_events(&bench, &id);
}

/// Every review of a task has one start, one end and one record, and its status follows from the log.
fn check_events(bench: &TaskBench, id: &str) {
    let events: Vec<Value> =
        bench.events().into_iter().filter(|event| event["task_id"] == id).collect();
    let mut open: Option<String> = None;
    let mut ended = BTreeSet::new();
    for event in
        events.iter().filter(|event| event["event"].as_str().unwrap().starts_with("Review"))
    {
        let review = event["review"]["id"].as_str().unwrap().to_owned();
        match event["event"].as_str().unwrap() {
            "ReviewStarted" => assert_eq!(open.replace(review), None, "two reviews at a time"),
            _ => {
                assert_eq!(open.take(), Some(review.clone()), "an end without its start");
                assert!(ended.insert(review), "two ends");
            }
        }
    }
    assert_eq!(open, None, "a review without an end");
    assert!(ended.len() > 2, "no review was killed");
    let stored: BTreeSet<String> = bench.show(id)["reviews"]
        .as_array()
        .unwrap()
        .iter()
        .map(|review| review["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(stored, ended, "004-106");
    assert_eq!(rebuilt(&events), BTreeMap::from([(id.to_owned(), "COMPLETE".to_owned())]));
    assert_eq!(bench.show(id)["active_review"], Value::Null);
}
