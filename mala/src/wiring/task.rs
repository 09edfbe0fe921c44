//! Tasks of this repository: their store, the process that reviews them, and how their user is notified.

mod agent;
mod reviews;

pub use reviews::{TaskReviewer, WorkTreeCommands};

use crate::environment::Environment;
use crate::failure::Failure;
use crate::settings::{RepositoryFile, RepositoryFileChoice, Settings, UserSettings};
use crate::wiring::changes::{Changes, child_environment};
use crate::wiring::models::connections;
use crate::wiring::trusted_settings::{base_branch, of_change};
use anyhow::Context;
use mala_adapters::git::{Git, common_dir_of};
use mala_adapters::ledger::SqliteLedger;
use mala_adapters::models::Secret;
use mala_adapters::notifications::{
    BellNotifier, CommandNotifier, DesktopNotifier, WebhookNotifier,
};
use mala_adapters::process;
use mala_adapters::trackers::BuiltinTracker;
use mala_domain::change::FilePath;
use mala_domain::config::{Config, FILE_NAME, NotificationChannel, TaskPolicy};
use mala_domain::ports::{Notifier, TaskStore};
use mala_domain::scope::ReviewTarget;
use mala_domain::task::TaskRecord;
use mala_domain::task::review::ReviewProcess;
use mala_pipeline::task::TaskPorts;
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::sync::Arc;

/// The variable with the secret that signs webhooks.
const WEBHOOK_SECRET: &str = "MALA_WEBHOOK_SECRET";

/// The tasks of the repository around the current folder.
pub struct TaskRepository {
    here: Environment,
    git: Git,
    changes: Changes,
    user: UserSettings,
    store: BuiltinTracker,
    project_id: String,
    process: ReviewProcess,
}

impl TaskRepository {
    /// Opens the store of the repository.
    pub async fn open(here: &Environment, user: UserSettings) -> anyhow::Result<Self> {
        let git = super::run::open_git(here).await?;
        let common = common_dir_of(git.top());
        let ledger = SqliteLedger::open(&SqliteLedger::path_in(&common))?;
        let pid = std::process::id();
        Ok(Self {
            here: here.clone(),
            changes: Changes::open(here).await,
            user,
            store: BuiltinTracker::new(ledger),
            project_id: project_id(&common.canonicalize().unwrap_or(common)),
            process: ReviewProcess { pid, started: process::start_time(pid).unwrap_or_default() },
            git,
        })
    }

    /// Whether the repository around the current folder has a store. Opening one makes it.
    pub fn exists(here: &Environment) -> bool {
        SqliteLedger::path_in(&common_dir_of(here.root())).exists()
    }

    /// Where tasks are.
    pub fn store(&self) -> &dyn TaskStore {
        &self.store
    }

    /// What tasks are worked on with.
    pub fn ports<'p>(&'p self, notifiers: &'p [Arc<dyn Notifier>]) -> TaskPorts<'p> {
        TaskPorts {
            store: &self.store,
            notifiers,
            project_id: &self.project_id,
            process: self.process,
            is_running: &is_running,
            now: &now,
        }
    }

    /// The commit and the work tree in which work starts.
    pub async fn start(&self) -> anyhow::Result<(String, String)> {
        let head = self.git.head_commit().await?.ok_or_else(|| {
            Failure::usage("the repository has no commit").hint("commit something first")
        })?;
        Ok((head, self.git.top().display().to_string()))
    }

    /// The root of the work tree.
    pub fn work_tree(&self) -> String {
        self.git.top().display().to_string()
    }

    /// What reviews a task, with the settings at the base of its work. The log is that of the coding session.
    pub async fn reviewer(
        &self,
        task: &TaskRecord,
        session_log: Option<PathBuf>,
    ) -> anyhow::Result<TaskReviewer<'_>> {
        let target = self.target(task).await?;
        let scoped = self.changes.scope(&target, &[]).await?;
        let settings = of_change(&self.user, &scoped, Config::default()).await?;
        let base = scoped.scope.base.clone();
        TaskReviewer::new(self, settings, target, (base, session_log)).await
    }

    /// The task's own work: its commits and its working tree, since it started or since the default branch.
    async fn target(&self, task: &TaskRecord) -> anyhow::Result<ReviewTarget> {
        let base = match &task.start_commit {
            Some(commit) => commit.clone(),
            None => {
                let branch = base_branch(&self.user, &self.changes).await?;
                branch.unwrap_or_else(|| "main".to_owned())
            }
        };
        Ok(match self.git.is_dirty_tree().await? {
            true => ReviewTarget::WorkingTreeSince(base),
            false => ReviewTarget::SinceMergeBase { base, head: "HEAD".to_owned() },
        })
    }

    /// Whether the process of a review still runs.
    pub fn is_running(&self, process: ReviewProcess) -> bool {
        is_running(process)
    }

    /// The settings at HEAD, for commands that review nothing.
    pub async fn settings(&self) -> anyhow::Result<Settings> {
        let committed = self.git.committed("HEAD", &FilePath::from(FILE_NAME)).await;
        let file = committed.ok().flatten().map(|bytes| RepositoryFile::committed("HEAD", bytes));
        let choice = RepositoryFileChoice { file, notice: None };
        Ok(self.user.with_file(choice, Config::default())?)
    }
}

/// How the user is notified.
pub fn notifiers(
    policy: &TaskPolicy,
    here: &Environment,
) -> anyhow::Result<Vec<Arc<dyn Notifier>>> {
    let mut notifiers: Vec<Arc<dyn Notifier>> = Vec::new();
    for channel in &policy.notify.value {
        notifiers.push(match channel {
            NotificationChannel::Desktop => Arc::new(DesktopNotifier),
            NotificationChannel::Bell => Arc::new(BellNotifier::new(std::io::stderr())),
            NotificationChannel::Webhook(url) => {
                let secret = here.text(WEBHOOK_SECRET).map(Secret::new);
                Arc::new(WebhookNotifier::new(connections(here)?, url, secret))
            }
            NotificationChannel::Command(command) => Arc::new(CommandNotifier {
                command: command.clone(),
                dir: here.root().to_owned(),
                environment: child_environment(here),
            }),
        });
    }
    Ok(notifiers)
}

/// A unique id for a review.
pub fn fresh_review_id() -> anyhow::Result<String> {
    Ok(super::gate::fresh_names().context("making an id")?.0)
}

/// The id of a repository: the same in all of its work trees.
fn project_id(common: &std::path::Path) -> String {
    let hash = Sha256::digest(common.as_os_str().as_encoded_bytes());
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn is_running(process: ReviewProcess) -> bool {
    process::start_time(process.pid) == Some(process.started)
}

fn now() -> String {
    jiff::Timestamp::now().to_string()
}
