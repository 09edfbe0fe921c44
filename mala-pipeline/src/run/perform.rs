//! Performs one step of a piece of work and says what happened. A step that is performed twice, after
//! a kill, does no harm.

use super::progress::{RunNotice, SharedMetadata};
use super::{OrchestratorPlan, RunPorts, StepTask, failed};
use mala_domain::ports::{
    AdvanceResult, CoderOrder, CoderSession, CommandRunEnd, RebaseResult, Workspace, WorkspaceError,
};
use mala_domain::run::commits::prefix;
use mala_domain::run::issue::IssueId;
use mala_domain::run::lifecycle::{
    CodeOrder, CommandStage, FailedCommand, PromptKind, WorkEvent, WorkKey, WorkOutcome, WorkStep,
};
use mala_domain::run::prompt::{CoderBrief, prompt};
use mala_domain::run::triggers::PlannedCommand;
use std::time::Duration;

/// Time limit of the setup command.
const SETUP_TIMEOUT: Duration = Duration::from_secs(1800);

/// What steps are performed with.
pub(super) struct StepContext<'r> {
    pub(super) plan: &'r OrchestratorPlan,
    pub(super) ports: &'r RunPorts<'r>,
    pub(super) metadata: SharedMetadata,
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
            WorkStep::Advance { from, to } => {
                match ports.main_line.advance(from, to).await.map_err(failed)? {
                    AdvanceResult::Done => Ok(WorkEvent::Merged),
                    AdvanceResult::Moved => Ok(WorkEvent::TargetMoved),
                    AdvanceResult::Refused(reason) => Err(failed(reason)),
                }
            }
            WorkStep::Close => {
                let head = task.work.range.as_ref().map_or("", |(_, head)| head);
                let reason = format!("merged as {head}");
                ports.tracker.close(&issue, &reason).await.map_err(failed)?;
                Ok(WorkEvent::Closed)
            }
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

    async fn open(&self, task: &StepTask) -> Result<WorkEvent, WorkEvent> {
        let tip = self.ports.main_line.tip().await.map_err(failed)?;
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
        let session = self.session(task, order, &workspace).await;
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
        Ok(WorkEvent::CoderEnded {
            session: session.session,
            end: session.end,
            message: session.message,
            cost_usd: session.cost_usd,
            state,
            is_changed,
        })
    }

    async fn session(
        &self,
        task: &StepTask,
        order: &CodeOrder,
        workspace: &Workspace,
    ) -> CoderSession {
        let rules = &self.plan.rules;
        let run = IssueId::new("run");
        let prefix = prefix(&rules.commit_prefix, task.linked.as_ref().unwrap_or(&run));
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
        let spent = task.work.cost_usd;
        let issue = task.key.workspace_name();
        let order = CoderOrder {
            workspace,
            issue: &issue,
            prompt: &prompt,
            resume: task.work.session.as_deref().filter(|_| order.resume),
            max_time: self.plan.max_session,
            max_idle: self.plan.max_idle,
            max_cost_usd: rules.issue_cost_usd.map(|max| (max - spent).max(0.01)),
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
        // What a coder left in its workspace without committing it must not count.
        let workspace = &self.ports.workspaces.check_out(workspace).await.map_err(failed)?;
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
        let onto = self.ports.main_line.tip().await.map_err(failed)?;
        match self.ports.workspaces.rebase(workspace, &onto).await.map_err(failed)? {
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
