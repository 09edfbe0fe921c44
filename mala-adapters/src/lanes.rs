//! Lanes: external reviewers as child processes. Each has its own home and its own copy of the reviewed tree, a
//! small environment and limits. When it ends, all of its processes are ended, and files that it changed are
//! reported.

mod detect;
mod home;
mod printed;
mod run;
mod tree;
mod variables;
mod watch;

pub use detect::{LanePresence, detect, version};
pub(crate) use home::{HomeContent, furnish};
pub use printed::keep_printed;
pub(crate) use tree::make_writable;

use crate::git::Git;
use crate::process::ProcessEnvironment;
use std::path::PathBuf;

/// Runs the lanes of one session.
pub struct Lanes {
    /// The copy of the repository that the lanes' trees are made from.
    pub git: Git,
    /// The commit under review.
    pub head: String,
    /// The session's key.
    pub session: String,
    /// The folder for temporary files.
    pub scratch: PathBuf,
    /// The session's folder, for logs.
    pub folder: PathBuf,
    /// The user's variables.
    pub variables: ProcessEnvironment,
    /// The user's repository, which no lane may write to; `None` if it is not watched.
    pub user: Option<Git>,
}
