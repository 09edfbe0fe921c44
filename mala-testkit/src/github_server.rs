//! A stateful GitHub on loopback, for tests. It serves pull requests of a real repository over REST, with
//! pages, ETags, comments, reviews and threads, and the repository itself over git's HTTP protocol. It
//! can fail in scripted ways, and it stores every request.

mod api;

pub use api::{GitHubComment, GitHubState, GitHubThreadComment, INSTALLATION_TOKEN};

use crate::forge_server::{ForgeServer, ServedRepository};
use std::path::Path;

/// The login of the token, unless it is changed.
const VIEWER: &str = "mala-bot";

/// The server. It stops when it is dropped.
pub type GitHubServer = ForgeServer<GitHubState>;

impl GitHubServer {
    /// A server for the repository `o/r`, which is in this folder. Pull request 7 goes from the branch
    /// `topic` to `main`.
    pub fn new(repository: &Path) -> Self {
        Self::start(|port| GitHubState::new(ServedRepository::new(repository), port))
    }

    /// The comments on the pull request.
    pub fn comments(&self) -> Vec<GitHubComment> {
        self.api().comments.clone()
    }

    /// The comments on lines.
    pub fn inline_comments(&self) -> Vec<GitHubThreadComment> {
        self.api().inline.clone()
    }

    /// The first comments of resolved threads.
    pub fn resolved(&self) -> Vec<u64> {
        self.api().resolved.keys().copied().collect()
    }

    /// The check runs.
    pub fn checks(&self) -> Vec<serde_json::Value> {
        self.api().checks.clone()
    }

    /// Adds a check run of another run.
    pub fn add_check(&self, external_id: &str, conclusion: &str) {
        self.api().add_check(external_id, conclusion);
    }

    /// Adds a comment of another user.
    pub fn add_comment(&self, login: &str, body: &str) {
        self.api().add_comment(login, body);
    }

    /// Adds a comment of another user on a line.
    pub fn add_inline(&self, login: &str, (path, line): (&str, u64), body: &str) {
        self.api().add_inline(login, (path, line), body);
    }

    /// Adds a reply of another user to a comment on lines.
    pub fn add_reply(&self, to: u64, login: &str, body: &str) {
        self.api().add_reply(to, login, body);
    }

    /// Resolves the thread of a comment on lines, as another user.
    pub fn resolve(&self, first: u64, login: &str) {
        self.api().resolved.insert(first, login.to_owned());
    }

    /// Deletes a comment on lines.
    pub fn remove_inline(&self, id: u64) {
        self.api().inline.retain(|one| one.id != id);
    }

    /// Opens a thread again.
    pub fn unresolve(&self, first: u64) {
        self.api().resolved.remove(&first);
    }

    /// Whether the branch of the pull request is in a fork.
    pub fn set_fork(&self, is_fork: bool) {
        self.api().is_fork = is_fork;
    }

    /// Takes the right to resolve threads from the token.
    pub fn forbid_resolving(&self) {
        self.api().may_resolve = false;
    }

    /// Changes the login of the token.
    pub fn set_viewer(&self, login: &str) {
        self.api().viewer = login.to_owned();
    }

    /// Takes the right to change comments of other users from the token.
    pub fn forbid_changes_of_others(&self) {
        self.api().may_change_others = false;
    }

    /// Renames the repository, as `owner/name`. Its old name leads to the new one.
    pub fn rename(&self, name: &str) {
        self.api().name = name.to_owned();
    }

    /// Gives a user write access.
    pub fn allow_writes(&self, login: &str) {
        self.api().writers.insert(login.to_owned());
    }

    /// Sets title and description.
    pub fn describe(&self, title: &str, body: &str) {
        let mut state = self.api();
        (state.title, state.body) = (title.to_owned(), body.to_owned());
    }
}
