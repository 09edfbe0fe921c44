//! The output of `mala run`: the plan, progress, the state and the log.

use super::{check_names, failure, locked};
use crate::console::{self, harmless};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::wiring::run::{self as wiring, Git, RunFolder, RunRequest};
use crate::wiring::trusted_settings::TargetSettings;
use anyhow::Context;
use mala_domain::ports::RunLogError;
use mala_domain::run::issue::IssueId;
use mala_domain::run::lifecycle::{LoggedEvent, RunEvent, RunRules, RunState, WorkEvent};
use mala_domain::run::readiness::readiness;
use mala_domain::run::report::{doing, event_details};
use mala_domain::run::triggers::TriggerPlan;
use std::collections::BTreeMap;

/// Prints the plan of a run, and fails if the run would.
pub(super) async fn plan(
    request: &RunRequest,
    (TargetSettings { settings, target, .. }, git): (TargetSettings, Git),
    here: &Environment,
    folder: &RunFolder,
) -> anyhow::Result<Exit> {
    let plan = wiring::orchestrator_plan(request, &settings, &git, &target).await?;
    let metadata = folder.metadata()?;
    let plan = plan.continuing(metadata.as_deref()).map_err(failure)?;
    let tracker = wiring::open_tracker(here, &settings, &git).await?;
    check_names(&plan.rules.selection, &*tracker).await?;
    let issues = tracker.issues().await?;
    let tip = wiring::tip(&git, &target).await?;
    let preview = plan.preview(metadata.as_deref(), &folder.log_lines()?, (&issues, &tip));
    let preview = preview.map_err(failure)?;
    let mut text = match &preview.resumes {
        Some(run_id) => format!("continues run {run_id}\n"),
        None => "starts a new run\n".to_owned(),
    };
    text.push_str(&format!(
        "tracker: {}\ncoder: {}\ntarget: {}\nissues at a time: {}\n",
        tracker.name(),
        settings.run.coder.value,
        harmless(&target),
        plan.rules.max_agents
    ));
    if let Some(why) = wiring::obstacle(&git, &target).await? {
        text.push_str(&format!("work cannot be merged: {}\n", harmless(&why)));
    }
    text.push_str(&issue_lines(&preview.state, &plan.rules));
    let triggers = &plan.rules.triggers;
    let all = [Some(&triggers.session_end), triggers.periodic.as_ref()];
    let all = all.into_iter().chain([triggers.epic_completion.as_ref(), triggers.run_end.as_ref()]);
    for trigger in all.flatten() {
        text.push_str(&trigger_line(trigger));
    }
    console::data(&text)?;
    if let Some(holder) = folder.holder() {
        return Err(locked(RunLogError::Locked { holder }));
    }
    wiring::open_coder(here, &settings.run, &git).await?;
    Ok(Exit::Passed)
}

/// The work in progress, and the issues that the run would start.
fn issue_lines(state: &RunState, rules: &RunRules) -> String {
    let taken = state.taken(rules.work_on_findings);
    let found = readiness(&state.issues, &rules.selection, &taken, &rules.owner);
    let title = |id: &IssueId| harmless(state.issue(id).map_or("", |issue| &issue.title));
    let mut text = String::new();
    for (key, work) in state.works.iter().filter(|(_, work)| work.is_active()) {
        text.push_str(&format!("goes on: {} {}\n", harmless(&key.to_string()), doing(&work.step)));
    }
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
    text
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

/// Shows the last event of each piece of work, and the last failure.
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
            match **work {
                WorkEvent::Removed(_) => continue,
                _ => *name = &event.name,
            }
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
        text.push_str(&format!(
            "{}: {}{why}\n",
            harmless(&work),
            name.trim_start_matches("on_").replace('_', " ")
        ));
    }
    console::data(&text)?;
    Ok(Exit::Passed)
}

/// Prints the events, a line each, with reasons and output below.
pub(super) fn logs(folder: &RunFolder, name: Option<&str>) -> anyhow::Result<Exit> {
    let mut text = String::new();
    let events = events(folder)?;
    if events.is_empty() {
        console::say("no run yet");
    }
    for event in &events {
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
    if let (Some(name), true, false) = (name, text.is_empty(), events.is_empty()) {
        let what = format!("the last run has no events of `{}`", harmless(name));
        return Err(Failure::usage(what).hint("run `mala run status` to list its work").into());
    }
    console::data(&text)?;
    Ok(Exit::Passed)
}

/// Asks the current run to stop.
pub(super) fn stop(folder: &RunFolder) -> anyhow::Result<Exit> {
    if !folder.request_stop().context("stopping the run")? {
        return Err(Failure::usage("no run is in progress").into());
    }
    console::say("the run finishes its running work and ends");
    Ok(Exit::Passed)
}

fn events(folder: &RunFolder) -> anyhow::Result<Vec<LoggedEvent>> {
    let lines = folder.log_lines()?;
    lines.iter().map(|line| serde_json::from_str(line).context("reading the log")).collect()
}
