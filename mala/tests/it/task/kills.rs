//! `kill -9` at random points of `mala task done`: every review has one start and one end.

use super::TaskBench;
use super::states::rebuilt;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;
use std::time::{Duration, Instant};

const KILLS: usize = 50;

/// Rows 004-094 and 004-095.
#[test]
fn a_killed_review_has_one_start_and_one_end() {
    let bench = TaskBench::new();
    let first = bench.task();
    let begun = Instant::now();
    assert_eq!(bench.done(&first).0, 0);
    // The points cover a whole review, whose end is later here: its command takes two seconds more.
    let span = begun.elapsed() + Duration::from_millis(500);
    bench.answer("slow");
    let id = bench.start("T2");
    bench.commit("mine.py", "mine = 2\n");
    for number in 0..KILLS {
        let delay =
            span * u32::try_from(number * 37 % KILLS).unwrap() / u32::try_from(KILLS).unwrap();
        let mut command = bench.world.command(env!("CARGO_BIN_EXE_mala"));
        command
            .args(["task", "done", &id])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        std::thread::sleep(delay);
        child.kill().unwrap();
        child.wait().unwrap();
        match bench.status(&id).as_str() {
            "IN_PROGRESS" | "AWAITING_REVIEW" => {}
            "COMPLETE" => {
                for command in ["reopen", "start"] {
                    assert_eq!(bench.mala(&["task", command, &id]).0, 0);
                }
            }
            other => panic!("{other}"),
        }
    }
    bench.answer("APPROVED");
    assert_eq!(bench.done(&id), (0, "COMPLETE".to_owned()));
    let events: Vec<Value> =
        bench.events().into_iter().filter(|event| event["task_id"] == *id).collect();
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
    let stored: BTreeSet<String> = bench.show(&id)["reviews"]
        .as_array()
        .unwrap()
        .iter()
        .map(|review| review["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(stored, ended, "004-106");
    assert_eq!(rebuilt(&events), BTreeMap::from([(id.clone(), "COMPLETE".to_owned())]));
    assert_eq!(bench.show(&id)["active_review"], Value::Null);
}
