//! The `review-gate` binary.
fn main() {}
