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
mod texts;
pub mod verify;
pub mod worst;

pub use context::{CodeSurroundings, DerivedFiles, ReviewContext};
pub use coverage::{Coverage, FileCoverage, Skip, SkipReason};
pub use opinion::{GateMember, GivenOpinion, Opinion, Opinions, ProcessRun, ReviewerVote, Usage};
pub use plan::ReviewPlan;
pub use texts::Texts;
