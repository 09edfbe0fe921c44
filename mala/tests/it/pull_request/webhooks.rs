//! `mala serve --webhooks`, with the examples of GitHub's webhooks that scripts/install-tools installs.

use super::PullRequestBench;
use hmac::{Hmac, KeyInit, Mac};
use mala_domain::forge::{WebhookAction, webhook_action};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};

const SECRET: &str = "a webhook secret";

/// A running service. It is killed when it is dropped.
struct RunningService {
    child: Child,
    address: String,
}

impl RunningService {
    fn start(bench: &PullRequestBench) -> Self {
        let mut command = bench.world.command(env!("CARGO_BIN_EXE_mala"));
        command.args(["serve", "--webhooks", "--listen", "127.0.0.1:0", "--jobs", "1"]);
        command.env("GITHUB_WEBHOOK_SECRET", SECRET).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        let address = first.split('/').nth(2).unwrap_or_else(|| panic!("{first}")).to_owned();
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address }
    }

    /// Sends a delivery and returns the status.
    fn deliver(&self, (id, event): (&str, &str), body: &[u8], secret: &str) -> u16 {
        let mut mac = Hmac::<sha2::Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        mac.update(body);
        let bytes = mac.finalize().into_bytes();
        let signature: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let head = format!(
            "POST /webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\nX-GitHub-Delivery: {id}\r\n\
             X-GitHub-Event: {event}\r\nX-Hub-Signature-256: sha256={signature}\r\n\r\n",
            body.len()
        );
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// Asks it to stop, and waits.
    fn stop(mut self) {
        let pid = self.child.id().to_string();
        assert!(std::process::Command::new("kill").arg(&pid).status().unwrap().success());
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
    let service = RunningService::start(&bench);
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
fn a_delivery_survives_a_crash() {
    let bench = PullRequestBench::new();
    // GitHub is away: the review cannot end.
    bench.github.fail(|_| Some(super::status(503, &[], "away")));
    let service = RunningService::start(&bench);
    assert_eq!(service.deliver(("1", "pull_request"), &pushed("a"), SECRET), 202);
    drop(service);
    bench.github.heal();
    let service = RunningService::start(&bench);
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
            if let WebhookAction::Review(at) = webhook_action(name, example) {
                let action = example["action"].as_str().unwrap();
                reviewed.push(format!("{name} {action} {at}"));
            }
        }
    }
    reviewed.sort();
    reviewed.dedup();
    insta::assert_snapshot!(reviewed.join("\n"), @"
    pull_request opened Codertocat/Hello-World#2
    pull_request ready_for_review Codertocat/Hello-World#2
    pull_request reopened Codertocat/Hello-World#2
    pull_request synchronize Codertocat/Hello-World#2
    pull_request_review_thread resolved Codertocat/Hello-World#2
    pull_request_review_thread resolved octo-org/octo-repo#118
    pull_request_review_thread unresolved Codertocat/Hello-World#2
    ");
}

#[test]
fn without_a_secret_it_does_not_start() {
    let bench = PullRequestBench::new();
    let output = bench.world.output(&["serve", "--webhooks"], b"");
    assert_eq!(output.status.code(), Some(78));
}
