//! The real claude, codex and gemini take an issue to a merged commit, with a round of review findings. The model
//! behind them is on loopback and uses their own tools. `scripts/install-tools` installs them.

use super::{add_issue, git, repository, text};
use mala_testkit::World;
use mala_testkit::coder_tools::{FileEdit, codex_arguments, run_command, write_file};
use mala_testkit::model_server::{
    ModelAnswer, ModelRequest, ModelServer, RequestTurn, ServerStep, WireProtocol,
};
use serde_json::json;
use std::path::{Path, PathBuf};

const DEFECT: &str = "def total(items, seen=[]):\n    seen.extend(items)\n    return sum(seen)\n";
const FIXED: &str = "def total(items):\n    return sum(items)\n";
const FILE: &str = "total.py";

/// Writes the defect and commits; corrects it and commits when the reviewers complain.
fn model(request: &ModelRequest, trees: &Path) -> ServerStep {
    if request.tools().is_empty() {
        return ModelAnswer::text("a title").into();
    }
    let prompt = request.prompt();
    let prefix = prompt.split("starts with `").nth(1).and_then(|rest| rest.split('`').next());
    let prefix = prefix.unwrap_or_default();
    let id = prefix.trim_start_matches("bd-").trim_end_matches(": ");
    let tree = &trees.join(id);
    let is_fix = request.user_text().contains("External Review Failed");
    let calls = request.turns().iter().filter(|turn| matches!(turn, RequestTurn::Call(..))).count();
    let commit = format!("git add {FILE} && git commit -q -m '{prefix}add total'");
    // Claude reads a file before it writes it again.
    let is_claude = request.wire == WireProtocol::Anthropic;
    let step = match calls.saturating_sub(if is_fix { 2 } else { 0 }) {
        0 if is_fix && is_claude => {
            ModelAnswer::call("Read", json!({"file_path": tree.join(FILE)}))
        }
        0 if is_fix => {
            write_file(request, FileEdit { tree, name: FILE, old: Some(DEFECT), new: FIXED })
        }
        1 if is_fix && is_claude => {
            write_file(request, FileEdit { tree, name: FILE, old: Some(DEFECT), new: FIXED })
        }
        0 => write_file(request, FileEdit { tree, name: FILE, old: None, new: DEFECT }),
        1 => run_command(request, &commit),
        2 if is_fix && is_claude => run_command(request, &commit),
        _ => ModelAnswer::text("Done."),
    };
    step.into()
}

pub(super) fn tools(folder: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(".tools").join(folder);
    assert!(path.exists(), "{} is missing: run scripts/install-tools", path.display());
    path
}

/// A world with the CLIs and bubblewrap, and the folder of its worktrees. That is not in the temporary folder, where
/// codex cannot work.
fn scene(coder: &str, url: &str, cache: &Path) -> (World, PathBuf) {
    let arguments = json!(codex_arguments(url));
    let config = format!(
        "validation_triggers:
  session_end: {{code_review: {{enabled: true, reviewer_type: builtin, finding_threshold: P2, max_retries: 1}}}}
run:
  coder: {coder}
  coders: {{codex: {{args: {arguments}}}, claude: {{env: {{CLAUDE_CODE_MAX_RETRIES: '1'}}}}}}
"
    );
    let programs = [
        tools("reviewers/node_modules/.bin"),
        tools(
            "reviewers/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/codex-resources",
        ),
    ];
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths(programs.into_iter().chain(std::env::split_paths(&path)));
    let world = repository(&config, "")
        .with_env("PATH", path.unwrap())
        .with_env("XDG_CACHE_HOME", cache)
        .with_env("CODEX_API_KEY", "no-key")
        .with_env("ANTHROPIC_API_KEY", "no-key")
        .with_env("ANTHROPIC_BASE_URL", url)
        .with_env("GEMINI_API_KEY", "no-key")
        .with_env("GOOGLE_GEMINI_BASE_URL", url);
    let git_dir = world.folder().canonicalize().unwrap().join(".git").display().to_string();
    let name: String =
        git_dir.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let trees = cache.join("mala/worktrees").join(name.trim_matches('-'));
    (world, trees)
}

fn takes_an_issue_to_a_merged_commit(coder: &str) {
    let cache = tempfile::Builder::new().prefix("mala-run-").tempdir_in("/var/tmp").unwrap();
    let trees = std::sync::Arc::new(std::sync::OnceLock::<PathBuf>::new());
    let shared = trees.clone();
    let server = ModelServer::new(move |request| model(request, shared.get().unwrap()));
    let (world, folder) = scene(coder, &server.url(), cache.path());
    trees.set(folder).unwrap();
    let id = add_issue(&world, "Add a total function");
    let output = world.output(&["run", &id], b"");
    let (report, log) = text(&output);
    let answers = server.requests().last().map(ModelRequest::tool_results);
    assert_eq!(output.status.code(), Some(0), "{coder}: {report}\n{log}\n{answers:?}");
    let subjects = git(&world, &["log", "--format=%s", "main"]);
    assert_eq!(subjects, format!("bd-{id}: add total\nbd-{id}: add total\nstart\n"), "{coder}");
    assert_eq!(git(&world, &["show", &format!("main:{FILE}")]), FIXED, "{coder}");
    assert!(report.contains("coders: bubblewrap"), "{coder}: {report}");
    let events = text(&world.output(&["run", "logs", &id], b"")).0;
    assert_eq!(events.matches("on_review_started").count(), 2, "{coder}: {events}");
    let closed =
        "closed  P2  Add a total function\nclosed  P2  Default argument is changed by the call\n";
    assert_eq!(super::issues(&world), closed, "{coder}");
}

#[test]
fn the_real_claude_takes_an_issue_to_a_merged_commit() {
    takes_an_issue_to_a_merged_commit("claude");
}

#[test]
fn the_real_codex_takes_an_issue_to_a_merged_commit() {
    takes_an_issue_to_a_merged_commit("codex");
}

#[test]
fn the_real_gemini_takes_an_issue_to_a_merged_commit() {
    takes_an_issue_to_a_merged_commit("gemini");
}
