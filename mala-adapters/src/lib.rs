//! The world behind the ports: git, processes, files, linters, models, lanes.

pub mod cases;
pub mod evals;
pub mod git;
pub mod lanes;
pub mod ledger;
pub mod linters;
pub mod models;
pub mod patch;
pub mod process;
pub mod regular;
pub mod reviewers;
pub mod sessions;
pub mod store;
