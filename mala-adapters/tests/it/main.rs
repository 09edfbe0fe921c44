//! The adapters against the real thing: real processes, real git.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod git;
mod linters;
mod patch;
mod process;
