//! What stops us on the way to a change, and the way out where we know one.

use crate::process::ProcessError;
use mala_domain::change::DiffError;
use mala_domain::ports;
use std::path::PathBuf;
use thiserror::Error;

/// Why a repository cannot be used.
#[derive(Debug, Error)]
pub enum GitError {
    /// There is no git program.
    #[error("git is not installed")]
    Missing,
    /// The git program is older than what is needed.
    #[error("git {found} is too old; {needed} is needed")]
    TooOld {
        /// Its version.
        found: String,
        /// The oldest that works.
        needed: String,
    },
    /// The folder is in no repository.
    #[error("{dir} is not in a git repository")]
    NoRepository {
        /// The folder.
        dir: PathBuf,
    },
    /// The repository has no work tree and no index, and one of them was asked for.
    #[error("{dir} is a bare repository: it has no work tree and nothing staged")]
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
    /// The repository belongs to somebody else, and the user has not said that this is fine.
    #[error("{dir} belongs to another user")]
    DubiousOwnership {
        /// The folder.
        dir: PathBuf,
    },
    /// The repository says that its work tree is somewhere that does not belong to it.
    #[error("the repository's configuration puts its work tree at {top}, which has no .git of it")]
    StrayWorkTree {
        /// What it says.
        top: PathBuf,
    },
    /// It has no work tree, and is inside of another one: a commit may have brought it.
    #[error("{dir} is a bare repository inside of the work tree {around}")]
    Embedded {
        /// The folder.
        dir: PathBuf,
        /// The work tree.
        around: PathBuf,
    },
    /// There is a `.git`, and git cannot make sense of it.
    #[error("the repository at {dir} is damaged: {complaint}")]
    Damaged {
        /// The folder.
        dir: PathBuf,
        /// What git says.
        complaint: String,
    },
    /// Git cannot read one of its own objects.
    #[error("the repository is damaged: {complaint}")]
    Corrupt {
        /// What git says.
        complaint: String,
    },
    /// A git command failed.
    #[error("git {command}: {complaint}")]
    Failed {
        /// Its subcommand.
        command: String,
        /// What it says.
        complaint: String,
    },
    /// A git command printed what nobody expects of it.
    #[error("git {command}: unexpected output")]
    Unexpected {
        /// Its subcommand.
        command: String,
    },
    /// A git command wrote more than is kept.
    #[error("git {command}: more than {} MiB of output", limit >> 20)]
    TooMuch {
        /// Its subcommand.
        command: String,
        /// What is kept, in bytes.
        limit: usize,
    },
    /// Git could not be run to its end.
    #[error("running git")]
    Process(#[from] ProcessError),
    /// A file or folder could not be used.
    #[error("{what}")]
    Io {
        /// What was done.
        what: String,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
}

impl GitError {
    /// What the person can do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Missing => Some("install git, or review a diff with --patch".to_owned()),
            Self::NoRepository { .. } => {
                Some("run mala in a git repository, or review a diff with --patch".to_owned())
            }
            Self::Bare { .. } => Some(
                "name what to review: two commits, such as A..B, --commit or --base".to_owned(),
            ),
            Self::Embedded { .. } => Some(
                "a commit may have brought it: if it is yours, move it out of there".to_owned(),
            ),
            Self::DubiousOwnership { dir } => Some(format!(
                "if you trust it: git config --global --add safe.directory {}",
                dir.display()
            )),
            Self::Damaged { .. } | Self::Corrupt { .. } => {
                Some("git fsck says what is broken".to_owned())
            }
            Self::Failed { complaint, .. } if is_missing_object(complaint) => Some(
                "the repository lacks objects: git fsck says which; in a partial clone, fetch \
                 them first"
                    .to_owned(),
            ),
            Self::Failed { complaint, .. } if complaint.contains("Permission denied") => {
                Some("make it readable, ignore it, or leave it out with paths".to_owned())
            }
            _ => None,
        }
    }
}

fn is_missing_object(complaint: &str) -> bool {
    let signs = [
        "unable to read",
        "Could not read",
        "could not parse commit",
        "bad object",
        "could not fetch",
        "missing blob",
        "missing tree",
    ];
    signs.iter().any(|sign| complaint.contains(sign))
}

/// Why there is no change to review.
#[derive(Debug, Error)]
pub enum ScopeError {
    /// The repository cannot be used.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A revision that names no commit.
    #[error("unknown revision: {revision}")]
    UnknownRevision {
        /// As the person wrote it.
        revision: String,
        /// Branches and tags with names like it.
        nearest: Vec<String>,
        /// Whether a file or folder has this name.
        is_path: bool,
        /// Whether a cut history may be why.
        is_shallow: bool,
    },
    /// Two commits without a common ancestor.
    #[error("{base} and {head} have no common ancestor")]
    NoMergeBase {
        /// As the person wrote it.
        base: String,
        /// As the person wrote it.
        head: String,
        /// Whether a cut history may be why.
        is_shallow: bool,
    },
    /// A commit whose parent a shallow clone does not have.
    #[error("the parent of {commit} is not in this shallow clone, so nobody knows what it changed")]
    ParentCut {
        /// As the person wrote it.
        commit: String,
    },
    /// Commits of which none has all the others behind it.
    #[error("no commit contains all of these, so they have no common state: {}", commits.join(", "))]
    Scattered {
        /// As the person wrote them.
        commits: Vec<String>,
    },
    /// No commit was named.
    #[error("no commit given")]
    NoCommits,
    /// A path that leads out of the repository.
    #[error("{path} is outside of the repository at {}", top.display())]
    Outside {
        /// As the person wrote it.
        path: String,
        /// The root of the work tree.
        top: PathBuf,
    },
    /// A path that is in neither state.
    #[error("{path}: no such file or folder, before or after the change")]
    NoSuchPath {
        /// As the person wrote it.
        path: String,
    },
    /// Files that a merge left unresolved, so that the index holds no state of them.
    #[error("unresolved conflicts in the index: {}", paths.join(", "))]
    Unmerged {
        /// The files.
        paths: Vec<String>,
    },
    /// The diff is larger than anybody can review.
    #[error("the diff is too large to review: {} MiB or more", n_bytes >> 20)]
    TooLarge {
        /// As far as it was read.
        n_bytes: usize,
    },
    /// The diff cannot be read.
    #[error("the diff cannot be read")]
    Diff(#[from] DiffError),
}

impl ScopeError {
    /// What the person can do.
    pub fn hint(&self) -> Option<String> {
        const DEEPEN: &str =
            "this clone is shallow: git fetch --unshallow, or git fetch --deepen=100";
        match self {
            Self::Git(error) => error.hint(),
            Self::UnknownRevision { revision, is_path: true, .. } => Some(format!(
                "{revision} is a file or folder: paths come after --, such as \
                 mala review --commit HEAD -- {revision}"
            )),
            Self::UnknownRevision { nearest, .. } if !nearest.is_empty() => {
                Some(format!("did you mean {}?", nearest.join(" or ")))
            }
            Self::UnknownRevision { is_shallow: true, .. }
            | Self::NoMergeBase { is_shallow: true, .. }
            | Self::ParentCut { .. } => Some(DEEPEN.to_owned()),
            Self::Scattered { .. } => Some("review them one by one, or as a range".to_owned()),
            Self::Unmerged { .. } => Some("resolve them and stage the result".to_owned()),
            Self::TooLarge { .. } => Some("review parts of it, with paths".to_owned()),
            _ => None,
        }
    }
}

impl From<ScopeError> for ports::ScopeError {
    fn from(error: ScopeError) -> Self {
        Self::from(&error)
    }
}

impl From<&ScopeError> for ports::ScopeError {
    fn from(error: &ScopeError) -> Self {
        use ScopeError as E;
        let hint = error.hint();
        let what = whole_message(error);
        match error {
            E::UnknownRevision { .. }
            | E::NoMergeBase { is_shallow: false, .. }
            | E::Scattered { .. }
            | E::NoCommits
            | E::Outside { .. }
            | E::NoSuchPath { .. }
            | E::Git(GitError::NoRepository { .. } | GitError::Bare { .. }) => {
                Self::Asked { what, hint }
            }
            _ => Self::Broken { what, hint },
        }
    }
}

/// The message with those of its causes.
fn whole_message(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |message, cause| format!("{message}: {cause}"))
}
