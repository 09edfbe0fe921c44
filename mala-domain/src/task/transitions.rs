//! The commands that each status allows. Other transitions are refused with an explanation.

use super::TaskStatus;
use crate::run::issue::IssueId;
use thiserror::Error;

/// A command of a person or a script about a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskAction {
    /// Start to work on it.
    Start,
    /// Say that the work is done; a task that awaits its review is tried again.
    Done,
    /// Review it.
    Review,
    /// Set it aside for a person.
    Block,
    /// Make it pending again.
    Reopen,
}

impl TaskAction {
    /// All actions, in the order in which they are listed.
    pub const ALL: [Self; 5] = [Self::Start, Self::Done, Self::Review, Self::Block, Self::Reopen];

    /// The subcommand of `mala task`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Done => "done",
            Self::Review => "review",
            Self::Block => "block",
            Self::Reopen => "reopen",
        }
    }
}

/// The transitions. `Done` and `Review` lead to the status in which a task waits for its result.
const TRANSITIONS: [(TaskStatus, TaskAction, TaskStatus); 9] = {
    use TaskAction::{Block, Done, Reopen, Review, Start};
    use TaskStatus::{AwaitingReview, Blocked, Complete, InProgress, Pending};
    [
        (Pending, Start, InProgress),
        (InProgress, Done, AwaitingReview),
        (AwaitingReview, Done, AwaitingReview),
        (AwaitingReview, Review, AwaitingReview),
        (Pending, Block, Blocked),
        (InProgress, Block, Blocked),
        (AwaitingReview, Block, Blocked),
        (Blocked, Reopen, Pending),
        (Complete, Reopen, Pending),
    ]
};

/// A transition that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("task {id} is {}: `mala task {}` is not possible", .status.name(), .action.name())]
pub struct TransitionError {
    /// The task.
    pub id: IssueId,
    /// Its status.
    pub status: TaskStatus,
    /// The requested action.
    pub action: TaskAction,
}

impl TransitionError {
    /// The commands that are possible instead.
    pub fn hint(&self) -> String {
        let possible = TaskAction::ALL.into_iter().filter(|it| next(self.status, *it).is_some());
        let commands: Vec<String> =
            possible.map(|it| format!("`mala task {} {}`", it.name(), self.id)).collect();
        format!("possible: {}", commands.join(", "))
    }
}

/// The status that follows.
pub fn transition(
    id: &IssueId,
    status: TaskStatus,
    action: TaskAction,
) -> Result<TaskStatus, TransitionError> {
    next(status, action).ok_or_else(|| TransitionError { id: id.clone(), status, action })
}

fn next(status: TaskStatus, action: TaskAction) -> Option<TaskStatus> {
    let found = TRANSITIONS.iter().find(|(from, by, _)| (*from, *by) == (status, action));
    found.map(|(_, _, to)| *to)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows 004-097, 004-099, 004-100, 004-102 and 004-103.
    #[test]
    fn every_other_transition_is_refused() {
        use TaskAction::*;
        use TaskStatus::*;
        let rows = [
            (Pending, [Some(InProgress), None, None, Some(Blocked), None]),
            (InProgress, [None, Some(AwaitingReview), None, Some(Blocked), None]),
            (
                AwaitingReview,
                [None, Some(AwaitingReview), Some(AwaitingReview), Some(Blocked), None],
            ),
            (Complete, [None, None, None, None, Some(Pending)]),
            (Blocked, [None, None, None, None, Some(Pending)]),
        ];
        assert_eq!(rows.map(|(status, _)| status), TaskStatus::ALL);
        let id = IssueId::new("a");
        for (status, expected) in rows {
            for (action, expected) in [Start, Done, Review, Block, Reopen].into_iter().zip(expected)
            {
                assert_eq!(transition(&id, status, action).ok(), expected, "{status:?} {action:?}");
            }
        }
    }

    #[test]
    fn a_refusal_names_the_status_and_what_is_possible() {
        let error = transition(&IssueId::new("ab"), TaskStatus::Complete, TaskAction::Done);
        let error = error.unwrap_err();
        assert_eq!(error.to_string(), "task ab is COMPLETE: `mala task done` is not possible");
        assert_eq!(error.hint(), "possible: `mala task reopen ab`");
        let error = transition(&IssueId::new("ab"), TaskStatus::InProgress, TaskAction::Start);
        assert_eq!(
            error.unwrap_err().hint(),
            "possible: `mala task done ab`, `mala task block ab`"
        );
    }
}
