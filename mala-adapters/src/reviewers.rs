//! Implementations of the port `Reviewer`.

pub mod builtin;
pub mod review_gate;
