//! `mala task done` and `mala task review`: review a task and show the result.

use super::{TaskFormat, failure, line, show, unknown};
use crate::console::{self, harmless};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::wiring::task::{TaskRepository, TaskReviewer, fresh_review_id, notifiers};
use clap::Args;
use mala_domain::config::{TaskPolicy, TaskTrigger};
use mala_domain::task::advice::next_step;
use mala_domain::task::review::{TaskReview, TaskReviewResult};
use mala_domain::task::transitions::{TaskAction, transition};
use mala_domain::task::{TaskRecord, TaskStatus};
use mala_domain::verdict::Outcome;
use mala_pipeline::task::{
    FinishedTaskReview, TaskReviewRequest, change_task, complete_task, review_task,
};
use serde_json::{Value, json};
use std::path::PathBuf;

/// A task to review
#[derive(Debug, Args)]
pub(super) struct DoneArgs {
    /// Its id, or the start of it
    id: String,
    /// Log of the coding session, for `include_session_log`
    #[arg(long, value_name = "FILE")]
    session_log: Option<PathBuf>,
    /// Review the work in this work tree, also if it started in another one
    #[arg(long)]
    here: bool,
}

pub(super) async fn run(
    args: &DoneArgs,
    action: TaskAction,
    tasks: &TaskRepository,
    (format, here): (TaskFormat, &Environment),
) -> anyhow::Result<Exit> {
    let task = tasks.store().task(&args.id).await.map_err(unknown)?;
    transition(&task.id, task.status, action).map_err(|error| failure(error.into()))?;
    if let (false, Some(other)) = (args.here, tasks.other_work_tree(&task)) {
        let id = &task.id;
        let failure = Failure::usage(format!("the work on task {id} started in {other}"));
        let name = action.name();
        let hint = format!("run `mala task {name} {id}` there, or here with `--here`");
        return Err(failure.hint(hint).into());
    }
    let log = args.session_log.as_ref().map(|file| here.folder.join(file));
    let reviewer = tasks.reviewer(&task, log).await?;
    if let Some(notice) = reviewer.notice() {
        console::say(&format!("note: {notice}"));
    }
    let notifiers = notifiers(reviewer.policy(), here)?;
    if let Some(exit) = without_review(&task, action, tasks, (&reviewer, format)).await? {
        return Ok(exit);
    }
    let request = TaskReviewRequest {
        id: task.id.as_str(),
        action,
        review_id: fresh_review_id()?,
        max_revisions: reviewer.policy().max_revisions.value,
    };
    let finished = review_task(request, &reviewer, &tasks.ports(&notifiers)).await;
    let finished = finished.map_err(failure)?;
    for unsent in &finished.unsent {
        console::say(&harmless(&format!("warning: {unsent}")));
    }
    print(&finished, reviewer.policy(), format)?;
    Ok(exit_of(&finished))
}

/// Handles reviews that are turned off, and triggers other than this command.
async fn without_review(
    task: &TaskRecord,
    action: TaskAction,
    tasks: &TaskRepository,
    (reviewer, format): (&TaskReviewer<'_>, TaskFormat),
) -> anyhow::Result<Option<Exit>> {
    let (policy, ports) = (reviewer.policy(), tasks.ports(&[]));
    let id = task.id.as_str();
    if !policy.enabled.value {
        if action == TaskAction::Review {
            let failure = Failure::usage("reviews are off: `tasks.review.enabled` is false");
            return Err(failure.hint(format!("`mala task done {id}` completes the task")).into());
        }
        let task = complete_task(id, &ports).await.map_err(failure)?;
        console::say("note: reviews are off: nothing was reviewed");
        print_task(&task, None, format)?;
        return Ok(Some(Exit::Passed));
    }
    let what_reviews = match (action, policy.trigger.value) {
        (TaskAction::Done, TaskTrigger::SessionIdle) => {
            "the stop hook reviews it when the conversation goes idle".to_owned()
        }
        (TaskAction::Done, TaskTrigger::Explicit) => format!("run `mala task review {id}`"),
        _ => return Ok(None),
    };
    let task = change_task(id, action, &ports, |_| {}).await.map_err(failure)?;
    print_task(&task, None, format)?;
    console::say(&format!("hint: {what_reviews}"));
    Ok(Some(Exit::CouldNotReview))
}

fn print_task(
    task: &TaskRecord,
    review: Option<&TaskReview>,
    format: TaskFormat,
) -> std::io::Result<()> {
    let review = review.map_or(Value::Null, |review| json!(review));
    console::data(&match format {
        TaskFormat::Text => format!("{}\n", line(task)),
        TaskFormat::Json => {
            let task = show::task_json(task);
            format!("{:#}\n", json!({ "schema_version": 1, "task": task, "review": review }))
        }
    })
}

fn print(
    finished: &FinishedTaskReview,
    policy: &TaskPolicy,
    format: TaskFormat,
) -> std::io::Result<()> {
    let FinishedTaskReview { task, review, .. } = finished;
    print_task(task, Some(review), format)?;
    if format == TaskFormat::Json {
        return Ok(());
    }
    let mut text = String::new();
    if !review.summary.is_empty() {
        text += &format!("{}\n", review.summary);
    }
    for issue in &review.issues {
        text += &format!("- {}\n", issue.replace('\n', "\n  "));
    }
    for warning in &review.warnings {
        text += &format!("warning: {warning}\n");
    }
    if let (TaskStatus::AwaitingReview, Some(reason)) = (task.status, &review.reason) {
        text += &format!("error: could not review: {reason}\n");
    }
    let (trigger, max_revisions) = (policy.trigger.value, policy.max_revisions.value);
    if let Some(next) = next_step(task, review, trigger, max_revisions) {
        text += &format!("hint: {next}\n");
    }
    if !text.is_empty() {
        console::say(harmless(&text).trim_end());
    }
    Ok(())
}

/// The exit code: the task is complete, the review was not done, or the task needs work.
fn exit_of(finished: &FinishedTaskReview) -> Exit {
    let FinishedTaskReview { task, review, not_done, .. } = finished;
    match (review.result, not_done) {
        (Some(TaskReviewResult::Approved), _) if task.status == TaskStatus::Complete => {
            Exit::Passed
        }
        (Some(TaskReviewResult::Pending) | None, Some(kind)) => {
            Exit::from(Outcome::CouldNotReview(*kind))
        }
        (Some(TaskReviewResult::Pending) | None, None) => Exit::CouldNotReview,
        (Some(_), _) => Exit::Blocked,
    }
}
