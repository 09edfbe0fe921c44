//! What `mala run` shows: the plan, progress, the state and the log.

use super::RunBase;
use crate::console::{self, harmless};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::wiring::run::{self as wiring, RunFolder, RunRequest};
use anyhow::Context;
use mala_domain::run::issue::IssueId;
use mala_domain::run::lifecycle::{LoggedEvent, RunEvent};
use mala_domain::run::readiness::readiness;
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

/// Shows the last event of each piece of work.
pub(super) fn status(folder: &RunFolder) -> anyhow::Result<Exit> {
    let events = events(folder)?;
    let state = match folder.holder() {
        Some(holder) => format!("running: {holder}"),
        None => "not running".to_owned(),
    };
    let mut last: BTreeMap<String, &str> = BTreeMap::new();
    for event in &events {
        if let RunEvent::Work { key, .. } = &event.event {
            last.insert(key.to_string(), &event.name);
        }
    }
    let mut text = format!("{state}\n");
    for (work, name) in last {
        text.push_str(&format!("{}: {name}\n", harmless(&work)));
    }
    console::data(&text)?;
    Ok(Exit::Passed)
}

/// Prints the events, a line each.
pub(super) fn logs(folder: &RunFolder, name: Option<&str>) -> anyhow::Result<Exit> {
    let mut text = String::new();
    for event in events(folder)? {
        let work = match &event.event {
            RunEvent::Work { key, .. } => key.to_string(),
            _ => "run".to_owned(),
        };
        if name.is_none_or(|name| name == work) {
            text.push_str(&format!("{} {} {}\n", event.at, harmless(&work), event.name));
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
