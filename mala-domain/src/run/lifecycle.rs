//! The lifecycle of a run: one pure function from a state and an event to the next state and
//! effects. Every event is logged, so that the state of a killed run can be rebuilt from its log. A
//! piece of work is an issue or a trigger that fired; its step is what is performed for it.
//! Performing a step twice does no harm.

mod schedule;
mod state;
mod transition;
mod work;

pub use super::outcome::ReviewedRange;
pub use schedule::{is_over, reached_limit};
pub use state::RunState;
pub use work::{
    CodeOrder, CommandStage, FailedCommand, PromptKind, TriggerFire, WorkKey, WorkOutcome,
    WorkProgress, WorkStep,
};

use super::issue::{IssueId, IssueStatus, TrackerIssue};
use super::readiness::IssueSelection;
use super::triggers::{TriggerKind, TriggerPlan, TriggerPlans};
use crate::ports::{CoderEnd, Workspace, WorkspaceState};
use serde::{Deserialize, Serialize};
use state::RunBeginning;

/// The rules of a run, from its configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRules {
    /// The plans of the triggers.
    pub triggers: TriggerPlans,
    /// The issues to work on.
    pub selection: IssueSelection,
    /// The name that claims issues.
    pub owner: String,
    /// The maximum number of issues in work at the same time.
    pub max_agents: usize,
    /// The maximum number of issues to start.
    pub max_issues: Option<usize>,
    /// Start no further issue and no further session of a coder at this cost.
    pub max_cost_usd: Option<f64>,
    /// Start no further issue after these minutes.
    pub max_minutes: Option<u32>,
    /// An issue fails above this cost.
    pub issue_cost_usd: Option<f64>,
    /// The prefix of commit subjects.
    pub commit_prefix: String,
    /// The maximum number of times an idle coder is resumed.
    pub idle_resumes: u32,
    /// Whether issues that are filed in this run are worked on.
    pub work_on_findings: bool,
    /// Whether the run waits for more issues if none is ready.
    pub watches: bool,
}

impl RunRules {
    /// The plan of a trigger; that of `session_end` if it is not configured.
    pub fn trigger(&self, kind: TriggerKind) -> &TriggerPlan {
        let triggers = &self.triggers;
        match kind {
            TriggerKind::SessionEnd => None,
            TriggerKind::Periodic => triggers.periodic.as_ref(),
            TriggerKind::EpicCompletion => triggers.epic_completion.as_ref(),
            TriggerKind::RunEnd => triggers.run_end.as_ref(),
        }
        .unwrap_or(&triggers.session_end)
    }
}

/// An event with its time and name, as the log has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoggedEvent {
    /// Seconds since 1970.
    pub at: i64,
    /// The name of the event in the log.
    pub name: String,
    /// The event.
    pub event: RunEvent,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEvent {
    /// The run started, or was resumed.
    Started {
        /// The id of the run.
        run_id: String,
        /// The commit where it started.
        start_commit: String,
        /// The commit that the target branch points to.
        #[serde(default)]
        tip: String,
        /// Whether it continues an earlier run.
        is_resumed: bool,
        /// Whether reviews are enabled.
        review_enabled: bool,
    },
    /// The tracker was read.
    TrackerRead(Vec<TrackerIssue>),
    /// The user requested a stop: nothing new is started.
    StopRequested,
    /// A piece of work went on.
    Work {
        /// The piece of work.
        key: WorkKey,
        /// How.
        event: Box<WorkEvent>,
    },
    /// The run ended.
    Finished,
}

/// Something that happened to a piece of work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkEvent {
    /// The issue was claimed and read again.
    Claimed(TrackerIssue),
    /// Its workspace exists, at this commit.
    Opened(Workspace),
    /// A session of its coder ended.
    CoderEnded {
        /// The id of the session.
        session: Option<String>,
        /// How it ended.
        end: CoderEnd,
        /// Its final message.
        message: String,
        /// The cost.
        cost_usd: Option<f64>,
        /// The content of the workspace; `None` if it is gone.
        state: Option<WorkspaceState>,
        /// Whether the content differs from before the session.
        is_changed: bool,
        /// Why the configuration in its last commit is invalid.
        #[serde(default)]
        config_problem: Option<String>,
        /// Changes outside of its workspace in the meantime.
        #[serde(default)]
        outside: Vec<String>,
        /// Moves of the target branch in the meantime that were not mala's.
        #[serde(default)]
        foreign_moves: Vec<TargetMove>,
    },
    /// The commands ended; these failed.
    CommandsEnded(Vec<FailedCommand>),
    /// A review started.
    ReviewStarted,
    /// A review ended.
    ReviewEnded(Box<ReviewedRange>),
    /// The findings are in the tracker, as these issues.
    Filed {
        /// Issues that were created or known.
        issues: Vec<IssueId>,
        /// The summary issue of the run, if findings are linked to one.
        summary: Option<IssueId>,
        /// Issues of findings that are fixed; they are closed.
        #[serde(default)]
        closed: Vec<IssueId>,
    },
    /// Its commits are on top of the target branch.
    Rebased {
        /// The workspace with its new base.
        workspace: Workspace,
        /// Its head.
        head: String,
        /// Whether the base differs from before.
        is_moved: bool,
    },
    /// Its commits conflict with the target branch.
    Conflict {
        /// The files.
        files: Vec<String>,
        /// The commit of the target branch.
        onto: String,
    },
    /// The target branch has its commits.
    Merged,
    /// The target branch cannot be moved at the moment, for this reason; the work is kept.
    MergeWaits(String),
    /// The issue is not to be merged any more, for this reason: it was closed, set aside or given to another worker.
    Withdrawn(String),
    /// The target branch moved in the meantime.
    TargetMoved,
    /// The issue is closed in the tracker.
    Closed,
    /// The issue is open again in the tracker.
    Released,
    /// Its workspace is gone; commits that were not merged are on this branch.
    Removed(Option<String>),
    /// The step failed, for this reason.
    Failed(String),
}

/// A move of the target branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetMove {
    /// The commit that it pointed to.
    pub from: String,
    /// The commit that it points to.
    pub to: String,
}

/// An effect to perform.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Read the tracker.
    ReadTracker,
    /// Perform the step of this work.
    Perform(WorkKey),
    /// Stop everything that is performed for other pieces of work.
    StopOthers(WorkKey),
    /// Read the tracker again in a while.
    Watch,
    /// End the run.
    Finish,
}

/// Applies an event, and returns the effects to perform.
pub fn step(state: &mut RunState, rules: &RunRules, at: i64, event: &RunEvent) -> Vec<Effect> {
    let mut effects = Vec::new();
    match event {
        RunEvent::Started { run_id, start_commit, tip, is_resumed, .. } => {
            state.begin(&RunBeginning { run_id, start_commit, tip, is_resumed: *is_resumed }, at);
            return vec![Effect::ReadTracker];
        }
        RunEvent::TrackerRead(issues) => {
            let is_first = !state.is_read;
            state.read(issues);
            if is_first {
                state.forget_reopened();
                effects.extend(schedule::resumed(state));
            }
        }
        RunEvent::StopRequested => state.stopping = true,
        RunEvent::Finished => {
            state.finished = true;
            return effects;
        }
        RunEvent::Work { key, event } => {
            let changed = transition::apply(state, rules, (key, at), event);
            if state.aborted.as_ref().is_some_and(|(by, _)| by == key) && changed {
                effects.push(Effect::StopOthers(key.clone()));
            }
            if changed && state.is_performed(key) {
                effects.push(Effect::Perform(key.clone()));
            }
        }
    }
    effects.extend(schedule::next(state, rules, at));
    effects
}

/// The name of an event in the log, after it was applied.
pub fn event_name(state: &RunState, event: &RunEvent) -> &'static str {
    let RunEvent::Work { key, event } = event else {
        return match event {
            RunEvent::Started { is_resumed: true, .. } => "run_resumed",
            RunEvent::Started { .. } => "run_started",
            RunEvent::TrackerRead(_) => "tracker_read",
            RunEvent::StopRequested => "stop_requested",
            _ => "run_finished",
        };
    };
    match &**event {
        WorkEvent::Claimed(_) => "claimed",
        WorkEvent::Opened(_) => "workspace_opened",
        WorkEvent::CoderEnded { .. } => "coder_ended",
        WorkEvent::CommandsEnded(_) => "commands_ended",
        WorkEvent::ReviewStarted => "on_review_started",
        WorkEvent::ReviewEnded(_) => match state.works.get(key).map(|work| &work.step) {
            Some(WorkStep::Review) => "on_review_retry",
            Some(WorkStep::File(super::outcome::AfterReview::Fix)) => "on_review_retry",
            Some(WorkStep::Code(_)) => "on_review_retry",
            Some(_) if state.works.get(key).is_some_and(|work| work.is_accepted()) => {
                "on_review_passed"
            }
            _ => "on_review_failed",
        },
        WorkEvent::Filed { .. } => "findings_filed",
        WorkEvent::Rebased { .. } => "rebased",
        WorkEvent::Conflict { .. } => "conflict",
        WorkEvent::Merged => "merged",
        WorkEvent::MergeWaits(_) => "merge_waits",
        WorkEvent::Withdrawn(_) => "withdrawn",
        WorkEvent::TargetMoved => "target_moved",
        WorkEvent::Closed => "closed",
        WorkEvent::Released => "released",
        WorkEvent::Removed(_) => "workspace_removed",
        WorkEvent::Failed(_) => "step_failed",
    }
}

/// The state that these events lead to.
pub fn rebuild<'e>(
    rules: &RunRules,
    events: impl IntoIterator<Item = &'e LoggedEvent>,
) -> RunState {
    let mut state = RunState::default();
    for logged in events {
        step(&mut state, rules, logged.at, &logged.event);
    }
    state
}

/// The conclusion of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunConclusion {
    /// Everything that was processed succeeded.
    Succeeded,
    /// An issue failed, or findings at or above a threshold remain.
    Failed,
    /// A review could not be done, and `abort` applied.
    NotReviewed,
    /// The user stopped it.
    Interrupted,
}

/// The conclusion of the run.
pub fn conclusion(state: &RunState) -> RunConclusion {
    let has_failed = |work: &WorkProgress| matches!(work.outcome, Some(WorkOutcome::Failed(_)));
    match &state.aborted {
        Some((key, _)) if state.works.get(key).is_some_and(|work| work.not_reviewed.is_some()) => {
            RunConclusion::NotReviewed
        }
        Some(_) => RunConclusion::Failed,
        None if state.stopping => RunConclusion::Interrupted,
        None if state.works.values().any(|it| has_failed(it) || it.waits.is_some()) => {
            RunConclusion::Failed
        }
        None => RunConclusion::Succeeded,
    }
}

/// Whether a claim succeeded: the issue, read again, is in progress and belongs to the owner. A
/// tracker without assignees leaves the owner open.
pub fn claim_holds(issue: &TrackerIssue, owner: &str) -> bool {
    issue.status == IssueStatus::InProgress
        && issue.assignee.as_deref().is_none_or(|assignee| assignee == owner)
}

/// Why finished work on an issue is not merged, from the issue as it is read again before the merge.
pub fn withdrawal(issue: &TrackerIssue, owner: &str) -> Option<String> {
    match issue.status {
        _ if claim_holds(issue, owner) => None,
        IssueStatus::Closed => Some("closed meanwhile".to_owned()),
        IssueStatus::Blocked => Some("set aside meanwhile".to_owned()),
        IssueStatus::Open => Some("released meanwhile".to_owned()),
        IssueStatus::InProgress => {
            let other = issue.assignee.as_deref().unwrap_or_default();
            Some(format!("given to {other} meanwhile"))
        }
    }
}

#[cfg(test)]
mod tests;
