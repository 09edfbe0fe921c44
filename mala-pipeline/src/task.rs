//! `mala task`: the statuses of a task around one review. Every change of a task is one transaction
//! of its store, together with its events. If a process dies, its review stays open and the next
//! one closes it.

mod context;

pub use context::{ContextRequest, TaskCommands, gather_context};

use mala_domain::ports::{BoxFuture, Notifier, TaskStore, TrackerError, UserNotification};
use mala_domain::run::issue::IssueId;
use mala_domain::task::review::{
    ActiveReview, ConcludedReview, ReviewConclusion, ReviewProcess, TaskReview, empty_change,
    no_progress,
};
use mala_domain::task::transitions::{TaskAction, TransitionError, transition};
use mala_domain::task::{TaskRecord, TaskStatus};
use mala_domain::verdict::NotReviewedReason;
use std::sync::Arc;
use thiserror::Error;

/// Maximum number of retries if another process changes the task at the same time.
const MAX_TRIES: usize = 50;

/// The ports for tasks.
pub struct TaskPorts<'p> {
    /// The storage of tasks.
    pub store: &'p dyn TaskStore,
    /// The notification channels.
    pub notifiers: &'p [Arc<dyn Notifier>],
    /// The id of the project in events.
    pub project_id: &'p str,
    /// This process.
    pub process: ReviewProcess,
    /// Whether a process still runs.
    pub is_running: &'p (dyn Fn(ReviewProcess) -> bool + Send + Sync),
    /// The current time (RFC 3339).
    pub now: &'p (dyn Fn() -> String + Send + Sync),
}

/// Reviews the work on a task.
pub trait TaskReviews: Send + Sync {
    /// The command, or the name of the reviewer.
    fn reviewer_command(&self) -> String;

    /// The work to review. The error says why it cannot be determined.
    fn work(&self) -> BoxFuture<'_, Result<TaskWork, String>>;

    /// Gathers the context and reviews the task.
    fn review<'a>(&'a self, task: &'a TaskRecord) -> BoxFuture<'a, ReviewedTask>;
}

/// The work on a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskWork {
    /// The hash of its diff.
    pub diff_hash: String,
    /// Whether the diff is empty.
    pub is_empty: bool,
    /// If the diff is empty, another place with work since the start of the task, such as a branch.
    pub elsewhere: Option<String>,
}

/// The result of the review of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewedTask {
    /// The conclusion.
    pub conclusion: ReviewConclusion,
    /// Why it could not be done, as a kind.
    pub not_done: Option<NotReviewedReason>,
    /// The output of the command.
    pub raw_output: String,
    /// Warnings.
    pub warnings: Vec<String>,
    /// Whether no file was reviewed.
    pub is_empty: bool,
}

impl ReviewedTask {
    /// A review that could not be done.
    pub fn not_done(kind: NotReviewedReason, why: impl Into<String>) -> Self {
        Self {
            conclusion: ReviewConclusion::NotDone(why.into()),
            not_done: Some(kind),
            raw_output: String::new(),
            warnings: Vec::new(),
            is_empty: false,
        }
    }

    fn done(done: ConcludedReview) -> Self {
        Self {
            conclusion: ReviewConclusion::Done(done),
            not_done: None,
            raw_output: String::new(),
            warnings: Vec::new(),
            is_empty: false,
        }
    }
}

/// A task after its review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedTaskReview {
    /// The task.
    pub task: TaskRecord,
    /// The review.
    pub review: TaskReview,
    /// Why it could not be done, as a kind.
    pub not_done: Option<NotReviewedReason>,
    /// Notifications that were not sent, and why.
    pub unsent: Vec<String>,
}

/// Why a task cannot be changed or reviewed.
#[derive(Debug, Error)]
pub enum TaskError {
    /// Its status does not allow it.
    #[error(transparent)]
    Transition(#[from] TransitionError),
    /// Another process reviews it.
    #[error("task {id} is being reviewed since {since} by process {pid}")]
    Reviewing {
        /// The task.
        id: IssueId,
        /// Since when.
        since: String,
        /// By which process.
        pid: u32,
    },
    /// The work on it is on another branch, or in the stash.
    #[error("task {id} has no change here, and {work} since it started")]
    WorkElsewhere {
        /// The task.
        id: IssueId,
        /// The work that was found.
        work: String,
    },
    /// The store fails.
    #[error(transparent)]
    Store(#[from] TrackerError),
    /// Other processes change it all the time, or ended its review.
    #[error("task {0} was changed by another process")]
    Changed(IssueId),
}

/// Changes a task by a command of the user. `edit` gets the task with its new status.
pub async fn change_task(
    id: &str,
    action: TaskAction,
    ports: &TaskPorts<'_>,
    edit: impl Fn(&mut TaskRecord),
) -> Result<TaskRecord, TaskError> {
    for _ in 0..MAX_TRIES {
        let old = ports.store.task(id).await?;
        let status = transition(&old.id, old.status, action)?;
        let (mut new, events) = match running(&old, ports) {
            Some(_) => (old.clone(), Vec::new()),
            None => old.with_open_review_closed(&(ports.now)(), ports.project_id),
        };
        new.status = status;
        edit(&mut new);
        if ports.store.replace(&old, &new, &events).await? {
            return Ok(ports.store.task(old.id.as_str()).await?);
        }
    }
    Err(TaskError::Changed(IssueId::new(id)))
}

/// Starts a task at this commit, in this work tree.
pub async fn start_task(
    id: &str,
    commit: &str,
    work_tree: &str,
    ports: &TaskPorts<'_>,
) -> Result<TaskRecord, TaskError> {
    change_task(id, TaskAction::Start, ports, |task| {
        // A task that is reopened keeps its work.
        task.start_commit.get_or_insert_with(|| commit.to_owned());
        task.started_at.get_or_insert_with(|| (ports.now)());
        task.work_tree = Some(work_tree.to_owned());
    })
    .await
}

/// Makes a task pending again. Its reviews and its start stay; the limit of revisions applies anew.
pub async fn reopen_task(id: &str, ports: &TaskPorts<'_>) -> Result<TaskRecord, TaskError> {
    change_task(id, TaskAction::Reopen, ports, |task| {
        (task.revision_count, task.close_reason, task.claimed_by) = (0, None, None);
        task.earlier_reviews = task.reviews.len();
    })
    .await
}

/// Completes a task without a review.
pub async fn complete_task(id: &str, ports: &TaskPorts<'_>) -> Result<TaskRecord, TaskError> {
    change_task(id, TaskAction::Done, ports, |task| task.status = TaskStatus::Complete).await
}

/// A request to review a task, and its limits.
pub struct TaskReviewRequest<'r> {
    /// The task.
    pub id: &'r str,
    /// The action that requests the review.
    pub action: TaskAction,
    /// A unique id for the review.
    pub review_id: String,
    /// The attempt from which on an objection blocks the task.
    pub max_revisions: u32,
}

/// Reviews a task from its first event to its last: at most one review of a task runs at a time.
pub async fn review_task(
    request: TaskReviewRequest<'_>,
    reviews: &dyn TaskReviews,
    ports: &TaskPorts<'_>,
) -> Result<FinishedTaskReview, TaskError> {
    let work = reviews.work().await;
    if let Ok(TaskWork { elsewhere: Some(found), .. }) = &work {
        let task = ports.store.task(request.id).await?;
        transition(&task.id, task.status, request.action)?;
        return Err(TaskError::WorkElsewhere { id: task.id, work: found.clone() });
    }
    let task = begin(&request, reviews, ports).await?;
    let Some(active) = task.active_review.clone() else {
        return Err(TaskError::Changed(task.id));
    };
    let has_no_change = work.as_ref().is_ok_and(|work| work.is_empty);
    let (reviewed, diff_hash) = conclude(&task, work, reviews).await;
    let review = TaskReview {
        raw_output: reviewed.raw_output,
        warnings: reviewed.warnings,
        diff_hash,
        is_empty: has_no_change || reviewed.is_empty,
        ..active.review
    };
    let review = review.concluded(&reviewed.conclusion, (ports.now)());
    let (task, notification) = end(&task.id, &review, request.max_revisions, ports).await?;
    let unsent = match &notification {
        Some(notification) => notify(notification, ports.notifiers).await,
        None => Vec::new(),
    };
    Ok(FinishedTaskReview { task, review, not_done: reviewed.not_done, unsent })
}

/// Records that `mala run` starts a review of a task, with the usual events. The run decides about
/// the status. `None` while another process reviews the task.
pub async fn start_run_review(
    id: &IssueId,
    attempt: u32,
    (review_id, reviewer): (String, String),
    ports: &TaskPorts<'_>,
) -> Result<Option<TaskReview>, TaskError> {
    for _ in 0..MAX_TRIES {
        let old = ports.store.task(id.as_str()).await?;
        if running(&old, ports).is_some() {
            return Ok(None);
        }
        let (review_id, at, reviewer) = (review_id.clone(), (ports.now)(), reviewer.clone());
        let review = TaskReview { attempt, ..TaskReview::start(&old, review_id, at, reviewer) };
        let active = ActiveReview { review: review.clone(), process: ports.process };
        let (mut new, events) = old.with_review_started(active, ports.project_id);
        new.status = old.status;
        if ports.store.replace(&old, &new, &events).await? {
            return Ok(Some(review));
        }
    }
    Err(TaskError::Changed(id.clone()))
}

/// Records the end of a review by `mala run`.
pub async fn end_run_review(
    review: TaskReview,
    conclusion: &ReviewConclusion,
    ports: &TaskPorts<'_>,
) -> Result<(), TaskError> {
    let review = review.concluded(conclusion, (ports.now)());
    end(&review.task_id, &review, u32::MAX, ports).await?;
    Ok(())
}

async fn begin(
    request: &TaskReviewRequest<'_>,
    reviews: &dyn TaskReviews,
    ports: &TaskPorts<'_>,
) -> Result<TaskRecord, TaskError> {
    for _ in 0..MAX_TRIES {
        let old = ports.store.task(request.id).await?;
        transition(&old.id, old.status, request.action)?;
        if let Some(active) = running(&old, ports) {
            let (since, pid) = (active.review.reviewed_at.clone(), active.process.pid);
            return Err(TaskError::Reviewing { id: old.id.clone(), since, pid });
        }
        let (id, at) = (request.review_id.clone(), (ports.now)());
        let review = TaskReview::start(&old, id, at, reviews.reviewer_command());
        let active = ActiveReview { review, process: ports.process };
        let (new, events) = old.with_review_started(active, ports.project_id);
        if ports.store.replace(&old, &new, &events).await? {
            return Ok(new);
        }
    }
    Err(TaskError::Changed(IssueId::new(request.id)))
}

fn running<'t>(task: &'t TaskRecord, ports: &TaskPorts<'_>) -> Option<&'t ActiveReview> {
    task.active_review.as_ref().filter(|active| (ports.is_running)(active.process))
}

async fn conclude(
    task: &TaskRecord,
    work: Result<TaskWork, String>,
    reviews: &dyn TaskReviews,
) -> (ReviewedTask, Option<String>) {
    let work = match work {
        Ok(work) => work,
        Err(why) => return (ReviewedTask::not_done(NotReviewedReason::Incomplete, why), None),
    };
    let reviewed = if task.is_without_progress(&work.diff_hash, work.is_empty) {
        ReviewedTask::done(no_progress(task))
    } else if work.is_empty {
        ReviewedTask::done(empty_change())
    } else {
        reviews.review(task).await
    };
    (reviewed, Some(work.diff_hash))
}

async fn end(
    id: &IssueId,
    review: &TaskReview,
    max_revisions: u32,
    ports: &TaskPorts<'_>,
) -> Result<(TaskRecord, Option<UserNotification>), TaskError> {
    for _ in 0..MAX_TRIES {
        let old = ports.store.task(id.as_str()).await?;
        let ended = old.with_review_ended(review.clone(), max_revisions, ports.project_id);
        let Some((new, event, notification)) = ended else { break };
        if ports.store.replace(&old, &new, &[event]).await? {
            return Ok((ports.store.task(id.as_str()).await?, notification));
        }
    }
    Err(TaskError::Changed(id.clone()))
}

/// Sends a notification through all channels. Returns failures with their reason; they do not
/// change a result.
pub async fn notify(
    notification: &UserNotification,
    notifiers: &[Arc<dyn Notifier>],
) -> Vec<String> {
    let mut unsent = Vec::new();
    for notifier in notifiers {
        if let Err(why) = notifier.notify(notification).await {
            unsent.push(format!("cannot notify by {}: {why}", notifier.name()));
        }
    }
    unsent
}
