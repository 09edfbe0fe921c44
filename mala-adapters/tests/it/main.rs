//! The adapters against the real thing: real processes, real git, a model server.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod coders;
mod git;
mod ledger;
mod linters;
mod models;
mod notifications;
mod patch;
mod process;
mod trackers;
