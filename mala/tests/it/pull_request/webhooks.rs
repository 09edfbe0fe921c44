//! `mala serve --webhooks`, with the examples of GitHub's webhooks that scripts/install-tools installs.

use super::gitlab::MergeRequestBench;
use super::{FLAW, PullRequestBench, TOKEN};
use hmac::{Hmac, KeyInit, Mac};
use mala_domain::forge::{WebhookAction, github_webhook};
use mala_testkit::World;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub(super) const SECRET: &str = "a webhook secret";

/// A running service. It is killed when it is dropped.
pub(super) struct RunningService {
    child: Child,
    pub(super) address: String,
    /// What it printed.
    printed: Arc<Mutex<String>>,
}

impl RunningService {
    pub(super) fn start(world: &World) -> Self {
        let mut command = world.command(env!("CARGO_BIN_EXE_mala"));
        command.args(["serve", "--webhooks", "--listen", "127.0.0.1:0", "--jobs", "1"]);
        command.env("GITHUB_WEBHOOK_SECRET", SECRET).env("GITLAB_WEBHOOK_SECRET", SECRET);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        let address = first.split('/').nth(2).unwrap_or_else(|| panic!("{first}")).to_owned();
        let printed = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&printed);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                kept.lock().unwrap().push_str(&format!("{line}\n"));
            }
        });
        Self { child, address, printed }
    }

    /// Sends a delivery of GitHub and returns the status.
    fn deliver(&self, (id, event): (&str, &str), body: &[u8], secret: &str) -> u16 {
        let mut mac = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        mac.update(body);
        let bytes = mac.finalize().into_bytes();
        let signature: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let headers = format!(
            "X-GitHub-Delivery: {id}\r\nX-GitHub-Event: {event}\r\n\
             X-Hub-Signature-256: sha256={signature}\r\n"
        );
        self.send(&headers, body)
    }

    /// Sends a delivery with these headers and returns the status.
    fn send(&self, headers: &str, body: &[u8]) -> u16 {
        let length = body.len();
        let head = format!(
            "POST /webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n{headers}\r\n"
        );
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// Waits until it printed this.
    pub(super) fn wait_for(&self, text: &str) {
        while !self.printed.lock().unwrap().contains(text) {
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Asks it to stop.
    fn ask_to_stop(&self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").arg(&pid).status().unwrap().success());
    }

    /// Asks it to stop, and waits.
    pub(super) fn stop(self) {
        self.ask_to_stop();
        self.wait();
    }

    /// Waits for its end.
    fn wait(mut self) {
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for RunningService {
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        self.child.wait().unwrap();
    }
}

fn pushed(updated: &str) -> Vec<u8> {
    let repository = json!({"name": "r", "owner": {"login": "o"}});
    let pull = json!({"number": 7, "draft": false, "updated_at": updated});
    let event = json!({"action": "synchronize", "repository": repository, "pull_request": pull});
    event.to_string().into_bytes()
}

/// Waits until a summary is there.
fn wait_for_summary(bench: &PullRequestBench) {
    while bench.posted().0 == 0 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn a_signed_delivery_is_reviewed_once() {
    let bench = PullRequestBench::new();
    let service = RunningService::start(&bench.world);
    let push = ("1", "pull_request");
    assert_eq!(service.deliver(push, &pushed("a"), "another secret"), 401);
    assert_eq!(service.deliver(push, b"no json", SECRET), 400);
    assert_eq!(service.deliver(("9", "ping"), b"{}", SECRET), 202);
    assert_eq!(service.deliver(push, &pushed("a"), SECRET), 202);
    assert_eq!(service.deliver(push, &pushed("a"), SECRET), 202, "delivered again");
    assert_eq!(service.deliver(("2", "pull_request"), &pushed("a"), SECRET), 202, "replayed");
    wait_for_summary(&bench);
    service.stop();
    assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned()]));
    let runs = std::fs::read_dir(bench.world.folder().join(".mala/runs")).unwrap();
    assert_eq!(runs.count(), 1, "one review");
}

#[test]
fn another_base_branch_is_reviewed_and_another_title_is_not() {
    let bench = PullRequestBench::new();
    let service = RunningService::start(&bench.world);
    for (id, what) in [("1", "title"), ("2", "base")] {
        let mut event: Value = serde_json::from_slice(&pushed(id)).unwrap();
        event["action"] = json!("edited");
        event["changes"] = json!({what: {"from": "before"}});
        let body = event.to_string().into_bytes();
        assert_eq!(service.deliver((id, "pull_request"), &body, SECRET), 202);
    }
    wait_for_summary(&bench);
    service.stop();
    let runs = std::fs::read_dir(bench.world.folder().join(".mala/runs")).unwrap();
    assert_eq!(runs.count(), 1, "one review");
    let bench = MergeRequestBench::new();
    let service = RunningService::start(&bench.world);
    let event = json!({
        "object_kind": "merge_request", "user": {"username": "ada"},
        "project": {"path_with_namespace": "g/sub/p"},
        "object_attributes": {"iid": 7, "action": "update", "draft": false},
        "changes": {"target_branch": {"previous": "next", "current": "main"}},
    });
    let headers = format!("X-Gitlab-Event: Merge Request Hook\r\nX-Gitlab-Token: {SECRET}\r\n");
    assert_eq!(service.send(&headers, event.to_string().as_bytes()), 202);
    service.wait_for("g/sub/p!7: exit code 1");
    service.stop();
}

#[test]
fn a_delivery_survives_a_crash() {
    let bench = PullRequestBench::new();
    // GitHub is away: the review cannot end.
    bench.github.fail(|_| Some(super::status(503, &[], "away")));
    let service = RunningService::start(&bench.world);
    assert_eq!(service.deliver(("1", "pull_request"), &pushed("a"), SECRET), 202);
    drop(service);
    bench.github.heal();
    let service = RunningService::start(&bench.world);
    wait_for_summary(&bench);
    service.stop();
    assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned()]));
}

#[test]
fn the_examples_of_github_start_reviews_or_are_ignored() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.tools/github/node_modules");
    let path = folder.join("@octokit/webhooks-examples/api.github.com/index.json");
    let text = std::fs::read(path).unwrap_or_else(|_| panic!("run scripts/install-tools"));
    let examples: Value = serde_json::from_slice(&text).unwrap();
    let mut reviewed = Vec::new();
    for event in examples.as_array().unwrap() {
        let name = event["name"].as_str().unwrap();
        for example in event["examples"].as_array().unwrap() {
            let (at, asked) = match github_webhook(name, example) {
                WebhookAction::Review(at) => (at, String::new()),
                WebhookAction::ReviewFor(at, login) => (at, format!(" for {login}")),
                WebhookAction::Ignore(_) => continue,
            };
            let action = example["action"].as_str().unwrap();
            reviewed.push(format!("{name} {action} {at}{asked}"));
        }
    }
    reviewed.sort();
    reviewed.dedup();
    insta::assert_snapshot!(reviewed.join("\n"), @"
    pull_request opened Codertocat/Hello-World#2
    pull_request ready_for_review Codertocat/Hello-World#2
    pull_request reopened Codertocat/Hello-World#2
    pull_request synchronize Codertocat/Hello-World#2
    pull_request_review_thread resolved Codertocat/Hello-World#2 for Codertocat
    pull_request_review_thread resolved octo-org/octo-repo#118 for octocat
    ");
}

#[test]
fn without_a_secret_it_does_not_start() {
    let bench = PullRequestBench::new();
    insta::assert_snapshot!(bench.run(&["serve", "--webhooks"]), @"
    [exit 78]
    [stderr]
    error: neither GITHUB_WEBHOOK_SECRET nor GITLAB_WEBHOOK_SECRET is set
    hint: set it to the secret of the webhook, so that only the forge can start reviews
    ");
}

#[test]
fn running_reviews_finish_before_it_stops_and_others_wait_for_a_free_place() {
    let bench = PullRequestBench::new();
    let (is_held, n_reviews) = (Arc::new(AtomicBool::new(true)), Arc::new(AtomicUsize::new(0)));
    let (held, started) = (Arc::clone(&is_held), Arc::clone(&n_reviews));
    // A review waits for its first answer.
    bench.github.fail(move |request| {
        let is_first = request.method == "GET"
            && request.resource().starts_with("/repos/o/r/pulls/")
            && !request.resource().ends_with("comments");
        if is_first {
            started.fetch_add(1, Ordering::SeqCst);
            while held.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        None
    });
    let service = RunningService::start(&bench.world);
    let other = String::from_utf8(pushed("b")).unwrap().replace("\"number\":7", "\"number\":8");
    assert_eq!(service.deliver(("1", "pull_request"), &pushed("a"), SECRET), 202);
    assert_eq!(service.deliver(("2", "pull_request"), other.as_bytes(), SECRET), 202);
    while n_reviews.load(Ordering::SeqCst) == 0 {
        std::thread::sleep(Duration::from_millis(20));
    }
    service.ask_to_stop();
    service.wait_for("stopping after 1 review");
    assert_eq!(n_reviews.load(Ordering::SeqCst), 1, "one at a time");
    assert!(TcpStream::connect(&service.address).is_err(), "no more deliveries");
    is_held.store(false, Ordering::SeqCst);
    service.wait();
    assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned()]));
    assert_eq!(n_reviews.load(Ordering::SeqCst), 2, "before and after the review");
}

#[test]
fn commands_count_only_from_accounts_with_write_access() {
    let bench = PullRequestBench::new();
    bench.github.allow_writes("ada");
    assert_eq!(bench.pr(&["--post", "review"]).0, 1);
    let first = bench.github.inline_comments()[0].id;
    let service = RunningService::start(&bench.world);
    let repository = json!({"name": "r", "owner": {"login": "o"}});
    for (number, (login, expected)) in
        [("eve", "o/r#7: exit code 64"), ("ada", "o/r#7: exit code 0")].into_iter().enumerate()
    {
        // Nothing else changes: only the thread.
        bench.github.resolve(first, login);
        let event = json!({
            "action": "resolved", "repository": repository, "pull_request": {"number": 7},
            "sender": {"login": login, "type": "User"},
        });
        let id = (number.to_string(), "pull_request_review_thread");
        assert_eq!(service.deliver((&id.0, id.1), event.to_string().as_bytes(), SECRET), 202);
        service.wait_for(expected);
    }
    service.stop();
    let summary = bench.github.comments().pop().unwrap().body;
    assert!(summary.contains("Not counted: 1"), "{summary}");
}

#[test]
fn a_delivery_of_gitlab_is_reviewed_once() {
    let bench = MergeRequestBench::new();
    let service = RunningService::start(&bench.world);
    let event = json!({
        "object_kind": "merge_request", "user": {"username": "ada"},
        "project": {"path_with_namespace": "g/sub/p"},
        "object_attributes": {"iid": 7, "action": "open", "draft": false},
    });
    let body = event.to_string().into_bytes();
    let headers = |token: &str| {
        let event = "X-Gitlab-Event: Merge Request Hook";
        format!("{event}\r\nX-Gitlab-Token: {token}\r\nIdempotency-Key: 1\r\n")
    };
    assert_eq!(service.send(&headers("another token"), &body), 401);
    assert_eq!(service.send(&headers(""), &body), 401);
    assert_eq!(service.send(&headers(SECRET), &body), 202);
    assert_eq!(service.send(&headers(SECRET), &body), 202, "delivered again");
    let older = headers(SECRET).replace("Idempotency-Key", "X-Gitlab-Event-UUID");
    assert_eq!(service.send(&older, &[&body[..], b"\n"].concat()), 202, "by an older version");
    service.wait_for("g/sub/p!7: exit code 1");
    bench.gitlab.add_developer("ada");
    bench.gitlab.add_note("ada", "/mala review");
    bench.repo.write("other.py", FLAW);
    bench.repo.commit("another flaw");
    let note = json!({
        "object_kind": "note", "user": {"username": "ada"},
        "project": {"path_with_namespace": "g/sub/p"}, "merge_request": {"iid": 7},
        "object_attributes": {"note": "/mala review", "noteable_type": "MergeRequest"},
    });
    let headers = format!("X-Gitlab-Event: Note Hook\r\nX-Gitlab-Token: {SECRET}\r\n");
    assert_eq!(service.send(&headers, note.to_string().as_bytes()), 202);
    while bench.posted().1.len() < 2 {
        std::thread::sleep(Duration::from_millis(50));
    }
    service.stop();
    let (summaries, threads) = bench.posted();
    assert_eq!((summaries.len(), threads), (1, vec!["app.py:2".into(), "other.py:2".into()]));
    let runs = std::fs::read_dir(bench.world.folder().join(".mala/runs")).unwrap();
    assert_eq!(runs.count(), 2, "one review each");
}

#[test]
fn a_failed_review_is_explained_and_runs_again_when_it_is_delivered_again() {
    let mut bench = PullRequestBench::new();
    let delivery = ("1", "pull_request");
    // Another attempt would not find a token either.
    bench.world = bench.world.with_env("GITHUB_TOKEN", "");
    let service = RunningService::start(&bench.world);
    assert_eq!(service.deliver(delivery, &pushed("a"), SECRET), 202);
    service.wait_for("o/r#7: exit code 78");
    service.wait_for("o/r#7: error: no GitHub token");
    service.wait_for("o/r#7: not trying again; deliver the webhook again to do so");
    service.stop();
    bench.world = bench.world.with_env("GITHUB_TOKEN", TOKEN);
    bench.github.fail(|_| Some(super::status(403, &[], "no access")));
    let service = RunningService::start(&bench.world);
    assert_eq!(service.deliver(delivery, &pushed("a"), SECRET), 202);
    service.wait_for("o/r#7: exit code 2");
    service.wait_for("o/r#7: trying again in 1 min");
    bench.github.heal();
    assert_eq!(service.deliver(delivery, &pushed("a"), SECRET), 202);
    wait_for_summary(&bench);
    service.stop();
    assert_eq!(bench.posted(), (1, vec!["app.py:2".to_owned()]));
}

#[test]
fn a_delivery_waits_while_there_are_too_many_connections() {
    let bench = PullRequestBench::new();
    let service = RunningService::start(&bench.world);
    let idle: Vec<_> = (0..64).map(|_| TcpStream::connect(&service.address).unwrap()).collect();
    let status = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| service.deliver(("1", "ping"), b"{}", SECRET));
        // Time for it to be refused.
        std::thread::sleep(Duration::from_millis(300));
        drop(idle);
        waiting.join().unwrap()
    });
    assert_eq!(status, 202);
    service.stop();
}
