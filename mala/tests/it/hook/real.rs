//! The real Claude Code and the real Codex, with the hook that `mala init --hooks` installs, against a
//! model server on loopback: the agent is kept from stopping, hears why, fixes it, and stops.
//! `scripts/install-tools` installs them.

use super::bench::{BAD, GOOD};
use crate::world;
use mala_testkit::model_server::{ModelAnswer, ModelRequest, ServerStep};
use mala_testkit::{ModelServer, TestRepo, World};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

/// A repository with the hook installed and bad work in it, and a machine with the real hosts.
struct AgentWorld {
    repo: TestRepo,
    world: World,
}

impl AgentWorld {
    fn new() -> Self {
        let config = "gate: {panel: [judge], lanes: {judge: {command: [lane, judge]}}}\n";
        let repo =
            TestRepo::with_files(&[("mala.yaml", config), ("a.py", "def f(x):\n    pass\n")]);
        let mala = Path::new(env!("CARGO_BIN_EXE_mala")).parent().unwrap().to_owned();
        let path = std::env::var_os("PATH").unwrap();
        let path = [hosts(), mala].into_iter().chain(std::env::split_paths(&path));
        let world = world()
            .with_env("PATH", std::env::join_paths(path).unwrap())
            .with_program("lane", include_str!("../gate/lane.sh"))
            .in_folder(repo.root());
        let shown = world.run(&["init", "--hooks"]);
        assert!(shown.starts_with("[exit 0]"), "{shown}");
        repo.commit("install the hook");
        repo.branch("topic");
        repo.git(&["config", "user.name", "Ada"]);
        repo.git(&["config", "user.email", "ada@example.org"]);
        Self { repo, world }
    }

    /// A model that says that it is done, and mends its work when it is told what is wrong.
    fn model(&self, mends: bool) -> ModelServer {
        let file = self.repo.path("a.py");
        ModelServer::new(move |request| agent(request, &file, mends))
    }

    /// A model that publishes its work before it says that it is done.
    fn hasty_model(&self) -> ModelServer {
        let (top, file) = (self.repo.root().to_owned(), self.repo.path("a.py"));
        ModelServer::new(move |request| {
            std::fs::write(&file, BAD).unwrap();
            for args in [&["commit", "-qam", "bad"][..], &["branch", "-qf", "main", "topic"]] {
                // There is nothing to commit the second time.
                std::process::Command::new("git").args(args).current_dir(&top).output().unwrap();
            }
            agent(request, &file, false)
        })
    }

    fn run(&self, host: &str, args: &[&str], variables: &[(&str, &str)]) -> Output {
        let mut command = self.world.command(hosts().join(host));
        command.args(args).envs(variables.iter().copied());
        let prompt = self.world.home().join("prompt");
        std::fs::write(&prompt, "make f better").unwrap();
        command.stdin(Stdio::from(std::fs::File::open(prompt).unwrap()));
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        output
    }

    fn claude(&self, server: &ModelServer) -> Output {
        let variables = [
            ("ANTHROPIC_API_KEY", "no-key"),
            ("ANTHROPIC_BASE_URL", &server.url()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
        ];
        self.run("claude", &["-p", "--output-format", "stream-json", "--verbose"], &variables)
    }

    fn codex(&self, server: &ModelServer) -> Output {
        let home = self.world.home().join(".codex");
        std::fs::create_dir_all(&home).unwrap();
        let url = format!("model_providers.p.base_url={}/v1", server.url());
        let top = self.repo.root().display();
        let trusted = format!("projects={{\"{top}\"={{trust_level=\"trusted\"}}}}");
        let mut args = vec!["exec", "--json", "-s", "read-only"];
        // What a person does once in /hooks.
        args.push("--dangerously-bypass-hook-trust");
        for setting in [
            "model=scripted",
            "model_provider=p",
            "model_providers.p.name=p",
            &url,
            "model_providers.p.wire_api=responses",
            "model_providers.p.env_key=NO_KEY",
            "model_providers.p.supports_websockets=false",
            &trusted,
        ] {
            args.extend(["-c", setting]);
        }
        args.push("-");
        let home = home.to_str().unwrap();
        self.run("codex", &args, &[("CODEX_HOME", home), ("NO_KEY", "no-key")])
    }

    /// What is remembered of the one conversation.
    fn memory(&self) -> Value {
        let folder = self.repo.path(".git/mala-hook/conversations");
        let files: Vec<PathBuf> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        serde_json::from_str(&std::fs::read_to_string(&files[0]).unwrap()).unwrap()
    }

    fn n_sessions(&self) -> usize {
        std::fs::read_dir(self.repo.path(".mala/gate")).unwrap().count()
    }
}

/// Where the real ones are.
fn hosts() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folder = root.join(".tools/reviewers/node_modules/.bin");
    for name in ["claude", "codex"] {
        assert!(folder.join(name).exists(), "{name} is missing: run scripts/install-tools");
    }
    folder
}

/// A model that writes bad work, and mends it when it is told what is wrong.
fn agent(request: &ModelRequest, file: &Path, mends: bool) -> ServerStep {
    if request.user_text().contains("a.py:2: [P1] this is bad (judge)") && mends {
        std::fs::write(file, GOOD).unwrap();
        return ModelAnswer::text("it is mended").into();
    }
    std::fs::write(file, BAD).unwrap();
    ModelAnswer::text("it is done").into()
}

fn told(server: &ModelServer) -> usize {
    let requests = server.requests();
    let most = requests.iter().map(|request| request.user_text().matches("did not pass").count());
    most.max().unwrap_or_default()
}

#[test]
fn claude_code_is_kept_until_its_work_passes() {
    let bench = AgentWorld::new();
    let server = bench.model(true);
    let said = String::from_utf8(bench.claude(&server).stdout).unwrap();
    assert_eq!(told(&server), 1, "{said}");
    assert!(said.contains("Stop hook feedback") && said.contains("it is mended"), "{said}");
    assert_eq!(bench.n_sessions(), 2);
    assert_eq!(bench.memory()["blocks"], 0, "it passed in the end");
}

#[test]
fn claude_code_is_not_kept_for_ever() {
    let bench = AgentWorld::new();
    let server = bench.model(false);
    let said = String::from_utf8(bench.claude(&server).stdout).unwrap();
    assert_eq!(told(&server), 3, "{said}");
    assert_eq!(bench.n_sessions(), 1);
    assert_eq!(bench.memory()["is_released"], true);
}

#[test]
fn codex_is_kept_until_its_work_passes() {
    let bench = AgentWorld::new();
    let server = bench.model(true);
    let said = String::from_utf8(bench.codex(&server).stdout).unwrap();
    assert_eq!(told(&server), 1, "{said}");
    assert!(said.contains("it is mended"), "{said}");
    assert_eq!(bench.n_sessions(), 2);
    assert_eq!(bench.memory()["blocks"], 0);
}

#[test]
fn codex_is_not_kept_for_ever() {
    let bench = AgentWorld::new();
    let server = bench.model(false);
    let said = String::from_utf8(bench.codex(&server).stdout).unwrap();
    assert_eq!(told(&server), 3, "{said}");
    assert_eq!(bench.n_sessions(), 1);
    assert_eq!(bench.memory()["is_released"], true);
}

#[test]
fn what_is_merged_before_the_first_stop_is_work() {
    for host in [AgentWorld::claude, AgentWorld::codex] {
        let bench = AgentWorld::new();
        let server = bench.hasty_model();
        let said = String::from_utf8(host(&bench, &server).stdout).unwrap();
        assert_eq!(bench.repo.git(&["diff", "main", "topic"]), "");
        assert_eq!(told(&server), 3, "{said}");
    }
}
