//! The next steps of a task, as commands that its status allows: after a review, and at the end of
//! a fix prompt.

use super::review::{TaskReview, TaskReviewResult};
use super::{TaskRecord, TaskStatus};
use crate::config::TaskTrigger;

/// Why a change without any file to review cannot be reviewed.
pub const NOTHING_REVIEWABLE: &str = "no file of this change can be reviewed";

/// The next step for the user after a review; `None` if the task is complete.
pub fn next_step(
    task: &TaskRecord,
    review: &TaskReview,
    trigger: TaskTrigger,
    max_revisions: u32,
) -> Option<String> {
    let id = &task.id;
    let status = task.status.name();
    Some(match task.status {
        TaskStatus::Complete => return None,
        _ if review.result == Some(TaskReviewResult::Approved) => {
            format!("the review approves; the task was set to {status} in the meantime")
        }
        TaskStatus::AwaitingReview if review.reason.as_deref() == Some(NOTHING_REVIEWABLE) => {
            format!(
                "a person decides: `mala task block {id}` and `mala issue close {id}` complete it without a review"
            )
        }
        TaskStatus::AwaitingReview => {
            let command = if trigger == TaskTrigger::ScriptCompletion { "done" } else { "review" };
            format!("`mala task {command} {id}` tries again")
        }
        TaskStatus::InProgress => format!(
            "attempt {} of {max_revisions}; `mala task show {id} --fix-prompt` prints what to fix",
            review.attempt
        ),
        TaskStatus::Blocked => format!(
            "a person decides; `mala task reopen {id}` and `mala task start {id}` allow another attempt"
        ),
        TaskStatus::Pending => format!("`mala task start {id}` starts another attempt"),
    })
}

/// The last line of a fix prompt.
pub fn after_the_fix(task: &TaskRecord, trigger: TaskTrigger) -> String {
    let id = &task.id;
    let before = match task.status {
        TaskStatus::Blocked => format!(
            "The task is blocked: a person decides. Then run `mala task reopen {id}` and `mala task start {id}` before \
             the work. "
        ),
        TaskStatus::Pending => format!("Run `mala task start {id}` before the work. "),
        _ => String::new(),
    };
    let after = match trigger {
        TaskTrigger::ScriptCompletion => format!("Then run `mala task done {id}`."),
        TaskTrigger::SessionIdle => {
            "Then end your turn: the stop hook reviews the work.".to_owned()
        }
        TaskTrigger::Explicit => {
            format!("Then run `mala task done {id}` and `mala task review {id}`.")
        }
    };
    format!("{before}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::issue::IssueId;
    use crate::task::transitions::{TaskAction, transition};
    use TaskTrigger::{Explicit, ScriptCompletion, SessionIdle};

    fn task(status: TaskStatus) -> TaskRecord {
        TaskRecord { status, ..TaskRecord::new(IssueId::new("ab"), "T1") }
    }

    /// The commands of a text are possible one after the other.
    fn check_commands(text: &str, mut status: TaskStatus) {
        let parts = text.split('`').skip(1).step_by(2);
        for command in parts.filter_map(|it| it.strip_prefix("mala task ")) {
            let name = command.split(' ').next().unwrap();
            let Some(action) = TaskAction::ALL.into_iter().find(|it| it.name() == name) else {
                continue;
            };
            status = transition(&IssueId::new("ab"), status, action).expect(text);
        }
    }

    #[test]
    fn a_fix_prompt_ends_with_commands_that_are_possible() {
        for (status, trigger, expected) in [
            (TaskStatus::InProgress, ScriptCompletion, "Then run `mala task done ab`."),
            (
                TaskStatus::InProgress,
                SessionIdle,
                "Then end your turn: the stop hook reviews the work.",
            ),
            (
                TaskStatus::InProgress,
                Explicit,
                "Then run `mala task done ab` and `mala task review ab`.",
            ),
            (
                TaskStatus::Pending,
                ScriptCompletion,
                "Run `mala task start ab` before the work. Then run `mala task done ab`.",
            ),
            (
                TaskStatus::Blocked,
                ScriptCompletion,
                "The task is blocked: a person decides. Then run `mala task reopen ab` and `mala task start ab` \
                 before the work. Then run `mala task done ab`.",
            ),
        ] {
            let text = after_the_fix(&task(status), trigger);
            assert_eq!(text, expected);
            check_commands(&text, status);
        }
    }

    #[test]
    fn a_review_ends_with_commands_that_are_possible() {
        use TaskReviewResult::{Approved, NeedsRevision, Rejected};
        for (status, result, reason, trigger, expected) in [
            (TaskStatus::Complete, Some(Approved), "", ScriptCompletion, None),
            (
                TaskStatus::Blocked,
                Some(Approved),
                "",
                ScriptCompletion,
                Some("the review approves; the task was set to BLOCKED in the meantime"),
            ),
            (
                TaskStatus::AwaitingReview,
                None,
                NOTHING_REVIEWABLE,
                ScriptCompletion,
                Some(
                    "a person decides: `mala task block ab` and `mala issue close ab` complete it without a review",
                ),
            ),
            (
                TaskStatus::AwaitingReview,
                None,
                "timeout",
                ScriptCompletion,
                Some("`mala task done ab` tries again"),
            ),
            (
                TaskStatus::AwaitingReview,
                None,
                "timeout",
                SessionIdle,
                Some("`mala task review ab` tries again"),
            ),
            (
                TaskStatus::InProgress,
                Some(NeedsRevision),
                "",
                ScriptCompletion,
                Some("attempt 1 of 3; `mala task show ab --fix-prompt` prints what to fix"),
            ),
            (
                TaskStatus::Blocked,
                Some(Rejected),
                "",
                ScriptCompletion,
                Some(
                    "a person decides; `mala task reopen ab` and `mala task start ab` allow another attempt",
                ),
            ),
        ] {
            let task = task(status);
            let review = TaskReview::start(&task, "r".into(), "now".into(), "rev".into());
            let reason = (!reason.is_empty()).then(|| reason.to_owned());
            let review = TaskReview { result, reason, ..review };
            let text = next_step(&task, &review, trigger, 3);
            assert_eq!(text.as_deref(), expected);
            check_commands(&text.unwrap_or_default(), status);
        }
    }
}
