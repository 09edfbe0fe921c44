//! The stages' values and rules, in the order of the flow: texts, request, hearing, admission,
//! suppression, coverage, what is reported, decision.

pub mod admit;
mod coverage;
pub mod decide;
mod hearing;
pub mod merge;
pub mod suppress;
#[cfg(test)]
mod tests;
mod texts;
pub mod worst;

pub use coverage::{Coverage, FileCoverage, Skip, SkipReason};
pub use hearing::{Hearing, ReviewRequest, Usage, Voice};
pub use texts::Texts;
