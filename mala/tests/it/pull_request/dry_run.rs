//! A dry run prints exactly the requests that a run sends.

use super::gitlab::MergeRequestBench;
use super::{CLEAN, FLAW, PullRequestBench, is_write};
use mala_testkit::World;
use mala_testkit::forge_server::ForgeRequest;
use serde_json::Value;

/// A write: method and path, and the body.
type SentWrite = (String, Value);

/// The writes that a dry run prints.
fn printed(world: &World, args: &[&str]) -> Vec<SentWrite> {
    let output = world.output(&[args, &["--dry-run"]].concat(), b"");
    let text = String::from_utf8(output.stdout).unwrap();
    let mut writes: Vec<(&str, String)> = Vec::new();
    for line in text.lines() {
        match writes.last_mut() {
            // Bodies start with a brace and are indented.
            Some((_, body)) if line.starts_with(['{', ' ', '}']) => body.push_str(line),
            _ => writes.push((line, String::new())),
        }
    }
    writes.iter().map(|(head, body)| write(head, body)).collect()
}

/// The writes that a forge received, below the path of its API.
fn received(requests: &[ForgeRequest], api: &str) -> Vec<SentWrite> {
    let text = |request: &ForgeRequest| String::from_utf8(request.body.clone()).unwrap();
    let is_write = |request: &&ForgeRequest| {
        request.method != "GET" && !request.is_git() && !text(request).contains("\"query(")
    };
    let writes = requests.iter().filter(is_write).map(|request| {
        let (path, body) = (request.path.strip_prefix(api).unwrap(), text(request));
        write(&format!("{} {path}", request.method), &body)
    });
    writes.collect()
}

/// A write without what differs between two runs: times, and the number of a check run that does not exist yet.
fn write(head: &str, body: &str) -> SentWrite {
    let head = match head.split_once("/check-runs/") {
        Some((start, _)) => format!("{start}/check-runs/ID"),
        None => head.to_owned(),
    };
    let is_time = |word: &str| {
        word.len() == 20 && word.get(8..9) == Some("T") && word.ends_with('Z')
            || word.contains('.') && word.parse::<f64>().is_ok()
    };
    let words = body.split_inclusive(|it: char| !it.is_ascii_alphanumeric() && it != '.');
    let timeless: String = words
        .map(|word| {
            let bare = word.trim_end_matches(|it: char| !it.is_ascii_alphanumeric() && it != '.');
            if is_time(bare) { format!("TIME{}", &word[bare.len()..]) } else { word.to_owned() }
        })
        .collect();
    let body = if body.is_empty() { "null" } else { &timeless };
    let body = serde_json::from_str(body).unwrap();
    (head, body)
}

fn heads(writes: &[SentWrite]) -> Vec<&str> {
    writes.iter().map(|(head, _)| head.as_str()).collect()
}

#[test]
fn a_dry_run_prints_every_request_to_github() {
    // 002-007
    let args = ["pr", "o/r#7", "--post", "review,check"];
    let bench = PullRequestBench::new();
    for number in 0..110 {
        bench.repo.write(format!("more/m{number}.py"), FLAW);
    }
    bench.repo.commit("many flaws");
    let shown = printed(&bench.world, &args);
    assert!(received(&bench.github.take_requests(), "").is_empty(), "a dry run sends nothing");
    bench.world.output(&args, b"");
    let sent = received(&bench.github.take_requests(), "");
    assert_eq!(shown, sent);
    insta::assert_snapshot!(heads(&sent).join("\n"), @r"
    POST /repos/o/r/pulls/7/reviews
    POST /repos/o/r/issues/7/comments
    POST /repos/o/r/check-runs
    PATCH /repos/o/r/check-runs/ID
    PATCH /repos/o/r/check-runs/ID
    ");

    // A push that fixes a finding resolves its thread, and a question is answered.
    bench.github.allow_writes("ada");
    let inline = bench.github.inline_comments();
    let asked = inline.iter().find(|comment| comment.path != "app.py").unwrap().id;
    bench.github.add_reply(asked, "ada", "/mala explain");
    bench.repo.write("app.py", CLEAN.replace('1', "2"));
    bench.repo.commit("fix a flaw");
    let shown = printed(&bench.world, &args);
    bench.github.take_requests();
    bench.world.output(&args, b"");
    let sent = received(&bench.github.take_requests(), "");
    assert_eq!(shown, sent);
    insta::assert_snapshot!(heads(&sent).join("\n"), @r"
    POST /repos/o/r/pulls/7/reviews
    POST /graphql
    PATCH /repos/o/r/issues/comments/131
    POST /repos/o/r/pulls/7/comments/102/replies
    POST /repos/o/r/check-runs
    PATCH /repos/o/r/check-runs/ID
    PATCH /repos/o/r/check-runs/ID
    ");
    let output = bench.world.output(&[&args[..], &["--dry-run"]].concat(), b"");
    assert!(output.stdout.is_empty(), "nothing is missing");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "note: no request would be sent\n");
}

#[test]
fn a_dry_run_prints_every_request_to_gitlab() {
    let args = ["pr", "g/sub/p!7", "--post", "review,check"];
    let bench = MergeRequestBench::new();
    for number in 0..60 {
        bench.repo.write(format!("more/m{number}.py"), FLAW);
    }
    bench.repo.commit("many flaws");
    let shown = printed(&bench.world, &args);
    assert!(received(&bench.gitlab.take_requests(), "/api/v4").is_empty());
    bench.world.output(&args, b"");
    let sent = received(&bench.gitlab.take_requests(), "/api/v4");
    assert_eq!(shown, sent);
    assert_eq!(sent.len(), 32, "30 discussions, a note and a status");
}

#[test]
fn a_dry_run_sends_nothing() {
    // 002-007
    let bench = PullRequestBench::new();
    let output = bench.world.output(&["pr", "o/r#7", "--dry-run"], b"");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("POST /repos/o/r/pulls/7/reviews"), "{shown}");
    assert!(shown.contains("POST /repos/o/r/issues/7/comments"), "{shown}");
    assert!(shown.contains("\"line\": 2"), "{shown}");
    assert!(bench.github.take_requests().iter().all(|request| !is_write(request)));
}

#[test]
fn a_dry_run_leaves_nothing_behind() {
    let bench = PullRequestBench::new();
    bench.pr(&["--dry-run"]);
    let report = bench.report(&[]);
    assert_eq!(report["tracking"]["round"], 1, "{}", report["tracking"]);
}
