//! Why there is no change to review, with a hint where there is one.

use crate::process::ProcessError;
use mala_domain::change::DiffError;
use mala_domain::ports;
use std::path::PathBuf;
use thiserror::Error;

/// Why a repository cannot be used.
#[derive(Debug, Error)]
pub enum GitError {
    /// Git is not installed.
    #[error("git is not installed")]
    Missing,
    /// The git program is too old.
    #[error("git {found} is too old; mala needs {needed} or newer")]
    TooOld {
        /// Its version.
        found: String,
        /// The oldest supported version.
        needed: String,
    },
    /// The folder is not in a repository.
    #[error("{dir} is not in a git repository")]
    NoRepository {
        /// The folder.
        dir: PathBuf,
    },
    /// The repository has neither work tree nor index, and one of them is needed.
    #[error("{dir} is a bare repository and has no work tree")]
    Bare {
        /// The folder.
        dir: PathBuf,
    },
    /// The folder is inside `.git`.
    #[error("{dir} is inside a .git folder")]
    InsideGitFolder {
        /// The folder.
        dir: PathBuf,
    },
    /// The repository belongs to another user and is not marked as safe.
    #[error("{dir} belongs to another user")]
    DubiousOwnership {
        /// The folder.
        dir: PathBuf,
    },
    /// The repository's configuration names a work tree that does not belong to it.
    #[error(
        "the repository's configuration sets the work tree to {top}, which does not belong to it"
    )]
    StrayWorkTree {
        /// The configured work tree.
        top: PathBuf,
    },
    /// A bare repository inside a work tree, where a commit may have put it.
    #[error("{dir} is a bare repository inside the work tree {around}")]
    Embedded {
        /// The folder.
        dir: PathBuf,
        /// The work tree around it.
        around: PathBuf,
    },
    /// Git cannot use the repository's `.git`.
    #[error("the repository at {dir} is damaged: {message}")]
    Damaged {
        /// The folder.
        dir: PathBuf,
        /// Git's message.
        message: String,
    },
    /// Git cannot read one of its own objects.
    #[error("the repository is damaged: {message}")]
    Corrupt {
        /// Git's message.
        message: String,
    },
    /// A git command failed.
    #[error("git {command}: {message}")]
    Failed {
        /// Its subcommand.
        command: String,
        /// Its message.
        message: String,
    },
    /// A git command printed unexpected output.
    #[error("git {command}: unexpected output")]
    Unexpected {
        /// Its subcommand.
        command: String,
    },
    /// A git command printed more than the limit.
    #[error("git {command}: more than {} MiB of output", limit >> 20)]
    TooMuch {
        /// Its subcommand.
        command: String,
        /// The limit, in bytes.
        limit: usize,
    },
    /// Git could not be run.
    #[error("cannot run git")]
    Process(#[from] ProcessError),
    /// A file or folder cannot be used.
    #[error("{what}")]
    Io {
        /// What was attempted.
        what: String,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
}

impl GitError {
    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Missing => Some("install git, or review a diff with --patch".to_owned()),
            Self::NoRepository { .. } => {
                Some("run mala in a git repository, or review a diff with --patch".to_owned())
            }
            Self::Bare { .. } => {
                Some("review commits instead, with A..B, --commit or --base".to_owned())
            }
            Self::Embedded { .. } => {
                Some("if it is yours, move it out of the work tree".to_owned())
            }
            Self::DubiousOwnership { dir } => Some(format!(
                "if you trust it, run `git config --global --add safe.directory {}`",
                dir.display()
            )),
            Self::Damaged { .. } | Self::Corrupt { .. } => {
                Some("run `git fsck` to see what is broken".to_owned())
            }
            Self::Failed { message, .. } if is_missing_object(message) => Some(
                "objects are missing: run `git fsck` to list them, or fetch them in a partial clone"
                    .to_owned(),
            ),
            Self::Failed { message, .. } if message.contains("Permission denied") => {
                Some("make it readable, ignore it, or limit the review with paths".to_owned())
            }
            _ => None,
        }
    }
}

fn is_missing_object(message: &str) -> bool {
    let signs = [
        "unable to read",
        "Could not read",
        "could not parse commit",
        "bad object",
        "could not fetch",
        "missing blob",
        "missing tree",
    ];
    signs.iter().any(|sign| message.contains(sign))
}

/// Why there is no change to review.
#[derive(Debug, Error)]
pub enum GitScopeError {
    /// The repository cannot be used.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A revision that does not name a commit.
    #[error("unknown revision: {revision}")]
    UnknownRevision {
        /// As the user wrote it.
        revision: String,
        /// Branches and tags with similar names.
        nearest: Vec<String>,
        /// Whether a file or folder has this name.
        is_path: bool,
        /// Whether the clone is shallow, which may be the reason.
        is_shallow: bool,
    },
    /// Two commits without a common ancestor.
    #[error("{base} and {head} have no common ancestor")]
    NoMergeBase {
        /// As the user wrote it.
        base: String,
        /// As the user wrote it.
        head: String,
        /// Whether the clone is shallow, which may be the reason.
        is_shallow: bool,
    },
    /// A commit whose parent is missing in a shallow clone.
    #[error("the parent of {commit} is not in this shallow clone")]
    ParentCut {
        /// As the user wrote it.
        commit: String,
    },
    /// Commits without one that contains all the others.
    #[error("no commit contains all of {}", commits.join(", "))]
    NoCommonTip {
        /// As the user wrote them.
        commits: Vec<String>,
    },
    /// No commit is given.
    #[error("no commit given")]
    NoCommits,
    /// A path outside of the repository.
    #[error("{path} is outside the repository at {}", top.display())]
    Outside {
        /// As the user wrote it.
        path: String,
        /// The root of the work tree.
        top: PathBuf,
    },
    /// A path that does not exist before or after the change.
    #[error("{path} does not exist before or after the change")]
    NoSuchPath {
        /// As the user wrote it.
        path: String,
    },
    /// A revision where a range or a path is expected.
    #[error("'{revision}' is a revision, not a range or a path")]
    LoneRevision {
        /// As the user wrote it.
        revision: String,
    },
    /// A glob that matches no file before or after the change.
    #[error("no file matches '{glob}'")]
    NoMatch {
        /// As the user wrote it.
        glob: String,
    },
    /// Files with unresolved conflicts in the index.
    #[error("unresolved conflicts in the index: {}", paths.join(", "))]
    Unmerged {
        /// The files.
        paths: Vec<String>,
    },
    /// The diff is larger than the limit.
    #[error("the diff is too large to review: {} MiB or more", n_bytes >> 20)]
    TooLarge {
        /// Its size, as far as it was read.
        n_bytes: usize,
    },
    /// The diff cannot be parsed.
    #[error("cannot parse the diff")]
    Diff(#[from] DiffError),
}

impl GitScopeError {
    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        const DEEPEN: &str =
            "this clone is shallow: run `git fetch --unshallow` or `git fetch --deepen=100`";
        match self {
            Self::Git(error) => error.hint(),
            Self::UnknownRevision { revision, is_path: true, .. } => Some(format!(
                "{revision} is a file or folder: paths come after --, such as in \
                 `mala review --commit HEAD -- {revision}`"
            )),
            Self::UnknownRevision { nearest, .. } if !nearest.is_empty() => {
                Some(format!("did you mean {}?", nearest.join(" or ")))
            }
            Self::UnknownRevision { revision, is_shallow: true, .. }
                if is_branch_name(revision) =>
            {
                Some(format!(
                    "this clone is shallow: run `git fetch --unshallow origin {revision}`"
                ))
            }
            Self::UnknownRevision { is_shallow: true, .. }
            | Self::NoMergeBase { is_shallow: true, .. }
            | Self::ParentCut { .. } => Some(DEEPEN.to_owned()),
            Self::LoneRevision { revision } => Some(format!(
                "run `mala review --base {revision}`, or `mala review {revision}..HEAD`"
            )),
            Self::NoMatch { .. } => Some(
                "globs start at the current folder; `**/*.py` also matches below it".to_owned(),
            ),
            Self::NoCommonTip { .. } => Some("review them one by one or as a range".to_owned()),
            Self::Unmerged { .. } => Some("resolve them and stage the result".to_owned()),
            Self::TooLarge { .. } => Some("limit the review with paths".to_owned()),
            _ => None,
        }
    }
}

impl From<GitScopeError> for ports::ScopeError {
    fn from(error: GitScopeError) -> Self {
        Self::from(&error)
    }
}

impl From<&GitScopeError> for ports::ScopeError {
    fn from(error: &GitScopeError) -> Self {
        use GitScopeError as E;
        let hint = error.hint();
        let what = whole_message(error);
        match error {
            E::UnknownRevision { .. }
            | E::NoMergeBase { is_shallow: false, .. }
            | E::NoCommonTip { .. }
            | E::NoCommits
            | E::Outside { .. }
            | E::NoSuchPath { .. }
            | E::LoneRevision { .. }
            | E::NoMatch { .. }
            | E::Git(GitError::NoRepository { .. } | GitError::Bare { .. }) => {
                Self::Asked { what, hint }
            }
            _ => Self::Broken { what, hint },
        }
    }
}

/// Whether a revision is a plain name, without `~`, `^`, `@{...}` or an id.
fn is_branch_name(revision: &str) -> bool {
    let is_id = revision.len() >= 7 && revision.bytes().all(|byte| byte.is_ascii_hexdigit());
    !is_id && !revision.starts_with("HEAD") && !revision.contains(['~', '^', '@', ':', ' '])
}

/// The message of an error and its causes.
pub(super) fn whole_message(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |message, cause| format!("{message}: {cause}"))
}
