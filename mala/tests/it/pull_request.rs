//! `mala pr` against a loopback GitHub with a real repository.

mod access;
mod accounts;
mod action;
mod ci;
mod contract;
mod dry_run;
mod emulator;
mod files;
mod gitlab;
mod posting;
mod replies;
mod rounds;
mod story;
mod webhooks;

use crate::world;
use mala_testkit::forge_server::{ForgeFault, ForgeRequest};
use mala_testkit::model_server::ModelAnswer;
use mala_testkit::{GitHubServer, ModelServer, TestRepo, World};
use serde_json::{Value, json};
use std::sync::Arc;

const TOKEN: &str = "ghp_dummydummydummydummydummydummydumm";
const CLEAN: &str = "def ask():\n    return 1\n";
const FLAW: &str = "def ask():\n    breakpoint()\n    return 1\n";

/// A GitHub with pull request 7, and a world in an empty folder.
struct PullRequestBench {
    repo: TestRepo,
    github: Arc<GitHubServer>,
    world: World,
}

impl PullRequestBench {
    /// A pull request that adds a flaw to `app.py`.
    fn new() -> Self {
        let repo = TestRepo::with_files(&[("app.py", CLEAN), ("other.py", CLEAN)]);
        repo.branch("topic");
        repo.write("app.py", FLAW);
        repo.commit("add a flaw");
        let github = Arc::new(GitHubServer::new(repo.root()));
        let world =
            world().with_env("GITHUB_API_URL", github.url()).with_env("GITHUB_TOKEN", TOKEN);
        Self { repo, github, world }
    }

    /// The bench with a model, for the agent.
    fn with_model(mut self, server: &ModelServer) -> Self {
        self.world = self
            .world
            .with_env("ANTHROPIC_BASE_URL", server.url())
            .with_env("ANTHROPIC_API_KEY", "test-key");
        self
    }

    /// Runs `mala pr o/r#7` with these options, and returns its exit code and stderr.
    fn pr(&self, options: &[&str]) -> (i32, String) {
        let output = self.world.output(&[&["pr", "o/r#7"], options].concat(), b"");
        let shown = [&output.stdout[..], &output.stderr[..]].concat();
        assert!(!String::from_utf8_lossy(&shown).contains(TOKEN), "002-098: the token is shown");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code().unwrap_or(-1), stderr)
    }

    /// All output of `mala pr o/r#7` with these options.
    fn show(&self, options: &[&str]) -> String {
        self.run(&[&["pr", "o/r#7"], options].concat())
    }

    /// All output of `mala` with these arguments. The server is `[GITHUB]`.
    fn run(&self, args: &[&str]) -> String {
        let url = self.github.url();
        self.world.name(&url, "[GITHUB]").name(url.trim_start_matches("http://"), "[HOST]");
        let shown = self.world.run(args);
        assert!(!shown.contains(TOKEN), "002-098: the token is shown");
        shown
    }

    /// Deletes the ledger and all cached responses, as on another machine.
    fn forget(&self) {
        std::fs::remove_dir_all(self.world.home().join(".cache/mala/forges")).unwrap();
    }

    /// The report of `mala pr o/r#7 --json`.
    fn report(&self, options: &[&str]) -> Value {
        let output = self.world.output(&[&["pr", "o/r#7", "--json"], options].concat(), b"");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Our summary comments and the findings with a comment on lines, which must each be one.
    fn posted(&self) -> (usize, Vec<String>) {
        let is_summary = |body: &str| body.starts_with("<!-- code-review-agent:review_id=");
        let comments = self.github.comments();
        let ours = comments.iter().filter(|one| one.login == "mala-bot" && is_summary(&one.body));
        let inline = self.github.inline_comments();
        let first = inline.iter().filter(|one| one.reply_to.is_none());
        let mut places: Vec<_> = first.map(|one| format!("{}:{}", one.path, one.line)).collect();
        places.sort();
        (ours.count(), places)
    }
}

/// A model that passes everything.
fn passing_model() -> ModelServer {
    ModelServer::always(ModelAnswer::text(r#"{"verdict": "PASS", "findings": []}"#))
}

/// A model that reports a finding in `app.py` on these lines with this title and evidence, and confirms it.
fn reporting_model(
    lines: (u32, u32),
    title: &str,
    evidence: &str,
    suggestion: &str,
) -> ModelServer {
    let finding = json!({
        "file_path": "app.py", "line_start": lines.0, "line_end": lines.1, "priority": 1,
        "title": format!("[P1] {title}"), "body": "It stops the program.", "category": "bug",
        "when": "it is called", "then": "it stops", "evidence": evidence,
        "suggestion": suggestion, "confidence": 0.9,
    });
    let found = json!({"verdict": "FAIL", "findings": [finding]}).to_string();
    let check = json!({"id": "c1", "outcome": "holds", "why": "it is there"});
    let checked = json!({"checks": [check]}).to_string();
    ModelServer::new(move |request| {
        let is_check = request.body.to_string().contains("You check claims");
        ModelAnswer::text(if is_check { &checked } else { &found }).into()
    })
}

const AGENT: [&str; 6] = ["--reviewer", "agent_sdk", "--profile", "lean", "--post", "review"];

fn is_write(request: &ForgeRequest) -> bool {
    request.method != "GET" && request.path != "/graphql" && !request.is_git()
}

fn status(status: u16, headers: &[(&str, &str)], message: &str) -> ForgeFault {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    ForgeFault::Status(status, headers.collect(), message.to_owned())
}
