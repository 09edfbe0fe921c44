//! The review of a task: its record, the changes that follow from its result, the notification and
//! the events for the log.

use super::advice::after_the_fix;
use super::{TaskRecord, TaskStatus};
use crate::command::ReviewResult;
use crate::config::TaskTrigger;
use crate::ports::UserNotification;
use crate::run::issue::IssueId;
use crate::secrets::redact;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The sound of all notifications about tasks.
pub const SOUND: &str = "Basso";

/// How much of an answer is kept.
const MAX_RAW_OUTPUT: usize = 64 << 10;

/// The longest issue, summary or reason that is kept.
const MAX_TEXT: usize = 4_000;

/// One review of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskReview {
    /// Unique.
    pub id: String,
    /// The task.
    #[schemars(with = "String")]
    pub task_id: IssueId,
    /// 1 for the first attempt.
    pub attempt: u32,
    /// `PENDING` while the review runs; null when it could not be done.
    pub result: Option<TaskReviewResult>,
    /// The issues.
    #[serde(default)]
    pub issues: Vec<String>,
    /// One or two sentences.
    #[serde(default)]
    pub summary: String,
    /// Whether a person must look at it, on any attempt.
    #[serde(default)]
    pub blocking: bool,
    /// Whether the reviewer approved, and the tests failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_tests_failed: bool,
    /// When the review started, and after its end, when it ended (RFC 3339).
    pub reviewed_at: String,
    /// The command, or the name of the reviewer.
    #[serde(default)]
    pub reviewer_command: String,
    /// The output of the command.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub raw_output: String,
    /// Why the review could not be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Warnings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The hash of the reviewed diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff_hash: Option<String>,
    /// Whether nothing was reviewed: the change is empty, or none of its files needs a review.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_empty: bool,
}

/// The result of a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TaskReviewResult {
    /// The review runs.
    Pending,
    /// The task is complete.
    Approved,
    /// The worker must revise it.
    NeedsRevision,
    /// A person must decide.
    Rejected,
}

impl From<ReviewResult> for TaskReviewResult {
    fn from(result: ReviewResult) -> Self {
        match result {
            ReviewResult::Approved => Self::Approved,
            ReviewResult::NeedsRevision => Self::NeedsRevision,
            ReviewResult::Rejected => Self::Rejected,
        }
    }
}

impl TaskReviewResult {
    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::Approved => "APPROVED",
            Self::NeedsRevision => "NEEDS_REVISION",
            Self::Rejected => "REJECTED",
        }
    }
}

/// A review that runs, and the process that runs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActiveReview {
    /// The review.
    pub review: TaskReview,
    /// The process.
    pub process: ReviewProcess,
}

/// A process of this machine: ids are used again, start times are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewProcess {
    /// Its id.
    pub pid: u32,
    /// When it started, in ticks of the system.
    pub started: u64,
}

/// The conclusion of a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReviewConclusion {
    /// It has a result.
    Done(ConcludedReview),
    /// It could not be done, for this reason.
    NotDone(String),
}

/// A review with a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConcludedReview {
    /// The result.
    pub result: ReviewResult,
    /// The issues.
    pub issues: Vec<String>,
    /// One or two sentences.
    pub summary: String,
    /// Whether a person must look at it.
    pub blocking: bool,
    /// Whether the reviewer approved, and the tests failed.
    pub only_tests_failed: bool,
}

impl TaskReview {
    /// A review of this task that starts.
    pub fn start(task: &TaskRecord, id: String, at: String, reviewer_command: String) -> Self {
        Self {
            id,
            task_id: task.id.clone(),
            attempt: task.revision_count.saturating_add(1),
            result: Some(TaskReviewResult::Pending),
            issues: Vec::new(),
            summary: String::new(),
            blocking: false,
            only_tests_failed: false,
            reviewed_at: at,
            reviewer_command,
            raw_output: String::new(),
            reason: None,
            warnings: Vec::new(),
            diff_hash: None,
            is_empty: false,
        }
    }

    /// The review with its conclusion.
    #[must_use]
    pub fn concluded(mut self, conclusion: &ReviewConclusion, at: String) -> Self {
        self.reviewed_at = at;
        match conclusion {
            ReviewConclusion::Done(done) => {
                self.result = Some(done.result.into());
                self.issues = done.issues.iter().map(|issue| kept(issue, MAX_TEXT)).collect();
                self.summary = kept(&done.summary, MAX_TEXT);
                self.blocking = done.blocking;
                self.only_tests_failed = done.only_tests_failed;
            }
            ReviewConclusion::NotDone(reason) => {
                self.result = None;
                self.reason = Some(kept(reason, MAX_TEXT));
            }
        }
        self.raw_output = kept(&self.raw_output, MAX_RAW_OUTPUT);
        self.warnings = self.warnings.iter().map(|warning| kept(warning, MAX_TEXT)).collect();
        self
    }

    /// The name of the event that ends it.
    pub fn end_event(&self) -> &'static str {
        match self.result {
            Some(TaskReviewResult::Approved) => "ReviewCompleted",
            _ => "ReviewFailed",
        }
    }

    /// An event about it, as JSON. The output of the command is in the record only.
    pub fn event(&self, name: &str, project_id: &str) -> String {
        let mut review = serde_json::to_value(self).unwrap_or_default();
        if let Value::Object(fields) = &mut review {
            fields.remove("raw_output");
        }
        let mut event = json!({
            "event": name,
            "task_id": self.task_id,
            "project_id": project_id,
            "review": review,
        });
        if let Some(reason) = &self.reason {
            event["reason"] = json!(reason);
        }
        event.to_string()
    }
}

/// A text without secrets, cut where it is too long.
fn kept(text: &str, max: usize) -> String {
    let text = redact(text);
    let end = text.floor_char_boundary(max);
    match text.get(..end) {
        Some(start) if start.len() < text.len() => {
            format!("{start}\n[cut: {} of {} bytes shown]", start.len(), text.len())
        }
        _ => text.into_owned(),
    }
}

/// The changes of a task after a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskDecision {
    /// Its status.
    pub status: TaskStatus,
    /// The number of reviews that requested a revision.
    pub revision_count: u32,
    /// The notification for the user.
    pub notification: Option<UserNotification>,
}

/// Decides how a review changes its task. A review that could not be done only notifies the user.
pub fn decide_task(task: &TaskRecord, review: &TaskReview, max_revisions: u32) -> TaskDecision {
    let notification = |kind: &str, message: String| {
        let (title, sound) = (format!("Review {kind}: {}", task.title), Some(SOUND.to_owned()));
        Some(UserNotification { title, message, sound })
    };
    let same = |status, notification| TaskDecision {
        status,
        revision_count: task.revision_count,
        notification,
    };
    match review.result {
        Some(TaskReviewResult::Approved) => same(TaskStatus::Complete, None),
        Some(TaskReviewResult::NeedsRevision) if !review.blocking => {
            if review.attempt >= max_revisions {
                let message = format!("Task needs human review after {} attempts", review.attempt);
                return same(TaskStatus::Blocked, notification("Failed", message));
            }
            TaskDecision {
                status: TaskStatus::InProgress,
                revision_count: task.revision_count.saturating_add(1),
                notification: None,
            }
        }
        Some(TaskReviewResult::NeedsRevision | TaskReviewResult::Rejected) => {
            let message = format!("Blocking issue found: {}", review.summary);
            same(TaskStatus::Blocked, notification("Rejected", message))
        }
        Some(TaskReviewResult::Pending) | None => {
            let reason = review.reason.clone().unwrap_or_else(|| "no result".to_owned());
            same(TaskStatus::AwaitingReview, notification("Not Done", reason))
        }
    }
}

impl TaskRecord {
    /// The task after the start of a review, and the events for the log. A review that was left
    /// open is closed.
    pub fn with_review_started(
        &self,
        active: ActiveReview,
        project_id: &str,
    ) -> (Self, Vec<String>) {
        let (mut task, mut events) =
            self.with_open_review_closed(&active.review.reviewed_at, project_id);
        task.status = TaskStatus::AwaitingReview;
        events.push(active.review.event("ReviewStarted", project_id));
        task.active_review = Some(active);
        (task, events)
    }

    /// The task without a review that was left open, and the event that ends it.
    pub fn with_open_review_closed(&self, at: &str, project_id: &str) -> (Self, Vec<String>) {
        let mut task = self.clone();
        let Some(left) = task.active_review.take() else { return (task, Vec::new()) };
        let reason = "the process of the review ended without a result".to_owned();
        let closed = left.review.concluded(&ReviewConclusion::NotDone(reason), at.to_owned());
        let event = closed.event(closed.end_event(), project_id);
        task.reviews.push(closed);
        (task, vec![event])
    }

    /// The task after the end of this review, the event for the log, and the notification. `None`
    /// if it is not the active review any more. A status that a person set in the meantime stays.
    pub fn with_review_ended(
        &self,
        review: TaskReview,
        max_revisions: u32,
        project_id: &str,
    ) -> Option<(Self, String, Option<UserNotification>)> {
        let active = self.active_review.as_ref()?;
        if active.review.id != review.id {
            return None;
        }
        let mut task = self.clone();
        task.active_review = None;
        let decision = decide_task(self, &review, max_revisions);
        if task.status == TaskStatus::AwaitingReview {
            (task.status, task.revision_count) = (decision.status, decision.revision_count);
        }
        let event = review.event(review.end_event(), project_id);
        task.reviews.push(review);
        Some((task, event, decision.notification))
    }

    /// The last review that has a result.
    pub fn last_result(&self) -> Option<&TaskReview> {
        self.reviews.iter().rev().find(|review| review.result.is_some())
    }

    /// Whether its last result since it was reopened is the approval of a change.
    pub fn is_reviewed(&self) -> bool {
        let is_approval = |review: &TaskReview| {
            review.result == Some(TaskReviewResult::Approved) && !review.is_empty
        };
        let current = self.reviews.iter().skip(self.earlier_reviews);
        current.rev().find(|review| review.result.is_some()).is_some_and(is_approval)
    }

    /// Whether this diff is the same that the last review asked to revise: reviewing it again is no
    /// progress. If only the tests failed, they run again, because the machine may have changed.
    pub fn is_without_progress(&self, diff_hash: &str, is_empty: bool) -> bool {
        let is_same = |review: &TaskReview| {
            review.diff_hash.as_deref() == Some(diff_hash) && !review.only_tests_failed
        };
        self.revision_count > 0 && (is_empty || self.last_result().is_some_and(is_same))
    }

    /// The prompt for the next attempt: the issues and the summary of the last review, and the
    /// command to run afterwards; `None` without issues.
    pub fn fix_prompt(&self, trigger: TaskTrigger) -> Option<String> {
        let review = self.last_result().filter(|review| !review.issues.is_empty())?;
        let mut text = super::context::task_definition(self);
        text += &format!("\n\n## Review of attempt {}\n", review.attempt);
        if !review.summary.is_empty() {
            text += &format!("{}\n", review.summary);
        }
        text += "\nFix these issues:\n";
        let issues = review.issues.iter().filter(|issue| *issue != NOTHING_CHANGED);
        for (number, issue) in issues.enumerate() {
            text += &format!("{}. {}\n", number + 1, issue.replace('\n', "\n   "));
        }
        text += &format!("\n{}\n", after_the_fix(self, trigger));
        Some(text)
    }
}

/// The issue of an attempt without progress.
const NOTHING_CHANGED: &str = "nothing changed since the last review";

/// The conclusion about a change that is unchanged since the last attempt: the same issues, and
/// that nothing changed.
pub fn no_progress(task: &TaskRecord) -> ConcludedReview {
    let last = task.last_result();
    let mut issues = vec![NOTHING_CHANGED.to_owned()];
    let known = last.map(|it| it.issues.as_slice()).unwrap_or_default();
    issues.extend(known.iter().filter(|it| !issues.contains(it)).cloned().collect::<Vec<_>>());
    ConcludedReview {
        result: ReviewResult::NeedsRevision,
        issues,
        summary: "No progress: nothing changed since the last review.".to_owned(),
        blocking: false,
        only_tests_failed: false,
    }
}

/// The conclusion about a first attempt without a change.
pub fn empty_change() -> ConcludedReview {
    ConcludedReview {
        result: ReviewResult::Approved,
        issues: Vec::new(),
        summary: "The change is empty: nothing was reviewed.".to_owned(),
        blocking: false,
        only_tests_failed: false,
    }
}

/// The statuses of all tasks, rebuilt from the log of events.
pub fn rebuilt_statuses<'e>(events: impl IntoIterator<Item = &'e str>) -> BTreeMap<String, String> {
    let mut statuses = BTreeMap::new();
    for event in events {
        let Ok(event) = serde_json::from_str::<Value>(event) else { continue };
        let text = |name: &str| event.get(name).and_then(Value::as_str).map(str::to_owned);
        if let (Some("StatusChanged"), Some(id), Some(to)) =
            (event.get("event").and_then(Value::as_str), text("task_id"), text("to"))
        {
            statuses.insert(id, to);
        }
    }
    statuses
}

#[cfg(test)]
mod tests;
