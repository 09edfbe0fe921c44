//! A repository with a change and a panel of scripted lanes.

use crate::gate_world;
use mala_testkit::{TestRepo, World};
use serde_json::Value;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A repository with a change in `a.py`, lanes of every behaviour, and `review-gate`.
pub(super) struct GateWorld {
    pub(super) repo: TestRepo,
    pub(super) world: World,
}

/// How the lanes behave; the name is the behaviour.
const LANES: &str = "pass pass2 pass3 fail fail2 fail3 needs invented partial never stdin killer crash \
    hangs breaks_after fenced flood flood_after forks holds_pipe banner echo prose empty nonce sha writes \
    edits commits env gate slow deleted absolute unquoted spaced misquoted past_end half unrelated pipe \
    hole flood_stdout leaver wavers two_places unsure space bytes stages reads many twice grows beside \
    forger garbled absent absent_if chatty follows broken_json limited unauthorized error_object";

/// What `wait` said.
pub(super) struct Verdict {
    pub(super) key: String,
    pub(super) code: i32,
    pub(super) json: Value,
}

impl GateWorld {
    pub(super) fn new() -> Self {
        let mut config = String::from("gate:\n  lanes:\n");
        for name in LANES.split_whitespace() {
            config.push_str(&format!(
                "    {name}: {{command: [lane, {name}, holds, '{{answer_file}}'], \
                 signs: ['(?i)usage limit']}}\n"
            ));
        }
        for (name, behaviour) in [
            ("refuter", "pass"),
            ("lazy_refuter", "partial"),
            ("lost_refuter", "half"),
            ("slow_refuter", "slow_check"),
            ("writing_refuter", "writes_check"),
            ("mute_refuter", "mute_check"),
        ] {
            config.push_str(&format!("    {name}: {{command: [lane, {behaviour}, refuted]}}\n"));
        }
        config.push_str("    missing: {command: [no-such-program]}\n");
        let json = "answer: {form: json, at: [/answer]}";
        config.push_str(&format!("    two_fields: {{command: [lane, two_fields], {json}}}\n"));
        let file = "answer: {form: file}";
        let command = "command: [lane, file_and_words, holds, '{answer_file}']";
        config.push_str(&format!("    file_and_words: {{{command}, {file}}}\n"));
        Self::with_config(&config)
    }

    pub(super) fn with_config(config: &str) -> Self {
        let repo =
            TestRepo::with_files(&[("mala.yaml", config), ("a.py", "def f(x):\n    return x\n")]);
        repo.write("a.py", "def f(x):\n    return x + 1\n");
        repo.commit("add one");
        let world = gate_world()
            .with_program("lane", include_str!("lane.sh"))
            .with_env("SECRET_TOKEN", "a secret value")
            .in_folder(repo.root());
        Self { repo, world }
    }

    /// Runs `review-gate` and gives exit code, stdout and stderr.
    pub(super) fn run(&self, args: &[&str]) -> (i32, String, String) {
        let output = self.world.output(args, b"");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
    }

    /// Starts a session of the change; gives what it prints.
    pub(super) fn spawn(&self, args: &[&str]) -> Value {
        self.spawn_of(&[&["--diff", "HEAD~1..HEAD"], args].concat())
    }

    /// Starts a session about a change of its own: the same commits by another name, so that the findings of
    /// other sessions are not open in it.
    pub(super) fn spawn_apart(&self, args: &[&str]) -> Value {
        static N_SPAWNED: AtomicUsize = AtomicUsize::new(1);
        let number = N_SPAWNED.fetch_add(1, Ordering::Relaxed);
        let range = format!("HEAD~1..HEAD{}", "~0".repeat(number));
        self.spawn_of(&[&["--diff", &range], args].concat())
    }

    /// Starts a session with these arguments; gives what it prints.
    pub(super) fn spawn_of(&self, args: &[&str]) -> Value {
        let (code, stdout, stderr) = self.run(&[&["spawn-code-review"], args].concat());
        assert_eq!(code, 0, "{args:?}: {stderr}");
        serde_json::from_str(&stdout).unwrap()
    }

    /// Waits for a session.
    pub(super) fn wait(&self, key: &str) -> Verdict {
        let (code, stdout, stderr) =
            self.run(&["wait", "--json", "--session-key", key, "--timeout", "60"]);
        let json: Value = serde_json::from_str(&stdout)
            .unwrap_or_else(|error| panic!("{error}: {stdout}\n{stderr}"));
        Verdict { key: key.to_owned(), code, json }
    }

    /// Starts a panel and waits for it.
    pub(super) fn review(&self, lanes: &str, more: &[&str]) -> Verdict {
        let mut args = vec!["--lanes", lanes];
        args.extend(more);
        let spawned = self.spawn(&args);
        self.wait(spawned["session_key"].as_str().unwrap())
    }

    /// Reviews the change apart from other sessions.
    pub(super) fn review_apart(&self, lanes: &str) -> Verdict {
        let spawned = self.spawn_apart(&["--lanes", lanes]);
        self.wait(spawned["session_key"].as_str().unwrap())
    }
}

impl Verdict {
    pub(super) fn verdict(&self) -> &str {
        self.json["consensus"]["verdict"].as_str().unwrap()
    }

    pub(super) fn error_of(&self, lane: &str) -> &str {
        self.json["reviewers"][lane]["error"].as_str().unwrap_or_default()
    }

    /// The findings that were refuted or could not be placed, each once.
    pub(super) fn refuted(&self) -> Vec<Value> {
        let lanes = self.json["reviewers"].as_object().unwrap().values();
        let issues = lanes.flat_map(|lane| lane["issues"].as_array().unwrap());
        let mut refuted: Vec<Value> = Vec::new();
        for issue in issues.filter(|it| it["verification"]["outcome"] == "refuted") {
            if !refuted.iter().any(|known| known["dedupe_key"] == issue["dedupe_key"]) {
                refuted.push(issue.clone());
            }
        }
        refuted
    }

    /// Nothing of the session runs any more, and nothing of it is left but its files.
    pub(super) fn assert_nothing_left(&self) {
        let marker = format!("MALA_GATE={}/", self.key);
        let left = processes(|environ, _| environ.contains(&marker));
        assert!(left.is_empty(), "left over: {left:?}");
        let session = self.json["report"]["session_dir"].as_str().unwrap();
        let session = std::fs::read_to_string(Path::new(session).join("session.json")).unwrap();
        let session: Value = serde_json::from_str(&session).unwrap();
        let scratch = session["scratch"].as_str().unwrap();
        assert!(!Path::new(scratch).exists(), "{scratch} is still there");
    }
}

/// The command lines of all running processes that fit.
pub(super) fn processes(fits: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let folders = entries.map(|entry| entry.path());
    let text = |path: std::path::PathBuf| {
        String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).replace('\0', " ")
    };
    folders
        .map(|folder| (text(folder.join("environ")), text(folder.join("cmdline"))))
        .filter(|(environ, command)| !command.is_empty() && fits(environ, command))
        .map(|(_, command)| command)
        .collect()
}
