//! `mala task list` and `mala task show`.

use super::{TaskFormat, line, status_words};
use crate::console::{self, harmless, to_the_second};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::wiring::task::TaskRepository;
use mala_domain::task::review::{TaskReview, TaskReviewResult};
use mala_domain::task::{TaskRecord, TaskStatus};
use serde_json::{Value, json};

pub(super) async fn list(
    tasks: &TaskRepository,
    status: Option<TaskStatus>,
    format: TaskFormat,
) -> anyhow::Result<Exit> {
    let all = tasks.store().tasks().await?;
    let wanted = all.iter().filter(|task| status.is_none_or(|status| task.status == status));
    let text = match format {
        TaskFormat::Text => wanted.map(|task| format!("{}\n", line(task))).collect(),
        TaskFormat::Json => {
            let tasks: Vec<Value> = wanted.map(task_json).collect();
            format!("{:#}\n", json!({ "schema_version": 1, "tasks": tasks }))
        }
    };
    console::data(&text)?;
    Ok(Exit::Passed)
}

/// A task as JSON. A task without reviews has an empty list.
pub(super) fn task_json(task: &TaskRecord) -> Value {
    let mut value = json!(task);
    if let Value::Object(fields) = &mut value {
        fields.insert("schema_version".to_owned(), json!(1));
        fields.entry("reviews").or_insert_with(|| json!([]));
        fields.insert("reviewed".to_owned(), json!(task.is_reviewed()));
    }
    value
}

pub(super) async fn fix_prompt(
    tasks: &TaskRepository,
    task: &TaskRecord,
    format: TaskFormat,
) -> anyhow::Result<Exit> {
    let trigger = tasks.settings().await?.tasks.trigger.value;
    let Some(prompt) = task.fix_prompt(trigger) else {
        return Err(Failure::usage(format!("no review asks to fix anything in {}", task.id)).into());
    };
    let text = match format {
        TaskFormat::Text => harmless(&prompt),
        TaskFormat::Json => format!("{:#}\n", json!({ "schema_version": 1, "fix_prompt": prompt })),
    };
    console::data(&text)?;
    Ok(Exit::Passed)
}

pub(super) async fn show(
    tasks: &TaskRepository,
    task: &TaskRecord,
    format: TaskFormat,
) -> anyhow::Result<Exit> {
    let text = match format {
        TaskFormat::Text => text(tasks, task).await?,
        TaskFormat::Json => format!("{:#}\n", task_json(task)),
    };
    console::data(&text)?;
    Ok(Exit::Passed)
}

async fn text(tasks: &TaskRepository, task: &TaskRecord) -> anyhow::Result<String> {
    let policy = tasks.settings().await?.tasks;
    let mut text = format!("{} {}\n", task.id, task.title);
    text += &format!("status: {}\n", status_words(task));
    let (count, max) = (task.revision_count, policy.max_revisions.value);
    text += &format!("revisions: {count} of {max}\n");
    if let Some(commit) = &task.start_commit {
        text += &format!("started at: {}\n", commit.get(..12).unwrap_or(commit));
    }
    let tests = policy.tests.value.as_deref().unwrap_or("none configured");
    text += &format!("tests: {tests}\n");
    if let Some(active) = &task.active_review {
        let since = to_the_second(&active.review.reviewed_at);
        text += &match tasks.is_running(active.process) {
            true => format!("review: running since {since} (process {})\n", active.process.pid),
            false => format!("review: interrupted; it started at {since}\n"),
        };
    }
    for (heading, words) in
        [("Scope", &task.scope), ("Acceptance Criteria", &task.acceptance), ("Notes", &task.notes)]
    {
        if !words.is_empty() {
            text += &format!("\n## {heading}\n{words}\n");
        }
    }
    if !task.reviews.is_empty() {
        text += "\n## Reviews\n";
        text.extend(task.reviews.iter().map(review_text));
    }
    Ok(harmless(&text))
}

fn review_text(review: &TaskReview) -> String {
    let result = review.result.map_or("NOT DONE", TaskReviewResult::name);
    let mut text = format!(
        "attempt {}: {result} by {} at {}\n",
        review.attempt,
        review.reviewer_command,
        to_the_second(&review.reviewed_at)
    );
    let words = [Some(&review.summary), review.reason.as_ref()].into_iter().flatten();
    text.extend(words.filter(|it| !it.is_empty()).map(|it| format!("  {it}\n")));
    let issues = review.issues.iter().map(|it| format!("  - {}\n", it.replace('\n', "\n    ")));
    text.extend(issues);
    text.extend(review.warnings.iter().map(|it| format!("  warning: {it}\n")));
    text
}
