//! The review of a task: the same review as `mala review`, of the task's own work, with its context.

use super::TaskRepository;
use super::agent::CommandPlaces;
use crate::console;
use crate::environment::Environment;
use crate::failure::{Failure, FailureKind};
use crate::progress::ReviewProgress;
use crate::settings::Settings;
use crate::wiring::changes::{self, child_environment};
use crate::wiring::ledger::{LedgerPlace, ReviewLedger, TrackingRequest};
use crate::wiring::reviewers::{self, ChosenReviewers, ReviewerOptions, TaskCommandOptions};
use crate::wiring::{rules, start_time};
use mala_adapters::process::{ProcessEnvironment, run_shell};
use mala_domain::config::{ConfigOrigin, ReviewPolicy, ReviewerType, TaskCommand, TaskPolicy};
use mala_domain::ports::{BoxFuture, CommandRun, ReviewScope, RunStore};
use mala_domain::report::Report;
use mala_domain::review::ReviewPlan;
use mala_domain::scope::ReviewTarget;
use mala_domain::task::TaskRecord;
use mala_domain::task::conclusion::{TaskFacts, conclude_task};
use mala_domain::verdict::NotReviewedReason;
use mala_pipeline::command::TaskReviewing;
use mala_pipeline::review::{Published, ReviewPorts, publish, review};
use mala_pipeline::task::{
    ContextRequest, ReviewedTask, TaskCommands, TaskReviews, TaskWork, gather_context,
};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// How much of a session log is read, from its end.
const MAX_LOG: u64 = 64 << 10;

/// Reviews one task of a repository.
pub struct TaskReviewer<'r> {
    tasks: &'r TaskRepository,
    settings: Settings,
    target: ReviewTarget,
    base: Option<String>,
    session_log: Option<PathBuf>,
    /// The commit at which the task started, and when, in seconds since 1970.
    started: Option<(String, i64)>,
    choice: ReviewerChoice,
}

/// The reviewer of a task.
enum ReviewerChoice {
    /// A reviewer of mala.
    Own(ReviewerType),
    /// A program, or a slash command of an agent.
    Command(TaskCommand),
}

impl<'r> TaskReviewer<'r> {
    pub(super) async fn new(
        tasks: &'r TaskRepository,
        settings: Settings,
        (task, target): (&TaskRecord, ReviewTarget),
        (base, session_log): (Option<String>, Option<PathBuf>),
    ) -> anyhow::Result<Self> {
        let choice = ReviewerChoice::Own(ReviewerType::Builtin);
        let at = task.started_at.as_ref().and_then(|at| at.parse::<jiff::Timestamp>().ok());
        let started = task.start_commit.clone().zip(at.map(jiff::Timestamp::as_second));
        let mut reviewer = Self { tasks, settings, target, base, session_log, started, choice };
        reviewer.choice = reviewer.choose().await?;
        Ok(reviewer)
    }

    /// The settings of the review.
    pub fn policy(&self) -> &TaskPolicy {
        &self.settings.tasks
    }

    /// A notice about the settings, for the user.
    pub fn notice(&self) -> Option<&str> {
        self.settings.notice.as_deref()
    }

    async fn choose(&self) -> anyhow::Result<ReviewerChoice> {
        let policy = self.policy();
        if let Some(kind) = policy.reviewer.value {
            return Ok(ReviewerChoice::Own(kind));
        }
        let is_default = policy.command.origin == ConfigOrigin::Default;
        if let (true, TaskCommand::Slash(slash)) = (is_default, &policy.command.value)
            && !self.places("").knows(slash).await
        {
            let options = self.options();
            let here = &self.tasks.here;
            let kind = reviewers::default_kind(&self.settings.policy, here, &options)?;
            return Ok(ReviewerChoice::Own(kind));
        }
        Ok(ReviewerChoice::Command(policy.command.value.clone()))
    }

    fn places<'p>(&'p self, task_id: &'p str) -> CommandPlaces<'p> {
        CommandPlaces {
            here: &self.tasks.here,
            settings: &self.settings,
            git: &self.tasks.git,
            base: self.base.as_deref(),
            task_id,
        }
    }

    fn options(&self) -> ReviewerOptions {
        ReviewerOptions {
            target: self.target.clone(),
            gate: self.settings.gate.clone(),
            ..ReviewerOptions::new(self.settings.models.clone())
        }
    }

    async fn scope(&self) -> Result<ReviewScope, Failure> {
        self.tasks.changes.scope(&self.target, &[]).await
    }

    async fn run(&self, task: &TaskRecord) -> anyhow::Result<ReviewedTask> {
        console::say(&console::harmless(&format!("reviewing with {}", self.reviewer_command())));
        let started = jiff::Timestamp::now();
        let scoped = self.scope().await?;
        let reviewed_hash = scoped.scope.diff_hash.clone();
        let mut notices = self.settings.notices();
        let rules = rules::project_rules(&scoped, &self.target, &mut notices).await?;
        let (reviewing, options) = self.reviewer_options(task).await?;
        let here = &self.tasks.here;
        let chosen = reviewers::choose(&self.settings.policy, here, rules, options).await?;
        let context = gather_context(ContextRequest {
            task,
            policy: self.policy(),
            commands: &WorkTreeCommands::of(here),
            session_log: self.session_log.as_deref().map(tail),
        })
        .await;
        let tested_hash = self.tasks.work_hash(task).await.ok();
        let texts = context.texts();
        let failed_tests = context.failed_tests.clone();
        if let Some(reviewing) = &reviewing {
            // It is set once, here.
            reviewing.context.get_or_init(|| context);
        }
        let report = self.report(scoped, &chosen, texts, notices).await?;
        let locked = |answer: &TaskReviewing| {
            answer.answer.lock().unwrap_or_else(PoisonError::into_inner).clone()
        };
        let answer = reviewing.as_ref().and_then(locked);
        let printed = reviewing.map(|reviewing| {
            reviewing.printed.lock().unwrap_or_else(PoisonError::into_inner).clone()
        });
        let printed = printed.unwrap_or_default();
        let facts = TaskFacts { failed_tests: failed_tests.as_ref(), printed: &printed };
        let mut done = conclude_task(&report, answer.as_ref(), &facts);
        let now_hash = self.tasks.work_hash(task).await.ok();
        let of_state = format!("the review is of its state at {started:.0}");
        if now_hash != tested_hash {
            done.warnings.push(format!("the work changed during the review: {of_state}"));
        } else if tested_hash.is_some_and(|hash| hash != reviewed_hash) {
            let what = "the work changed while the tests ran; ignore what they write";
            done.warnings.push(format!("{what}: {of_state}"));
        }
        Ok(ReviewedTask {
            conclusion: done.conclusion,
            not_done: done.not_done,
            raw_output: printed,
            warnings: done.warnings,
            is_empty: done.is_empty,
        })
    }

    async fn reviewer_options(
        &self,
        task: &TaskRecord,
    ) -> anyhow::Result<(Option<TaskReviewing>, ReviewerOptions)> {
        let command = match &self.choice {
            ReviewerChoice::Own(kind) => {
                let is_default = self.policy().reviewer.value.is_none();
                // The default reviewer itself prints why it is used.
                let named = if is_default { Vec::new() } else { vec![*kind] };
                return Ok((None, ReviewerOptions { named, ..self.options() }));
            }
            ReviewerChoice::Command(command) => command,
        };
        let found = self.places(task.id.as_str()).lanes(command).await?;
        let reviewing = TaskReviewing {
            context: Arc::default(),
            instructions: found.instructions,
            parser_instructions: found.parser_instructions,
            answer: Arc::default(),
            printed: Arc::default(),
        };
        let options = TaskCommandOptions { lanes: found.lanes, reviewing: reviewing.clone() };
        let named = vec![ReviewerType::Command];
        Ok((Some(reviewing), ReviewerOptions { named, task: Some(options), ..self.options() }))
    }

    async fn report(
        &self,
        scoped: ReviewScope,
        chosen: &ChosenReviewers,
        texts: Vec<(String, String)>,
        mut notices: Vec<String>,
    ) -> anyhow::Result<Report> {
        let policy: &ReviewPolicy = &self.settings.policy;
        let started = start_time();
        let request = TrackingRequest {
            target: &self.target,
            scope: &scoped,
            paths: &[],
            // Every attempt is a review of the whole task.
            policy: policy.rounds(true),
            at: started.at.clone(),
            stores: true,
        };
        let ledger =
            ReviewLedger::open(&LedgerPlace::of(&self.tasks.git).await, request, &mut notices)
                .await;
        let plan: ReviewPlan = chosen.plan(policy, texts, notices)?;
        let store = self.tasks.changes.store();
        let kept_in = store.as_ref().map(|store| (store as &dyn RunStore, &started));
        let tracking = ledger.as_ref().map(ReviewLedger::tracking);
        let ports = ReviewPorts { store: kept_in, tracking, ..chosen.ports() };
        let progress = ReviewProgress::start();
        let reviewed = review(&plan, scoped, &ports, &|event| progress.show(&event)).await;
        progress.end();
        let reviewed = reviewed.map_err(changes::failure)?;
        if let Some(store) = &store
            && let Published::Failed(error) = publish(&reviewed, &started, store, &[])
        {
            console::say(&format!("warning: cannot save the review: {error}"));
        }
        Ok(reviewed.report)
    }
}

impl TaskReviews for TaskReviewer<'_> {
    fn reviewer_command(&self) -> String {
        match &self.choice {
            ReviewerChoice::Own(kind) => kind.name().to_owned(),
            ReviewerChoice::Command(command) => command.to_string(),
        }
    }

    fn work(&self) -> BoxFuture<'_, Result<TaskWork, String>> {
        Box::pin(async {
            let git = &self.tasks.git;
            let hidden = git.hidden_changes().await.map_err(|error| error.to_string())?;
            if let Some(file) = hidden.first() {
                return Err(format!(
                    "git hides what changed in {}: show it with `git update-index --no-skip-worktree {file}` or \
                     `git update-index --no-assume-unchanged {file}`",
                    hidden.join(", ")
                ));
            }
            let scoped = self.scope().await.map_err(|error| error.to_string())?;
            let is_empty = scoped.change.is_empty();
            let elsewhere = match (is_empty, &self.started) {
                (true, Some((commit, at))) => {
                    let found = git.work_elsewhere(commit, *at).await;
                    found.map_err(|error| error.to_string())?
                }
                _ => None,
            };
            Ok(TaskWork { diff_hash: scoped.scope.diff_hash, is_empty, elsewhere })
        })
    }

    fn review<'a>(&'a self, task: &'a TaskRecord) -> BoxFuture<'a, ReviewedTask> {
        Box::pin(async {
            self.run(task).await.unwrap_or_else(|error| {
                let kind = match Failure::kind_of(&error) {
                    FailureKind::NoReviewers => NotReviewedReason::NoReviewers,
                    _ => NotReviewedReason::Incomplete,
                };
                ReviewedTask::not_done(kind, format!("{error:#}"))
            })
        })
    }
}

/// Runs commands in the work tree.
pub struct WorkTreeCommands {
    folder: PathBuf,
    environment: ProcessEnvironment,
}

impl WorkTreeCommands {
    /// Commands in the work tree of the current folder.
    pub fn of(here: &Environment) -> Self {
        Self { folder: here.root().to_owned(), environment: child_environment(here) }
    }
}

impl TaskCommands for WorkTreeCommands {
    fn run<'a>(
        &'a self,
        command: &'a str,
        limit: Duration,
    ) -> BoxFuture<'a, Result<CommandRun, String>> {
        Box::pin(async move {
            let run = run_shell(command, &self.folder, self.environment.clone(), limit).await;
            run.map_err(|error| error.to_string())
        })
    }
}

/// The end of a file.
fn tail(path: &Path) -> Result<String, String> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = std::fs::File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(MAX_LOG)))?;
        let mut bytes = Vec::new();
        file.take(MAX_LOG).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
