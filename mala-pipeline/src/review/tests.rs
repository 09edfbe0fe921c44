//! Tests of what the stages of a review do together.

mod edits;
mod identity;
mod problems;
