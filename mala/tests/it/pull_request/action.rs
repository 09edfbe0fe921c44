//! The steps of `action.yml`, with the environment that GitHub Actions sets. Steps that use another action are looked at;
//! the others run.

use super::ci::{in_actions, pull_event};
use super::{PullRequestBench, TOKEN};
use mala_testkit::TestRepo;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A job that uses the action.
struct ActionJob {
    bench: PullRequestBench,
    /// The server with the repository of the action, which has the tag `v1`.
    server: TestRepo,
    /// The values of expressions.
    values: BTreeMap<String, String>,
    steps: Vec<Value>,
}

impl ActionJob {
    fn new(inputs: &[(&str, &str)]) -> Self {
        let bench = in_actions(PullRequestBench::new(), "pull_request", &pull_event("o/r"));
        let action = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../action.yml"));
        let action: Value = serde_saphyr::from_str(&action.unwrap()).unwrap();
        let steps = action["runs"]["steps"].as_array().unwrap().clone();
        let server = TestRepo::with_files(&[("mala", "the first version\n")]);
        server.git(&["tag", "-a", "-m", "one", "v1"]);
        let folder = server.root().parent().unwrap().display().to_string();
        let tools = bench.world.home().join("tools").display().to_string();
        let mut values: BTreeMap<String, String> = [
            ("runner.tool_cache", tools.as_str()),
            ("runner.os", "Linux"),
            ("runner.arch", "X64"),
            ("github.action_ref", "v1"),
            ("github.action_repository", "repo"),
            ("github.server_url", &format!("file://{folder}")),
            ("github.run_id", "11"),
            ("github.run_attempt", "1"),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
        for (name, value) in inputs {
            values.insert(format!("inputs.{name}"), (*value).to_owned());
        }
        Self { bench, server, values, steps }
    }

    /// A text with the values of its expressions.
    fn evaluated(&self, text: &str) -> String {
        let mut out = text.to_owned();
        while let Some((before, rest)) = out.clone().split_once("${{") {
            let (expression, after) = rest.split_once("}}").unwrap();
            let names = expression.split("||").map(str::trim);
            let known = names.map(|name| match self.values.get(name) {
                Some(value) => value.clone(),
                None if name.starts_with("inputs.") => String::new(),
                None => panic!("{name} is not known"),
            });
            let value = known.into_iter().find(|value| !value.is_empty()).unwrap_or_default();
            out = format!("{before}{value}{after}");
        }
        out
    }

    fn step(&self, name: &str) -> Value {
        let found = self.steps.iter().find(|step| step["name"] == name);
        found.unwrap_or_else(|| panic!("no step is named {name}")).clone()
    }

    /// Runs a step with a script. Returns its exit code; its outputs are values for later steps.
    fn run(&mut self, name: &str) -> i32 {
        let step = self.step(name);
        let script = step["run"].as_str().unwrap();
        assert_eq!(step["shell"], "bash");
        assert!(!script.contains("${{"), "expressions reach a script only as variables");
        let home = self.bench.world.home();
        let (path, out) = (home.join("path"), home.join("output"));
        std::fs::write(&out, "").unwrap();
        let mut command = self.bench.world.command("bash");
        command.args(["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]);
        command.env("GITHUB_PATH", &path).env("GITHUB_OUTPUT", &out);
        for (name, value) in step["env"].as_object().unwrap() {
            command.env(name, self.evaluated(value.as_str().unwrap()));
        }
        let added = std::fs::read_to_string(&path).unwrap_or_default();
        let own = home.join("bin").display().to_string();
        let known = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{own}:{known}", added.trim()));
        let done = command.output().unwrap();
        for line in std::fs::read_to_string(&out).unwrap().lines() {
            let (output, value) = line.split_once('=').unwrap();
            let id = step["id"].as_str().unwrap();
            self.values.insert(format!("steps.{id}.outputs.{output}"), value.to_owned());
        }
        done.status.code().unwrap()
    }

    /// The folder of the binary, once the version is known.
    fn tools(&self) -> PathBuf {
        self.evaluated("${{ runner.tool_cache }}/mala/${{ steps.version.outputs.commit }}").into()
    }
}

#[test]
fn the_steps_of_the_action_review_a_pull_request() {
    let inputs = [("token", TOKEN), ("post", "review,check"), ("args", "--reviewer\nbuiltin\n")];
    for is_checked_out in [false, true] {
        let mut job = ActionJob::new(&inputs);
        if is_checked_out {
            let repo = &job.bench.repo;
            let url = format!("{}/o/r.git", job.bench.github.url());
            repo.git(&["remote", "add", "origin", &url]);
            job.bench.world = job.bench.world.in_folder(repo.root());
        }
        assert_eq!(job.run("Find the version"), 0);
        // The cache has restored the binary.
        let tools = job.tools();
        std::fs::create_dir_all(tools.join("bin")).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_mala"), tools.join("bin/mala")).unwrap();
        assert_eq!(job.run("Install mala"), 0);
        assert_eq!(job.run("Review"), 1);
        assert_eq!(job.values["steps.review.outputs.exit-code"], "1");
        assert_eq!(job.bench.posted(), (1, vec!["app.py:2".to_owned()]));
        assert_eq!(job.bench.github.checks()[0]["conclusion"], "failure");
        let ledgers = job.bench.world.home().join(".cache/mala/forges/ledgers");
        assert!(ledgers.exists(), "the cached folder has the ledger: {is_checked_out}");
    }
}

#[test]
fn the_caches_are_saved_although_a_review_with_findings_fails() {
    let mut job = ActionJob::new(&[]);
    job.run("Find the version");
    let place = |name: &str| {
        let with = &job.step(name)["with"];
        [&with["path"], &with["key"]].map(|value| job.evaluated(value.as_str().unwrap()))
    };
    let at = |name: &str| job.steps.iter().position(|step| step["name"] == name).unwrap();
    let uses = |name: &str| job.step(name)["uses"].as_str().unwrap().to_owned();
    for (restore, save) in [
        ("Restore mala", "Save mala"),
        ("Restore what earlier reviews know", "Save what this review knows"),
    ] {
        assert_eq!(uses(restore), "actions/cache/restore@v4");
        assert_eq!(uses(save), "actions/cache/save@v4");
        assert_eq!(place(restore), place(save), "{save}");
    }
    // The binary before the review can fail, and what the review knows after it, in any case.
    assert!(at("Install mala") < at("Save mala") && at("Save mala") < at("Review"));
    assert_eq!(job.step("Save mala")["if"], "steps.cache.outputs.cache-hit != 'true'");
    assert!(at("Review") < at("Save what this review knows"));
    assert_eq!(job.step("Save what this review knows")["if"], "always()");
    let others = job.steps.iter().filter_map(|step| step["uses"].as_str());
    assert!(others.into_iter().all(|uses| uses != "actions/cache@v4"), "it saves only on success");
}

#[test]
fn a_tag_that_moves_is_built_again_without_the_keys() {
    let mut job = ActionJob::new(&[]);
    let script = "printf '%s ' \"$@\" >\"$HOME/arguments\"; env >\"$HOME/environment\"";
    job.bench.world = job.bench.world.with_program("cargo", script).with_env("SOME_API_KEY", "k");
    let mut commits = Vec::new();
    for version in ["v1", "v1", "main"] {
        job.values.insert("github.action_ref".to_owned(), version.to_owned());
        assert_eq!(job.run("Find the version"), 0);
        assert_eq!(job.run("Install mala"), 0);
        let read = |name: &str| std::fs::read_to_string(job.bench.world.home().join(name)).unwrap();
        let commit = job.values["steps.version.outputs.commit"].clone();
        assert!(read("arguments").contains(&format!("--rev {commit} mala")), "{commit}");
        assert!(!read("environment").contains("SOME_API_KEY"));
        commits.push(commit);
        job.server.write("mala", format!("after {version}\n"));
        job.server.commit("another version");
        job.server.git(&["tag", "-f", "-a", "-m", "moved", "v1"]);
    }
    let id = |revision: &str| job.server.id(revision);
    assert_eq!(commits, [id("HEAD~3"), id("HEAD~2"), id("HEAD~1")]);
    let pinned = id("HEAD~2");
    job.values.insert("inputs.version".to_owned(), pinned.clone());
    job.run("Find the version");
    assert_eq!(job.values["steps.version.outputs.commit"], pinned);
}
