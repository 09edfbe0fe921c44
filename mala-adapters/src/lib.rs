//! Implementations of the ports: git, processes, files, linters, models, lanes, forges.

pub mod bounded_read;
pub mod coders;
pub mod forges;
pub mod git;
pub mod lanes;
pub mod ledger;
pub mod linters;
pub mod models;
pub mod notifications;
pub mod patch;
pub mod process;
pub mod reviewers;
pub mod run_log;
pub mod sessions;
pub mod store;
pub mod trackers;
pub mod webhooks;
