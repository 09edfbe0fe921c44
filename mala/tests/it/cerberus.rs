//! `mala review --reviewer cerberus` from the outside: through the real gate with real processes as
//! lanes, and through gates that are others', or that misbehave.

mod contract;
mod doubts;
mod fakes;
mod real;

use crate::world;
use mala_testkit::{TestRepo, World};
use serde_json::Value;
use std::time::{Duration, Instant};

/// A repository with a change in `a.py`, and `mala`.
struct CerberusProject {
    repo: TestRepo,
    world: World,
}

/// What a review said.
struct ReviewRun {
    code: i32,
    json: Value,
    seconds: f64,
}

impl CerberusProject {
    fn new(config: &str) -> Self {
        let repo =
            TestRepo::with_files(&[("mala.yaml", config), ("a.py", "def f(x):\n    return x\n")]);
        repo.write("a.py", "def f(x):\n    return x + 1\n");
        repo.commit("add one");
        let world = world()
            .with_program("lane", include_str!("gate/lane.sh"))
            .with_env("SECRET_TOKEN", "not for the gate")
            .in_folder(repo.root());
        Self { repo, world }
    }

    /// A review of the last commit.
    fn review(&self, more: &[&str]) -> ReviewRun {
        let mut args = vec!["HEAD~1..HEAD"];
        args.extend(more);
        self.review_of(&args)
    }

    fn review_of(&self, args: &[&str]) -> ReviewRun {
        let mut all = vec!["review", "--reviewer", "cerberus", "--json"];
        all.extend(args);
        let started = Instant::now();
        let output = self.world.output(&all, b"");
        let text = String::from_utf8_lossy(&output.stdout);
        let code = output.status.code().unwrap();
        let json = serde_json::from_str(&text).unwrap_or_else(|error| {
            panic!("exit {code}: {error}: {text}{}", String::from_utf8_lossy(&output.stderr))
        });
        ReviewRun { code, json, seconds: started.elapsed().as_secs_f64() }
    }
}

impl ReviewRun {
    /// Why there is no review: what is fatal is no parse error.
    fn error(&self) -> &str {
        let own = &self.json["reviewers"][0]["error"];
        let said = if self.code > 3 { own } else { &self.json["parse_error"] };
        said.as_str().unwrap_or_default()
    }
}

/// The command lines of all running processes that fit.
fn processes(fits: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let text = |path: std::path::PathBuf| {
        String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).replace('\0', " ")
    };
    entries
        .map(|entry| entry.path())
        .map(|folder| (text(folder.join("environ")), text(folder.join("cmdline"))))
        .filter(|(environ, command)| !command.is_empty() && fits(environ, command))
        .map(|(_, command)| command)
        .collect()
}

/// Waits until nothing fits any more; a killed process takes a moment to go.
#[track_caller]
pub(crate) fn assert_none_left(fits: impl Fn(&str, &str) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let left = processes(&fits);
        if left.is_empty() {
            return;
        }
        assert!(Instant::now() < deadline, "left over: {left:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
