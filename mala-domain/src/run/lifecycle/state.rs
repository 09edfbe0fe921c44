//! The state of a run.

use super::super::issue::{IssueId, IssueKind, IssueStatus, TrackerIssue};
use super::super::triggers::is_complete;
use super::work::{TriggerFire, WorkKey, WorkOutcome, WorkProgress, WorkStep};
use std::collections::{BTreeMap, BTreeSet};

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
    /// All pieces of work. Boxed, because a map has room for more entries than it contains.
    pub works: BTreeMap<WorkKey, Box<WorkProgress>>,
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
