//! `mala task done` and `mala task review`: 004's pipeline, and what came of it.

use super::{TaskFormat, failure, line, show, unknown};
use crate::console::{self, harmless};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::wiring::task::{TaskRepository, TaskReviewer, fresh_review_id, notifiers};
use clap::Args;
use mala_domain::config::TaskTrigger;
use mala_domain::task::review::{TaskReview, TaskReviewResult};
use mala_domain::task::transitions::{TaskAction, transition};
use mala_domain::task::{TaskRecord, TaskStatus};
use mala_domain::verdict::Outcome;
use mala_pipeline::task::{
    FinishedTaskReview, TaskReviewRequest, TaskReviews, change_task, complete_task, review_task,
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
}

pub(super) async fn run(
    args: &DoneArgs,
    action: TaskAction,
    tasks: &TaskRepository,
    (format, here): (TaskFormat, &Environment),
) -> anyhow::Result<Exit> {
    let task = tasks.store().task(&args.id).await.map_err(unknown)?;
    transition(&task.id, task.status, action).map_err(|error| failure(error.into()))?;
    let log = args.session_log.as_ref().map(|file| here.folder.join(file));
    let reviewer = tasks.reviewer(&task, log).await?;
    if let Some(notice) = reviewer.notice() {
        console::say(&format!("note: {notice}"));
    }
    let notifiers = notifiers(reviewer.policy(), here)?;
    if let Some(exit) = without_review(&task, action, tasks, (&reviewer, format)).await? {
        return Ok(exit);
    }
    console::say(&harmless(&format!("reviewing with {}", reviewer.reviewer_command())));
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
    print(&finished, reviewer.policy().max_revisions.value, format)?;
    Ok(exit_of(&finished))
}

/// Reviews that are turned off, and triggers that wait for something else than this command.
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
    max_revisions: u32,
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
    let id = &task.id;
    let hint = match (task.status, &review.reason) {
        (TaskStatus::AwaitingReview, Some(reason)) => {
            format!("error: could not review: {reason}\nhint: `mala task done {id}` tries again\n")
        }
        (TaskStatus::InProgress, _) => format!(
            "hint: attempt {} of {max_revisions}; `mala task show {id} --fix-prompt` prints what to fix\n",
            review.attempt
        ),
        (TaskStatus::Blocked, _) => {
            format!("hint: a person decides; `mala task reopen {id}` tries again\n")
        }
        _ => String::new(),
    };
    text += &hint;
    if !text.is_empty() {
        console::say(harmless(&text).trim_end());
    }
    Ok(())
}

fn exit_of(finished: &FinishedTaskReview) -> Exit {
    match (finished.review.result, finished.not_done) {
        (Some(TaskReviewResult::Approved), _) => Exit::Passed,
        (Some(TaskReviewResult::NeedsRevision | TaskReviewResult::Rejected), _) => Exit::Blocked,
        (_, Some(kind)) => Exit::from(Outcome::CouldNotReview(kind)),
        (_, None) => Exit::CouldNotReview,
    }
}
