//! A pull request, its comments, and the writes that change them.

use super::{CheckDraft, ForgeCheck, RepositoryName};
use crate::change::FilePath;
use std::collections::BTreeSet;

/// A pull request. Its texts are claims of its author.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// Its number.
    pub number: u64,
    /// Its repository, as it is called today.
    pub repository: RepositoryName,
    /// The number of its repository, which stays when the repository is renamed.
    pub repository_id: Option<u64>,
    /// The title.
    pub title: String,
    /// The description.
    pub body: String,
    /// The login of its author.
    pub author: String,
    /// The name of the branch that it changes.
    pub base_branch: String,
    /// The tip of that branch, which decides about the configuration.
    pub base: String,
    /// The commit where the change starts.
    pub merge_base: String,
    /// The last commit.
    pub head: String,
    /// The repository of the last commit; `None` when it was deleted.
    pub head_repository: Option<RepositoryName>,
    /// The address for git.
    pub clone_url: String,
    /// The address of the repository's web page.
    pub web_url: String,
    /// The address below which the web pages of files are, by commit and path.
    pub files_url: String,
    /// Whether the last commit is in another repository.
    pub is_fork: bool,
}

/// Two commits of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedCommits {
    /// Whether the second contains the first.
    pub is_ahead: bool,
    /// The files that differ, with both names of renamed ones.
    pub files: BTreeSet<FilePath>,
}

/// The author of a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgeAuthor {
    /// The login.
    pub login: String,
    /// Whether it is a program.
    pub is_bot: bool,
}

/// A comment on the pull request as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgeComment {
    /// Its number; later comments have larger ones.
    pub id: u64,
    /// Its author.
    pub author: ForgeAuthor,
    /// Its text.
    pub body: String,
}

/// A comment on lines of the diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlineComment {
    /// Its number; later comments have larger ones.
    pub id: u64,
    /// The first comment of its thread; `None` for that comment itself.
    pub reply_to: Option<u64>,
    /// Its author.
    pub author: ForgeAuthor,
    /// Its text.
    pub body: String,
    /// Whether the lines changed since.
    pub is_outdated: bool,
    /// The address of its web page.
    pub url: String,
}

/// A thread that is resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedThread {
    /// Its first comment.
    pub first: u64,
    /// The account that resolved it, if the forge reports it.
    pub by: Option<String>,
}

/// The comments of a pull request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Discussion {
    /// The login that mala writes with; `None` if the forge does not report it.
    pub viewer: Option<String>,
    /// The comments on the pull request as a whole.
    pub comments: Vec<ForgeComment>,
    /// The comments on lines; empty if they were not read.
    pub inline: Vec<InlineComment>,
    /// The resolved threads; empty if they were not read.
    pub resolved: Vec<ResolvedThread>,
    /// Whether all resolved threads are in that list.
    pub has_resolved: bool,
    /// The logins with write access, among those that need it for their comments to count.
    pub writers: BTreeSet<String>,
    /// The logins whose access the token cannot read: their comments do not count.
    pub unknown_access: BTreeSet<String>,
    /// Our check runs of the head; empty if they were not read.
    pub checks: Vec<ForgeCheck>,
}

/// The parts of a discussion to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiscussionParts {
    /// The comments on the pull request as a whole.
    pub comments: bool,
    /// The comments on lines.
    pub inline: bool,
    /// The check runs of this commit.
    pub checks_of: Option<String>,
    /// All resolved threads, even if nothing else changed since the last time.
    pub all_threads: bool,
}

impl Discussion {
    /// Whether mala writes with this author's account. Without a known account, any program counts, and the
    /// marker decides.
    pub fn is_own(&self, author: &ForgeAuthor) -> bool {
        match &self.viewer {
            Some(viewer) => viewer.eq_ignore_ascii_case(&author.login),
            None => author.is_bot,
        }
    }

    /// Whether markers of this author count: those of our account, and those of accounts with write access, with which
    /// mala may have run before.
    pub fn is_ours(&self, author: &ForgeAuthor) -> bool {
        self.is_own(author) || self.writers.contains(&author.login)
    }

    /// Whether the comment with this number exists and is by another account than ours.
    pub fn is_by_other(&self, id: u64) -> bool {
        let comments = self.comments.iter().map(|one| (one.id, &one.author));
        let inline = self.inline.iter().map(|one| (one.id, &one.author));
        comments.chain(inline).any(|(known, author)| known == id && !self.is_own(author))
    }
}

/// A line at head, in a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommentLine {
    /// Its number.
    pub line: u32,
    /// The number at base of the same line, or of the line that follows an added one.
    pub old_line: u32,
    /// Whether the change adds it.
    pub is_added: bool,
}

/// A comment to write on lines at head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlineDraft {
    /// The file at head.
    pub path: FilePath,
    /// The file at base, if its path differs.
    pub old_path: Option<FilePath>,
    /// The first line, when there are several.
    pub start: Option<CommentLine>,
    /// The last line.
    pub end: CommentLine,
    /// The text.
    pub body: String,
}

/// One change of a discussion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForgeWrite {
    /// Adds a comment.
    CreateComment {
        /// The text.
        body: String,
    },
    /// Replaces the text of a comment.
    UpdateComment {
        /// The comment.
        id: u64,
        /// The text.
        body: String,
    },
    /// Removes a comment.
    DeleteComment {
        /// The comment.
        id: u64,
    },
    /// Adds comments on lines, all or none.
    CreateReview {
        /// The commit that contains the lines.
        commit: String,
        /// The comments.
        comments: Vec<InlineDraft>,
    },
    /// Adds one comment on lines.
    CreateInlineComment {
        /// The commit that contains the lines.
        commit: String,
        /// The comment.
        comment: InlineDraft,
    },
    /// Removes a comment on lines.
    DeleteInlineComment {
        /// The comment.
        id: u64,
    },
    /// Adds a check run.
    CreateCheck {
        /// The check run.
        check: CheckDraft,
    },
    /// Adds annotations to a check run.
    UpdateCheck {
        /// The check run.
        id: u64,
        /// The check run with only these annotations.
        check: CheckDraft,
    },
    /// Adds a comment to a thread.
    ReplyToThread {
        /// The first comment of the thread.
        to: u64,
        /// The text.
        body: String,
    },
    /// Resolves a thread.
    ResolveThread {
        /// Its first comment.
        id: u64,
    },
}
