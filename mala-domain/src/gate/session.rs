//! A session: one change, one panel, one decision. `spawn-code-review`, the supervisor and `wait` share
//! these files.

use super::canary::CanaryPlan;
use super::lane::Lane;
use crate::change::FilePath;
use crate::config::{BudgetSettings, ConfigOrigin, ReviewPolicy};
use crate::finding::Finding;
use crate::ledger::rounds::RoundPolicy;
use crate::report::Report;
use crate::review::consensus::{ConsensusRule, Decision, VoteStatus, by_rule};
use crate::scope::{ReviewTarget, ScopeSummary};
use crate::verdict::{NotReviewedReason, Outcome, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The description of a session: written once, before its lanes start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// The version of this file.
    pub schema_version: u32,
    /// Its key.
    pub key: String,
    /// The signature of the clone that wrote it.
    #[serde(rename = "stamp", default)]
    pub signature: String,
    /// When it was started.
    pub created: String,
    /// The change under review.
    pub scope: ScopeSummary,
    /// The same change by its commits, so that moved branches do not alter it.
    pub pinned: PinnedChange,
    /// The files that the settings exclude from it.
    #[serde(rename = "left_out", default)]
    pub excluded: ExcludedFiles,
    /// The folder with the temporary copies of the repository.
    pub scratch: String,
    /// The secret that the nonces of its prompts are made from.
    pub secret: String,
    /// How many reviewers must pass the change.
    pub rule: ConsensusRule,
    /// The time limit of a lane, in seconds.
    pub timeout_seconds: u64,
    /// The reasoning effort of codex.
    pub reasoning: String,
    /// The reviewers of the panel.
    #[serde(rename = "seats")]
    pub members: Vec<PanelMember>,
    /// Texts about the task: name and content.
    pub tasks: Vec<(String, String)>,
    /// Warnings that are shown with the result.
    pub warnings: Vec<String>,
    /// Settings of the agent that checks findings no other lane could check; `None` if it is off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checker: Option<CheckerSettings>,
    /// The settings of the agent, if it is on the panel.
    #[serde(default)]
    pub agent: CheckerSettings,
    /// How rounds are reviewed.
    #[serde(default)]
    pub rounds: RoundPolicy,
    /// The schedule of canaries; `None` without canaries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canaries: Option<CanaryPlan>,
    /// Whether a hook started it: it is never taken for the most recent session of a person.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_of_hook: bool,
}

/// Files that the trusted settings exclude from a review.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExcludedFiles {
    /// The patterns of `review.ignore`.
    pub ignore: Vec<String>,
    /// The patterns of `review.generated`.
    pub generated: Vec<String>,
}

/// The model and the budget of the agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckerSettings {
    /// The model; `None` for the default.
    pub model: Option<String>,
    /// Its budget.
    pub budget: BudgetSettings,
}

impl CheckerSettings {
    /// The settings of the agent in this policy.
    pub fn of(policy: &ReviewPolicy) -> Self {
        let model = &policy.agent_model;
        Self {
            model: (model.origin != ConfigOrigin::Default).then(|| model.value.clone()),
            budget: policy.budget.as_written(),
        }
    }
}

impl ExcludedFiles {
    /// The files that this policy excludes.
    pub fn of(policy: &ReviewPolicy) -> Self {
        Self { ignore: policy.ignore.value.clone(), generated: policy.generated.value.clone() }
    }
}

impl Session {
    /// Whether the change has no files to review.
    pub fn has_nothing_to_review(&self) -> bool {
        self.scope.files == 0
    }
}

/// A reviewer of a panel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PanelMember {
    /// How to run it.
    pub lane: Lane,
    /// Why it cannot be used; `None` if it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absent: Option<String>,
}

/// A change, by the full ids of its commits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PinnedChange {
    /// The difference between two commits.
    Range {
        /// The commit before the change.
        base: String,
        /// The commit after the change.
        head: String,
        /// Submodules with uncommitted changes, which no commit of this repository shows.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        dirty: Vec<FilePath>,
    },
    /// These commits, each against its first parent.
    Commits(Vec<String>),
}

impl PinnedChange {
    /// The change as a target of a review.
    pub fn target(&self) -> ReviewTarget {
        match self {
            Self::Range { base, head, .. } => {
                ReviewTarget::Range { base: base.clone(), head: head.clone() }
            }
            Self::Commits(commits) => ReviewTarget::Commits(commits.clone()),
        }
    }
}

/// The progress of a session: written by the supervisor whenever it changes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionProgress {
    /// The current phase.
    pub phase: SessionPhase,
    /// The lanes that were started.
    pub started: Vec<String>,
    /// The lanes that ended.
    pub ended: Vec<String>,
    /// When each lane was started, in milliseconds since 1970.
    #[serde(default)]
    pub started_at: BTreeMap<String, u64>,
    /// The answers of the lanes that ended.
    #[serde(default)]
    pub opinions: BTreeMap<String, LaneOpinion>,
}

/// The answer of a lane before its findings are checked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LaneOpinion {
    /// Its verdict; `None` if it gave no answer.
    pub verdict: Option<Verdict>,
    /// Its summary.
    pub summary: String,
    /// Its findings.
    pub findings: Vec<Finding>,
    /// Why it gave no answer.
    pub error: Option<String>,
    /// Why it has no vote.
    pub absence: Option<NotReviewedReason>,
}

impl SessionProgress {
    /// The decision that the lanes of a panel allow before all of them have answered; `None` if the rule can
    /// still pass.
    pub fn decision(&self, rule: ConsensusRule, members: &[PanelMember]) -> Option<Decision> {
        let vote = |member: &PanelMember| match self.opinions.get(&member.lane.name) {
            Some(LaneOpinion { verdict: Some(Verdict::Pass), .. }) => VoteStatus::Passes,
            Some(LaneOpinion { verdict: Some(verdict), .. }) => VoteStatus::Objects(*verdict),
            Some(opinion) => {
                VoteStatus::Absent(opinion.absence.unwrap_or(NotReviewedReason::Incomplete))
            }
            None if member.absent.is_some() => VoteStatus::Absent(NotReviewedReason::NoReviewers),
            None => VoteStatus::Absent(NotReviewedReason::TimedOut),
        };
        let votes: Vec<VoteStatus> = members.iter().map(vote).collect();
        let open = VoteStatus::Absent(NotReviewedReason::TimedOut);
        let n_open = votes.iter().filter(|vote| **vote == open).count();
        let decision = by_rule(rule, &votes);
        let can_pass = decision.passes + n_open >= decision.needed;
        (decision.outcome == Outcome::Blocked && !can_pass).then_some(decision)
    }
}

/// A phase of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionPhase {
    /// The supervisor prepares the trees and the prompt.
    #[default]
    Preparing,
    /// The lanes review.
    Reviewing,
    /// Blocking findings are checked.
    Checking,
    /// The result is written.
    Done,
}

impl SessionPhase {
    /// Its name in JSON and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Preparing => "preparing",
            Self::Reviewing => "reviewing",
            Self::Checking => "checking",
            Self::Done => "done",
        }
    }
}

/// The process of the supervisor, with its start time, because process ids are reused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// The process id.
    pub pid: u32,
    /// When that process started, as the system counts.
    pub started: u64,
}

/// The result of a session: written once, by the supervisor or by a cancellation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionResult {
    /// The version of this file.
    pub schema_version: u32,
    /// How the session ended.
    pub end: SessionEnd,
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionEnd {
    /// The review finished with this report.
    Reviewed(Box<Report>),
    /// It was cancelled.
    Cancelled,
    /// The supervisor failed, for this reason.
    Failed(String),
}

impl SessionEnd {
    /// The verdict of the panel; `None` without one.
    pub fn verdict(&self) -> Option<Verdict> {
        match self {
            Self::Reviewed(report) => report.consensus.verdict,
            Self::Cancelled | Self::Failed(_) => None,
        }
    }

    /// The outcome of the review.
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::Reviewed(report) => report.outcome,
            Self::Cancelled | Self::Failed(_) => {
                Outcome::CouldNotReview(NotReviewedReason::Internal)
            }
        }
    }
}

impl SessionResult {
    /// The result of a session that ended like this.
    pub fn new(end: SessionEnd) -> Self {
        Self { schema_version: super::SCHEMA_VERSION, end }
    }
}

/// The state of a session when the wait for it ends.
#[derive(Debug, Clone, PartialEq)]
pub enum SessionState {
    /// It ended.
    Ended(SessionEnd),
    /// It still ran after this many seconds.
    Running(u64),
    /// Its supervisor died before it ended.
    Dead,
    /// Its result cannot be read, for this reason.
    Unreadable(String),
    /// There is no such session, or it cannot be found.
    NotFound(String),
}

impl SessionState {
    /// The report, when there is one.
    pub fn report(&self) -> Option<&Report> {
        match self {
            Self::Ended(SessionEnd::Reviewed(report)) => Some(report),
            _ => None,
        }
    }

    /// The outcome of the review. Without a report, nothing was reviewed.
    pub fn outcome(&self) -> Outcome {
        match (self.report(), self) {
            (Some(report), _) => report.outcome,
            (None, Self::Running(_)) => Outcome::CouldNotReview(NotReviewedReason::TimedOut),
            (None, _) => Outcome::CouldNotReview(NotReviewedReason::Internal),
        }
    }

    /// Why there is no report.
    pub fn problem(&self) -> Option<String> {
        match self {
            Self::Ended(SessionEnd::Reviewed(_)) => None,
            Self::Ended(SessionEnd::Cancelled) => Some("the session was cancelled".to_owned()),
            Self::Ended(SessionEnd::Failed(why)) | Self::NotFound(why) => Some(why.clone()),
            Self::Running(seconds) => Some(format!("no result within {seconds} s")),
            Self::Dead => Some("the supervisor of the session died".to_owned()),
            Self::Unreadable(why) => {
                Some(format!("the result of the session cannot be read: {why}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_that_can_no_longer_pass_is_decided_before_its_end() {
        use ConsensusRule::{Any, Majority, Quorum, Unanimous};
        let members: Vec<PanelMember> = ["a", "b", "c"]
            .map(|name| PanelMember {
                lane: Lane { name: name.to_owned(), settings: Default::default() },
                absent: None,
            })
            .to_vec();
        // One letter per lane: passes, fails, needs work, error, `.` for no answer yet.
        for (rule, answers, expected) in [
            (Unanimous, "...", None),
            (Unanimous, "f..", Some(Verdict::Fail)),
            (Unanimous, "pn.", Some(Verdict::NeedsWork)),
            (Unanimous, "pp.", None),
            (Unanimous, "e..", None),
            (Unanimous, "ef.", Some(Verdict::Fail)),
            (Majority, "f..", None),
            (Majority, "ff.", Some(Verdict::Fail)),
            (Majority, "fe.", Some(Verdict::Fail)),
            (Any, "ff.", None),
            (Any, "fff", Some(Verdict::Fail)),
            (Quorum(3), "f..", Some(Verdict::Fail)),
        ] {
            let opinion = |letter: char| match letter {
                'p' => Some(Some(Verdict::Pass)),
                'f' => Some(Some(Verdict::Fail)),
                'n' => Some(Some(Verdict::NeedsWork)),
                'e' => Some(None),
                _ => None,
            };
            let opinions = members.iter().zip(answers.chars()).filter_map(|(member, letter)| {
                let verdict = opinion(letter)?;
                Some((member.lane.name.clone(), LaneOpinion { verdict, ..LaneOpinion::default() }))
            });
            let progress =
                SessionProgress { opinions: opinions.collect(), ..SessionProgress::default() };
            let decided = progress.decision(rule, &members).and_then(|it| it.verdict);
            assert_eq!(decided, expected, "{rule} {answers}");
        }
    }
}
