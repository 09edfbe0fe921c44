//! The `mala` binary.
fn main() {}
