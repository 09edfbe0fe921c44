//! The stages' values and rules, in the order of the flow: plan, context, opinion, admission,
//! suppression, verification, coverage, decision.

pub mod admit;
pub mod consensus;
mod context;
mod coverage;
pub mod decide;
pub mod merge;
mod opinion;
mod plan;
pub mod suppress;
#[cfg(test)]
mod tests;
pub mod verify;

pub use context::{CodeSurroundings, DerivedFiles, FileTexts, ReviewContext};
pub use coverage::{Coverage, FileCoverage, SkipReason, SkippedFile};
pub use opinion::{
    GateMember, Opinion, Opinions, ProcessRun, ReviewerOpinion, ReviewerVote, Usage,
};
pub use plan::ReviewPlan;
