//! The rules of `mala run`: which issue is worked on next, what follows from each event, where a
//! review starts, and what becomes of its findings. Everything here is a function from values to
//! values; the loop that performs the effects is in `mala-pipeline`.

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
