//! The history of head, through git's plumbing commands, which run no configured programs, unlike
//! `git log`. Only object ids are passed to git as revisions.

use super::call::GitCall;
use super::diff::DiffSides;
use super::filter::as_argument;
use super::tree::{ContentSource, GitTree, TreeState, repository_error};
use super::trees::CommitTree;
use super::{Git, GitError, GitScopeError, ObjectId};
use mala_domain::change::{Change, FilePath, LineSpan, parse};
use mala_domain::ports::{
    BlamedLine, BoxFuture, Commit, CommitPrefix, CommitWithDiff, CommitWithMessage, History,
    LogQuery, RepositoryError, Side,
};
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// The largest diff of a commit that is shown, in bytes.
const MAX_DIFF: usize = 4 << 20;

/// The longest message, in bytes.
const MAX_MESSAGE: usize = 64 << 10;

/// Id, author, date, subject, message.
const FORMAT: &str = "--format=%H%x00%an%x00%as%x00%s%x00%B%x00";

impl GitTree {
    /// The commit at head or below it; `None` if there is none.
    async fn tip(&self) -> Result<Option<ObjectId>, GitError> {
        match &self.place(Side::Head).state {
            TreeState::Commit(id) if *id == self.git.empty_tree() => Ok(None),
            TreeState::Commit(id) => Ok(Some(id.clone())),
            TreeState::Index | TreeState::WorkTree => self.git.head().await,
        }
    }

    async fn commits(&self, query: &LogQuery) -> Result<Vec<Commit>, GitError> {
        let Some(tip) = self.tip().await? else { return Ok(Vec::new()) };
        let count = format!("--max-count={}", query.max);
        let call = GitCall::new(["rev-list", &count, "--encoding=UTF-8", FORMAT, tip.as_str()]);
        let listed = self.git.output(&call.args(place(query.path.as_ref()))).await?;
        Ok(read(&listed).into_iter().map(|(commit, _)| commit).collect())
    }

    /// The commits between both sides, oldest first.
    async fn between(&self, max: usize) -> Result<Vec<CommitWithMessage>, GitError> {
        let (TreeState::Commit(base), TreeState::Commit(head)) =
            (&self.place(Side::Base).state, &self.place(Side::Head).state)
        else {
            return Ok(Vec::new());
        };
        let empty = self.git.empty_tree();
        if base == head || *head == empty {
            return Ok(Vec::new());
        }
        let count = format!("--max-count={max}");
        let call = GitCall::new(["rev-list", &count, "--encoding=UTF-8", FORMAT, head.as_str()]);
        let without = (*base != empty).then(|| format!("^{}", base.as_str()));
        let listed = self.git.output(&call.args(without).args(["--"])).await?;
        Ok(read(&listed).into_iter().rev().map(with_message).collect())
    }

    async fn commit_of_history(
        &self,
        prefix: &CommitPrefix,
        path: Option<&FilePath>,
    ) -> Result<Option<CommitWithDiff>, GitScopeError> {
        let wanted = format!("{}^{{commit}}", prefix.as_str());
        let (Some(tip), Some(id)) = (self.tip().await?, self.git.resolve(&wanted).await?) else {
            return Ok(None);
        };
        if !id.as_str().starts_with(prefix.as_str()) || !self.git.is_ancestor(&id, &tip).await? {
            return Ok(None);
        }
        let Some((commit, message)) = self.git.described(&[&id]).await?.pop() else {
            return Ok(None);
        };
        let change = self.git.done_by(&id, path).await?;
        Ok(Some(CommitWithDiff { commit, message, change }))
    }

    async fn blamed(&self, file: &FilePath, lines: LineSpan) -> Result<Vec<BlamedLine>, GitError> {
        let uncommitted =
            || (lines.start()..=lines.end()).map(|line| BlamedLine { line, commit: None });
        let Some(tip) = self.tip().await? else { return Ok(uncommitted().collect()) };
        let is_there = CommitTree::new(&self.git, tip.clone()).entry(&self.objects, file).await?;
        if is_there.is_none() {
            return Ok(uncommitted().collect());
        }
        let range = format!("-L{},{}", lines.start(), lines.end());
        let call = GitCall::new(["blame", "--porcelain", "--no-progress", "--no-textconv", &range]);
        let call = match &self.place(Side::Head).state {
            TreeState::Commit(_) => call.args([&tip]),
            // Git gets the text on stdin. It would read the file through links and filters.
            TreeState::Index | TreeState::WorkTree => {
                let contents = self.contents(Side::Head, std::slice::from_ref(file)).await?;
                let bytes = contents.into_iter().next().and_then(super::FileContent::into_bytes);
                call.args(["--contents", "-"]).stdin(bytes.unwrap_or_default())
            }
        };
        let printed = self.git.output(&call.args(["--"]).args([as_argument(file)])).await?;
        self.git.with_commits(&blamed_ids(&printed)).await
    }
}

impl History for GitTree {
    fn log<'a>(
        &'a self,
        query: &'a LogQuery,
    ) -> BoxFuture<'a, Result<Vec<Commit>, RepositoryError>> {
        Box::pin(async move { self.commits(query).await.map_err(repository_error) })
    }

    fn show<'a>(
        &'a self,
        commit: &'a CommitPrefix,
        path: Option<&'a FilePath>,
    ) -> BoxFuture<'a, Result<Option<CommitWithDiff>, RepositoryError>> {
        Box::pin(async move {
            self.commit_of_history(commit, path).await.map_err(|error| RepositoryError {
                what: error.to_string(),
                source: Some(Box::new(error)),
            })
        })
    }

    fn reviewed(
        &self,
        max: usize,
    ) -> BoxFuture<'_, Result<Vec<CommitWithMessage>, RepositoryError>> {
        Box::pin(async move { self.between(max).await.map_err(repository_error) })
    }

    fn blame<'a>(
        &'a self,
        file: &'a FilePath,
        lines: LineSpan,
    ) -> BoxFuture<'a, Result<Vec<BlamedLine>, RepositoryError>> {
        Box::pin(async move { self.blamed(file, lines).await.map_err(repository_error) })
    }
}

fn with_message((commit, message): (Commit, String)) -> CommitWithMessage {
    CommitWithMessage { commit, message }
}

impl GitTree {
    /// These commits with author and message.
    pub(super) async fn with_message(
        &self,
        ids: &[ObjectId],
    ) -> Result<Vec<CommitWithMessage>, RepositoryError> {
        let ids: Vec<&ObjectId> = ids.iter().collect();
        let described = self.git.described(&ids).await.map_err(repository_error)?;
        Ok(described.into_iter().map(with_message).collect())
    }
}

impl Git {
    /// These commits with their messages.
    pub(super) async fn described(
        &self,
        ids: &[&ObjectId],
    ) -> Result<Vec<(Commit, String)>, GitError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let call = GitCall::new(["rev-list", "--no-walk=unsorted", "--encoding=UTF-8", FORMAT]);
        let listed = self.output(&call.args(ids.iter().copied())).await?;
        Ok(read(&listed))
    }

    /// The change of a commit; `None` if it is too large, or its parent is missing.
    async fn done_by(
        &self,
        commit: &ObjectId,
        path: Option<&FilePath>,
    ) -> Result<Option<Change>, GitScopeError> {
        let parent = match self.first_parent(commit).await {
            Err(GitScopeError::ParentCut { .. }) => return Ok(None),
            parent => parent?,
        };
        let sides = DiffSides::Trees(self.tree_of(parent.as_ref()), commit.clone());
        match self.diff_within(&sides, place(path), MAX_DIFF).await {
            Err(GitScopeError::TooLarge { .. }) => Ok(None),
            diff => Ok(Some(Change { files: parse(&diff?)? })),
        }
    }

    async fn with_commits(&self, blamed: &[(u32, ObjectId)]) -> Result<Vec<BlamedLine>, GitError> {
        let is_commit = |id: &&ObjectId| id.as_str().bytes().any(|digit| digit != b'0');
        let ids: BTreeSet<_> = blamed.iter().map(|(_, id)| id).filter(is_commit).collect();
        let ids: Vec<_> = ids.into_iter().collect();
        let commits = self.described(&ids).await?;
        let by_id: HashMap<_, _> = commits.iter().map(|(c, _)| (c.id.as_str(), c)).collect();
        let line = |(line, id): &(u32, ObjectId)| BlamedLine {
            line: *line,
            commit: by_id.get(id.as_str()).map(|commit| (*commit).clone()),
        };
        Ok(blamed.iter().map(line).collect())
    }
}

/// The arguments that limit a call to one file or folder.
fn place(path: Option<&FilePath>) -> Vec<OsString> {
    let path = path.filter(|path| !path.as_bytes().is_empty());
    let path = path.map(|path| OsString::from_vec([b":(top,literal)", path.as_bytes()].concat()));
    std::iter::once("--".into()).chain(path).collect()
}

/// `commit ID LF`, then the fields of the format, each followed by a NUL, and LF.
fn read(listed: &[u8]) -> Vec<(Commit, String)> {
    let mut fields = listed.split(|byte| *byte == 0);
    let mut commits = Vec::new();
    while let (Some(id), Some(author), Some(date), Some(subject), Some(message)) =
        (fields.next(), fields.next(), fields.next(), fields.next(), fields.next())
    {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let id = id.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        let message = text(message.get(..MAX_MESSAGE).unwrap_or(message));
        let (author, date, subject) = (text(author), text(date), text(subject));
        commits.push((Commit { id: text(id), author, date, subject }, message));
    }
    commits
}

/// From `git blame --porcelain`: `ID LINE LINE ...` before each line of the file. A line of the
/// file starts with a tab; other lines start with a word.
fn blamed_ids(printed: &[u8]) -> Vec<(u32, ObjectId)> {
    let lines = printed.split(|byte| *byte == b'\n');
    let found = lines.filter_map(|line| {
        let mut words = line.split(|byte| *byte == b' ');
        let id = ObjectId::parse(words.next()?)?;
        let line = std::str::from_utf8(words.nth(1)?).ok()?.parse().ok()?;
        Some((line, id))
    });
    found.collect()
}
