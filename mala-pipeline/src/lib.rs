//! The order of things: scope, context, review, admit, decide, publish.

pub mod events;
pub mod review;
