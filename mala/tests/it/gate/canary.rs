//! Canaries: lanes are given planted defects, and what they find of them is shown beside their verdicts.

use super::bench::GateWorld;
use hmac::{Hmac, KeyInit, Mac};
use insta::assert_snapshot;
use serde_json::{Value, json};
use sha2::Sha256;
use std::time::{Duration, Instant};

/// A repository in which there is one place for a defect, in the last commit.
fn bench(canaries: &str) -> GateWorld {
    let mut config = format!("gate:\n{canaries}  lanes:\n");
    for lane in ["finder", "pass", "stuck", "crash"] {
        config.push_str(&format!("    {lane}: {{command: [lane, {lane}]}}\n"));
    }
    let bench = GateWorld::with_config(&config);
    bench.repo.write("a.py", "def take(rows, count):\n    return rows[:count]\n");
    bench.repo.commit("Take the first rows");
    bench
}

fn book(bench: &GateWorld) -> Value {
    let text = std::fs::read_to_string(bench.repo.path(".mala/gate/canaries/book.json"));
    text.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap())
}

/// The number of runs that are kept.
fn n_runs(bench: &GateWorld) -> usize {
    book(bench)["runs"].as_array().map_or(0, Vec::len)
}

#[test]
fn what_a_lane_finds_is_shown_beside_its_verdict() {
    let bench = bench("");
    let before = bench.review("finder,pass", &[]);
    assert_eq!((before.code, before.verdict()), (0, "PASS"));
    assert_eq!(before.json["report"]["reviewers"]["finder"]["measured"], Value::Null);
    assert!(!bench.repo.path(".mala/gate/canaries").exists(), "none were requested");

    let head = bench.repo.head();
    let (code, stdout, stderr) =
        bench.run(&["canary", "--lanes", "finder,pass,crash", "--count", "3", "--json"]);
    assert_eq!(code, 0, "{stderr}");
    let done: Value = serde_json::from_str(&stdout).unwrap();
    let lanes = &done["run"]["lanes"];
    assert_eq!(lanes["finder"]["by_kind"], json!({"off-by-one": {"found": 1, "planted": 1}}));
    assert_eq!(lanes["pass"]["by_kind"], json!({"off-by-one": {"found": 0, "planted": 1}}));
    assert_eq!(lanes["crash"]["could_not_review"], 1);
    assert_eq!((bench.repo.head(), bench.repo.git(&["status", "--porcelain"])), (head, "".into()));
    let prompt = bench.repo.path(".mala/gate/canaries/last/1/lanes/finder/review/prompt.md");
    let prompt = std::fs::read_to_string(prompt).unwrap();
    assert!(prompt.contains("count - 1") && !prompt.contains("off-by-one"), "{prompt}");

    let after = bench.review("finder,pass", &[]);
    assert_eq!((after.code, after.verdict()), (0, "PASS"), "the verdict is what it was");
    let today = done["run"]["at"].as_str().unwrap().get(..10).unwrap().to_owned();
    let measured = &after.json["report"]["reviewers"]["finder"]["measured"];
    assert_eq!((&measured["found"], &measured["planted"]), (&1.into(), &1.into()));
    assert_eq!((&measured["recall"], &measured["date"]), (&1.0.into(), &today.clone().into()));
    let dateless = |text: &str| bench.world.clean(text).replace(&today, "[DATE]");
    let (_, shown, _) = bench.run(&["wait", "--session-key", &after.key]);
    assert_snapshot!(dateless(&shown), @"
    PASS (unanimous: 2 of 2 needed passes)
      HEAD~1..HEAD at [COMMIT], started [TIME]
      finder: PASS (found 1 of 1 planted, [DATE])
      pass: PASS (found 0 of 1 planted, [DATE])
    [WORK]/.mala/gate/[KEY]
    ");
    let (_, shown, _) = bench.run(&["status"]);
    assert_snapshot!(dateless(&shown), @"
    [KEY]  done, PASS  HEAD~1..HEAD  2 of 2 lanes over
      finder: found 1 of 1 planted, [DATE]
      pass: found 0 of 1 planted, [DATE]
    ");
    let (_, shown, _) = bench.run(&["lanes"]);
    let own = shown.lines().skip_while(|line| !line.starts_with("finder: ")).take(3);
    assert_snapshot!(dateless(&own.collect::<Vec<_>>().join("\n")), @"
    finder: usable
      program: [HOME]/bin/lane
      measured: found 1 of 1 planted, [DATE]
    ");
    let report = bench.repo.path(format!(".mala/gate/{}/report.md", after.key));
    let report = std::fs::read_to_string(report).unwrap();
    assert!(report.contains("found 1 of 1 planted"), "{report}");
}

#[test]
fn the_schedule_never_delays_or_changes_a_verdict() {
    let bench = bench("  canaries: {every_days: 7, count: 2}\n");
    let first = bench.review("finder,stuck", &["--timeout", "4"]);
    assert_eq!(first.code, 0);
    // The result is there before the schedule is: its beginning comes a moment later.
    until(&bench, |book| book["since"].is_i64());
    assert_eq!(n_runs(&bench), 0, "the schedule begins with the first session");

    let secret = std::fs::read(bench.repo.path(".git/mala-secret")).unwrap();
    let due =
        |stamp: &str| format!(r#"{{"stamp":"{stamp}","schema_version":1,"since":0,"runs":[]}}"#);
    let mut mac = Hmac::<Sha256>::new_from_slice(&secret).unwrap();
    mac.update(format!("canaries {}", due("")).as_bytes());
    let mark = mac.finalize().into_bytes();
    let mark: String = mark.iter().map(|byte| format!("{byte:02x}")).collect();
    std::fs::write(bench.repo.path(".mala/gate/canaries/book.json"), due(&mark)).unwrap();
    let second = bench.review("finder,stuck", &["--timeout", "4"]);
    assert_eq!((second.code, second.verdict()), (0, "PASS"));
    assert_eq!(n_runs(&bench), 0, "the verdict is there while the canaries are under way");
    second.assert_nothing_left();

    until(&bench, |book| book["runs"].as_array().is_some_and(|runs| !runs.is_empty()));
    let lanes = &book(&bench)["runs"][0]["lanes"];
    assert_eq!(lanes["finder"]["by_kind"]["off-by-one"], json!({"found": 1, "planted": 1}));
    assert_eq!(lanes["stuck"]["could_not_review"], 1, "{lanes}");

    let third = bench.review("finder,stuck", &["--timeout", "4"]);
    assert_eq!(third.json["report"]["reviewers"]["finder"]["measured"]["found"], 1);
    let stuck = &third.json["reviewers"]["stuck"];
    assert_eq!(stuck["verdict"], "PASS");
    let measured = &third.json["report"]["reviewers"]["stuck"]["measured"];
    assert_eq!(measured["recall"], Value::Null);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(n_runs(&bench), 1, "the next one is due in a week");
}

fn until(bench: &GateWorld, is_so: impl Fn(&Value) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so(&book(bench)) {
        let log = std::fs::read_to_string(bench.repo.path(".mala/gate/canaries/run.err"));
        assert!(Instant::now() < deadline, "{:#} {log:?}", book(bench));
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A canary log that a commit brings along.
#[test]
fn what_a_commit_says_of_the_lanes_counts_for_nothing() {
    let bench = bench("  canaries: {every_days: 7, count: 1}\n");
    let hits = |n: u32| json!({"found": n, "planted": n});
    let kinds = json!({"off-by-one": hits(u32::MAX), "inverted-condition": hits(u32::MAX)});
    let tally =
        json!({"version": null, "by_kind": kinds, "could_not_review": u32::MAX, "cost_usd": null});
    let run = json!({"at": "2026-11-15T00:00:00Z", "seed": 1, "lanes": {"pass": tally}});
    let planted = json!({"schema_version": 1, "since": 1, "runs": [run.clone(), run]});
    bench.repo.write(".mala/gate/canaries/book.json", planted.to_string());
    bench.repo.git(&["add", "-Af", ".mala/gate/canaries"]);
    bench.repo.commit_staged("a book");
    bench.repo.write("a.py", "def take(rows, count):\n    return rows[:count] \n");
    bench.repo.commit("a space");
    for _ in 0..2 {
        // This clone has no mark at first, and then has one.
        let ended = bench.review("pass", &[]);
        assert_eq!((ended.code, ended.verdict()), (0, "PASS"), "{:#}", ended.json);
        assert_eq!(ended.json["report"]["reviewers"]["pass"]["measured"], Value::Null);
        for args in [&["lanes"][..], &["status"], &["list"]] {
            let (code, shown, stderr) = bench.run(args);
            assert!(code == 0 && !shown.contains("planted"), "{args:?}: {shown}{stderr}");
        }
        until(&bench, |book| book["since"].as_i64().is_some_and(|since| since > 1));
        assert_eq!(n_runs(&bench), 0, "a commit does not decide that money is spent");
        bench.repo.write(".mala/gate/canaries/book.json", planted.to_string());
    }
}

#[test]
fn nothing_in_the_place_of_the_book_delays_a_verdict() {
    for target in ["/dev/zero", "pipe"] {
        let bench = bench("  canaries: {every_days: 7, count: 1}\n");
        let pipe = bench.repo.beside("pipe");
        assert!(bench.world.command("mkfifo").arg(&pipe).status().unwrap().success());
        let target = if target == "pipe" { pipe.as_path() } else { std::path::Path::new(target) };
        bench.repo.write(".mala/gate/canaries/run.out", "");
        for file in ["book.json", "lock"] {
            bench.repo.link(format!(".mala/gate/canaries/{file}"), target);
        }
        bench.repo.git(&["add", "-Af", ".mala/gate/canaries"]);
        bench.repo.commit_staged("a book");
        let gate = env!("CARGO_BIN_EXE_review-gate");
        let run = |args: &[&str]| {
            let mut command = bench.world.command("timeout");
            command.args(["-s", "KILL", "30", gate]).args(args).output().unwrap()
        };
        let range = ["--diff", "HEAD~2..HEAD~1", "--lanes", "pass"];
        assert!(run(&[&["spawn-code-review"][..], &range].concat()).status.success());
        let output = run(&["wait", "--timeout", "20"]);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{}: {said}", target.display());
        for args in ["status", "list", "lanes"] {
            assert_eq!(run(&[args]).status.code(), Some(0), "{args}");
        }
    }
}

#[test]
fn no_further_one_is_given_when_they_cost_enough() {
    let lane = "{command: [lane, paid], answer: {form: json, at: [/answer]}, usage: {cost: /cost}}";
    let bench = GateWorld::with_config(&format!(
        "gate:\n  canaries: {{max_cost_usd: 2.5}}\n  lanes:\n    paid: {lane}\n"
    ));
    let place = "def take(rows, count):\n    return rows[:count]\n";
    bench.repo.write("a.py", place.repeat(4));
    bench.repo.commit("Take the first rows");
    let (code, shown, stderr) = bench.run(&["canary", "--lanes", "paid"]);
    assert_eq!(code, 0, "{stderr}");
    let is_date = |word: &str| word.starts_with("20") && word.matches('-').count() == 2;
    let dateless = |text: &str| -> String {
        let words = text.split(' ').map(|word| match word.split_at_checked(10) {
            Some((date, rest)) if is_date(date) => format!("[DATE]{rest}"),
            _ => word.to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    };
    assert_snapshot!(dateless(&format!("{shown}{stderr}")), @"
    paid: found 0 of 2 planted, [DATE], cost $3.0000
      off-by-one: 0 of 2
    warning: stopping: the cost limit for canaries is reached
    ");
    // The kinds are those of the run that is told of; what all runs come to stands apart.
    let (_, shown, _) = bench.run(&["canary", "--lanes", "paid"]);
    assert_snapshot!(dateless(&shown), @"
    paid: found 0 of 2 planted, [DATE], cost $3.0000
      off-by-one: 0 of 2
      with earlier runs: found 0 of 4 planted, [DATE]
    ");
}

#[test]
fn a_canary_that_cannot_be_given_says_why() {
    let empty = GateWorld::new();
    assert_snapshot!(empty.world.run(&["canary", "--lanes", "pass"]), @"
    [exit 5]
    [stderr]
    error: no defect can be planted into the newest commits
    ");
    assert_snapshot!(empty.world.run(&["canary", "--lanes", "missing"]), @"
    [exit 5]
    [stderr]
    warning: missing: `no-such-program` is not on PATH
    error: no lane is available
    hint: run `review-gate lanes` to see why
    ");
}
