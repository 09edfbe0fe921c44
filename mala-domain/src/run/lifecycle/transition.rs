//! Applies an event to one piece of work.

use super::super::commits::{CommitProblem, issue_commits, prefix};
use super::super::issue::IssueId;
use super::super::outcome::{
    AfterCommands, AfterReview, ReviewedRange, TriggerReview, after_failed_commands, after_review,
    failed_commands_fail_issue,
};
use super::super::triggers::TriggerKind;
use super::schedule::{issue_done, spent_limit};
use super::state::RunState;
use super::work::{
    CodeOrder, CommandStage, FailedCommand, PromptKind, WorkKey, WorkOutcome, WorkProgress,
    WorkStep,
};
use super::{RunRules, WorkEvent, claim_holds};
use crate::config::FailureMode;
use crate::ports::{CoderEnd, WorkspaceState};

/// A merge is given up when the target branch moved this often.
const MAX_TARGET_MOVES: u32 = 10;

/// The transition of a piece of work.
enum Next {
    Step(WorkStep),
    Queue,
    Fail(String),
    Abort(String),
    Stay,
}

/// Applies an event to a work. Returns whether its step changed.
pub(super) fn apply(
    state: &mut RunState,
    rules: &RunRules,
    (key, at): (&WorkKey, i64),
    event: &WorkEvent,
) -> bool {
    let linked = state.linked_issue(key);
    let first = if matches!(key, WorkKey::Issue(_)) { WorkStep::Claim } else { WorkStep::Open };
    let work =
        state.works.entry(key.clone()).or_insert_with(|| Box::new(WorkProgress::new(first, at)));
    let before = work.cost_usd;
    let next = WorkContext { rules, key, linked, at }.next(work, event);
    state.cost_usd += work.cost_usd - before;
    let next = match (next, spent_limit(state.cost_usd, rules)) {
        (Next::Step(WorkStep::Code(_)), Some(limit)) => Next::Fail(limit),
        (next, _) => next,
    };
    match next {
        Next::Stay => return false,
        Next::Step(step) => work.step = step,
        Next::Queue => {
            state.n_queued += 1;
            work.step = WorkStep::Queued(state.n_queued);
            work.waits = work.waits.take().or_else(|| work.held_reason());
        }
        Next::Fail(reason) => fail(work, key, reason),
        Next::Abort(reason) => {
            fail(work, key, reason.clone());
            state.aborted = Some((key.clone(), reason));
        }
    }
    after(state, rules, (key, at), event);
    if let Some(work) = state.works.get_mut(key).filter(|work| !work.is_active()) {
        work.forget_details();
    }
    true
}

fn fail(work: &mut WorkProgress, key: &WorkKey, reason: String) {
    let is_claimed = work.workspace.is_some() || work.step != WorkStep::Claim;
    work.outcome = Some(WorkOutcome::Failed(reason));
    work.step = match key {
        WorkKey::Issue(_) if !is_claimed => WorkStep::Done,
        WorkKey::Issue(_) => WorkStep::Release,
        WorkKey::Trigger(_) => WorkStep::Remove,
    };
}

/// Applies the event to the run as a whole.
fn after(state: &mut RunState, rules: &RunRules, (key, at): (&WorkKey, i64), event: &WorkEvent) {
    match (key, event) {
        (WorkKey::Issue(id), WorkEvent::Closed) => {
            state.close(id);
            state.is_stale = true;
            issue_done(state, rules, id, at);
        }
        (_, WorkEvent::Merged) => {
            let merged = state.works.get(key).and_then(|work| work.range.clone());
            state.tip = merged.map_or(String::new(), |(_, head)| head);
        }
        (WorkKey::Issue(_), WorkEvent::Withdrawn(_)) => state.is_stale = true,
        (WorkKey::Trigger(fire), WorkEvent::Removed(_)) if fire.kind == TriggerKind::RunEnd => {
            let work = state.works.get(key).filter(|work| work.is_accepted());
            let reviewed = |work: &WorkProgress| work.reviewed.as_ref().map(|it| it.head.clone());
            let head = work.map(|work| reviewed(work).unwrap_or_else(|| state.tip.clone()));
            state.accepted_tip = head.or(state.accepted_tip.take());
        }
        (_, WorkEvent::Filed { issues, summary, closed }) => {
            state.filed.extend(issues.iter().cloned());
            closed.iter().for_each(|id| state.close(id));
            if let Some(summary) = summary {
                state.filed.insert(summary.clone());
                state.summary_issue = Some(summary.clone());
            }
        }
        _ => {}
    }
}

struct WorkContext<'r> {
    rules: &'r RunRules,
    key: &'r WorkKey,
    linked: Option<IssueId>,
    at: i64,
}

impl WorkContext<'_> {
    fn is_issue(&self) -> bool {
        matches!(self.key, WorkKey::Issue(_))
    }

    fn next(&self, work: &mut WorkProgress, event: &WorkEvent) -> Next {
        match event {
            WorkEvent::Claimed(issue) => match claim_holds(issue, &self.rules.owner) {
                true => {
                    work.claimed_at = self.at;
                    Next::Step(WorkStep::Open)
                }
                false => {
                    let owner = issue.assignee.as_deref().unwrap_or("another worker");
                    let reason = format!("the claim does not hold: it belongs to {owner}");
                    work.outcome = Some(WorkOutcome::Skipped(reason));
                    Next::Step(WorkStep::Done)
                }
            },
            WorkEvent::Opened(workspace) => {
                work.workspace = Some(workspace.clone());
                match self.is_issue() {
                    true => Next::Step(code(PromptKind::Start, false, None)),
                    false => self.run_commands(work),
                }
            }
            WorkEvent::CoderEnded { .. } => self.coder_ended(work, event),
            WorkEvent::CommandsEnded(failed) => self.commands_ended(work, failed),
            WorkEvent::ReviewStarted => {
                work.n_reviews += 1;
                Next::Stay
            }
            WorkEvent::ReviewEnded(reviewed) => self.review_ended(work, reviewed),
            WorkEvent::Filed { issues, closed, .. } => {
                let new = issues.iter().filter(|id| !work.filed.contains(id)).cloned();
                work.filed.extend(new.collect::<Vec<_>>());
                work.filed.retain(|id| !closed.contains(id));
                match work.step.clone() {
                    WorkStep::File(after) => self.go_on(work, after),
                    _ => Next::Stay,
                }
            }
            WorkEvent::Failed(reason) => self.step_failed(work, reason),
            _ => self.merging(work, event),
        }
    }

    /// A step could not be performed. Nothing that is merged is undone by it.
    fn step_failed(&self, work: &mut WorkProgress, reason: &str) -> Next {
        match work.step {
            WorkStep::Close => {
                work.warnings.push(format!("merged, but not closed: {reason}"));
                work.outcome = Some(WorkOutcome::Succeeded);
                Next::Step(WorkStep::Remove)
            }
            WorkStep::Release => {
                work.warnings.push(format!("not released: {reason}"));
                Next::Step(WorkStep::Remove)
            }
            WorkStep::Remove => {
                work.warnings.push(format!("its workspace could not be removed: {reason}"));
                Next::Step(WorkStep::Done)
            }
            _ => Next::Fail(reason.to_owned()),
        }
    }

    fn coder_ended(&self, work: &mut WorkProgress, event: &WorkEvent) -> Next {
        let WorkEvent::CoderEnded {
            session,
            end,
            message,
            cost_usd,
            state,
            is_changed,
            config_problem,
            outside,
            foreign_moves,
        } = event
        else {
            return Next::Stay;
        };
        let WorkStep::Code(order) = work.step.clone() else { return Next::Stay };
        work.session = session.clone().or(work.session.take());
        work.cost_usd += cost_usd.unwrap_or_default();
        if !outside.is_empty() {
            let what = "changed during its session, outside of its worktree:";
            work.warnings.push(format!("{what} {}", outside.join(", ")));
        }
        if !foreign_moves.is_empty() {
            work.held = Some("the target branch moved during its session, not by mala");
            work.foreign_moves.extend(foreign_moves.iter().cloned());
        }
        self.check_cost(work, *cost_usd, end);
        if !message.trim().is_empty() {
            work.messages.push(message.clone());
        }
        match end {
            CoderEnd::Finished => {}
            CoderEnd::Failed(why) => return Next::Fail(format!("the coder failed: {why}")),
            CoderEnd::TimedOut => return Next::Fail("the coder took too long".to_owned()),
            CoderEnd::Unavailable(why) => {
                return Next::Fail(format!("the coder cannot be started: {why}"));
            }
            CoderEnd::Idle if work.idle_resumes < self.rules.idle_resumes => {
                work.idle_resumes += 1;
                return Next::Step(code(PromptKind::Idle, work.session.is_some(), order.since));
            }
            CoderEnd::Idle => return Next::Fail("the coder hung".to_owned()),
        }
        if self.rules.issue_cost_usd.is_some_and(|max| work.cost_usd > max) {
            return Next::Fail(format!("its cost is over the limit: ${:.2}", work.cost_usd));
        }
        let Some(state) = state else {
            return Next::Fail("its workspace does not exist any more".to_owned());
        };
        if order.since.is_some() && !is_changed {
            return Next::Fail("no progress: the coder changed nothing".to_owned());
        }
        self.check_commits(work, (state, config_problem.as_deref()), &order)
    }

    /// Warns once if a limit cannot be enforced.
    fn check_cost(&self, work: &mut WorkProgress, cost_usd: Option<f64>, end: &CoderEnd) {
        let is_limited = self.rules.max_cost_usd.or(self.rules.issue_cost_usd).is_some();
        let has_run = !matches!(end, CoderEnd::Unavailable(_));
        let warning = "its coder reports no cost: `max_cost_usd` does not count it";
        let is_known = work.warnings.iter().any(|it| it == warning);
        if is_limited && has_run && cost_usd.is_none() && !is_known {
            work.warnings.push(warning.to_owned());
        }
    }

    fn check_commits(
        &self,
        work: &mut WorkProgress,
        (state, config_problem): (&WorkspaceState, Option<&str>),
        order: &CodeOrder,
    ) -> Next {
        let prefix = self.prefix();
        if let PromptKind::Conflict { onto, .. } = &order.prompt
            && let Some(workspace) = &mut work.workspace
        {
            workspace.base.clone_from(onto);
            if state.is_rewritten {
                return Next::Fail(
                    "the conflict with the target branch is not resolved".to_owned(),
                );
            }
        }
        let commits = match (issue_commits(state, &prefix, work.claimed_at), config_problem) {
            (Ok(_), Some(problem)) => Err(CommitProblem::InvalidConfig(problem.to_owned())),
            (commits, _) => commits,
        };
        match commits {
            Ok(commits) => {
                work.range = Some((commits.base, commits.head));
                let fixer = self.rules.trigger(TriggerKind::SessionEnd);
                match self.is_issue() {
                    true => self.run_commands(work),
                    false if fixer.commands.is_empty() => Next::Queue,
                    false => Next::Step(WorkStep::Commands(CommandStage::Fixer)),
                }
            }
            Err(problem) if problem.is_correctable() && work.corrections == 0 => {
                work.corrections += 1;
                let prompt = PromptKind::Commits(problem.to_string());
                Next::Step(code(prompt, work.session.is_some(), None))
            }
            Err(problem) => Next::Fail(problem.to_string()),
        }
    }

    /// The prefix of its commit subjects.
    fn prefix(&self) -> String {
        let run = IssueId::new("run");
        prefix(&self.rules.commit_prefix, self.linked.as_ref().unwrap_or(&run))
    }

    fn run_commands(&self, work: &mut WorkProgress) -> Next {
        work.failed_commands.clear();
        match self.rules.trigger(self.key.trigger()).commands.is_empty() {
            true => self.start_review(work),
            false => Next::Step(WorkStep::Commands(CommandStage::Trigger)),
        }
    }

    fn commands_ended(&self, work: &mut WorkProgress, failed: &[FailedCommand]) -> Next {
        let WorkStep::Commands(stage) = work.step else { return Next::Stay };
        work.failed_commands = failed.to_vec();
        if failed.is_empty() {
            return match (stage, &work.workspace, &work.range) {
                (CommandStage::Trigger, ..) => self.start_review(work),
                (CommandStage::Fixer, ..) => Next::Queue,
                (CommandStage::AfterRebase, Some(workspace), Some((_, head))) => {
                    advance(&workspace.base, head)
                }
                (CommandStage::AfterRebase, ..) => Next::Fail("nothing to merge".to_owned()),
            };
        }
        let reason = failed_reason(failed);
        let trigger = match stage {
            CommandStage::Trigger => self.rules.trigger(self.key.trigger()),
            _ => &self.rules.triggers.session_end,
        };
        let mode = trigger.failure_mode;
        match (stage, after_failed_commands(mode, trigger.max_retries, work.command_fixes)) {
            (_, AfterCommands::Abort) => Next::Abort(reason),
            (CommandStage::Trigger, AfterCommands::Fix) => {
                work.command_fixes += 1;
                self.fix(work, PromptKind::Commands)
            }
            (CommandStage::Trigger, AfterCommands::Review) => self.start_review(work),
            (_, _) if mode != FailureMode::Continue => Next::Fail(reason),
            (CommandStage::Fixer, _) => Next::Queue,
            (CommandStage::AfterRebase, _) => match (&work.workspace, &work.range) {
                (Some(workspace), Some((_, head))) => advance(&workspace.base, head),
                _ => Next::Fail("nothing to merge".to_owned()),
            },
        }
    }

    /// Starts a fix: in the session of an issue, else in a new session.
    fn fix(&self, work: &mut WorkProgress, prompt: PromptKind) -> Next {
        work.fixing = Some(prompt.clone());
        let head = work.range.as_ref().map(|(_, head)| head.clone());
        let base = work.workspace.as_ref().map(|workspace| workspace.base.clone());
        let since = if self.is_issue() { head } else { base };
        Next::Step(code(prompt, self.is_issue() && work.session.is_some(), since))
    }

    fn start_review(&self, work: &mut WorkProgress) -> Next {
        match self.rules.trigger(self.key.trigger()).review {
            Some(_) => Next::Step(WorkStep::Review),
            None => self.accept(work),
        }
    }

    fn review_ended(&self, work: &mut WorkProgress, reviewed: &ReviewedRange) -> Next {
        let trigger = self.rules.trigger(self.key.trigger());
        work.cost_usd += reviewed.cost_usd.unwrap_or_default();
        work.reviewed = Some(reviewed.clone());
        // A log may have a review that the configuration does not ask for any more: it was done all the same.
        let Some(settings) = &trigger.review else { return Next::Stay };
        let after = after_review(settings, trigger.fails_closed, work.used, &reviewed.review);
        if let TriggerReview::ExecutionError { message, .. } = &reviewed.review {
            work.not_reviewed = Some(message.clone());
        }
        if let TriggerReview::Completed(findings) = &reviewed.review {
            work.not_reviewed = None;
            let still = |old: &&crate::finding::Finding| {
                findings.iter().any(|finding| finding.dedupe_key == old.dedupe_key)
            };
            work.n_fixed += work.findings.iter().filter(|old| !still(old)).count();
            work.findings.clone_from(findings);
            work.n_findings = findings.len();
            return match findings.is_empty() && work.filed.is_empty() {
                true => self.go_on(work, after),
                false => Next::Step(WorkStep::File(after)),
            };
        }
        self.go_on(work, after)
    }

    fn go_on(&self, work: &mut WorkProgress, after: AfterReview) -> Next {
        match after {
            AfterReview::Accept => self.accept(work),
            AfterReview::AcceptNotReviewed(reason) => {
                work.not_reviewed = Some(reason);
                self.accept(work)
            }
            AfterReview::Repeat => {
                work.used.reviews += 1;
                Next::Step(WorkStep::Review)
            }
            AfterReview::Fix => {
                work.used.fixes += 1;
                self.fix(work, PromptKind::Findings)
            }
            AfterReview::Fail(reason) => Next::Fail(reason),
            AfterReview::Abort(reason) => Next::Abort(reason),
        }
    }

    fn accept(&self, work: &mut WorkProgress) -> Next {
        let trigger = self.rules.trigger(self.key.trigger());
        if !self.is_issue() {
            work.outcome = Some(WorkOutcome::Succeeded);
            return Next::Step(WorkStep::Remove);
        }
        match failed_commands_fail_issue(trigger.failure_mode, trigger.max_retries) {
            true if !work.failed_commands.is_empty() => {
                Next::Fail(failed_reason(&work.failed_commands))
            }
            _ => Next::Queue,
        }
    }

    fn merging(&self, work: &mut WorkProgress, event: &WorkEvent) -> Next {
        match event {
            WorkEvent::Rebased { workspace, head, is_moved } => {
                work.workspace = Some(workspace.clone());
                work.range = Some((workspace.base.clone(), head.clone()));
                match *is_moved && !self.rules.triggers.session_end.commands.is_empty() {
                    true => Next::Step(WorkStep::Commands(CommandStage::AfterRebase)),
                    false => advance(&workspace.base, head),
                }
            }
            WorkEvent::Conflict { files, onto } if work.conflicts == 0 => {
                work.conflicts += 1;
                let prompt = PromptKind::Conflict { onto: onto.clone(), files: files.clone() };
                let since = work.range.as_ref().map(|(_, head)| head.clone());
                Next::Step(code(prompt, work.session.is_some(), since))
            }
            WorkEvent::Conflict { files, .. } => {
                Next::Fail(format!("conflicts with the target branch: {}", files.join(", ")))
            }
            WorkEvent::TargetMoved if work.target_moves < MAX_TARGET_MOVES => {
                work.target_moves += 1;
                Next::Step(WorkStep::Rebase)
            }
            WorkEvent::TargetMoved => Next::Fail("the target branch keeps moving".to_owned()),
            WorkEvent::Merged => self.merged(work),
            WorkEvent::MergeWaits(reason) => {
                work.waits = Some(reason.clone());
                Next::Queue
            }
            WorkEvent::Withdrawn(reason) => {
                work.outcome = Some(WorkOutcome::Skipped(reason.clone()));
                Next::Step(WorkStep::Remove)
            }
            WorkEvent::Closed => {
                work.outcome = Some(WorkOutcome::Succeeded);
                Next::Step(WorkStep::Remove)
            }
            WorkEvent::Released => Next::Step(WorkStep::Remove),
            WorkEvent::Removed(branch) => {
                work.branch.clone_from(branch);
                Next::Step(WorkStep::Done)
            }
            _ => Next::Stay,
        }
    }

    fn merged(&self, work: &mut WorkProgress) -> Next {
        work.is_merged = true;
        if self.is_issue() {
            return Next::Step(WorkStep::Close);
        }
        if let (Some(workspace), Some((_, head))) = (&mut work.workspace, &work.range) {
            workspace.base.clone_from(head);
        }
        match work.fixing {
            Some(PromptKind::Commands) => self.run_commands(work),
            _ => Next::Step(WorkStep::Review),
        }
    }
}

fn failed_reason(failed: &[FailedCommand]) -> String {
    let words: Vec<String> =
        failed.iter().map(|it| format!("{} ({})", it.name, it.reason)).collect();
    format!("failed commands: {}", words.join(", "))
}

fn code(prompt: PromptKind, resume: bool, since: Option<String>) -> WorkStep {
    WorkStep::Code(CodeOrder { prompt, resume, since })
}

fn advance(from: &str, to: &str) -> Next {
    Next::Step(WorkStep::Advance { from: from.to_owned(), to: to.to_owned() })
}
