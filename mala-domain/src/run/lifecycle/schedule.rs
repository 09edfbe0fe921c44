//! Schedules work: merges one after the other, issues within the limits, and the end of the run.

use super::super::issue::{IssueId, TrackerIssue};
use super::super::readiness::readiness;
use super::super::triggers::{TriggerKind, completed_epics, fires_at_run_end, fires_periodically};
use super::state::RunState;
use super::work::{TriggerFire, WorkKey, WorkProgress, WorkStep};
use super::{CommandStage, Effect, RunRules};

/// Starts work after an event.
pub(super) fn next(state: &mut RunState, rules: &RunRules, at: i64) -> Vec<Effect> {
    if state.finished || !state.is_read {
        return Vec::new();
    }
    if let Some((key, _)) = &state.aborted {
        let is_over = state.works.get(key).is_none_or(|work| !work.is_active());
        return if is_over { vec![Effect::Finish] } else { Vec::new() };
    }
    let mut effects: Vec<Effect> =
        std::mem::take(&mut state.fired).into_iter().map(Effect::Perform).collect();
    effects.extend(next_merge(state).map(Effect::Perform));
    if !state.stopping {
        effects.extend(next_issues(state, rules, at).into_iter().map(Effect::Perform));
    }
    if effects.is_empty() && !state.works.values().any(|work| work.is_going_on()) {
        effects.push(ending(state, rules, at));
    }
    effects
}

/// The effects with which a rebuilt run continues: every step that was being performed.
pub(super) fn resumed(state: &mut RunState) -> Vec<Effect> {
    state.fired.clear();
    state.works.keys().filter(|key| state.is_performed(key)).cloned().map(Effect::Perform).collect()
}

/// Fires the triggers that follow from an issue that is done.
pub(super) fn issue_done(state: &mut RunState, rules: &RunRules, id: &IssueId, at: i64) {
    state.n_done += 1;
    if state.stopping {
        return;
    }
    let periodic = rules.triggers.periodic.as_ref();
    if periodic.is_some_and(|trigger| fires_periodically(trigger.interval, state.n_done)) {
        let key = fire(state, TriggerKind::Periodic, None, at);
        state.fired.push(key);
    }
    if let Some(trigger) = &rules.triggers.epic_completion {
        for epic in completed_epics(trigger, &state.issues, id, &state.fired_epics) {
            state.fired_epics.insert(epic.clone());
            let key = fire(state, TriggerKind::EpicCompletion, Some(epic), at);
            state.fired.push(key);
        }
    }
}

fn fire(state: &mut RunState, kind: TriggerKind, epic: Option<IssueId>, at: i64) -> WorkKey {
    state.n_fires += 1;
    let key = WorkKey::Trigger(TriggerFire { kind, epic, number: state.n_fires });
    state.works.insert(key.clone(), Box::new(WorkProgress::new(WorkStep::Open, at)));
    key
}

fn next_merge(state: &mut RunState) -> Option<WorkKey> {
    let is_merging = |work: &WorkProgress| {
        matches!(
            work.step,
            WorkStep::Rebase
                | WorkStep::Advance { .. }
                | WorkStep::Commands(CommandStage::AfterRebase)
        )
    };
    if state.works.values().any(|work| is_merging(work)) {
        return None;
    }
    let queued = state.works.iter().filter_map(|(key, work)| match work.step {
        WorkStep::Queued(number) if work.waits.is_none() => Some((number, key.clone())),
        _ => None,
    });
    let (_, key) = queued.min()?;
    state.works.get_mut(&key)?.step = WorkStep::Rebase;
    Some(key)
}

fn next_issues(state: &mut RunState, rules: &RunRules, at: i64) -> Vec<WorkKey> {
    let busy = state.works.iter().filter(|(key, work)| match key {
        WorkKey::Issue(_) => work.is_going_on(),
        WorkKey::Trigger(_) => matches!(work.step, WorkStep::Code(_)),
    });
    let n_busy = busy.count();
    let n_started = state.works.keys().filter(|key| matches!(key, WorkKey::Issue(_))).count();
    let left = rules.max_issues.map_or(usize::MAX, |max| max.saturating_sub(n_started));
    let free = rules.max_agents.saturating_sub(n_busy).min(left);
    if free == 0 || reached_limit(state, rules, at).is_some() {
        return Vec::new();
    }
    let taken = state.taken(rules.work_on_findings);
    let ready = readiness(&state.issues, &rules.selection, &taken, &rules.owner).ready;
    let mut started = Vec::new();
    for id in ready.into_iter().take(free) {
        state.note_epic(&id);
        let key = WorkKey::Issue(id);
        state.works.insert(key.clone(), Box::new(WorkProgress::new(WorkStep::Claim, at)));
        started.push(key);
    }
    started
}

/// Describes the limit of the run that prevents further issues.
pub fn reached_limit(state: &RunState, rules: &RunRules, at: i64) -> Option<String> {
    let minutes = at.saturating_sub(state.started_at) / 60;
    let max_minutes = rules.max_minutes.filter(|max| minutes >= i64::from(*max));
    let over = max_minutes.map(|max| format!("the limit of {max} minutes is reached"));
    spent_limit(state.cost_usd, rules).or(over)
}

/// Describes the cost limit that prevents further coder sessions.
pub(super) fn spent_limit(cost_usd: f64, rules: &RunRules) -> Option<String> {
    let max = rules.max_cost_usd.filter(|max| cost_usd >= *max)?;
    Some(format!("the limit of ${max:.2} is spent"))
}

/// The effect when no work is left.
fn ending(state: &mut RunState, rules: &RunRules, at: i64) -> Effect {
    if state.stopping {
        return Effect::Finish;
    }
    let is_over_limit = reached_limit(state, rules, at).is_some();
    if state.is_stale && !is_over_limit {
        return Effect::ReadTracker;
    }
    if rules.watches && !is_over_limit {
        return Effect::Watch;
    }
    match fires_last(state, rules) {
        true => Effect::Perform(fire(state, TriggerKind::RunEnd, None, at)),
        false => Effect::Finish,
    }
}

/// Whether `run_end` fires: once until the run ends by itself, when it has not accepted this state of the target,
/// and not while finished work waits for its merge.
fn fires_last(state: &RunState, rules: &RunRules) -> bool {
    let is_last = |key: &WorkKey| match key {
        WorkKey::Trigger(fire) => {
            fire.kind == TriggerKind::RunEnd && fire.number > state.n_fires_before
        }
        WorkKey::Issue(_) => false,
    };
    let has_fired = state.works.keys().any(is_last);
    let is_waiting = state.works.values().any(|work| work.waits.is_some());
    let (_, n_failed) = state.counts();
    let trigger = rules.triggers.run_end.as_ref();
    let is_asked = trigger.is_some_and(|trigger| fires_at_run_end(trigger.fire_on, n_failed));
    let is_accepted = state.accepted_tip.as_deref() == Some(state.tip.as_str());
    is_asked && !has_fired && !is_waiting && !is_accepted
}

/// Whether a run that is resumed with these issues and this target has nothing to do.
pub fn is_over(state: &RunState, rules: &RunRules, issues: &[TrackerIssue], tip: &str) -> bool {
    let state = state.clone().continued(issues, tip);
    let taken = state.taken(rules.work_on_findings);
    let ready = readiness(&state.issues, &rules.selection, &taken, &rules.owner).ready;
    ready.is_empty()
        && !state.works.values().any(|work| work.is_active())
        && !fires_last(&state, rules)
}
