//! A repository with a change in `a.py`, a panel, and an agent that wants to stop.

use crate::world;
use mala_testkit::{TestRepo, World};
use serde_json::{Value, json};
use std::path::Path;

pub(super) const GOOD: &str = "def f(x):\n    return x + 1\n";
pub(super) const BAD: &str = "def f(x):\n    return x.bad\n";

pub(super) struct HookWorld {
    pub(super) repo: TestRepo,
    pub(super) world: World,
}

impl HookWorld {
    /// The panel is one lane of this behaviour; `judge` fails what has `bad` in it.
    pub(super) fn new(lane: &str) -> Self {
        Self::with_config(&format!("gate: {{lanes: {{{lane}: {{command: [lane, {lane}]}}}}}}\n"))
    }

    pub(super) fn with_config(config: &str) -> Self {
        let files = [("mala.yaml", config), ("a.py", "def f(x):\n    return x\n")];
        let repo = TestRepo::with_files(&files);
        let lane = include_str!("../gate/lane.sh");
        let world =
            world().with_only_programs(PROGRAMS).with_program("lane", lane).in_folder(repo.root());
        repo.git(&["config", "user.email", "ada@example.org"]);
        // What is there is accepted; what hosts read of it does not matter here.
        let installed = world.output(&["init", "--hooks"], b"");
        assert!(installed.status.success());
        for folder in [".claude", ".codex"] {
            std::fs::remove_dir_all(repo.path(folder)).unwrap();
        }
        Self { repo, world }
    }

    /// The same with a remote that has `main`, which `main` follows.
    pub(super) fn published(lane: &str) -> Self {
        let bench = Self::new(lane);
        let origin = bench.repo.beside("origin.git");
        let origin = origin.to_str().unwrap();
        bench.repo.git(&["clone", "-q", "--bare", ".", origin]);
        bench.repo.git(&["remote", "add", "origin", origin]);
        bench.repo.git(&["fetch", "-q", "origin"]);
        bench.repo.git(&["branch", "-q", "--set-upstream-to=origin/main"]);
        bench
    }

    /// A conversation begins.
    pub(super) fn begin(&self) {
        let asking = asking(self.repo.root(), false);
        let output = self.world.output(&["hook", "start"], &asking);
        assert_eq!(output.status.code(), Some(0));
        let said = [output.stdout, output.stderr].concat();
        assert_eq!(String::from_utf8_lossy(&said), "", "an agent would be told");
    }

    /// The agent writes this and wants to stop; `is_continued` when a hook kept it before.
    pub(super) fn stop(&self, is_continued: bool) -> Value {
        self.stop_with(&[], &asking(self.repo.root(), is_continued))
    }

    pub(super) fn stop_with(&self, args: &[&str], stdin: &[u8]) -> Value {
        let mut all = vec!["hook", "stop"];
        all.extend(args);
        only_object(&self.world.output(&all, stdin))
    }

    /// Cancels all sessions.
    pub(super) fn cancel(&self) {
        for key in self.sessions() {
            let mut gate = self.world.command(env!("CARGO_BIN_EXE_review-gate"));
            let output = gate.args(["cancel", "--session-key", &key]).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }

    /// The keys of all sessions.
    pub(super) fn sessions(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(self.repo.path(".mala/gate")) else {
            return Vec::new();
        };
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// An answer without what differs between two runs.
    pub(super) fn shown(&self, answer: &Value) -> String {
        self.world.clean(&format!("{answer:#}"))
    }
}

/// What lanes are written with.
const PROGRAMS: &[&str] = &["git", "sh", "sed", "grep", "cat", "sleep", "printf", "setsid"];

/// What a host writes.
pub(super) fn asking(folder: &Path, is_continued: bool) -> Vec<u8> {
    json!({
        "session_id": "conversation", "transcript_path": "/t.jsonl", "cwd": folder,
        "hook_event_name": "Stop", "stop_hook_active": is_continued, "permission_mode": "default",
    })
    .to_string()
    .into_bytes()
}

/// What a hook printed: one JSON object, with an exit code that hosts read it for, and nothing that they
/// do not know.
pub(super) fn only_object(output: &std::process::Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let value: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}\n{said}", String::from_utf8_lossy(&output.stdout))
    });
    let known = ["decision", "reason", "systemMessage"];
    assert!(value.as_object().unwrap().keys().all(|key| known.contains(&key.as_str())), "{value}");
    let is_block = value["decision"] == "block";
    assert_eq!(is_block, value["reason"].as_str().is_some_and(|text| !text.is_empty()), "{value}");
    assert!(is_block || value["decision"].is_null(), "{value}");
    value
}

pub(super) fn blocks(answer: &Value) -> bool {
    answer["decision"] == "block"
}

pub(super) fn message(answer: &Value) -> &str {
    answer["systemMessage"].as_str().unwrap_or_default()
}
