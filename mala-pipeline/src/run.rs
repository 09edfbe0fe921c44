//! `mala run`: a loop that passes events to the lifecycle and performs the resulting effects
//! through ports, several at a time. Every event is logged before its effects start, so that a
//! killed run can continue.

mod filing;
mod perform;
mod progress;
mod reviewing;
mod target;

pub use progress::RunNotice;

use futures_util::StreamExt;
use futures_util::future::{AbortHandle, abortable};
use futures_util::stream::FuturesUnordered;
use mala_domain::config::CodeReviewSettings;
use mala_domain::ports::{
    BoxFuture, Coder, MainLine, RunLog, RunLogError, ScopeError, Tracker, TrackerError,
    WorkspaceError, Workspaces,
};
use mala_domain::report::Report;
use mala_domain::run::issue::{IssueId, TrackerIssue};
use mala_domain::run::lifecycle::{
    Effect, RunConclusion, RunEvent, RunRules, RunState, WorkEvent, WorkKey, WorkStep, is_over,
    rebuild,
};
use mala_domain::run::metadata::{RunStart, StartRequest, resumed_selection, start};
use mala_domain::run::report::{RunReport, build};
use mala_domain::run::triggers::TriggerKind;
use perform::StepContext;
use progress::RunProgressLog;
use std::collections::BTreeMap;
use std::time::Duration;
use thiserror::Error;
use tokio::sync::watch;

/// The ports of a run.
#[derive(Clone, Copy)]
pub struct RunPorts<'p> {
    /// The source of issues, and the place to file findings.
    pub tracker: &'p dyn Tracker,
    /// The coder.
    pub coder: &'p dyn Coder,
    /// The workspaces of the coder.
    pub workspaces: &'p dyn Workspaces,
    /// The target branch.
    pub main_line: &'p dyn MainLine,
    /// The log of the run.
    pub log: &'p dyn RunLog,
    /// The reviewer.
    pub reviews: &'p dyn TriggerReviews,
    /// Checks configurations.
    pub configs: &'p dyn ConfigValidator,
    /// Seconds since 1970.
    pub clock: &'p (dyn Fn() -> i64 + Send + Sync),
    /// Receives progress notices.
    pub notices: &'p (dyn Fn(RunNotice) + Send + Sync),
}

/// Checks the configuration that a commit has.
pub trait ConfigValidator: Send + Sync {
    /// Why a run cannot use the configuration in this commit; `None` if it can.
    fn problem<'a>(&'a self, commit: &'a str) -> BoxFuture<'a, Option<String>>;
}

/// Reviews ranges for triggers, with the reviewer that each trigger names.
pub trait TriggerReviews: Send + Sync {
    /// Reviews a range. An error means that its tree cannot be read.
    fn review<'a>(
        &'a self,
        request: &'a TriggerReviewRequest,
    ) -> BoxFuture<'a, Result<Report, ScopeError>>;
}

/// A review for a trigger.
#[derive(Debug, Clone, PartialEq)]
pub struct TriggerReviewRequest {
    /// The trigger.
    pub trigger: TriggerKind,
    /// The work that is reviewed; its reviews are rounds of one change.
    pub work: String,
    /// The issue whose commits are reviewed, and the number of the review; `None` for other triggers.
    pub issue: Option<(IssueId, u32)>,
    /// Its settings.
    pub settings: CodeReviewSettings,
    /// The commit that the review starts from.
    pub base: String,
    /// The commit that is reviewed.
    pub head: String,
    /// Texts about the task: name and content.
    pub tasks: Vec<(String, String)>,
}

/// The plan of a run, from its settings.
pub struct OrchestratorPlan {
    /// The rules of its life.
    pub rules: RunRules,
    /// Whether it is resumed.
    pub start: StartRequest,
    /// The id of a run that is not resumed.
    pub new_run_id: String,
    /// Command that is run in each new workspace.
    pub setup: Option<String>,
    /// The time limit of a session.
    pub max_session: Duration,
    /// How long a session may be idle.
    pub max_idle: Duration,
    /// Whether findings below the threshold are filed together.
    pub group_findings: bool,
    /// Whether reviews are enabled.
    pub review_enabled: bool,
    /// The project's rules, by file, from the trusted commit.
    pub project_rules: Vec<(String, String)>,
}

impl OrchestratorPlan {
    /// The same plan, with the issues of the stored run if that is resumed without a selection.
    /// `metadata` is that of the stored run.
    pub fn continuing(mut self, metadata: Option<&str>) -> Result<Self, RunError> {
        let stored = progress::parsed_metadata(metadata)?;
        let selection = std::mem::take(&mut self.rules.selection);
        self.rules.selection = resumed_selection(stored.as_ref(), selection, self.start);
        Ok(self)
    }

    /// The state from which the run would start, given the metadata and the log of the stored run,
    /// the issues of the tracker, and the commit of the target branch.
    pub fn preview(
        &self,
        metadata: Option<&str>,
        log: &[String],
        (issues, tip): (&[TrackerIssue], &str),
    ) -> Result<RunPreview, RunError> {
        let stored = progress::parsed_metadata(metadata)?;
        let begins = start(stored.as_ref(), &self.rules.selection, self.start);
        let is_resumed = begins.ok_or(RunError::NothingToResume)? == RunStart::Resumed;
        let resumes = stored.map(|stored| stored.run_id).filter(|_| is_resumed);
        let state = match &resumes {
            Some(run_id) => self.resumed_state(run_id, log, (issues, tip))?,
            None => RunState::default(),
        };
        Ok(RunPreview { resumes, state: state.continued(issues, tip) })
    }

    /// The state of the stored run, from its log.
    fn resumed_state(
        &self,
        run_id: &str,
        log: &[String],
        (issues, tip): (&[TrackerIssue], &str),
    ) -> Result<RunState, RunError> {
        let state = rebuild(&self.rules, &progress::parsed_log(log)?);
        let is_asked = self.start == StartRequest::Resume && state.finished;
        match is_asked && is_over(&state, &self.rules, issues, tip) {
            true => Err(RunError::AlreadyFinished(run_id.to_owned())),
            false => Ok(state),
        }
    }
}

/// The state from which a run starts.
pub struct RunPreview {
    /// The run that it continues; `None` for a new one.
    pub resumes: Option<String>,
    /// Finished and active work, with the issues of the tracker.
    pub state: RunState,
}

/// The result of a run.
pub struct RunResult {
    /// How it ended.
    pub conclusion: RunConclusion,
    /// The final report.
    pub report: RunReport,
}

/// An error that stops a run.
#[derive(Debug, Error)]
pub enum RunError {
    /// There is nothing to resume.
    #[error("there is no run to resume")]
    NothingToResume,
    /// The run to resume has ended, and there is nothing more to do.
    #[error("run {0} is finished, and no issue is ready")]
    AlreadyFinished(String),
    /// The run cannot remember.
    #[error(transparent)]
    Log(#[from] RunLogError),
    /// The log or the metadata cannot be read.
    #[error("{0} cannot be read: {1}")]
    Unreadable(&'static str, serde_json::Error),
    /// The target branch cannot be read.
    #[error(transparent)]
    Target(#[from] WorkspaceError),
    /// The tracker cannot be read.
    #[error(transparent)]
    Tracker(#[from] TrackerError),
    /// The lifecycle returned no effect although the run is not finished.
    #[error("the run has nothing left to do and did not end")]
    Stuck,
}

/// How long to wait before the tracker is read again.
const WATCH: Duration = Duration::from_secs(2);

/// Stop requests: 1 starts nothing new, 2 stops all sessions and keeps all state.
pub type StopRequests = watch::Receiver<u32>;

/// Runs until no work is left, or until it is stopped.
pub async fn run(
    plan: &OrchestratorPlan,
    ports: &RunPorts<'_>,
    mut stop: StopRequests,
) -> Result<RunResult, RunError> {
    let mut progress = RunProgressLog::begin(plan, ports).await?;
    prepare(&progress.state, ports).await?;
    let context = StepContext::new(plan, ports, &progress);
    let mut performed = FuturesUnordered::new();
    let mut handles: BTreeMap<WorkKey, AbortHandle> = BTreeMap::new();
    let mut effects = progress.start()?;
    let (mut is_interrupted, mut is_watching) = (false, false);
    'run: loop {
        for effect in std::mem::take(&mut effects) {
            match effect {
                Effect::Finish => break 'run,
                Effect::Watch => is_watching = true,
                Effect::ReadTracker => {
                    let issues = read_issues(&progress.state, ports).await?;
                    effects.extend(progress.emit(RunEvent::TrackerRead(issues))?);
                }
                Effect::StopOthers(key) => {
                    handles.iter().filter(|(it, _)| **it != key).for_each(|(_, it)| it.abort());
                }
                Effect::Perform(key) => {
                    let task = progress.task(&key)?;
                    let (future, handle) = abortable(context.perform(task));
                    handles.insert(key.clone(), handle);
                    performed.push(async move { (key, future.await) });
                }
            }
        }
        if !effects.is_empty() {
            continue;
        } else if performed.is_empty() && !is_watching {
            return Err(RunError::Stuck);
        }
        tokio::select! {
            level = next_stop(&mut stop) => {
                is_interrupted = level >= 2;
                if is_interrupted {
                    break 'run;
                }
                effects = progress.emit(RunEvent::StopRequested)?;
            }
            () = tokio::time::sleep(WATCH), if is_watching => {
                effects = look_again(&mut progress, ports).await?;
                is_watching = effects.is_empty();
            }
            Some((key, event)) = performed.next() => {
                if let Ok(event) = event {
                    handles.remove(&key);
                    let event = RunEvent::Work { key, event: Box::new(event) };
                    effects = progress.emit(event)?;
                }
            }
        }
    }
    // Dropping a step terminates everything that it started.
    drop(performed);
    if !is_interrupted {
        progress.emit(RunEvent::Finished)?;
    }
    Ok(result(&progress.state, plan, ports, is_interrupted))
}

fn result(
    state: &RunState,
    plan: &OrchestratorPlan,
    ports: &RunPorts<'_>,
    is_interrupted: bool,
) -> RunResult {
    let report = build(state, &plan.rules, ports.coder.confinement(), (ports.clock)());
    let conclusion = match is_interrupted {
        true => RunConclusion::Interrupted,
        false => report.conclusion,
    };
    RunResult { conclusion, report: RunReport { conclusion, ..report } }
}

/// Reads the tracker while the run is idle, and returns the effects if it has changed.
async fn look_again(
    progress: &mut RunProgressLog<'_>,
    ports: &RunPorts<'_>,
) -> Result<Vec<Effect>, RunError> {
    let issues = read_issues(&progress.state, ports).await?;
    match issues == progress.state.issues {
        true => Ok(Vec::new()),
        false => progress.emit(RunEvent::TrackerRead(issues)),
    }
}

/// All issues. If the tracker fails after an earlier success, the known issues stay.
async fn read_issues(
    state: &RunState,
    ports: &RunPorts<'_>,
) -> Result<Vec<TrackerIssue>, TrackerError> {
    match ports.tracker.issues().await {
        Err(error) if state.is_read => {
            (ports.notices)(RunNotice::Warning(format!("tracker: {error}")));
            Ok(state.issues.clone())
        }
        issues => issues,
    }
}

/// Removes what a killed run left behind: processes, and workspaces without unfinished work. Warns
/// about obstacles to merges.
async fn prepare(state: &RunState, ports: &RunPorts<'_>) -> Result<(), WorkspaceError> {
    let unfinished = state.works.iter().filter(|(_, work)| work.is_active());
    let kept: Vec<String> = unfinished.map(|(key, _)| key.workspace_name()).collect();
    for branch in ports.workspaces.sweep(&kept).await? {
        let what = format!("commits of an earlier run are on the branch {branch}");
        (ports.notices)(RunNotice::Warning(what));
    }
    if let Some(why) = ports.main_line.obstacle().await? {
        let warning = format!("work can be done, and not be merged: {why}");
        (ports.notices)(RunNotice::Warning(warning));
    }
    Ok(())
}

/// Waits for a stop request of the user.
async fn next_stop(stop: &mut StopRequests) -> u32 {
    if stop.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
    *stop.borrow_and_update()
}

/// A step to perform, with all its inputs.
struct StepTask {
    key: WorkKey,
    step: WorkStep,
    work: Box<mala_domain::run::lifecycle::WorkProgress>,
    issue: Option<TrackerIssue>,
    linked: Option<IssueId>,
    run_id: String,
    /// The cost of the run so far.
    run_cost_usd: f64,
}

impl StepTask {
    fn of(state: &RunState, key: &WorkKey) -> Option<Self> {
        let work = state.works.get(key)?.clone();
        let linked = state.linked_issue(key);
        Some(Self {
            key: key.clone(),
            step: work.step.clone(),
            issue: linked.as_ref().and_then(|id| state.issue(id)).cloned(),
            linked,
            work,
            run_id: state.run_id.clone(),
            run_cost_usd: state.cost_usd,
        })
    }
}

/// The event for a step that failed.
fn failed(error: impl std::fmt::Display) -> WorkEvent {
    WorkEvent::Failed(error.to_string())
}

#[cfg(test)]
mod tests;
