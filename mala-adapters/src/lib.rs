//! The world behind the ports: git, processes, files, linters.

pub mod process;
pub mod reviewers;
pub mod store;
