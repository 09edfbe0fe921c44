//! The stages' values, in the order of the flow: request, hearing, admission, coverage.

mod coverage;
mod hearing;

pub use coverage::{Coverage, FileCoverage, Skip, SkipReason};
pub use hearing::{Hearing, ReviewRequest, Usage};
