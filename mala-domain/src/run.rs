//! The rules of `mala run`: which issue to work on next, the effects of each event, where a review
//! starts, and what happens with its findings. Everything here is a pure function; the loop that
//! performs the effects is in `mala-pipeline`.

pub mod baseline;
pub mod coder;
pub mod commits;
pub mod filing;
pub mod issue;
pub mod lifecycle;
pub mod metadata;
pub mod outcome;
pub mod prompt;
pub mod readiness;
pub mod report;
pub mod review_log;
pub mod sensitive;
pub mod triggers;

#[cfg(test)]
mod tests;
