//! Tasks of this repository: their store, the process that reviews them, and how their user is notified.

mod agent;
mod reviews;

pub use reviews::{TaskReviewer, WorkTreeCommands};

use crate::console;
use crate::environment::Environment;
use crate::failure::{Failure, FailureKind};
use crate::settings::{RepositoryFile, RepositoryFileChoice, Settings, UserSettings};
use crate::wiring::changes::{Changes, child_environment};
use crate::wiring::gate;
use crate::wiring::models::connections;
use crate::wiring::trusted_settings::{base_branch, of_change};
use anyhow::Context;
use mala_adapters::git::{Git, common_dir_of};
use mala_adapters::ledger::SqliteLedger;
use mala_adapters::models::Secret;
use mala_adapters::notifications::{
    BellNotifier, CommandNotifier, DesktopNotifier, WebhookNotifier,
};
use mala_adapters::process::{self, HeldProcessLock, ProcessLocks};
use mala_adapters::trackers::BuiltinTracker;
use mala_domain::change::FilePath;
use mala_domain::config::{Config, FILE_NAME, NotificationChannel, TaskPolicy};
use mala_domain::ports::{Notifier, TaskStore};
use mala_domain::scope::ReviewTarget;
use mala_domain::task::TaskRecord;
use mala_domain::task::own_work::{base_after_update, other_work_tree};
use mala_domain::task::review::ReviewProcess;
use mala_pipeline::task::TaskPorts;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

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
    locks: ProcessLocks,
    /// The lock of this process, once it reviews.
    held: OnceLock<HeldProcessLock>,
    is_running: Box<dyn Fn(ReviewProcess) -> bool + Send + Sync>,
}

impl TaskRepository {
    /// Opens the store of the repository.
    pub async fn open(here: &Environment, user: UserSettings) -> anyhow::Result<Self> {
        let git = super::run::open_git(here).await?;
        let common = common_dir_of(git.top());
        let store = open_store(&SqliteLedger::path_in(&common))?;
        let pid = std::process::id();
        let locks = ProcessLocks::new(&common.join("mala/processes"));
        let seen = locks.clone();
        Ok(Self {
            locks,
            held: OnceLock::new(),
            is_running: Box::new(move |process| is_running(process, &seen)),
            here: here.clone(),
            changes: Changes::open(here).await,
            user,
            store,
            project_id: project_id(&common.canonicalize().unwrap_or(common)),
            process: ReviewProcess { pid, started: process::start_time(pid).unwrap_or_default() },
            git,
        })
    }

    /// Whether the repository around the current folder has a store. Opening one makes it.
    pub fn exists(here: &Environment) -> bool {
        SqliteLedger::path_in(&common_dir_of(here.root())).exists()
    }

    /// The storage of tasks.
    pub fn store(&self) -> &dyn TaskStore {
        &self.store
    }

    /// The ports for tasks.
    pub fn ports<'p>(&'p self, notifiers: &'p [Arc<dyn Notifier>]) -> TaskPorts<'p> {
        TaskPorts {
            store: &self.store,
            notifiers,
            project_id: &self.project_id,
            process: self.process,
            is_running: &self.is_running,
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

    /// The other work tree of this repository in which the work on a task started.
    pub fn other_work_tree<'t>(&self, task: &'t TaskRecord) -> Option<&'t str> {
        let common = common_dir_of(self.git.top()).canonicalize().ok();
        let is_ours = |top: &str| {
            common.is_some() && common_dir_of(Path::new(top)).canonicalize().ok() == common
        };
        other_work_tree(task, &self.work_tree(), is_ours)
    }

    /// The reviewer of a task, with the settings at the base of its work. The log is that of the
    /// coding session.
    pub async fn reviewer(
        &self,
        task: &TaskRecord,
        session_log: Option<PathBuf>,
    ) -> anyhow::Result<TaskReviewer<'_>> {
        self.hold_lock()?;
        let target = self.target(task).await?;
        let scoped = self.changes.scope(&target, &[]).await?;
        let settings = of_change(&self.user, &scoped, Config::default()).await?;
        let base = scoped.scope.base.clone();
        TaskReviewer::new(self, settings, (task, target), (base, session_log)).await
    }

    /// The hash of the work on a task, as it is now.
    async fn work_hash(&self, task: &TaskRecord) -> anyhow::Result<String> {
        let target = self.target(task).await?;
        Ok(self.changes.scope(&target, &[]).await?.scope.diff_hash)
    }

    /// Kills processes that a dead process left running in its review.
    pub async fn end_leftovers(&self) -> anyhow::Result<()> {
        let is_left = |task: &TaskRecord| {
            task.active_review.as_ref().is_some_and(|active| !self.is_running(active.process))
        };
        if self.store.tasks().await?.iter().any(is_left) {
            gate::sweep_scratch(&gate::Gate::open(&self.here).await?);
        }
        Ok(())
    }

    /// The task's own work: its commits and its working tree, since it started or since the default
    /// branch, without commits that a rebase or a merge brought from there.
    async fn target(&self, task: &TaskRecord) -> anyhow::Result<ReviewTarget> {
        let branch = base_branch(&self.user, &self.changes).await;
        let name = |branch: Option<String>| branch.unwrap_or_else(|| "main".to_owned());
        let base = match &task.start_commit {
            Some(commit) => {
                // The settings of the default branch may be invalid; those at the start are used.
                let branch = name(branch.ok().flatten());
                let shared = self.git.shared_commits(commit, &branch).await?;
                base_after_update(&shared).unwrap_or(commit).to_owned()
            }
            None => name(branch?),
        };
        Ok(match self.git.is_dirty_tree().await? {
            true => ReviewTarget::WorkingTreeSince(base),
            false => ReviewTarget::SinceMergeBase { base, head: "HEAD".to_owned() },
        })
    }

    /// Whether the process of a review still runs.
    pub fn is_running(&self, process: ReviewProcess) -> bool {
        (self.is_running)(process)
    }

    /// Shows other processes, also those in other containers, that this one reviews.
    pub fn hold_lock(&self) -> anyhow::Result<()> {
        if self.held.get().is_none() {
            let held = self.locks.hold(self.process.pid, self.process.started);
            let held = held.context("locking the process of the review")?;
            self.held.get_or_init(|| held);
        }
        Ok(())
    }

    /// The settings at HEAD, for commands without a review. Invalid settings are ignored with a
    /// warning.
    pub async fn settings(&self) -> anyhow::Result<Settings> {
        let committed = self.git.committed("HEAD", &FilePath::from(FILE_NAME)).await;
        let file = committed.ok().flatten().map(|bytes| RepositoryFile::committed("HEAD", bytes));
        let choice = RepositoryFileChoice { file, notice: None };
        let without = RepositoryFileChoice { file: None, notice: None };
        Ok(match self.user.with_file(choice, Config::default()) {
            Ok(settings) => settings,
            Err(error) => {
                console::say(&format!("warning: using the defaults: {error}"));
                self.user.with_file(without, Config::default())?
            }
        })
    }
}

/// The tasks in the database of a repository. Damaged ones are moved aside: the command that finds them fails, and
/// later ones warn.
pub fn open_store(path: &Path) -> anyhow::Result<BuiltinTracker> {
    let ledger = SqliteLedger::open(path)?;
    if let Some(aside) = ledger.moved_aside() {
        let what = format!("the tasks and findings in {} are damaged", path.display());
        let failure = Failure::new(FailureKind::CouldNotReview, what);
        let hint =
            format!("they were moved to {}; from here on, a new store is used", aside.display());
        return Err(failure.hint(hint).into());
    }
    if let Some(copy) = SqliteLedger::damaged_copy(path) {
        let what = "tasks may be missing: an earlier store was damaged";
        console::say(&format!(
            "warning: {what}, see {} (delete it to end this warning)",
            copy.display()
        ));
    }
    Ok(BuiltinTracker::new(ledger))
}

/// The notification channels.
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

fn is_running(process: ReviewProcess, locks: &ProcessLocks) -> bool {
    let ReviewProcess { pid, started } = process;
    process::start_time(pid) == Some(started) || locks.is_held(pid, started)
}

fn now() -> String {
    jiff::Timestamp::now().to_string()
}
