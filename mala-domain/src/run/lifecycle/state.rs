//! The state of a run.

use super::super::issue::{IssueId, IssueKind, IssueStatus, TrackerIssue};
use super::super::outcome::{AfterReview, RetriesUsed, ReviewedRange};
use super::super::triggers::{TriggerKind, is_complete};
use super::TargetMove;
use crate::finding::Finding;
use crate::ports::Workspace;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// A piece of work.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkKey {
    /// An issue.
    Issue(IssueId),
    /// A trigger that fired.
    Trigger(TriggerFire),
}

/// A trigger that fired.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TriggerFire {
    /// The trigger.
    pub kind: TriggerKind,
    /// The epic that is complete.
    #[serde(default)]
    pub epic: Option<IssueId>,
    /// Counts the fires of the run.
    pub number: u32,
}

impl WorkKey {
    /// The trigger whose commands and review apply.
    pub fn trigger(&self) -> TriggerKind {
        match self {
            Self::Issue(_) => TriggerKind::SessionEnd,
            Self::Trigger(fire) => fire.kind,
        }
    }

    /// A name of letters, digits, `.`, `_` and `-`, different for different keys: names that start with `trigger.`
    /// or `hash.` are never those of issues.
    pub fn workspace_name(&self) -> String {
        let (name, is_reserved) = match self {
            Self::Issue(id) => {
                let id = id.as_str();
                (id.to_owned(), id.starts_with("trigger.") || id.starts_with("hash."))
            }
            Self::Trigger(_) => (format!("trigger.{self}"), false),
        };
        let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let is_plain = !is_reserved
            && name.len() <= 60
            && name.chars().all(safe)
            && name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && !name.ends_with('.')
            && !name.contains("..")
            && !name.ends_with(".lock");
        if is_plain {
            return name;
        }
        let unique = format!("{} {name}", self.trigger());
        let hash: String =
            Sha256::digest(unique.as_bytes()).iter().take(6).map(|b| format!("{b:02x}")).collect();
        let start: String = name.chars().filter(|c| c.is_ascii_alphanumeric()).take(30).collect();
        format!("hash.{start}-{hash}")
    }
}

impl std::fmt::Display for WorkKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Issue(id) => write!(f, "{id}"),
            Self::Trigger(TriggerFire { kind, epic: Some(epic), .. }) => write!(f, "{kind}-{epic}"),
            Self::Trigger(TriggerFire { kind, number, .. }) => write!(f, "{kind}-{number}"),
        }
    }
}

/// The current step of a piece of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkStep {
    /// Claim the issue.
    Claim,
    /// Make its workspace.
    Open,
    /// Let a coder work.
    Code(CodeOrder),
    /// Run commands.
    Commands(CommandStage),
    /// Review.
    Review,
    /// File the findings; then go on like this.
    File(AfterReview),
    /// Wait for the merge queue, with this number.
    Queued(u32),
    /// Put the commits on top of the target branch.
    Rebase,
    /// Move the target branch.
    Advance {
        /// From this commit.
        from: String,
        /// To this one.
        to: String,
    },
    /// Close the issue.
    Close,
    /// Open the issue again.
    Release,
    /// Remove the workspace.
    Remove,
    /// Nothing more.
    Done,
}

/// A task for a coder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeOrder {
    /// The prompt.
    pub prompt: PromptKind,
    /// Whether to resume the session of the work; otherwise a new one starts.
    pub resume: bool,
    /// The head before the session, if the session must change something.
    pub since: Option<String>,
}

/// The kind of prompt for a coder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptKind {
    /// The issue.
    Start,
    /// To continue after it was idle.
    Idle,
    /// To fix failed commands.
    Commands,
    /// To fix findings.
    Findings,
    /// To put its commits on top of this commit, where these files conflict.
    Conflict {
        /// The commit.
        onto: String,
        /// The files.
        files: Vec<String>,
    },
    /// To correct its commits, for this reason.
    Commits(String),
}

/// The commands to run, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandStage {
    /// Those of the work's own trigger.
    Trigger,
    /// Those of `session_end`, after a fixer.
    Fixer,
    /// Those of `session_end`, after the target branch moved.
    AfterRebase,
}

/// A command that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedCommand {
    /// Its name.
    pub name: String,
    /// How it ended.
    pub reason: String,
    /// The last lines of its output.
    pub output: String,
}

/// The outcome of a piece of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkOutcome {
    /// An issue that is merged and closed, or a trigger without problems.
    Succeeded,
    /// It failed, for this reason.
    Failed(String),
    /// It was not worked on, for this reason.
    Skipped(String),
}

/// The progress of a piece of work.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkProgress {
    /// The current step.
    pub step: WorkStep,
    /// When it was claimed, or when it fired.
    pub claimed_at: i64,
    /// The workspace of its coder.
    pub workspace: Option<Workspace>,
    /// The coder's session.
    pub session: Option<String>,
    /// The commits that are reviewed: base and head.
    pub range: Option<(String, String)>,
    /// Retries that are used.
    pub used: RetriesUsed,
    /// Fixes of commands that are used.
    pub command_fixes: u32,
    /// Times that an idle coder was resumed.
    pub idle_resumes: u32,
    /// Number of times that the coder had to correct its commits.
    pub corrections: u32,
    /// Number of conflicts with the target branch.
    pub conflicts: u32,
    /// Times that the target branch moved during a merge.
    pub target_moves: u32,
    /// The purpose of the last fix.
    pub fixing: Option<PromptKind>,
    /// Findings of the last completed review.
    pub findings: Vec<Finding>,
    /// Commands that failed when they ran last.
    pub failed_commands: Vec<FailedCommand>,
    /// The last review.
    pub reviewed: Option<ReviewedRange>,
    /// Why it could not be reviewed.
    pub not_reviewed: Option<String>,
    /// The issues of its findings.
    pub filed: Vec<IssueId>,
    /// Number of reviews.
    pub n_reviews: u32,
    /// Number of findings that are not reported any more.
    pub n_fixed: usize,
    /// The final messages of its sessions.
    pub messages: Vec<String>,
    /// The cost.
    pub cost_usd: f64,
    /// Whether its commits are in the target branch.
    pub is_merged: bool,
    /// Why its commits cannot be merged at the moment; it stays in the queue.
    pub waits: Option<String>,
    /// Moves of the target branch during its sessions that mala did not make.
    pub foreign_moves: Vec<TargetMove>,
    /// Why a person must see the report of this run before it is merged.
    pub held: Option<&'static str>,
    /// The outcome.
    pub outcome: Option<WorkOutcome>,
    /// The branch with commits that were not merged.
    pub branch: Option<String>,
    /// Problems that did not stop it.
    pub warnings: Vec<String>,
}

impl WorkProgress {
    pub(super) fn new(step: WorkStep, at: i64) -> Self {
        Self {
            step,
            claimed_at: at,
            workspace: None,
            session: None,
            range: None,
            used: RetriesUsed::default(),
            command_fixes: 0,
            idle_resumes: 0,
            corrections: 0,
            conflicts: 0,
            target_moves: 0,
            fixing: None,
            findings: Vec::new(),
            failed_commands: Vec::new(),
            reviewed: None,
            not_reviewed: None,
            filed: Vec::new(),
            n_reviews: 0,
            n_fixed: 0,
            messages: Vec::new(),
            cost_usd: 0.0,
            is_merged: false,
            waits: None,
            foreign_moves: Vec::new(),
            held: None,
            outcome: None,
            branch: None,
            warnings: Vec::new(),
        }
    }

    /// Whether the last review accepted it.
    pub fn is_accepted(&self) -> bool {
        match &self.step {
            WorkStep::File(after) => *after == AfterReview::Accept,
            WorkStep::Queued(_) | WorkStep::Rebase => self.not_reviewed.is_none(),
            _ => self.outcome == Some(WorkOutcome::Succeeded) && self.not_reviewed.is_none(),
        }
    }

    /// Why it waits once it is in the merge queue.
    pub(super) fn held_reason(&self) -> Option<String> {
        let is_queued = matches!(self.step, WorkStep::Queued(_));
        self.held.filter(|_| is_queued).map(str::to_owned)
    }

    /// Whether it is not done yet.
    pub fn is_active(&self) -> bool {
        self.step != WorkStep::Done
    }

    /// Whether it can proceed now.
    pub(super) fn is_going_on(&self) -> bool {
        self.is_active() && self.waits.is_none()
    }
}

/// The facts at the start of a run, or when it is resumed.
pub(super) struct RunBeginning<'b> {
    pub(super) run_id: &'b str,
    pub(super) start_commit: &'b str,
    pub(super) tip: &'b str,
    pub(super) is_resumed: bool,
}

/// The state of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunState {
    /// The id of the run.
    pub run_id: String,
    /// The commit where it started.
    pub start_commit: String,
    /// When it started.
    pub started_at: i64,
    /// All issues that the run knows.
    pub issues: Vec<TrackerIssue>,
    /// All pieces of work.
    pub works: BTreeMap<WorkKey, WorkProgress>,
    /// Epics whose trigger fired.
    pub fired_epics: BTreeSet<IssueId>,
    /// Epics of issues that were worked on, in their order.
    pub epics: Vec<IssueId>,
    /// Issues that were filed for findings.
    pub filed: BTreeSet<IssueId>,
    /// The summary issue of the run.
    pub summary_issue: Option<IssueId>,
    /// Number of issues that are done.
    pub n_done: u32,
    /// Number of triggers that fired.
    pub n_fires: u32,
    /// Number of triggers that had fired when it ended by itself last.
    pub n_fires_before: u32,
    /// The last known commit of the target branch.
    pub tip: String,
    /// The commit that `run_end` accepted last.
    pub accepted_tip: Option<String>,
    /// Number of entries in the merge queue so far.
    pub n_queued: u32,
    /// Total cost.
    pub cost_usd: f64,
    /// Whether the tracker was read.
    pub is_read: bool,
    /// Whether the tracker may have more than is known.
    pub is_stale: bool,
    /// Whether nothing new is started.
    pub stopping: bool,
    /// The work that failed the run, with the reason.
    pub aborted: Option<(WorkKey, String)>,
    /// Whether the run ended.
    pub finished: bool,
    /// Triggers that fired since effects were computed last.
    pub(super) fired: Vec<WorkKey>,
}

impl RunState {
    pub(super) fn begin(&mut self, begins: &RunBeginning<'_>, at: i64) {
        if !begins.is_resumed {
            *self = Self::default();
        }
        if self.finished {
            self.cost_usd = 0.0;
            // The last run ended by itself: its failures are tried again.
            let is_kept = |work: &WorkProgress| {
                work.is_active() || work.outcome == Some(WorkOutcome::Succeeded)
            };
            self.works.retain(|_, work| is_kept(work));
            self.n_fires_before = self.n_fires;
        }
        self.works.values_mut().for_each(|work| work.held = None);
        self.run_id = begins.run_id.to_owned();
        self.start_commit = begins.start_commit.to_owned();
        self.tip = begins.tip.to_owned();
        self.started_at = at;
        self.stopping = false;
        self.aborted = None;
        self.finished = false;
        self.is_read = false;
    }

    pub(super) fn read(&mut self, issues: &[TrackerIssue]) {
        self.issues = issues.to_vec();
        self.is_read = true;
        self.is_stale = false;
        // The obstacles to a merge may be gone.
        self.works.values_mut().for_each(|work| work.waits = work.held_reason());
    }

    /// The state with which a run continues, given these issues and this target, before it performs
    /// anything.
    #[must_use]
    pub fn continued(mut self, issues: &[TrackerIssue], tip: &str) -> Self {
        let (run_id, start_commit) = (self.run_id.clone(), self.start_commit.clone());
        let (run_id, start_commit) = (run_id.as_str(), start_commit.as_str());
        let begins = RunBeginning { run_id, start_commit, tip, is_resumed: true };
        self.begin(&begins, self.started_at);
        self.read(issues);
        self.forget_reopened();
        self
    }

    /// Issues that the run does not start: those that it works on or is done with, and findings that it filed.
    pub fn taken(&self, work_on_findings: bool) -> BTreeSet<IssueId> {
        let works = self.works.keys().filter_map(|key| match key {
            WorkKey::Issue(id) => Some(id.clone()),
            WorkKey::Trigger(_) => None,
        });
        let filed = self.filed.iter().filter(|_| !work_on_findings).cloned();
        works.chain(filed).collect()
    }

    /// Adapts finished work to the tracker: an issue that was reopened is worked on again, and one
    /// that was merged and not closed is closed.
    pub(super) fn forget_reopened(&mut self) {
        let issues = std::mem::take(&mut self.issues);
        let status =
            |id: &IssueId| issues.iter().find(|issue| issue.id == *id).map(|issue| issue.status);
        self.works.retain(|key, work| match key {
            WorkKey::Issue(id) if work.outcome == Some(WorkOutcome::Succeeded) => {
                status(id) != Some(IssueStatus::Open)
            }
            _ => true,
        });
        for (key, work) in &mut self.works {
            let WorkKey::Issue(id) = key else { continue };
            let is_claimed = status(id) == Some(IssueStatus::InProgress);
            if is_claimed && work.is_merged && work.step == WorkStep::Done {
                work.step = WorkStep::Close;
            }
        }
        self.fired_epics.retain(|epic| is_complete(epic, &issues, &mut BTreeSet::new()));
        self.issues = issues;
    }

    /// Whether the step of this work needs an action.
    pub fn is_performed(&self, key: &WorkKey) -> bool {
        let step = self.works.get(key).map(|work| &work.step);
        step.is_some_and(|step| !matches!(step, WorkStep::Queued(_) | WorkStep::Done))
    }

    pub(super) fn close(&mut self, id: &IssueId) {
        for issue in self.issues.iter_mut().filter(|issue| issue.id == *id) {
            issue.status = IssueStatus::Closed;
        }
    }

    /// The issue with this id.
    pub fn issue(&self, id: &IssueId) -> Option<&TrackerIssue> {
        self.issues.iter().find(|issue| issue.id == *id)
    }

    /// The issue or epic that findings of this work are linked to, and whose prefix fixers use;
    /// `None` where a summary issue is needed.
    pub fn linked_issue(&self, key: &WorkKey) -> Option<IssueId> {
        match key {
            WorkKey::Issue(id) => Some(id.clone()),
            WorkKey::Trigger(TriggerFire { epic: Some(epic), .. }) => Some(epic.clone()),
            WorkKey::Trigger(_) => self.epics.first().or(self.summary_issue.as_ref()).cloned(),
        }
    }

    pub(super) fn note_epic(&mut self, id: &IssueId) {
        let parent = self.issue(id).and_then(|issue| issue.parent.clone());
        let is_epic = |id: &IssueId| self.issue(id).is_some_and(|it| it.kind == IssueKind::Epic);
        if let Some(epic) = parent.filter(|epic| is_epic(epic) && !self.epics.contains(epic)) {
            self.epics.push(epic);
        }
    }

    /// Numbers of issues that succeeded and that failed.
    pub fn counts(&self) -> (usize, usize) {
        let outcome = |wanted: fn(&WorkOutcome) -> bool| {
            let issues = self.works.iter().filter(|(key, _)| matches!(key, WorkKey::Issue(_)));
            issues.filter(|(_, work)| work.outcome.as_ref().is_some_and(wanted)).count()
        };
        (
            outcome(|it| *it == WorkOutcome::Succeeded),
            outcome(|it| matches!(it, WorkOutcome::Failed(_))),
        )
    }
}
