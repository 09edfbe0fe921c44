//! The reviewed repository, accessed through the `git` program with fixed options.
//!
//! The repository is not trusted. Its configuration may name commands (filters, hooks, monitors,
//! helpers), its attributes may hide files, and its revisions may look like options. None of that
//! takes effect here. Nothing is written into the repository, not even its index, except by
//! `workspaces` and `main_line`, which a run asks to.

mod attributes;
mod call;
mod classify;
mod commits;
mod config;
mod copy;
mod diff;
mod error;
mod files;
mod filter;
mod grep;
mod history;
mod import;
mod index;
mod listing;
mod main_line;
mod objects;
mod open;
mod origin;
mod overlaid;
mod overlay;
mod patch;
mod revision;
mod rounds;
mod scope;
mod state;
mod submodules;
mod task_work;
mod tree;
mod trees;
mod workspaces;

pub(crate) use filter::PathFilter;
pub(crate) use import::run_sealed;
pub(crate) use open::{git_dir_of, shared_git_dir_of};
pub(crate) use overlay::Overlay;
pub(crate) use scope::hex;
pub(crate) use tree::FileContent;
pub(crate) use workspaces::{LinkedWorktree, home_of, marker};

pub use copy::{VariantCommit, WorkTreeSnapshot};
pub use error::{GitError, GitScopeError};
pub use import::{ImportedCommits, import};
pub use main_line::GitMainLine;
pub use origin::LineOrigin;
pub use overlaid::OverlaidCommit;
pub use rounds::common_dir_of;
pub use tree::GitTree;
pub use workspaces::{GitWorkspaces, WORKSPACE_MARKER, end_processes_below};

use crate::process::ProcessEnvironment;
use attributes::AttributeSource;
use mala_domain::scope::ReviewTarget;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An opened repository.
#[derive(Debug, Clone)]
pub struct Git {
    inner: Arc<GitInner>,
    /// The source of attributes: the trusted side of the change.
    attributes: Option<Arc<AttributeSource>>,
}

#[derive(Debug)]
struct GitInner {
    dir: PathBuf,
    top: PathBuf,
    is_bare: bool,
    environment: ProcessEnvironment,
    /// The environment before the configuration of this repository was disabled.
    around: ProcessEnvironment,
    version: GitVersion,
    hash: ObjectFormat,
    is_shallow: bool,
    url: Option<String>,
    /// The email addresses that this clone's user commits with.
    users: BTreeSet<String>,
}

impl Git {
    /// The root of the work tree, or the folder of a bare repository.
    pub fn top(&self) -> &Path {
        &self.inner.top
    }

    /// The URL of the repository, without credentials.
    pub fn url(&self) -> Option<&str> {
        self.inner.url.as_deref()
    }

    /// The version of the git program, such as `2.47.3`.
    pub fn version(&self) -> String {
        let GitVersion(major, minor, patch) = self.inner.version;
        format!("{major}.{minor}.{patch}")
    }

    /// All files of HEAD, as a range from the tree without files.
    pub fn whole_tree(&self) -> ReviewTarget {
        ReviewTarget::Range { base: self.empty_tree().0, head: "HEAD".to_owned() }
    }

    fn empty_tree(&self) -> ObjectId {
        ObjectId(self.inner.hash.empty_tree().to_owned())
    }
}

/// Major, minor, patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct GitVersion(u32, u32, u32);

impl GitVersion {
    /// The oldest supported version: it takes configuration from environment variables.
    const OLDEST: Self = Self(2, 31, 0);

    /// Attributes can be read from a tree that is not checked out.
    const ATTRIBUTES_OF_TREES: Self = Self(2, 41, 0);

    /// Trees can be merged without a work tree.
    const MERGES_TREES: Self = Self(2, 38, 0);

    /// Paths of work trees are printed unambiguously.
    const EXACT_WORK_TREES: Self = Self(2, 36, 0);

    /// From `git version 2.47.3 (Apple Git-154)`.
    fn parse(printed: &str) -> Option<Self> {
        let number = printed.trim().strip_prefix("git version ")?.split_whitespace().next()?;
        let mut parts = number.split('.').map(|part| part.parse().ok());
        let (major, minor) = (parts.next()??, parts.next()??);
        Some(Self(major, minor, parts.next().flatten().unwrap_or_default()))
    }
}

/// The hash function of object ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ObjectFormat {
    Sha1,
    Sha256,
}

impl ObjectFormat {
    fn n_bytes(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }

    fn empty_tree(self) -> &'static str {
        match self {
            Self::Sha1 => "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            Self::Sha256 => "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
        }
    }

    fn empty_blob(self) -> &'static str {
        match self {
            Self::Sha1 => "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
            Self::Sha256 => "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
        }
    }
}

/// The full id of an object. Contains only lower-case hexadecimal digits, so that it is safe as an
/// argument.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct ObjectId(String);

impl ObjectId {
    fn parse(text: &[u8]) -> Option<Self> {
        let is_id = matches!(text.len(), 40 | 64)
            && text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        is_id.then(|| Self(text.iter().map(|byte| char::from(*byte)).collect()))
    }

    fn from_raw(bytes: &[u8]) -> Self {
        let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap_or('0');
        Self(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect())
    }

    fn as_str(&self) -> &str {
        &self.0
    }

    fn short(&self) -> &str {
        self.0.get(..12).unwrap_or(&self.0)
    }
}

impl From<&ObjectId> for OsString {
    fn from(id: &ObjectId) -> Self {
        OsString::from(&id.0)
    }
}
