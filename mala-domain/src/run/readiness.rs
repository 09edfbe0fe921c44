//! Computes which issues can be worked on, from the dependency edges. A tracker's own list of ready
//! issues may contain epics and hide deadlocks.

use super::issue::{IssueId, IssueKind, IssueStatus, TrackerIssue};
use super::triggers::is_complete;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The issues that a run works on. Both empty: all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssueSelection {
    /// These issues.
    pub issues: Vec<IssueId>,
    /// The issues of this epic, at any depth.
    pub epic: Option<IssueId>,
}

/// The issues that can be worked on, and those that cannot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Readiness {
    /// Issues that can be started, the most urgent first.
    pub ready: Vec<IssueId>,
    /// Issues that wait, each with the open issues that it waits for.
    pub waiting: Vec<(IssueId, Vec<IssueId>)>,
    /// Groups of issues that wait for each other.
    pub deadlocks: Vec<Vec<IssueId>>,
    /// Named issues that cannot be worked on, with the reason.
    pub unusable: Vec<(IssueId, String)>,
}

/// Computes which issues can be worked on. Issues in `taken` are in work or done in this run.
/// Issues that `owner` claimed in an interrupted run can be worked on again, because only one run
/// at a time uses this name.
pub fn readiness(
    issues: &[TrackerIssue],
    selection: &IssueSelection,
    taken: &BTreeSet<IssueId>,
    owner: &str,
) -> Readiness {
    let is_own = |issue: &TrackerIssue| {
        issue.status == IssueStatus::InProgress && issue.assignee.as_deref() == Some(owner)
    };
    let can_start = |issue: &TrackerIssue| issue.status == IssueStatus::Open || is_own(issue);
    let graph = IssueGraph::new(issues);
    let mut result = Readiness { deadlocks: graph.deadlocks(), ..Readiness::default() };
    let mut candidates: Vec<&TrackerIssue> = issues
        .iter()
        .filter(|issue| graph.is_selected(issue, selection) && !taken.contains(&issue.id))
        .filter(|issue| issue.kind == IssueKind::Work && can_start(issue))
        .collect();
    candidates.sort_by_key(|issue| issue.priority);
    for issue in candidates {
        let open = graph.waits_for(issue);
        match open.is_empty() {
            true => result.ready.push(issue.id.clone()),
            false => result.waiting.push((issue.id.clone(), open)),
        }
    }
    for id in selection.issues.iter().filter(|id| !taken.contains(id)) {
        let reason = match graph.by_id.get(id) {
            None => "the tracker has no such issue",
            Some(issue) if issue.kind == IssueKind::Epic => {
                "it is an epic: use --epic to work on its issues"
            }
            Some(issue) if can_start(issue) => continue,
            Some(issue) => match issue.status {
                IssueStatus::Open => continue,
                IssueStatus::InProgress => "it is claimed already",
                IssueStatus::Blocked => "it is set aside in the tracker",
                IssueStatus::Closed => "it is closed",
            },
        };
        result.unusable.push((id.clone(), reason.to_owned()));
    }
    result
}

/// Why a selection is invalid: an unknown issue, an epic where an issue is expected, or the
/// reverse.
pub fn unknown_name(selection: &IssueSelection, issues: &[TrackerIssue]) -> Option<String> {
    let kind = |id: &IssueId| issues.iter().find(|issue| issue.id == *id).map(|issue| issue.kind);
    let issue = selection.issues.iter().find_map(|id| match kind(id) {
        None => Some(format!("the tracker has no issue `{id}`")),
        Some(IssueKind::Epic) => {
            Some(format!("`{id}` is an epic: use --epic to work on its issues"))
        }
        Some(IssueKind::Work) => None,
    });
    let epic = || {
        let id = selection.epic.as_ref()?;
        match kind(id) {
            None => Some(format!("the tracker has no epic `{id}`")),
            Some(IssueKind::Epic) => None,
            Some(IssueKind::Work) => Some(format!("`{id}` is not an epic")),
        }
    };
    issue.or_else(epic)
}

struct IssueGraph<'i> {
    issues: &'i [TrackerIssue],
    by_id: BTreeMap<&'i IssueId, &'i TrackerIssue>,
}

impl<'i> IssueGraph<'i> {
    fn new(issues: &'i [TrackerIssue]) -> Self {
        Self { issues, by_id: issues.iter().map(|issue| (&issue.id, issue)).collect() }
    }

    fn is_selected(&self, issue: &TrackerIssue, selection: &IssueSelection) -> bool {
        let named = !selection.issues.is_empty() && selection.issues.contains(&issue.id);
        let everything = selection.issues.is_empty() && selection.epic.is_none();
        let in_epic = selection.epic.as_ref().is_some_and(|epic| self.is_inside(issue, epic));
        named || everything || in_epic
    }

    fn is_inside(&self, issue: &TrackerIssue, epic: &IssueId) -> bool {
        let mut seen = BTreeSet::new();
        let mut next = issue.parent.as_ref();
        while let Some(parent) = next.filter(|parent| seen.insert(*parent)) {
            if parent == epic {
                return true;
            }
            next = self.by_id.get(parent).and_then(|issue| issue.parent.as_ref());
        }
        false
    }

    /// The issues that must be done first. One that the tracker does not list is not done.
    fn waits_for(&self, issue: &TrackerIssue) -> Vec<IssueId> {
        let is_done = |id: &&IssueId| {
            self.by_id.get(id).is_some_and(|blocker| {
                blocker.status == IssueStatus::Closed
                    || blocker.kind == IssueKind::Epic
                        && is_complete(&blocker.id, self.issues, &mut BTreeSet::new())
            })
        };
        issue.blocked_by.iter().filter(|id| !is_done(id)).cloned().collect()
    }

    /// Groups of open issues that wait for each other. An epic waits for its issues.
    fn deadlocks(&self) -> Vec<Vec<IssueId>> {
        let open: BTreeMap<&IssueId, Vec<&IssueId>> = self
            .issues
            .iter()
            .filter(|issue| issue.status != IssueStatus::Closed)
            .map(|issue| (&issue.id, self.edges(issue)))
            .collect();
        let mut grouped: BTreeSet<&IssueId> = BTreeSet::new();
        let mut groups = Vec::new();
        for start in open.keys() {
            if grouped.contains(*start) {
                continue;
            }
            let after = reachable(start, &open);
            let group: Vec<&IssueId> = after
                .iter()
                .copied()
                .filter(|other| reachable(other, &open).contains(*start))
                .collect();
            if !group.is_empty() {
                grouped.extend(group.iter().copied());
                groups.push(group.into_iter().cloned().collect());
            }
        }
        groups
    }

    fn edges(&self, issue: &'i TrackerIssue) -> Vec<&'i IssueId> {
        let is_epic = issue.kind == IssueKind::Epic;
        let children =
            self.issues.iter().filter(|child| is_epic && child.parent.as_ref() == Some(&issue.id));
        issue.blocked_by.iter().chain(children.map(|child| &child.id)).collect()
    }
}

/// All issues that an issue waits for, directly or indirectly. Contains the issue itself only if it
/// is in a cycle.
fn reachable<'i>(
    start: &IssueId,
    open: &BTreeMap<&'i IssueId, Vec<&'i IssueId>>,
) -> BTreeSet<&'i IssueId> {
    let mut found = BTreeSet::new();
    let mut next: Vec<&IssueId> = open.get(start).into_iter().flatten().copied().collect();
    while let Some(id) = next.pop() {
        if open.contains_key(id) && found.insert(id) {
            next.extend(open.get(id).into_iter().flatten().copied());
        }
    }
    found
}

#[cfg(test)]
mod tests;
