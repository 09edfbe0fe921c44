//! The reviewer `cerberus` with an external gate program: runs `spawn-code-review` and then `wait --json`,
//! whose output `mala_domain::gate::client` parses. If the review ends early, the session is cancelled.

mod call;
mod range;
mod run_files;

use crate::process::ProcessEnvironment;
use crate::sessions::fresh_key;
use call::{GateCall, GateStep};
use mala_domain::change::FilePath;
use mala_domain::gate::client::{self, GateAnswer, PanelAnswer};
use mala_domain::ports::{BoxFuture, Reviewer, ReviewerFailure};
use mala_domain::review::{Opinion, ReviewContext};
use mala_domain::scope::ReviewTarget;
use mala_domain::secrets;
use std::collections::BTreeMap;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tokio::time::Instant;

/// The name in reports.
pub const NAME: &str = "cerberus";

/// The settings of an external gate.
pub struct ExternalGateSettings {
    /// The program and the arguments before the subcommand.
    pub command: Vec<String>,
    /// Additional arguments for `spawn-code-review`.
    pub spawn_args: Vec<String>,
    /// Additional arguments for `wait`.
    pub wait_args: Vec<String>,
    /// Additional environment variables.
    pub env: BTreeMap<String, String>,
    /// The user's environment, with the keys of the reviewers.
    pub environment: ProcessEnvironment,
    /// The work tree.
    pub folder: PathBuf,
    /// The target of the review.
    pub target: ReviewTarget,
}

/// A panel of an external gate.
pub struct ReviewGate {
    settings: ExternalGateSettings,
}

impl ReviewGate {
    /// A panel with these settings.
    pub fn new(settings: ExternalGateSettings) -> Self {
        Self { settings }
    }

    async fn ask(&self, context: &ReviewContext) -> Result<Opinion, ReviewerFailure> {
        let deadline = Instant::now() + context.timeout;
        if let Some(word) = self.settings.wait_args.iter().find(|word| names_a_session(word)) {
            let why =
                format!("wait_args must not name a session ({word}): each review has its own");
            return Err(ReviewerFailure::Unavailable(why));
        }
        let what = range::arguments(&self.settings.target, &context.scope)?;
        let key = fresh_key();
        // The task and the answers are private.
        let own = Permissions::from_mode(0o700);
        let scratch = tempfile::Builder::new().prefix("mala-panel-").permissions(own).tempdir();
        let scratch = scratch.map_err(|error| failed("making a folder", &error))?;
        let mut arguments = vec!["spawn-code-review".to_owned()];
        arguments.extend(what);
        arguments.extend(context_file(&context.tasks, scratch.path())?);
        arguments.extend(self.settings.spawn_args.iter().cloned());

        let mut call = GateCall::new(&self.settings, &key, scratch.path(), context.timeout);
        let spawned = call.run(arguments, GateStep::Spawn, deadline).await?;
        let started = client::read_spawn_output(&spawned.ended())?;
        call.is_open(started.key.clone());
        let waiting = self.wait_arguments(started.key.as_deref(), deadline);
        let waited = call.run(waiting, GateStep::Wait, deadline).await?;
        call.is_over(waited.code);
        let word = match client::read_wait_output(&waited.ended(), &started, call.run_key())? {
            GateAnswer::Panel(word) => *word,
            GateAnswer::State(state) => {
                let round = run_files::last_round(&call.run_folder());
                client::panel(&state, &round.map_err(ReviewerFailure::Unreadable)?, &started)?
            }
        };
        self.opinion(word, context)
    }

    /// The arguments of `wait`. A gate of another version names no session and finds it by the environment;
    /// `wait_args` has its other arguments.
    fn wait_arguments(&self, key: Option<&str>, deadline: Instant) -> Vec<String> {
        let own = &self.settings.wait_args;
        let says_time = own.iter().any(|it| it == "--timeout" || it.starts_with("--timeout="));
        let mut arguments = vec!["wait".to_owned(), "--json".to_owned()];
        if let Some(key) = key {
            arguments.extend(["--session-key".to_owned(), key.to_owned()]);
            if !says_time {
                let left = deadline.saturating_duration_since(Instant::now());
                arguments.extend(["--timeout".to_owned(), left.as_secs().max(1).to_string()]);
            }
        }
        arguments.extend(own.iter().cloned());
        arguments
    }

    /// The opinion of the panel about this change.
    fn opinion(
        &self,
        mut word: PanelAnswer,
        context: &ReviewContext,
    ) -> Result<Opinion, ReviewerFailure> {
        if !client::reviewed_this(&word, &context.scope) {
            let other = "the gate reviewed another change than the one it was given".to_owned();
            return Err(ReviewerFailure::Unreadable(other));
        }
        let root = format!("{}/", self.settings.folder.display());
        for claim in &mut word.claims {
            let inside = claim.candidate.file.to_text().strip_prefix(&root).map(FilePath::from);
            claim.candidate.file = inside.unwrap_or_else(|| claim.candidate.file.clone());
        }
        Ok(client::opinion(NAME, word, &context.change))
    }
}

/// Writes the texts about the task to a file, without secrets.
fn context_file(
    tasks: &[(String, String)],
    scratch: &Path,
) -> Result<Vec<String>, ReviewerFailure> {
    if tasks.is_empty() {
        return Ok(Vec::new());
    }
    let texts: Vec<&str> = tasks.iter().map(|(_, text)| text.as_str()).collect();
    let file = scratch.join("review-context.txt");
    std::fs::write(&file, secrets::redact(&texts.join("\n\n")).as_bytes())
        .map_err(|error| failed("writing the context file", &error))?;
    Ok(vec!["--context-file".to_owned(), file.display().to_string()])
}

fn names_a_session(word: &str) -> bool {
    let flag = word.split_once('=').map_or(word, |(flag, _)| flag);
    matches!(flag, "--session-key" | "--session-id")
}

fn failed(doing: &str, error: &dyn std::fmt::Display) -> ReviewerFailure {
    ReviewerFailure::Crashed(format!("{doing}: {error}"))
}

impl Reviewer for ReviewGate {
    fn name(&self) -> &str {
        NAME
    }

    fn needs_surroundings(&self) -> bool {
        false
    }

    fn review<'a>(
        &'a self,
        context: &'a ReviewContext,
    ) -> BoxFuture<'a, Result<Opinion, ReviewerFailure>> {
        Box::pin(self.ask(context))
    }
}
