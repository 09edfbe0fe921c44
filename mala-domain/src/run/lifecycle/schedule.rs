//! What starts next: merges one after the other, issues as far as limits allow, and the end.

use super::super::issue::IssueId;
use super::super::readiness::readiness;
use super::super::triggers::{TriggerKind, completed_epics, fires_at_run_end, fires_periodically};
use super::state::{RunState, TriggerFire, WorkKey, WorkProgress, WorkStep};
use super::{CommandStage, Effect, RunRules};
use std::collections::BTreeSet;

/// What starts after an event.
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
    if effects.is_empty() && !state.works.values().any(WorkProgress::is_active) {
        effects.push(ending(state, rules, at));
    }
    effects
}

/// What goes on in a run that was rebuilt from its log: every step that was being performed.
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
    state.works.insert(key.clone(), WorkProgress::new(WorkStep::Open, at));
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
    if state.works.values().any(is_merging) {
        return None;
    }
    let queued = |(key, work): (&WorkKey, &WorkProgress)| match work.step {
        WorkStep::Queued(number) => Some((number, key.clone())),
        _ => None,
    };
    let (_, key) = state.works.iter().filter_map(queued).min()?;
    state.works.get_mut(&key)?.step = WorkStep::Rebase;
    Some(key)
}

fn next_issues(state: &mut RunState, rules: &RunRules, at: i64) -> Vec<WorkKey> {
    let is_busy = |(key, work): (&WorkKey, &WorkProgress)| match key {
        WorkKey::Issue(_) => work.is_active(),
        WorkKey::Trigger(_) => matches!(work.step, WorkStep::Code(_)),
    };
    let n_busy = state.works.iter().filter(|entry| is_busy(*entry)).count();
    let n_started = state.works.keys().filter(|key| matches!(key, WorkKey::Issue(_))).count();
    let left = rules.max_issues.map_or(usize::MAX, |max| max.saturating_sub(n_started));
    let free = rules.max_agents.saturating_sub(n_busy).min(left);
    if free == 0 || is_over_budget(state, rules, at) {
        return Vec::new();
    }
    let mut taken: BTreeSet<IssueId> = state
        .works
        .keys()
        .filter_map(|key| match key {
            WorkKey::Issue(id) => Some(id.clone()),
            WorkKey::Trigger(_) => None,
        })
        .collect();
    if !rules.work_on_findings {
        taken.extend(state.filed.iter().cloned());
    }
    let ready = readiness(&state.issues, &rules.selection, &taken, &rules.owner).ready;
    let mut started = Vec::new();
    for id in ready.into_iter().take(free) {
        state.note_epic(&id);
        let key = WorkKey::Issue(id);
        state.works.insert(key.clone(), WorkProgress::new(WorkStep::Claim, at));
        started.push(key);
    }
    started
}

/// Whether limits of the run keep further issues from starting.
pub(super) fn is_over_budget(state: &RunState, rules: &RunRules, at: i64) -> bool {
    let minutes = at.saturating_sub(state.started_at) / 60;
    rules.max_cost_usd.is_some_and(|max| state.cost_usd >= max)
        || rules.max_minutes.is_some_and(|max| minutes >= i64::from(max))
}

/// What is done when no work is left.
fn ending(state: &mut RunState, rules: &RunRules, at: i64) -> Effect {
    if state.stopping {
        return Effect::Finish;
    }
    if state.is_stale && !is_over_budget(state, rules, at) {
        return Effect::ReadTracker;
    }
    if rules.watches && !is_over_budget(state, rules, at) {
        return Effect::Watch;
    }
    let has_fired = state.works.keys().any(|key| key.trigger() == TriggerKind::RunEnd);
    let (_, n_failed) = state.counts();
    match &rules.triggers.run_end {
        Some(trigger) if !has_fired && fires_at_run_end(trigger.fire_on, n_failed) => {
            Effect::Perform(fire(state, TriggerKind::RunEnd, None, at))
        }
        _ => Effect::Finish,
    }
}
