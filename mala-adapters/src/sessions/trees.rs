//! The sessions of all work trees of a repository. Each work tree keeps its own; whoever asks for a session
//! of the repository means all of them.

use super::attempt::Attempt;
use super::{GateFolder, SESSION, SessionFolder, newest_first};
use mala_domain::gate::session::Session;
use std::io;
use std::path::PathBuf;

/// The folders of the work trees, the one where somebody asks first.
#[derive(Debug, Clone)]
pub struct GateFolders {
    trees: Vec<GateFolder>,
}

impl GateFolders {
    /// Those of the work trees with these roots.
    pub fn of_work_trees(tops: &[PathBuf]) -> Self {
        Self { trees: tops.iter().map(|top| GateFolder::of_work_tree(top)).collect() }
    }

    /// Each of them.
    pub fn each(&self) -> impl Iterator<Item = &GateFolder> {
        self.trees.iter()
    }

    /// The session with this key.
    pub fn find(&self, key: &str) -> Option<SessionFolder> {
        self.trees.iter().find_map(|tree| tree.find(key))
    }

    /// All sessions, the most recent one first. What cannot be read is left out.
    pub fn all(&self) -> Vec<(SessionFolder, Session)> {
        let mut sessions: Vec<_> = self.trees.iter().flat_map(GateFolder::all).collect();
        newest_first(&mut sessions);
        sessions
    }

    /// The time of the last session or attempt.
    pub fn newest(&self) -> Option<String> {
        let sessions = self.all().into_iter().map(|(_, session)| session.created);
        let attempts = self.trees.iter().filter_map(|tree| tree.unsettled(None));
        sessions.chain(attempts.map(|attempt| attempt.created)).max()
    }

    /// Whether somebody is about to start the session that will be the most recent one, or was killed in
    /// doing so.
    pub fn is_starting(&self) -> bool {
        let is_open = |tree: &GateFolder| tree.unsettled(None).is_some_and(|it| it.why.is_none());
        if !self.trees.iter().any(is_open) {
            return false;
        }
        let recent = self.all().into_iter().next().map(|(_, session)| session.created);
        self.last_attempt(recent.as_deref()).is_some_and(|(_, attempt)| attempt.why.is_none())
    }

    /// The most recent session. Where that one cannot be read, or could not be started, no other takes
    /// its place.
    pub fn most_recent(&self) -> io::Result<Option<SessionFolder>> {
        for tree in &self.trees {
            tree.refuse_links()?;
            tree.refuse_unnoted()?;
        }
        let recent = self.all().into_iter().next();
        let created = recent.as_ref().map(|(_, session)| session.created.as_str());
        if let Some((tree, attempt)) = self.last_attempt(created) {
            let unknown = || "it was stopped, or is not done yet".to_owned();
            let (why, place) = (attempt.why.unwrap_or_else(unknown), self.named(tree));
            return Err(io::Error::other(format!("the last review was not started: {why}{place}")));
        }
        let recent = recent.map(|(folder, _)| folder);
        let since = recent.as_ref().and_then(SessionFolder::date);
        let unreadable = self.trees.iter().flat_map(GateFolder::unreadable);
        match unreadable.into_iter().find(|(folder, _)| folder.date() > since) {
            Some((folder, error)) => {
                let file = folder.path().join(SESSION);
                let what = format!(
                    "the most recent session cannot be read: {}: {error} (`review-gate clean \
                     --older-than 0s` removes it)",
                    file.display()
                );
                Err(io::Error::new(error.kind(), what))
            }
            None => Ok(recent),
        }
    }

    /// The last attempt to start a session in any work tree, if no session was written down after it.
    fn last_attempt(&self, recent: Option<&str>) -> Option<(&GateFolder, Attempt)> {
        let attempts = self.trees.iter().filter_map(|tree| Some((tree, tree.unsettled(recent)?)));
        attempts.max_by(|(_, a), (_, b)| a.created.cmp(&b.created))
    }

    /// Where a work tree is, for a message, unless it is the one where somebody asks.
    fn named(&self, tree: &GateFolder) -> String {
        match self.trees.first() {
            Some(here) if here.top() != tree.top() => format!(" (in {})", tree.top().display()),
            _ => String::new(),
        }
    }
}
