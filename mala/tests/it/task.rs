//! `mala task` from the outside: a review command, a parser and a notifier that are scripts, with real git.

mod agents;
mod concurrent;
mod context;
mod desktop;
mod guide;
mod kills;
mod own_work;
mod parsing;
mod results;
mod reviewers;
mod scenario;
mod states;
mod triggers;

use crate::world;
use mala_testkit::{TestRepo, World};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A repository with tasks, and the scripts that review them.
pub(crate) struct TaskBench {
    pub(crate) repo: TestRepo,
    pub(crate) world: World,
}

/// The settings of most tests, with more keys of `tasks.review` and of `tasks`.
fn config(review: &str, tasks: &str) -> String {
    format!(
        "tasks:\n  review: {{command: [rev], parser: [parse]{review}}}\n  tests: echo T-OUT\n  lint: echo L-OUT\n  notify: [{{command: [note]}}]\n{tasks}"
    )
}

impl TaskBench {
    /// A repository with this configuration.
    fn with_config(config: &str) -> Self {
        let repo =
            TestRepo::with_files(&[("mala.yaml", config), ("a.py", "def f(x):\n    return x\n")]);
        let world = world().in_folder(repo.root());
        let control = world.home().join("control");
        std::fs::create_dir_all(&control).unwrap();
        let script = |text: &str| format!("CONTROL={}\n{text}", control.display());
        let world = world
            .with_program("rev", &script(include_str!("task/rev.sh")))
            .with_program("parse", &script(include_str!("task/parse.sh")))
            .with_program(
                "note",
                &script("cat >>\"$CONTROL/notes\"\n[ ! -e \"$CONTROL/slow-note\" ] || sleep 0.4"),
            );
        let bench = Self { repo, world };
        bench.answer("APPROVED");
        bench
    }

    /// The settings of most tests.
    fn new() -> Self {
        Self::with_config(&config("", ""))
    }

    fn control(&self, file: &str) -> PathBuf {
        self.world.home().join("control").join(file)
    }

    /// A file of the scripts; empty when it is not there.
    fn said(&self, file: &str) -> String {
        std::fs::read_to_string(self.control(file)).unwrap_or_default()
    }

    fn set(&self, file: &str, text: &str) {
        std::fs::write(self.control(file), text).unwrap();
    }

    fn forget(&self, file: &str) {
        std::fs::remove_file(self.control(file)).unwrap_or_default();
    }

    /// How `rev` behaves from here on.
    fn answer(&self, behaviour: &str) {
        self.set("rev", behaviour);
    }

    /// Settings of the user, which win over those of the repository.
    fn user_config(&self, text: &str) {
        let folder = self.world.home().join(".config/mala");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("config.yaml"), text).unwrap();
    }

    /// Runs `mala` and returns exit code, stdout and stderr.
    fn mala(&self, args: &[&str]) -> (i32, String, String) {
        let output = self.world.output(args, b"");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
    }

    #[track_caller]
    fn json(&self, args: &[&str]) -> Value {
        let (_, stdout, stderr) = self.mala(args);
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"))
    }

    /// The id of a new task with a scope and acceptance criteria.
    fn add(&self, title: &str) -> String {
        let args =
            ["task", "add", title, "--scope", "S1", "--acceptance", "A1", "--format", "json"];
        self.json(&args)["id"].as_str().unwrap().to_owned()
    }

    /// The same, started.
    fn start(&self, title: &str) -> String {
        let id = self.add(title);
        let (code, _, stderr) = self.mala(&["task", "start", &id]);
        assert_eq!(code, 0, "{stderr}");
        id
    }

    /// A started task with one commit.
    fn task(&self) -> String {
        let id = self.start("T1");
        self.commit("mine.py", "mine = 1\n");
        id
    }

    fn commit(&self, file: &str, content: &str) {
        self.repo.write(file, content);
        self.repo.commit("work");
    }

    /// `mala task done`: exit code and status.
    #[track_caller]
    fn done(&self, id: &str) -> (i32, String) {
        let (code, stdout, stderr) = self.mala(&["task", "done", id, "--format", "json"]);
        let json: Value = serde_json::from_str(&stdout)
            .unwrap_or_else(|error| panic!("exit {code}: {error}: {stdout}{stderr}"));
        (code, json["task"]["status"].as_str().unwrap().to_owned())
    }

    fn show(&self, id: &str) -> Value {
        self.json(&["task", "show", id, "--format", "json"])
    }

    fn status(&self, id: &str) -> String {
        self.show(id)["status"].as_str().unwrap().to_owned()
    }

    /// The statuses of all tasks.
    fn statuses(&self) -> BTreeMap<String, String> {
        let list = self.json(&["task", "list", "--format", "json"]);
        let word = |task: &Value, key: &str| task[key].as_str().unwrap().to_owned();
        let tasks = list["tasks"].as_array().unwrap().iter();
        tasks.map(|task| (word(task, "id"), word(task, "status"))).collect()
    }

    fn last_review(&self, id: &str) -> Value {
        self.show(id)["reviews"].as_array().unwrap().last().unwrap().clone()
    }

    /// All events of the log.
    fn events(&self) -> Vec<Value> {
        let (_, stdout, _) = self.mala(&["events", "--format", "json"]);
        stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The names of the events about reviews.
    fn review_events(&self) -> Vec<String> {
        let events = self.events();
        let names = events.iter().map(|event| event["event"].as_str().unwrap().to_owned());
        names.filter(|name| name.starts_with("Review")).collect()
    }

    /// The notifications.
    fn notes(&self) -> Vec<Value> {
        self.said("notes").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}
