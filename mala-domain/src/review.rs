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

/// How a change is to be reviewed.
pub struct ReviewPlan {
    /// Files that are not reviewed.
    pub ignore: PathGlobs,
    /// More files that tools make.
    pub generated: PathGlobs,
    /// Texts about the task: name and content.
    pub tasks: Vec<(String, String)>,
    /// Which inline comments suppress findings.
    pub suppressions: SuppressionPolicy,
    /// By what the change is decided.
    pub policy: DecisionPolicy,
    /// How long the reviewers may take.
    pub timeout: Duration,
    /// How long the reviewers of a panel may take to check findings of each other.
    pub check_time: Duration,
    /// The kind of reviewer, as users write it.
    pub reviewer_type: String,
    /// The pull request, for the review's id; without one, the base and the diff stand for it.
    pub subject: Option<String>,
    /// The version of the rules or prompts, for the review's id.
    pub prompt_version: String,
    /// The model, for the review's id; without one, the reviewers' names stand for it.
    pub model: Option<String>,
    /// The name of the limits, for the review's id.
    pub budget_profile: String,
    /// What to say before everything else.
    pub preface: Option<String>,
    /// Warnings of the settings.
    pub warnings: Vec<String>,
    /// Gives the ids of all rules, for comments that name none of them.
    pub rule_ids: Box<dyn Fn() -> Vec<String> + Send + Sync>,
}
