//! Performs one step of a piece of work and returns the resulting event. Performing a step again
//! after a kill does no harm.

use super::progress::{RunNotice, RunProgressLog, SharedMetadata};
use super::target::WatchedTarget;
use super::{OrchestratorPlan, RunPorts, StepTask, failed};
use mala_domain::ports::{
    AdvanceResult, CoderOrder, CoderSession, CommandRunEnd, CommitReach, OutsideItem, RebaseResult,
    TrackerError, Workspace, WorkspaceError, outside_changes,
};
use mala_domain::run::commits::{CommitProblem, prefix};
use mala_domain::run::filing::FINDING_LABEL;
use mala_domain::run::issue::IssueId;
use mala_domain::run::lifecycle::{
    CodeOrder, CommandStage, FailedCommand, PromptKind, WorkEvent, WorkKey, WorkOutcome, WorkStep,
    withdrawal,
};
use mala_domain::run::prompt::{CoderBrief, prompt};
use mala_domain::run::triggers::PlannedCommand;
use std::collections::BTreeMap;
use std::time::Duration;

/// Time limit of the setup command.
const SETUP_TIMEOUT: Duration = Duration::from_secs(1800);

/// How long a merge may change a checkout before it is committed there.
const MERGE_TIME: Duration = Duration::from_millis(300);

/// How many changes outside of a workspace are listed.
const MAX_OUTSIDE: usize = 10;

/// The context of all steps.
pub(super) struct StepContext<'r> {
    pub(super) plan: &'r OrchestratorPlan,
    pub(super) ports: &'r RunPorts<'r>,
    pub(super) metadata: SharedMetadata,
    pub(super) target: WatchedTarget<'r>,
}

impl<'r> StepContext<'r> {
    /// The context of the steps of a run that starts with this state.
    pub(super) fn new(
        plan: &'r OrchestratorPlan,
        ports: &'r RunPorts<'r>,
        progress: &RunProgressLog<'_>,
    ) -> Self {
        let target = WatchedTarget::new(ports.main_line, &progress.tip);
        Self { plan, ports, metadata: progress.metadata(), target }
    }
}

impl StepContext<'_> {
    /// Performs the step of a task.
    pub(super) async fn perform(&self, task: StepTask) -> WorkEvent {
        match self.try_perform(&task).await {
            Ok(event) => event,
            Err(event) => event,
        }
    }

    async fn try_perform(&self, task: &StepTask) -> Result<WorkEvent, WorkEvent> {
        let ports = self.ports;
        let issue = match &task.key {
            WorkKey::Issue(id) => id.clone(),
            WorkKey::Trigger(_) => IssueId::new(task.key.to_string()),
        };
        match &task.step {
            WorkStep::Claim => {
                let claimed = ports.tracker.claim(&issue, &self.plan.rules.owner).await;
                Ok(WorkEvent::Claimed(claimed.map_err(failed)?))
            }
            WorkStep::Open => self.open(task).await,
            WorkStep::Code(order) => self.code(task, order).await,
            WorkStep::Commands(stage) => self.commands(task, *stage).await,
            WorkStep::Review => self.review(task).await,
            WorkStep::File(_) => self.file(task).await,
            WorkStep::Rebase => self.rebase(task).await,
            WorkStep::Advance { from, to } => self.advance(task, from, to).await,
            WorkStep::Close => self.close(task, &issue).await,
            WorkStep::Release => {
                let reason = match &task.work.outcome {
                    Some(WorkOutcome::Failed(reason) | WorkOutcome::Skipped(reason)) => reason,
                    _ => "",
                };
                let reason = format!("mala run: {reason}");
                ports.tracker.release(&issue, &reason).await.map_err(failed)?;
                Ok(WorkEvent::Released)
            }
            WorkStep::Remove => {
                let name = task.key.workspace_name();
                Ok(WorkEvent::Removed(ports.workspaces.remove(&name).await.map_err(failed)?))
            }
            WorkStep::Queued(_) | WorkStep::Done => Err(failed("nothing to perform")),
        }
    }

    /// Moves the target branch, unless the issue was withdrawn in the meantime.
    async fn advance(&self, task: &StepTask, from: &str, to: &str) -> Result<WorkEvent, WorkEvent> {
        let ports = self.ports;
        // A step that is repeated after a kill may have moved it already.
        let tip = self.target.tip().await.map_err(failed)?;
        let is_moved = tip != from
            && ports.main_line.reach(to, &tip).await.map_err(failed)? == CommitReach::Ancestor;
        if let (WorkKey::Issue(id), false) = (&task.key, is_moved) {
            match ports.tracker.issue(id).await {
                Ok(issue) => {
                    if let Some(why) = withdrawal(&issue, &self.plan.rules.owner) {
                        return Ok(WorkEvent::Withdrawn(why));
                    }
                }
                Err(TrackerError::Unknown(_)) => {
                    return Ok(WorkEvent::Withdrawn("deleted meanwhile".to_owned()));
                }
                Err(error) => return Ok(WorkEvent::MergeWaits(format!("tracker: {error}"))),
            }
        }
        if let Some(problem) = ports.configs.problem(to).await {
            return Err(failed(CommitProblem::InvalidConfig(problem)));
        }
        match self.target.advance(from, to).await.map_err(failed)? {
            AdvanceResult::Done => Ok(WorkEvent::Merged),
            AdvanceResult::Moved => Ok(WorkEvent::TargetMoved),
            AdvanceResult::Waits(reason) => Ok(WorkEvent::MergeWaits(reason)),
            AdvanceResult::Refused(reason) => Err(failed(reason)),
        }
    }

    /// Closes the issue, and the summary issue of a run whose last finding it was.
    async fn close(&self, task: &StepTask, issue: &IssueId) -> Result<WorkEvent, WorkEvent> {
        let tracker = self.ports.tracker;
        let head = task.work.range.as_ref().map_or("", |(_, head)| head);
        let reason = format!("merged as {head}");
        tracker.close(issue, &reason).await.map_err(failed)?;
        let labels = task.issue.as_ref().map(|issue| issue.labels.as_slice()).unwrap_or_default();
        if labels.iter().any(|label| label == FINDING_LABEL) {
            let existing = tracker.issues().await.map_err(failed)?;
            self.close_summaries(&existing, &[]).await?;
        }
        Ok(WorkEvent::Closed)
    }

    async fn open(&self, task: &StepTask) -> Result<WorkEvent, WorkEvent> {
        let tip = self.target.tip().await.map_err(failed)?;
        let base = task.work.workspace.as_ref().map_or(tip, |workspace| workspace.base.clone());
        let name = task.key.workspace_name();
        let workspace = self.ports.workspaces.open(&name, &base).await.map_err(failed)?;
        self.set_up(&workspace).await?;
        Ok(WorkEvent::Opened(workspace))
    }

    async fn set_up(&self, workspace: &Workspace) -> Result<(), WorkEvent> {
        let setup = self.plan.setup.as_deref().filter(|it| !it.trim().is_empty());
        let Some(setup) = setup else { return Ok(()) };
        let run = self.ports.workspaces.run(workspace, setup, SETUP_TIMEOUT).await;
        let run = run.map_err(failed)?;
        if run.end != CommandRunEnd::Exit(0) {
            let last = run.output.lines().last().unwrap_or_default().to_owned();
            return Err(failed(format!("the setup command failed: {last}")));
        }
        Ok(())
    }

    async fn code(&self, task: &StepTask, order: &CodeOrder) -> Result<WorkEvent, WorkEvent> {
        let mut workspace = workspace_of(task)?.clone();
        let before = self.ports.main_line.surroundings().await.map_err(failed)?;
        let n_moves = self.target.moves_after(0).await.map_err(failed)?.len();
        let session = self.session(task, order, &workspace).await;
        let outside = self.changed_outside(&before).await?;
        let foreign_moves = self.target.moves_after(n_moves).await.map_err(failed)?;
        if let PromptKind::Conflict { onto, .. } = &order.prompt {
            workspace.base.clone_from(onto);
        }
        let state = match self.ports.workspaces.state(&workspace).await {
            Ok(state) => Some(state),
            Err(WorkspaceError::Missing(_)) => None,
            Err(error) => return Err(failed(error)),
        };
        let is_changed = match (&order.since, &state) {
            (Some(since), Some(state)) => {
                !self.ports.main_line.range(since, &state.head).await.map_err(failed)?.is_empty
            }
            _ => true,
        };
        let config_problem = match &state {
            Some(state) => self.ports.configs.problem(&state.head).await,
            None => None,
        };
        Ok(WorkEvent::CoderEnded {
            session: session.session,
            end: session.end,
            message: session.message,
            cost_usd: session.cost_usd,
            state,
            is_changed,
            config_problem,
            outside,
            foreign_moves,
        })
    }

    /// The changes outside of all workspaces. The merge of other work changes a checkout for a
    /// moment.
    async fn changed_outside(
        &self,
        before: &BTreeMap<OutsideItem, String>,
    ) -> Result<Vec<String>, WorkEvent> {
        let main_line = self.ports.main_line;
        let seen = outside_changes(before, &main_line.surroundings().await.map_err(failed)?);
        if seen.is_empty() {
            return Ok(seen);
        }
        tokio::time::sleep(MERGE_TIME).await;
        let again = outside_changes(before, &main_line.surroundings().await.map_err(failed)?);
        Ok(again.into_iter().filter(|item| seen.contains(item)).take(MAX_OUTSIDE).collect())
    }

    async fn session(
        &self,
        task: &StepTask,
        order: &CodeOrder,
        workspace: &Workspace,
    ) -> CoderSession {
        let rules = &self.plan.rules;
        let linked = task.linked.clone().unwrap_or_else(|| IssueId::new("run"));
        let prefix = prefix(&rules.commit_prefix, &linked);
        let commands = &rules.triggers.session_end.commands;
        let commands: Vec<String> = commands.iter().map(|it| it.text.clone()).collect();
        let brief = CoderBrief {
            issue: task.issue.as_ref(),
            prefix: &prefix,
            rules: &self.plan.project_rules,
            work: &task.work,
            commands: &commands,
        };
        let prompt = prompt(&order.prompt, &brief);
        let name = task.key.to_string();
        let said = |line: &str| {
            let (work, line) = (name.clone(), line.to_owned());
            (self.ports.notices)(RunNotice::Said { work, line });
        };
        let left = |max: Option<f64>, spent: f64| max.map(|max| (max - spent).max(0.01));
        let of_issue = left(rules.issue_cost_usd, task.work.cost_usd);
        let of_run = left(rules.max_cost_usd, task.run_cost_usd);
        let issue = WorkKey::Issue(linked).workspace_name();
        let order = CoderOrder {
            workspace,
            issue: &issue,
            prefix: &prefix,
            prompt: &prompt,
            resume: task.work.session.as_deref().filter(|_| order.resume),
            max_time: self.plan.max_session,
            max_idle: self.plan.max_idle,
            max_cost_usd: of_issue.into_iter().chain(of_run).reduce(f64::min),
            said: &said,
        };
        self.ports.coder.work(order).await
    }

    async fn commands(&self, task: &StepTask, stage: CommandStage) -> Result<WorkEvent, WorkEvent> {
        let workspace = workspace_of(task)?;
        let rules = &self.plan.rules;
        let commands = match stage {
            CommandStage::Trigger => &rules.trigger(task.key.trigger()).commands,
            CommandStage::Fixer | CommandStage::AfterRebase => &rules.triggers.session_end.commands,
        };
        let mut failures = Vec::new();
        if commands.is_empty() {
            return Ok(WorkEvent::CommandsEnded(failures));
        }
        // Only the reviewed commits count, not other content of the workspace.
        let head = head_of(task, workspace);
        let workspace = &self.ports.workspaces.check_out(workspace, head).await.map_err(failed)?;
        self.set_up(workspace).await?;
        for PlannedCommand { name, text, timeout } in commands {
            let run = self.ports.workspaces.run(workspace, text, *timeout).await.map_err(failed)?;
            let reason = match run.end {
                CommandRunEnd::Exit(0) => continue,
                CommandRunEnd::Exit(code) => format!("exit code {code}"),
                CommandRunEnd::Signal(signal) => format!("ended by signal {signal}"),
                CommandRunEnd::TimedOut => format!("timed out after {} s", timeout.as_secs()),
            };
            failures.push(FailedCommand { name: name.clone(), reason, output: run.output });
        }
        Ok(WorkEvent::CommandsEnded(failures))
    }

    async fn rebase(&self, task: &StepTask) -> Result<WorkEvent, WorkEvent> {
        let workspace = workspace_of(task)?;
        let onto = self.target.tip().await.map_err(failed)?;
        let head = head_of(task, workspace);
        match self.ports.workspaces.rebase(workspace, head, &onto).await.map_err(failed)? {
            RebaseResult::Done { workspace: moved, head } => {
                let is_moved = moved.base != workspace.base;
                Ok(WorkEvent::Rebased { workspace: moved, head, is_moved })
            }
            RebaseResult::Conflict(files) => Ok(WorkEvent::Conflict { files, onto }),
        }
    }
}

#[expect(clippy::result_large_err, reason = "the error is the event that ends the step")]
fn workspace_of(task: &StepTask) -> Result<&Workspace, WorkEvent> {
    task.work.workspace.as_ref().ok_or_else(|| failed("the work has no workspace"))
}

/// The commit that is validated, reviewed and merged: the last one of the coder, if one worked.
fn head_of<'t>(task: &'t StepTask, workspace: &'t Workspace) -> &'t str {
    task.work.range.as_ref().map_or(&workspace.base, |(_, head)| head)
}
