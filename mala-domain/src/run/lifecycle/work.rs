//! A piece of work: its key, its current step and its progress.

use super::super::issue::IssueId;
use super::super::outcome::{AfterReview, RetriesUsed, ReviewedRange};
use super::super::triggers::TriggerKind;
use super::TargetMove;
use crate::finding::Finding;
use crate::ports::Workspace;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

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
    /// Findings of the last completed review, until it is done.
    pub findings: Vec<Finding>,
    /// Number of findings of the last completed review.
    pub n_findings: usize,
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
            n_findings: 0,
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

    /// Keeps of finished work only what the report needs, and the commit with which a merged issue is closed. The log
    /// has the rest.
    pub(super) fn forget_details(&mut self) {
        (self.workspace, self.session, self.fixing) = (None, None, None);
        (self.messages, self.findings) = (Vec::new(), Vec::new());
        if let Some(reviewed) = &mut self.reviewed {
            reviewed.forget_details();
        }
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
