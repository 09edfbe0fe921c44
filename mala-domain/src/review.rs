//! The types and decisions of the review stages: plan, context, opinions, admission, suppression,
//! verification, coverage, decision.

pub mod admit;
pub mod consensus;
mod context;
mod coverage;
pub mod decide;
pub mod edit;
pub mod merge;
mod opinion;
pub mod policy;
pub mod suppress;
#[cfg(test)]
mod tests;
pub mod verify;

pub use context::{CodeSurroundings, DerivedFiles, FileTexts, ReviewContext};
pub use coverage::{Coverage, FileCoverage, SkipReason, SkippedFile, counted};
pub use opinion::{GateMember, Opinion, Opinions, ProcessRun, ReviewerOpinion, Usage};

use self::decide::DecisionPolicy;
use self::suppress::SuppressionPolicy;
use crate::config::PathGlobs;
use std::time::Duration;

/// How to review a change.
pub struct ReviewPlan {
    /// Files that are not reviewed.
    pub ignore: PathGlobs,
    /// More files that tools make.
    pub generated: PathGlobs,
    /// Texts about the task: name and content.
    pub tasks: Vec<(String, String)>,
    /// Which inline comments suppress findings.
    pub suppressions: SuppressionPolicy,
    /// The policy of the decision.
    pub policy: DecisionPolicy,
    /// The time limit of the reviewers.
    pub timeout: Duration,
    /// The time limit for the reviewers of a panel to check findings of each other.
    pub check_time: Duration,
    /// The kind of reviewer, as users write it.
    pub reviewer_type: String,
    /// The pull request, for the id of the review; without one, the base and the diff are used.
    pub subject: Option<String>,
    /// The version of the rules or prompts, for the review's id.
    pub prompt_version: String,
    /// The model, for the id of the review; without one, the names of the reviewers are used.
    pub model: Option<String>,
    /// The name of the limits, for the review's id.
    pub budget_profile: String,
    /// A message to show before everything else.
    pub preface: Option<String>,
    /// Warnings of the settings.
    pub warnings: Vec<String>,
    /// Returns the ids of all rules, to detect comments that name an unknown rule.
    pub rule_ids: Box<dyn Fn() -> Vec<String> + Send + Sync>,
}
