//! Triggers: the plan of each from the configuration, and when it fires.

use super::issue::{IssueId, IssueKind, IssueStatus, TrackerIssue};
use crate::config::{
    CodeReviewSettings, Config, EpicDepth, FailureMode, FireOn, RetryCount, ReviewerType,
    SessionReview, TriggerCommand, session_review,
};
use crate::verdict::Threshold;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use thiserror::Error;

/// The kinds of triggers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TriggerKind {
    /// The coding session of an issue ended.
    SessionEnd,
    /// A number of issues is done.
    Periodic,
    /// All issues of an epic are done.
    EpicCompletion,
    /// The run ends.
    RunEnd,
}

impl TriggerKind {
    /// The key in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::SessionEnd => "session_end",
            Self::Periodic => "periodic",
            Self::EpicCompletion => "epic_completion",
            Self::RunEnd => "run_end",
        }
    }
}

impl std::fmt::Display for TriggerKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// The plan of a trigger: what to run when it fires.
#[derive(Debug, Clone, PartialEq)]
pub struct TriggerPlan {
    /// The trigger.
    pub kind: TriggerKind,
    /// What to do if a command fails.
    pub failure_mode: FailureMode,
    /// The commands, in their order.
    pub commands: Vec<PlannedCommand>,
    /// How many times failed commands are remediated.
    pub max_retries: u32,
    /// The review, if it is enabled.
    pub review: Option<CodeReviewSettings>,
    /// Whether an issue fails when its review cannot be done, as with the legacy `reviewer_type`.
    pub fails_closed: bool,
    /// On which outcome it fires.
    pub fire_on: FireOn,
    /// Which epics count.
    pub epic_depth: EpicDepth,
    /// How many issues are between two fires.
    pub interval: u32,
}

/// A command of a trigger, with its text from the project's commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCommand {
    /// Its name, or its text if it has no name.
    pub name: String,
    /// The shell command.
    pub text: String,
    /// Its time limit.
    pub timeout: Duration,
}

/// The triggers of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct TriggerPlans {
    /// Fires for every session that ends well.
    pub session_end: TriggerPlan,
    /// Fires after every few issues, if configured.
    pub periodic: Option<TriggerPlan>,
    /// Fires when an epic is complete, if configured.
    pub epic_completion: Option<TriggerPlan>,
    /// Fires at the end, if configured.
    pub run_end: Option<TriggerPlan>,
}

/// Review settings of the command line. All but the first are deprecated: the configuration wins
/// over them, and they enable nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReviewFlags {
    /// No review at all.
    pub disabled: bool,
    /// `--reviewer-type`.
    pub reviewer_type: Option<ReviewerType>,
    /// `--max-review-retries`.
    pub max_retries: Option<RetryCount>,
    /// `--cerberus-spawn-args`.
    pub spawn_args: Vec<String>,
    /// `--cerberus-wait-args`.
    pub wait_args: Vec<String>,
    /// `--cerberus-env`.
    pub env: BTreeMap<String, String>,
}

/// A trigger names a command that `commands` does not have.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`validation_triggers.{trigger}` names the command `{command}`, which `commands` does not have"
)]
pub struct UnknownCommand {
    /// The trigger.
    pub trigger: &'static str,
    /// The name.
    pub command: String,
}

/// The default time limit of a command.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(600);

macro_rules! planned {
    ($config:expr, $flags:expr, $kind:expr, $block:expr) => {
        TriggerPlan {
            kind: $kind,
            failure_mode: $block.failure_mode,
            commands: commands($config, $kind, &$block.commands)?,
            max_retries: $block.max_retries.unwrap_or_default().get(),
            review: review($block.code_review.as_ref(), $flags),
            fails_closed: false,
            fire_on: FireOn::Success,
            epic_depth: EpicDepth::TopLevel,
            interval: 1,
        }
    };
}

/// Plans the triggers of a configuration.
pub fn plan(config: &Config, flags: &ReviewFlags) -> Result<TriggerPlans, UnknownCommand> {
    let triggers = &config.validation_triggers;
    let session = triggers.session_end.clone().unwrap_or_default();
    let mut session_end = planned!(config, flags, TriggerKind::SessionEnd, session);
    if let SessionReview::Legacy(reviewer) = session_review(config)
        && !flags.disabled
    {
        session_end.review = Some(legacy_review(reviewer));
        session_end.fails_closed = true;
    }
    let periodic = triggers.periodic.as_ref().map(|block| {
        let plan = planned!(config, flags, TriggerKind::Periodic, block);
        Ok(TriggerPlan { interval: block.interval.unwrap_or(1).max(1), ..plan })
    });
    let epic_completion = triggers.epic_completion.as_ref().map(|block| {
        let plan = planned!(config, flags, TriggerKind::EpicCompletion, block);
        Ok(TriggerPlan { fire_on: block.fire_on, epic_depth: block.epic_depth, ..plan })
    });
    let run_end = triggers.run_end.as_ref().map(|block| {
        let plan = planned!(config, flags, TriggerKind::RunEnd, block);
        Ok(TriggerPlan { fire_on: block.fire_on, ..plan })
    });
    Ok(TriggerPlans {
        session_end,
        periodic: periodic.transpose()?,
        epic_completion: epic_completion.transpose()?,
        run_end: run_end.transpose()?,
    })
}

/// The meaning of the deprecated top-level `reviewer_type`: findings from P1 on go back to the
/// coder, a review that cannot be done is repeated, and an issue that could not be reviewed fails.
fn legacy_review(reviewer: ReviewerType) -> CodeReviewSettings {
    CodeReviewSettings {
        enabled: true,
        reviewer_type: Some(reviewer),
        failure_mode: FailureMode::Remediate,
        finding_threshold: Threshold::P1,
        ..CodeReviewSettings::default()
    }
}

fn review(block: Option<&CodeReviewSettings>, flags: &ReviewFlags) -> Option<CodeReviewSettings> {
    let mut review = block.filter(|block| block.enabled && !flags.disabled)?.clone();
    review.reviewer_type = review.reviewer_type.or(flags.reviewer_type);
    review.max_retries = review.max_retries.or(flags.max_retries);
    let has_flags = !flags.spawn_args.is_empty() || !flags.wait_args.is_empty();
    if review.cerberus.is_some() || has_flags || !flags.env.is_empty() {
        let cerberus = review.cerberus.get_or_insert_default();
        if cerberus.spawn_args.is_empty() {
            cerberus.spawn_args.clone_from(&flags.spawn_args);
        }
        if cerberus.wait_args.is_empty() {
            cerberus.wait_args.clone_from(&flags.wait_args);
        }
        for (name, value) in &flags.env {
            cerberus.env.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    Some(review)
}

fn commands(
    config: &Config,
    trigger: TriggerKind,
    commands: &[TriggerCommand],
) -> Result<Vec<PlannedCommand>, UnknownCommand> {
    let planned = |command: &TriggerCommand| {
        let own = command.timeout;
        let Some(name) = &command.name else {
            let text = command.command.clone().unwrap_or_default();
            let timeout = own.map_or(COMMAND_TIMEOUT, |limit| limit.duration());
            return Ok(PlannedCommand { name: text.clone(), text, timeout });
        };
        let entry = config
            .commands
            .get(name)
            .ok_or_else(|| UnknownCommand { trigger: trigger.name(), command: name.clone() })?;
        let timeout = own.or(entry.timeout).map_or(COMMAND_TIMEOUT, |limit| limit.duration());
        Ok(PlannedCommand { name: name.clone(), text: entry.command.clone(), timeout })
    };
    commands.iter().map(planned).collect()
}

/// Whether `run_end` fires. Only the results of issues count; a run without issues is a success.
pub fn fires_at_run_end(fire_on: FireOn, n_failed: usize) -> bool {
    match fire_on {
        FireOn::Success => n_failed == 0,
        FireOn::Failure => n_failed > 0,
        FireOn::Both => true,
    }
}

/// Whether `periodic` fires when this many issues are done.
pub fn fires_periodically(interval: u32, n_done: u32) -> bool {
    n_done > 0 && n_done.is_multiple_of(interval.max(1))
}

/// The epics that are complete now that an issue is done, the innermost first. An epic that
/// completes has no failed issue, so that `fire_on: failure` never fires.
pub fn completed_epics(
    trigger: &TriggerPlan,
    issues: &[TrackerIssue],
    done: &IssueId,
    fired: &BTreeSet<IssueId>,
) -> Vec<IssueId> {
    if trigger.fire_on == FireOn::Failure {
        return Vec::new();
    }
    let by_id: BTreeMap<&IssueId, &TrackerIssue> =
        issues.iter().map(|issue| (&issue.id, issue)).collect();
    let mut complete = Vec::new();
    let mut seen = BTreeSet::new();
    let mut next = by_id.get(done).and_then(|issue| issue.parent.as_ref());
    while let Some(epic) = next.and_then(|id| by_id.get(id)).filter(|it| seen.insert(&it.id)) {
        if !is_complete(&epic.id, issues, &mut BTreeSet::new()) {
            break;
        }
        let has_parent = epic.parent.as_ref().is_some_and(|parent| by_id.contains_key(parent));
        let counts = trigger.epic_depth == EpicDepth::All || !has_parent;
        if epic.kind == IssueKind::Epic && counts && !fired.contains(&epic.id) {
            complete.push(epic.id.clone());
        }
        next = epic.parent.as_ref();
    }
    complete
}

/// Whether all issues in an epic are closed. An epic inside it counts as closed when it is complete.
pub fn is_complete<'i>(
    epic: &'i IssueId,
    issues: &'i [TrackerIssue],
    above: &mut BTreeSet<&'i IssueId>,
) -> bool {
    if !above.insert(epic) {
        return false;
    }
    let mut children = issues.iter().filter(|issue| issue.parent.as_ref() == Some(epic)).peekable();
    let has_children = children.peek().is_some();
    let all = children.all(|child| {
        child.status == IssueStatus::Closed
            || child.kind == IssueKind::Epic && is_complete(&child.id, issues, above)
    });
    above.remove(epic);
    has_children && all
}

#[cfg(test)]
mod tests;
