//! The state of a run with its log and metadata: every event is applied, logged, and only then
//! followed by effects.

use super::{OrchestratorPlan, RunError, RunPorts, StepTask};
use mala_domain::ports::RunLogError;
use mala_domain::run::baseline::{baseline_key, run_start};
use mala_domain::run::lifecycle::{
    Effect, LoggedEvent, RunEvent, RunState, WorkEvent, WorkKey, WorkOutcome, WorkStep, event_name,
    step,
};
use mala_domain::run::metadata::{
    IssueEntry, METADATA_VERSION, RunMetadata, RunStart, StartRequest, start,
};
use mala_domain::run::report::doing;
use mala_domain::run::review_log::{CumulativeEvent, LOG_TARGET};
use mala_domain::run::triggers::TriggerKind;
use std::sync::{Arc, Mutex, PoisonError};

/// A notice about the progress of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum RunNotice {
    /// A piece of work is at another step.
    Step {
        /// The piece of work.
        work: String,
        /// The current activity.
        doing: String,
        /// The cost so far.
        cost_usd: f64,
    },
    /// A coder printed a message.
    Said {
        /// The piece of work.
        work: String,
        /// A line.
        line: String,
    },
    /// A piece of work ended.
    Ended {
        /// The piece of work.
        work: String,
        /// How.
        outcome: String,
    },
    /// A warning.
    Warning(String),
}

/// The metadata of a run, shared with the steps that read it.
pub(super) type SharedMetadata = Arc<Mutex<RunMetadata>>;

/// The state of a run with its log and metadata.
pub(super) struct RunProgressLog<'r> {
    plan: &'r OrchestratorPlan,
    ports: RunPorts<'r>,
    pub(super) state: RunState,
    metadata: SharedMetadata,
    /// The commit that the target branch points to at the start.
    pub(super) tip: String,
    is_resumed: bool,
}

impl<'r> RunProgressLog<'r> {
    /// Finds out whether the run is resumed, and writes its metadata.
    pub(super) async fn begin(
        plan: &'r OrchestratorPlan,
        ports: &RunPorts<'r>,
    ) -> Result<Self, RunError> {
        let stored = parsed_metadata(ports.log.metadata()?.as_deref())?;
        let selection = &plan.rules.selection;
        let begins = start(stored.as_ref(), selection, plan.start);
        let is_resumed = begins.ok_or(RunError::NothingToResume)? == RunStart::Resumed;
        let tip = ports.main_line.tip().await?;
        let mut metadata = stored.filter(|_| is_resumed).unwrap_or_else(|| RunMetadata {
            run_id: plan.new_run_id.clone(),
            ..RunMetadata::default()
        });
        let (commit, is_late) = run_start(metadata.run_start_commit.as_deref(), &tip, is_resumed);
        if is_late {
            let warning = "the metadata has no start commit: late capture of the current one";
            tracing::warn!(target: "cumulative_review", commit, "{LOG_TARGET}: {warning}");
            (ports.notices)(RunNotice::Warning(warning.to_owned()));
        }
        let state = match is_resumed {
            true => {
                let issues = match plan.start {
                    StartRequest::Resume => ports.tracker.issues().await?,
                    _ => Vec::new(),
                };
                plan.resumed_state(&metadata.run_id, &ports.log.lines()?, (&issues, &tip))?
            }
            false => RunState::default(),
        };
        metadata.version = METADATA_VERSION;
        metadata.run_start_commit = Some(commit);
        metadata.selection = selection.clone();
        metadata.review_enabled = plan.review_enabled;
        if !is_resumed {
            ports.log.start(&metadata.run_id)?;
        }
        let metadata = Arc::new(Mutex::new(metadata));
        let begun = Self { plan, ports: *ports, state, metadata, tip, is_resumed };
        begun.save()?;
        Ok(begun)
    }

    pub(super) fn metadata(&self) -> SharedMetadata {
        self.metadata.clone()
    }

    /// The first event.
    pub(super) fn start(&mut self) -> Result<Vec<Effect>, RunError> {
        let (run_id, start_commit) = {
            let metadata = self.metadata.lock().unwrap_or_else(PoisonError::into_inner);
            (metadata.run_id.clone(), metadata.run_start_commit.clone().unwrap_or_default())
        };
        let (is_resumed, review_enabled) = (self.is_resumed, self.plan.review_enabled);
        let tip = self.tip.clone();
        self.emit(RunEvent::Started { run_id, start_commit, tip, is_resumed, review_enabled })
    }

    /// Logs and applies an event, and returns the effects.
    pub(super) fn emit(&mut self, event: RunEvent) -> Result<Vec<Effect>, RunError> {
        let at = (self.ports.clock)();
        let effects = step(&mut self.state, &self.plan.rules, at, &event);
        let name = event_name(&self.state, &event).to_owned();
        let logged = LoggedEvent { at, name, event };
        // Events are plain data and always have a JSON form.
        let line = serde_json::to_string(&logged).unwrap_or_default();
        self.ports.log.append(&line)?;
        if let RunEvent::Work { key, event } = &logged.event {
            self.remember(key, event)?;
            self.show(key);
        }
        Ok(effects)
    }

    /// The step of a work, ready to be performed. The start of a review is an event of its own.
    pub(super) fn task(&mut self, key: &WorkKey) -> Result<StepTask, RunError> {
        let is_review = self.state.works.get(key).is_some_and(|it| it.step == WorkStep::Review);
        if is_review {
            let event = Box::new(WorkEvent::ReviewStarted);
            self.emit(RunEvent::Work { key: key.clone(), event })?;
        }
        StepTask::of(&self.state, key).ok_or(RunError::Stuck)
    }

    /// Keeps the metadata true: baselines advance when findings are filed, never before.
    fn remember(&self, key: &WorkKey, event: &WorkEvent) -> Result<(), RunLogError> {
        let Some(work) = self.state.works.get(key) else { return Ok(()) };
        let is_filed = match event {
            WorkEvent::ReviewEnded(reviewed) => reviewed.review.findings().is_empty(),
            WorkEvent::Filed { .. } => true,
            WorkEvent::Claimed(_)
            | WorkEvent::Closed
            | WorkEvent::Released
            | WorkEvent::Removed(_) => false,
            _ => return Ok(()),
        };
        {
            let mut metadata = self.metadata.lock().unwrap_or_else(PoisonError::into_inner);
            let reviewed = work.reviewed.as_ref().filter(|it| it.review.advances_baseline());
            if let (true, Some(reviewed)) = (is_filed, reviewed) {
                advance_baseline(&mut metadata, key, &reviewed.base, &reviewed.head);
            }
            if let WorkKey::Issue(id) = key {
                let status = match &work.outcome {
                    Some(WorkOutcome::Succeeded) => "succeeded",
                    Some(WorkOutcome::Failed(_)) => "failed",
                    Some(WorkOutcome::Skipped(_)) => "skipped",
                    None => "in_progress",
                };
                let review_log_path = work.reviewed.as_ref().and_then(|it| it.log.clone());
                let entry = IssueEntry { status: status.to_owned(), review_log_path };
                metadata.issues.insert(id.clone(), entry);
            }
        }
        self.save()
    }

    fn save(&self) -> Result<(), RunLogError> {
        let metadata = self.metadata.lock().unwrap_or_else(PoisonError::into_inner);
        // Plain data always has a JSON form.
        let text = serde_json::to_string_pretty(&*metadata).unwrap_or_default() + "\n";
        self.ports.log.save_metadata(&text)
    }

    fn show(&self, key: &WorkKey) {
        let Some(work) = self.state.works.get(key) else { return };
        let name_of = key.to_string();
        let notice = match (&work.step, &work.outcome) {
            (WorkStep::Done, outcome) => {
                let outcome = match outcome {
                    Some(WorkOutcome::Failed(reason)) => format!("failed: {reason}"),
                    Some(WorkOutcome::Skipped(reason)) => format!("skipped: {reason}"),
                    _ => "succeeded".to_owned(),
                };
                RunNotice::Ended { work: name_of, outcome }
            }
            (step, _) => RunNotice::Step {
                work: name_of,
                doing: match &work.waits {
                    Some(why) => format!("waiting for its merge: {why}"),
                    None => doing(step).to_owned(),
                },
                cost_usd: work.cost_usd,
            },
        };
        (self.ports.notices)(notice);
    }
}

/// The metadata of a stored run.
pub(super) fn parsed_metadata(text: Option<&str>) -> Result<Option<RunMetadata>, RunError> {
    let read = text.map(serde_json::from_str).transpose();
    read.map_err(|error| RunError::Unreadable("run_metadata.json", error))
}

/// The events of a log.
pub(super) fn parsed_log(lines: &[String]) -> Result<Vec<LoggedEvent>, RunError> {
    lines
        .iter()
        .map(|line| serde_json::from_str(line).map_err(|it| RunError::Unreadable("the log", it)))
        .collect()
}

fn advance_baseline(metadata: &mut RunMetadata, key: &WorkKey, base: &str, head: &str) {
    let epic = match key {
        WorkKey::Trigger(fire) => fire.epic.as_ref(),
        WorkKey::Issue(_) => None,
    };
    let trigger: TriggerKind = key.trigger();
    let Some(stored) = baseline_key(trigger, epic) else { return };
    let old = metadata.last_cumulative_review_commits.insert(stored, head.to_owned());
    let old = old.unwrap_or_else(|| base.to_owned());
    let event = CumulativeEvent::BaselineAdvanced { old, new: head.to_owned() };
    super::reviewing::log(trigger, &event);
}
