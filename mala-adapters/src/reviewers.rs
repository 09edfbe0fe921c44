//! Who can be asked for a review.

pub mod builtin;
pub mod review_gate;
