//! The sessions of all work trees of a repository. Each work tree keeps its own.

use super::{GateFolder, SessionFolder, newest_first};
use mala_domain::gate::session::Session;
use std::path::PathBuf;

/// The session folders of the work trees, the current one first.
#[derive(Debug, Clone)]
pub struct GateFolders {
    trees: Vec<GateFolder>,
}

impl GateFolders {
    /// Those of the work trees with these roots.
    pub fn of_work_trees(tops: &[PathBuf]) -> Self {
        Self { trees: tops.iter().map(|top| GateFolder::of_work_tree(top)).collect() }
    }

    /// All of them.
    pub fn each(&self) -> impl Iterator<Item = &GateFolder> {
        self.trees.iter()
    }

    /// The session with this key.
    pub fn find(&self, key: &str) -> Option<SessionFolder> {
        self.trees.iter().find_map(|tree| tree.find(key))
    }

    /// All sessions, the most recent one first. Sessions that cannot be read are left out.
    pub fn all(&self) -> Vec<(SessionFolder, Session)> {
        let mut sessions: Vec<_> = self.trees.iter().flat_map(GateFolder::all).collect();
        newest_first(&mut sessions);
        sessions
    }
}
