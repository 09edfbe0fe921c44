//! The world behind the ports: git, processes, files, linters.

pub mod git;
pub mod linters;
pub mod patch;
pub mod process;
pub mod reviewers;
pub mod store;
