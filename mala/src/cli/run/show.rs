//! What `mala run` shows: the plan, progress, the state and the log.

use super::RunBase;
use crate::console::{self, harmless};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::wiring::run::{self as wiring, RunFolder, RunRequest};
use anyhow::Context;
use mala_domain::run::issue::IssueId;
use mala_domain::run::lifecycle::{LoggedEvent, RunEvent, WorkEvent};
use mala_domain::run::readiness::readiness;
use mala_domain::run::report::event_details;
use mala_domain::run::triggers::TriggerPlan;
use std::collections::{BTreeMap, BTreeSet};

/// Prints what a run would do.
pub(super) async fn plan(
    request: &RunRequest,
    RunBase { settings, git, target }: RunBase,
    here: &Environment,
) -> anyhow::Result<Exit> {
    let plan = wiring::orchestrator_plan(request, &settings, &git, &target).await?;
    let tracker = wiring::open_tracker(here, &settings, &git).await?;
    let issues = tracker.issues().await?;
    let found = readiness(&issues, &request.selection, &BTreeSet::new(), &plan.rules.owner);
    let title = |id: &IssueId| {
        let issue = issues.iter().find(|issue| issue.id == *id);
        harmless(issue.map_or("", |issue| &issue.title))
    };
    let mut text = format!(
        "tracker: {}\ncoder: {}\ntarget: {}\nissues at a time: {}\n",
        tracker.name(),
        settings.run.coder.value,
        harmless(&target),
        plan.rules.max_agents
    );
    for id in &found.ready {
        text.push_str(&format!("ready: {id} {}\n", title(id)));
    }
    for (id, on) in &found.waiting {
        text.push_str(&format!("waiting: {id} {}, for {}\n", title(id), joined(on)));
    }
    for group in &found.deadlocks {
        text.push_str(&format!("deadlock: {}\n", joined(group)));
    }
    for (id, reason) in &found.unusable {
        text.push_str(&format!("not possible: {id}: {reason}\n"));
    }
    let triggers = &plan.rules.triggers;
    let all = [Some(&triggers.session_end), triggers.periodic.as_ref()];
    let all = all.into_iter().chain([triggers.epic_completion.as_ref(), triggers.run_end.as_ref()]);
    for trigger in all.flatten() {
        text.push_str(&trigger_line(trigger));
    }
    console::data(&text)?;
    Ok(Exit::Passed)
}

fn trigger_line(trigger: &TriggerPlan) -> String {
    let commands: Vec<String> = trigger.commands.iter().map(|it| harmless(&it.name)).collect();
    let commands = if commands.is_empty() { "no commands".to_owned() } else { commands.join(", ") };
    let review = match &trigger.review {
        Some(review) => {
            let reviewer = review.reviewer_type.map_or("default reviewer", |it| it.name());
            format!("review by {reviewer}, threshold {}", review.finding_threshold.name())
        }
        None => "no review".to_owned(),
    };
    format!("{}: {commands}; {review}\n", trigger.kind)
}

fn joined(ids: &[IssueId]) -> String {
    ids.iter().map(|id| harmless(id.as_str())).collect::<Vec<_>>().join(", ")
}

/// Shows the last event of each piece of work, and what failed last.
pub(super) fn status(folder: &RunFolder) -> anyhow::Result<Exit> {
    let events = events(folder)?;
    let is_finished = events.last().is_none_or(|it| it.event == RunEvent::Finished);
    let state = match folder.holder() {
        Some(holder) => format!("running: {holder}"),
        None if is_finished => "not running".to_owned(),
        None => "not running, not finished: `mala run --resume` continues".to_owned(),
    };
    let mut last: BTreeMap<String, (&str, Option<String>)> = BTreeMap::new();
    for event in &events {
        if let RunEvent::Work { key, event: work } = &event.event {
            let (name, why) = last.entry(key.to_string()).or_default();
            *name = &event.name;
            match **work {
                WorkEvent::Merged => *why = None,
                WorkEvent::CommandsEnded(_) | WorkEvent::Conflict { .. } | WorkEvent::Failed(_) => {
                    *why = event_details(work).into_iter().next();
                }
                _ => {}
            }
        }
    }
    let mut text = format!("{state}\n");
    for (work, (name, why)) in last {
        let why = why.map(|why| format!(" ({})", harmless(&why))).unwrap_or_default();
        text.push_str(&format!("{}: {name}{why}\n", harmless(&work)));
    }
    console::data(&text)?;
    Ok(Exit::Passed)
}

/// Prints the events, a line each, with reasons and output below.
pub(super) fn logs(folder: &RunFolder, name: Option<&str>) -> anyhow::Result<Exit> {
    let mut text = String::new();
    for event in events(folder)? {
        let (work, details) = match &event.event {
            RunEvent::Work { key, event } => (key.to_string(), event_details(event)),
            _ => ("run".to_owned(), Vec::new()),
        };
        if name.is_none_or(|name| name == work) {
            let at = jiff::Timestamp::from_second(event.at).context("reading the log")?;
            text.push_str(&format!("{at} {} {}\n", harmless(&work), event.name));
            for line in details {
                text.push_str(&format!("    {}\n", harmless(&line)));
            }
        }
    }
    console::data(&text)?;
    Ok(Exit::Passed)
}

/// Asks the current run to stop.
pub(super) fn stop(folder: &RunFolder) -> anyhow::Result<Exit> {
    if !folder.request_stop().context("stopping the run")? {
        let failure = Failure::new(FailureKind::CouldNotReview, "no run is in progress");
        return Err(failure.into());
    }
    console::say("the run finishes its running work and ends");
    Ok(Exit::Passed)
}

fn events(folder: &RunFolder) -> anyhow::Result<Vec<LoggedEvent>> {
    let lines = folder.log_lines()?;
    lines.iter().map(|line| serde_json::from_str(line).context("reading the log")).collect()
}
