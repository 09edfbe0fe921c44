//! `mala run`: a loop that takes events, asks the lifecycle what follows, and performs the effects
//! through ports, several at a time. Every event is in the log before its effects start, so that a
//! killed run goes on where it was.

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

/// What a run reaches the outside through.
#[derive(Clone, Copy)]
pub struct RunPorts<'p> {
    /// Where issues come from and findings go.
    pub tracker: &'p dyn Tracker,
    /// Who works on issues.
    pub coder: &'p dyn Coder,
    /// Where they work.
    pub workspaces: &'p dyn Workspaces,
    /// Where finished work goes.
    pub main_line: &'p dyn MainLine,
    /// What the run remembers.
    pub log: &'p dyn RunLog,
    /// Who reviews.
    pub reviews: &'p dyn TriggerReviews,
    /// Which configurations can be used.
    pub configs: &'p dyn ConfigValidator,
    /// Seconds since 1970.
    pub clock: &'p (dyn Fn() -> i64 + Send + Sync),
    /// Where progress is shown.
    pub notices: &'p (dyn Fn(RunNotice) + Send + Sync),
}

/// Checks the configuration that a commit has.
pub trait ConfigValidator: Send + Sync {
    /// Why a run cannot use the configuration in this commit; `None` if it can.
    fn problem<'a>(&'a self, commit: &'a str) -> BoxFuture<'a, Option<String>>;
}

/// Reviews ranges for triggers, with the reviewer that each of them names.
pub trait TriggerReviews: Send + Sync {
    /// Reviews a range. An error means that its tree cannot be read.
    fn review<'a>(
        &'a self,
        request: &'a TriggerReviewRequest,
    ) -> BoxFuture<'a, Result<Report, ScopeError>>;
}

/// A review that a trigger asks for.
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

/// How a run works, from its settings.
pub struct OrchestratorPlan {
    /// The rules of its life.
    pub rules: RunRules,
    /// Whether it is resumed.
    pub start: StartRequest,
    /// The id of a run that is not resumed.
    pub new_run_id: String,
    /// Command that is run in each new workspace.
    pub setup: Option<String>,
    /// How long a session may take.
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
    /// The same, with the issues of the stored run if that is resumed and none are named. `metadata` is that of the
    /// stored run.
    pub fn continuing(mut self, metadata: Option<&str>) -> Result<Self, RunError> {
        let stored = progress::parsed_metadata(metadata)?;
        let selection = std::mem::take(&mut self.rules.selection);
        self.rules.selection = resumed_selection(stored.as_ref(), selection, self.start);
        Ok(self)
    }

    /// What the run would start from, with the metadata and the log of the stored run, the issues of the tracker, and
    /// the commit that the target branch points to.
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

/// What a run starts from.
pub struct RunPreview {
    /// The run that it continues; `None` for a new one.
    pub resumes: Option<String>,
    /// What is done and in progress, with the issues of the tracker.
    pub state: RunState,
}

/// What came of a run.
pub struct RunResult {
    /// How it ended.
    pub conclusion: RunConclusion,
    /// The final report.
    pub report: RunReport,
}

/// What stops a run.
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
    /// The lifecycle left nothing to do.
    #[error("the run has nothing left to do and did not end")]
    Stuck,
}

/// How long to wait before the tracker is read again.
const WATCH: Duration = Duration::from_secs(2);

/// How a run is stopped: 1 starts nothing new, 2 stops all sessions and keeps all state.
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
    // Dropping a step ends everything that it started.
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

/// Reads the tracker while nothing is to be done, and returns what follows if it has changed.
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

/// All issues. A tracker that answered before and does not now leaves what is known.
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

/// Removes what a killed run left behind: processes, and workspaces of no unfinished work. Says what is in the way
/// of merges.
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

/// Waits until the user asks to stop.
async fn next_stop(stop: &mut StopRequests) -> u32 {
    if stop.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
    *stop.borrow_and_update()
}

/// A step to perform, with all that it needs to know.
struct StepTask {
    key: WorkKey,
    step: WorkStep,
    work: mala_domain::run::lifecycle::WorkProgress,
    issue: Option<TrackerIssue>,
    linked: Option<IssueId>,
    run_id: String,
    /// What the run cost so far.
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

/// An event in words for the log of a step that failed.
fn failed(error: impl std::fmt::Display) -> WorkEvent {
    WorkEvent::Failed(error.to_string())
}

#[cfg(test)]
mod tests;
