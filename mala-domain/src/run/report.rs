//! The final report of a run: what is done, reviewed, found, fixed and spent, and what needs a
//! person, with the next command to type.

mod html;
mod markdown;

pub use html::html;
pub use markdown::markdown;

use super::baseline::ReviewSkip;
use super::filing::location;
use super::issue::{IssueId, IssueStatus};
use super::lifecycle::{
    FailedCommand, RunConclusion, RunRules, RunState, TargetMove, WorkEvent, WorkKey, WorkOutcome,
    WorkProgress, WorkStep, conclusion, reached_limit,
};
use super::outcome::TriggerReview;
use super::readiness::{Readiness, readiness};
use crate::ports::CoderEnd;
use serde::Serialize;

/// The file that configures the validation and the reviews of later runs.
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
    /// Issues that could not be started, with the issues that they wait for.
    pub waiting: Vec<String>,
    /// Groups of issues that wait for each other.
    pub deadlocks: Vec<String>,
    /// How coders were sandboxed.
    pub confinement: String,
    /// The known cost of coders and reviewers.
    pub cost_usd: f64,
    /// How long it took.
    pub seconds: i64,
    /// What needs a person, with the next command to type.
    pub next_steps: Vec<NextCommand>,
}

/// The result of an issue or a trigger.
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
    /// The reviewers.
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
    /// How each of them failed, with the last lines of its output.
    pub command_failures: Vec<FailedCommand>,
    /// Changed files that are tests, CI or lint configuration.
    pub sensitive_files: Vec<String>,
    /// The folder of the last review.
    pub review_log_path: Option<String>,
    /// The branch with commits that were not merged.
    pub branch: Option<String>,
    /// Moves of the target branch during its sessions that were not mala's.
    pub foreign_moves: Vec<TargetMove>,
    /// The cost.
    pub cost_usd: f64,
    /// Problems that did not stop it.
    pub warnings: Vec<String>,
}

/// Something that needs a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NextCommand {
    /// What needs a person.
    pub reason: String,
    /// The command to type.
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
    let taken = state.taken(rules.work_on_findings);
    let left = readiness(&state.issues, &rules.selection, &taken, &rules.owner);
    let joined =
        |ids: &[IssueId]| ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let mut next_steps = next_steps(&issues, &triggers, rules.work_on_findings);
    let mut not_done = not_done(&left, rules);
    if let Some(limit) = reached_limit(state, rules, now).filter(|_| !left.ready.is_empty()) {
        let reason = format!("{limit}: not started: {}", joined(&left.ready));
        not_done.push(NextCommand { reason, command: "mala run --resume".to_owned() });
    }
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
        None => ("unfinished", Some(unfinished(work))),
    };
    let reviewed = work.reviewed.as_ref();
    let review = reviewed.map(|it| &it.review);
    let is_open =
        |id: &&IssueId| state.issue(id).is_none_or(|issue| issue.status != IssueStatus::Closed);
    let said = reviewed.map(|it| it.warnings.clone()).unwrap_or_default();
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
        findings: work.n_findings,
        fixed: work.n_fixed,
        filed: work.filed.iter().filter(is_open).map(ToString::to_string).collect(),
        failed_commands: work.failed_commands.iter().map(|it| it.name.clone()).collect(),
        command_failures: work.failed_commands.iter().map(shortened).collect(),
        sensitive_files: reviewed.map(|it| it.sensitive_files.clone()).unwrap_or_default(),
        review_log_path: reviewed.and_then(|it| it.log.clone()),
        branch: work.branch.clone(),
        foreign_moves: work.foreign_moves.clone(),
        cost_usd: work.cost_usd,
        warnings: work.warnings.iter().cloned().chain(said).collect(),
    }
}

fn unfinished(work: &WorkProgress) -> String {
    match &work.waits {
        Some(reason) => format!("waits for its merge: {reason}"),
        None => format!("stopped while {}", doing(&work.step)),
    }
}

/// How many lines of the output of a command a report has.
const MAX_QUOTED: usize = 8;

fn shortened(failed: &FailedCommand) -> FailedCommand {
    let output = last_lines(&failed.output, MAX_QUOTED).join("\n");
    FailedCommand { output, ..failed.clone() }
}

/// Describes a step.
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

/// The maximum number of lines of a program's output in the log.
const MAX_PRINTED: usize = 20;

/// Details of an event: why something failed, and the last lines of the output.
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
            lines.extend(last_lines(message, MAX_PRINTED));
        }
        WorkEvent::CommandsEnded(failed) => {
            for FailedCommand { name, reason, output } in failed {
                lines.push(format!("command {name}: {reason}"));
                lines.extend(last_lines(output, MAX_PRINTED));
            }
        }
        WorkEvent::ReviewEnded(reviewed) => match &reviewed.review {
            TriggerReview::ExecutionError { message, .. } => {
                lines.push(format!("the review could not be done: {message}"));
            }
            TriggerReview::Skipped(reason) => lines.push(format!("skipped: {}", reason.name())),
            TriggerReview::Completed(findings) => lines.extend(findings.iter().map(|finding| {
                let priority = finding.effective_priority();
                format!("{priority} {}: {}", location(finding), finding.title)
            })),
        },
        WorkEvent::Conflict { files, .. } => lines.push(format!("conflicts: {}", files.join(", "))),
        WorkEvent::Removed(Some(branch)) => lines.push(format!("commits are kept on {branch}")),
        WorkEvent::Failed(reason)
        | WorkEvent::MergeWaits(reason)
        | WorkEvent::Withdrawn(reason) => lines.push(reason.clone()),
        _ => {}
    }
    lines
}

fn last_lines(text: &str, max: usize) -> Vec<String> {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let last = lines.get(lines.len().saturating_sub(max)..).unwrap_or_default();
    last.iter().map(|line| (*line).to_owned()).collect()
}

/// Issues that the user named and that were not worked on, and issues that wait for each other.
fn not_done(left: &Readiness, rules: &RunRules) -> Vec<NextCommand> {
    let named = |id: &IssueId| rules.selection.issues.contains(id);
    // If the issues of a group are blocked by a person, others wait for them in vain.
    let holds_up = |group: &&Vec<IssueId>| {
        let mut waiting = left.waiting.iter();
        waiting.any(|(id, on)| group.contains(id) || on.iter().any(|other| group.contains(other)))
    };
    let deadlocks = left.deadlocks.iter().filter(|group| !group.iter().any(named)).filter(holds_up);
    let deadlocks = deadlocks.filter_map(|group| {
        let names: Vec<&str> = group.iter().map(IssueId::as_str).collect();
        let reason = match names.as_slice() {
            [one] => format!("{one} waits for itself"),
            _ => format!("{} wait for each other", names.join(", ")),
        };
        Some(NextCommand { reason, command: format!("mala issue show {}", names.first()?) })
    });
    let waiting = left.waiting.iter().filter(|(id, _)| named(id)).map(|(id, on)| {
        let on: Vec<String> = on.iter().map(ToString::to_string).collect();
        (id, format!("it waits for {}", on.join(", ")))
    });
    let unusable = left.unusable.iter().map(|(id, reason)| (id, reason.clone()));
    let all = unusable.chain(waiting).map(|(id, reason)| NextCommand {
        reason: format!("{id} was not worked on: {reason}"),
        command: format!("mala issue show {id}"),
    });
    all.chain(deadlocks).collect()
}

fn next_steps(
    issues: &[WorkEntry],
    triggers: &[WorkEntry],
    work_on_findings: bool,
) -> Vec<NextCommand> {
    let mut steps = Vec::new();
    let mut add = |reason: String, command: String| steps.push(NextCommand { reason, command });
    for entry in issues.iter().chain(triggers) {
        let name = &entry.name;
        let logs = format!("mala run logs {name}");
        let reason = entry.reason.as_deref().unwrap_or_default();
        for TargetMove { from, to } in &entry.foreign_moves {
            let reason = "the target branch moved during its session, not by mala";
            add(format!("{name}: {reason}"), format!("git log -p {from}..{to}"));
        }
        let commits = entry.branch.as_ref().map(|branch| format!("git log -p {branch}"));
        match (entry.status, commits) {
            ("failed", commits) => {
                add(format!("{name} failed: {reason}"), commits.unwrap_or_else(|| logs.clone()));
            }
            ("skipped", Some(commits)) => add(format!("{name} is not merged: {reason}"), commits),
            ("unfinished", _) => {
                let reason = format!("{name} is not finished: {reason}");
                add(reason, "mala run --resume".to_owned());
            }
            _ => {}
        }
        let is_accepted = entry.status == "succeeded";
        if is_accepted && !entry.failed_commands.is_empty() {
            let failed = entry.failed_commands.join(", ");
            add(format!("{name} was accepted with failed commands: {failed}"), logs);
        }
        if entry.sensitive_files.iter().any(|file| file == CONFIG_FILE) {
            let reason = format!("{name} changes the configuration of later runs");
            add(reason, format!("git log -p -1 -- {CONFIG_FILE}"));
        }
        for issue in &entry.filed {
            let reason = format!("a finding of {name} is open as {issue}");
            add(reason, format!("mala issue show {issue}"));
        }
    }
    let is_accepted = |entry: &&WorkEntry| entry.status == "succeeded";
    for entry in issues.iter().filter(is_accepted).filter(|entry| entry.not_reviewed.is_some()) {
        let name = &entry.name;
        add(format!("{name} was merged WITHOUT A REVIEW"), format!("mala run logs {name}"));
    }
    for entry in triggers.iter().filter(is_accepted) {
        let name = &entry.name;
        let skipped = entry.skip_reason.filter(|reason| *reason != ReviewSkip::EmptyDiff.name());
        let skipped = skipped.map(|reason| format!("the review was skipped: {reason}"));
        if let Some(why) = entry.not_reviewed.clone().or(skipped) {
            add(format!("{name}: {why}"), format!("mala run logs {name}"));
        }
    }
    let has_findings = issues.iter().chain(triggers).any(|entry| !entry.filed.is_empty());
    if has_findings && !work_on_findings {
        let reason = "this run does not work on issues of its findings; a new one does";
        add(reason.to_owned(), "mala run --fresh".to_owned());
    }
    steps
}

#[cfg(test)]
mod tests;
