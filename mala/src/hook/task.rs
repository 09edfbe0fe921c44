//! The trigger `session_idle`: a conversation that works on a task wants to stop, and the task is reviewed. The task
//! is the one that was started last in this work tree and is not complete.

use crate::environment::Environment;
use crate::settings::UserSettings;
use crate::wiring::task::{TaskRepository, TaskReviewer, fresh_review_id, notifiers};
use anyhow::Context;
use mala_domain::config::TaskTrigger;
use mala_domain::hook::{HookAnswer, Stop};
use mala_domain::task::transitions::TaskAction;
use mala_domain::task::{TaskRecord, TaskStatus};
use mala_pipeline::task::{FinishedTaskReview, TaskReviewRequest, TaskReviews, review_task};
use std::path::PathBuf;
use std::time::Duration;

/// The answer to a stop; `None` when there is no task to review.
pub(super) fn idle_answer(
    stop: &Stop,
    here: &Environment,
    user: &Result<UserSettings, String>,
    time: Duration,
) -> anyhow::Result<Option<HookAnswer>> {
    if !TaskRepository::exists(here) {
        return Ok(None);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("starting the runtime")?;
    let answer =
        runtime.block_on(async { tokio::time::timeout(time, idle(stop, here, user)).await });
    runtime.shutdown_background();
    answer.context("the review of the task took too long")?
}

async fn idle(
    stop: &Stop,
    here: &Environment,
    user: &Result<UserSettings, String>,
) -> anyhow::Result<Option<HookAnswer>> {
    let user = user.clone().map_err(anyhow::Error::msg)?;
    let tasks = TaskRepository::open(here, user).await?;
    let all = tasks.store().tasks().await?;
    let Some(task) = current(&all, &tasks.work_tree()) else { return Ok(None) };
    let log = stop.transcript.as_ref().map(PathBuf::from);
    let reviewer = tasks.reviewer(task, log).await?;
    let policy = reviewer.policy();
    if !policy.enabled.value || policy.trigger.value != TaskTrigger::SessionIdle {
        return Ok(None);
    }
    if !has_new_work(task, &reviewer).await? {
        return Ok(None);
    }
    let notifiers = notifiers(policy, here)?;
    let request = TaskReviewRequest {
        id: task.id.as_str(),
        action: TaskAction::Done,
        review_id: fresh_review_id()?,
        max_revisions: policy.max_revisions.value,
    };
    let finished = review_task(request, &reviewer, &tasks.ports(&notifiers)).await?;
    Ok(Some(answer(&finished)))
}

/// The task that this work tree is working on.
fn current<'t>(tasks: &'t [TaskRecord], work_tree: &str) -> Option<&'t TaskRecord> {
    let is_open = |task: &&TaskRecord| {
        matches!(task.status, TaskStatus::InProgress | TaskStatus::AwaitingReview)
            && task.work_tree.as_deref() == Some(work_tree)
    };
    tasks.iter().filter(is_open).max_by(|a, b| a.updated_at.cmp(&b.updated_at))
}

/// Whether there is work that no review has a result for.
async fn has_new_work(task: &TaskRecord, reviewer: &TaskReviewer<'_>) -> anyhow::Result<bool> {
    let work = reviewer.work().await.map_err(anyhow::Error::msg)?;
    let last = task.last_result().and_then(|review| review.diff_hash.as_deref());
    Ok(!work.is_empty && last != Some(work.diff_hash.as_str()))
}

fn answer(finished: &FinishedTaskReview) -> HookAnswer {
    let FinishedTaskReview { task, review, .. } = finished;
    let (id, status) = (&task.id, task.status.name());
    match (task.status, task.fix_prompt(TaskTrigger::SessionIdle)) {
        (TaskStatus::InProgress, Some(prompt)) => {
            let message = format!("task {id} needs a revision (attempt {}).", review.attempt);
            HookAnswer::block(prompt, message)
        }
        (TaskStatus::AwaitingReview, _) => {
            let reason = review.reason.as_deref().unwrap_or("no result");
            HookAnswer::allow(format!("warning: task {id} was not reviewed: {reason}"))
        }
        _ => HookAnswer::allow(format!("task {id} is {status}. {}", review.summary)),
    }
}
