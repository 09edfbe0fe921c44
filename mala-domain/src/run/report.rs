//! The final report of a run: what is done, reviewed, found, fixed and spent, and what needs a
//! person, with the next command to type.

mod html;
mod markdown;

pub use html::html;
pub use markdown::markdown;

use super::issue::IssueId;
use super::lifecycle::{
    FailedCommand, RunConclusion, RunRules, RunState, WorkEvent, WorkKey, WorkOutcome,
    WorkProgress, WorkStep, conclusion,
};
use super::outcome::TriggerReview;
use super::readiness::{Readiness, readiness};
use crate::ports::CoderEnd;
use serde::Serialize;
use std::collections::BTreeSet;

/// The file that says how later runs validate and review.
const CONFIG_FILE: &str = "mala.yaml";

/// The version of the report.
pub const REPORT_VERSION: u32 = 1;

/// The final report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunReport {
    /// The version of this shape.
    pub version: u32,
    /// The id of the run.
    pub run_id: String,
    /// How it ended.
    pub conclusion: RunConclusion,
    /// Why it was aborted.
    pub aborted: Option<String>,
    /// Number of issues that succeeded.
    pub succeeded: usize,
    /// Number of issues that failed.
    pub failed: usize,
    /// One entry per issue.
    pub issues: Vec<WorkEntry>,
    /// One entry per trigger that fired.
    pub triggers: Vec<WorkEntry>,
    /// Issues that could not be started, with what they wait for.
    pub waiting: Vec<String>,
    /// Groups of issues that wait for each other.
    pub deadlocks: Vec<String>,
    /// How coders were confined.
    pub confinement: String,
    /// What coders and reviewers cost, as far as they say.
    pub cost_usd: f64,
    /// How long it took.
    pub seconds: i64,
    /// What needs a person, with the next command to type.
    pub next_steps: Vec<NextCommand>,
}

/// What became of an issue or a trigger.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkEntry {
    /// The issue, or the trigger.
    pub name: String,
    /// The title of the issue.
    pub title: String,
    /// `succeeded`, `failed`, `skipped` or `unfinished`.
    pub status: &'static str,
    /// Why, unless it succeeded.
    pub reason: Option<String>,
    /// `success`, `skipped` or `failed`; null without a review.
    pub review: Option<&'static str>,
    /// Who reviewed it.
    pub reviewers: Vec<String>,
    /// Why the review was skipped.
    pub skip_reason: Option<&'static str>,
    /// The commit that the baseline advanced to; only with `success`.
    pub new_baseline: Option<String>,
    /// Why it could not be reviewed. Never empty when work was merged without a review.
    pub not_reviewed: Option<String>,
    /// Number of open findings.
    pub findings: usize,
    /// Number of findings that were fixed.
    pub fixed: usize,
    /// Issues that were filed for findings.
    pub filed: Vec<String>,
    /// Commands that failed when they ran last.
    pub failed_commands: Vec<String>,
    /// Changed files that are tests, CI or lint configuration.
    pub sensitive_files: Vec<String>,
    /// The folder of the last review.
    pub review_log_path: Option<String>,
    /// The branch with commits that were not merged.
    pub branch: Option<String>,
    /// What it cost.
    pub cost_usd: f64,
    /// Problems that did not stop it.
    pub warnings: Vec<String>,
}

/// Something that needs a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NextCommand {
    /// What needs a person.
    pub reason: String,
    /// What to type.
    pub command: String,
}

/// Builds the report.
pub fn build(state: &RunState, rules: &RunRules, confinement: &str, now: i64) -> RunReport {
    let (succeeded, failed) = state.counts();
    let is_issue = |key: &&WorkKey| matches!(key, WorkKey::Issue(_));
    let entries = |issues: bool| -> Vec<WorkEntry> {
        let keys = state.works.keys().filter(|key| is_issue(key) == issues);
        keys.filter_map(|key| Some(entry(state, key, state.works.get(key)?))).collect()
    };
    let (issues, triggers) = (entries(true), entries(false));
    let taken: BTreeSet<_> = state
        .works
        .keys()
        .filter_map(|key| match key {
            WorkKey::Issue(id) => Some(id.clone()),
            WorkKey::Trigger(_) => None,
        })
        .collect();
    let left = readiness(&state.issues, &rules.selection, &taken, &rules.owner);
    let joined =
        |ids: &[IssueId]| ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let mut next_steps = next_steps(issues.iter().chain(&triggers));
    let not_done = not_done(&left, rules);
    let conclusion = match conclusion(state) {
        RunConclusion::Succeeded if !not_done.is_empty() => RunConclusion::Failed,
        conclusion => conclusion,
    };
    next_steps.extend(not_done);
    RunReport {
        version: REPORT_VERSION,
        run_id: state.run_id.clone(),
        conclusion,
        aborted: state.aborted.as_ref().map(|(key, reason)| format!("{key}: {reason}")),
        succeeded,
        failed,
        issues,
        triggers,
        waiting: left
            .waiting
            .iter()
            .map(|(id, on)| format!("{id} waits for {}", joined(on)))
            .collect(),
        deadlocks: left.deadlocks.iter().map(|group| joined(group)).collect(),
        confinement: confinement.to_owned(),
        cost_usd: state.cost_usd,
        seconds: now.saturating_sub(state.started_at),
        next_steps,
    }
}

fn entry(state: &RunState, key: &WorkKey, work: &WorkProgress) -> WorkEntry {
    let issue = match key {
        WorkKey::Issue(id) => state.issue(id),
        WorkKey::Trigger(fire) => fire.epic.as_ref().and_then(|epic| state.issue(epic)),
    };
    let (status, reason) = match &work.outcome {
        Some(WorkOutcome::Succeeded) => ("succeeded", None),
        Some(WorkOutcome::Failed(reason)) => ("failed", Some(reason.clone())),
        Some(WorkOutcome::Skipped(reason)) => ("skipped", Some(reason.clone())),
        None => ("unfinished", Some(format!("stopped while {}", doing(&work.step)))),
    };
    let reviewed = work.reviewed.as_ref();
    let review = reviewed.map(|it| &it.review);
    WorkEntry {
        name: key.to_string(),
        title: issue.map(|issue| issue.title.clone()).unwrap_or_default(),
        status,
        reason,
        review: review.map(TriggerReview::status),
        reviewers: reviewed.map(|it| it.reviewers.clone()).unwrap_or_default(),
        skip_reason: match review {
            Some(TriggerReview::Skipped(reason)) => Some(reason.name()),
            _ => None,
        },
        new_baseline: reviewed
            .filter(|it| it.review.advances_baseline() && !matches!(key, WorkKey::Issue(_)))
            .map(|it| it.head.clone()),
        not_reviewed: work.not_reviewed.clone(),
        findings: work.findings.len(),
        fixed: work.n_fixed,
        filed: work.filed.iter().map(ToString::to_string).collect(),
        failed_commands: work.failed_commands.iter().map(|it| it.name.clone()).collect(),
        sensitive_files: reviewed.map(|it| it.sensitive_files.clone()).unwrap_or_default(),
        review_log_path: reviewed.and_then(|it| it.log.clone()),
        branch: work.branch.clone(),
        cost_usd: work.cost_usd,
        warnings: work.warnings.clone(),
    }
}

/// What a step does, in words.
pub fn doing(step: &WorkStep) -> &'static str {
    match step {
        WorkStep::Claim => "claiming",
        WorkStep::Open => "preparing a workspace",
        WorkStep::Code(_) => "coding",
        WorkStep::Commands(_) => "running commands",
        WorkStep::Review => "reviewing",
        WorkStep::File(_) => "filing findings",
        WorkStep::Queued(_) => "waiting for the merge queue",
        WorkStep::Rebase | WorkStep::Advance { .. } => "merging",
        WorkStep::Close => "closing",
        WorkStep::Release => "releasing",
        WorkStep::Remove => "cleaning up",
        WorkStep::Done => "done",
    }
}

/// How many lines of what a program printed the log shows.
const MAX_PRINTED: usize = 20;

/// What an event says besides its name: why something failed, and the last lines of what was printed.
pub fn event_details(event: &WorkEvent) -> Vec<String> {
    let mut lines = Vec::new();
    match event {
        WorkEvent::CoderEnded { end, message, .. } => {
            lines.extend(match end {
                CoderEnd::Finished => None,
                CoderEnd::Failed(why) => Some(format!("the coder failed: {why}")),
                CoderEnd::Idle => Some("the coder printed nothing for too long".to_owned()),
                CoderEnd::TimedOut => Some("the coder took too long".to_owned()),
                CoderEnd::Unavailable(why) => Some(format!("the coder cannot be started: {why}")),
            });
            lines.extend(last_lines(message));
        }
        WorkEvent::CommandsEnded(failed) => {
            for FailedCommand { name, reason, output } in failed {
                lines.push(format!("command {name}: {reason}"));
                lines.extend(last_lines(output));
            }
        }
        WorkEvent::Conflict { files, .. } => lines.push(format!("conflicts: {}", files.join(", "))),
        WorkEvent::Removed(Some(branch)) => lines.push(format!("commits are kept on {branch}")),
        WorkEvent::Failed(reason) => lines.push(reason.clone()),
        _ => {}
    }
    lines
}

fn last_lines(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let last = lines.get(lines.len().saturating_sub(MAX_PRINTED)..).unwrap_or_default();
    last.iter().map(|line| (*line).to_owned()).collect()
}

/// Issues that the user named and that were not worked on.
fn not_done(left: &Readiness, rules: &RunRules) -> Vec<NextCommand> {
    let named = |id: &IssueId| rules.selection.issues.contains(id);
    let waiting = left.waiting.iter().filter(|(id, _)| named(id)).map(|(id, on)| {
        let on: Vec<String> = on.iter().map(ToString::to_string).collect();
        (id, format!("it waits for {}", on.join(", ")))
    });
    let unusable = left.unusable.iter().map(|(id, reason)| (id, reason.clone()));
    let all = unusable.chain(waiting).map(|(id, reason)| NextCommand {
        reason: format!("{id} was not worked on: {reason}"),
        command: format!("mala issue show {id}"),
    });
    all.collect()
}

fn next_steps<'e>(entries: impl Iterator<Item = &'e WorkEntry>) -> Vec<NextCommand> {
    let mut steps = Vec::new();
    for entry in entries {
        let name = &entry.name;
        if entry.status == "failed" {
            let reason = format!("{name} failed: {}", entry.reason.as_deref().unwrap_or_default());
            let command = match &entry.branch {
                Some(branch) => format!("git log -p {branch}"),
                None => format!("mala run logs {name}"),
            };
            steps.push(NextCommand { reason, command });
        }
        if entry.status == "unfinished" {
            let reason = format!("{name} is not finished");
            steps.push(NextCommand { reason, command: "mala run --resume".to_owned() });
        }
        if entry.status == "succeeded" && entry.not_reviewed.is_some() {
            let reason = format!("{name} was merged WITHOUT A REVIEW");
            steps.push(NextCommand { reason, command: format!("mala run logs {name}") });
        }
        if entry.status == "succeeded" && !entry.failed_commands.is_empty() {
            let failed = entry.failed_commands.join(", ");
            let reason = format!("{name} was accepted with failed commands: {failed}");
            steps.push(NextCommand { reason, command: format!("mala run logs {name}") });
        }
        if entry.sensitive_files.iter().any(|file| file == CONFIG_FILE) {
            let reason = format!("{name} changes the configuration of later runs");
            steps.push(NextCommand { reason, command: format!("git log -p -1 -- {CONFIG_FILE}") });
        }
        for issue in &entry.filed {
            let reason = format!("a finding of {name} is open as {issue}");
            steps.push(NextCommand { reason, command: format!("mala issue show {issue}") });
        }
    }
    steps
}

#[cfg(test)]
mod tests;
