//! The world behind the ports: git, processes, files, linters, models.

pub mod git;
pub mod linters;
pub mod models;
pub mod patch;
pub mod process;
pub mod reviewers;
pub mod store;
