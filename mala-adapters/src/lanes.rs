//! Lanes: external reviewers as child processes. Each runs in a home of its own, in a copy of the
//! reviewed tree of its own, with an environment that is spelled out, within limits; when it is over,
//! nothing of it runs any more, and whether it wrote is known.

mod detect;
mod home;
mod printed;
mod run;
mod tree;
mod variables;
mod watch;

pub use detect::{Presence, detect, version};
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
    /// The folder for what is thrown away.
    pub scratch: PathBuf,
    /// The folder for what is kept.
    pub folder: PathBuf,
    /// The user's variables.
    pub variables: ProcessEnvironment,
    /// The user's repository, which no lane may write to; `None` if it is not watched.
    pub user: Option<Git>,
}
