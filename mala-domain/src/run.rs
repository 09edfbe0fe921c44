//! The rules of `mala run`: which issue is worked on next, what follows from each event, where a
//! review starts, and what becomes of its findings. Everything here is a function from values to
//! values; the loop that performs the effects is in `mala-pipeline`.

pub mod coder;
pub mod issue;
