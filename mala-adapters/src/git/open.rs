//! Finds the repository of a folder and checks that it is safe to use. Lists its work trees.

use super::call::{GitCall, probe, stderr_line};
use super::config::{GitConfig, public_url};
use super::{Git, GitError, GitInner, GitVersion, ObjectFormat};
use crate::bounded_read::read_following_links;
use crate::process::{FinishedProcess, ProcessEnvironment};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How often, and how long after each other, worktrees are listed until that succeeds.
const LIST_ATTEMPTS: u32 = 5;
const LIST_PAUSE: Duration = Duration::from_millis(100);

/// The environment of every call: no prompts, no network, no locks, no replaced objects, English
/// messages.
pub(super) const PINNED: &[(&str, &str)] = &[
    ("GIT_ADVICE", "0"),
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_SSH_COMMAND", "false"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
];

/// The largest `.git` file, in bytes. It contains one path.
pub(super) const MAX_LINK: u64 = 8 << 10;

impl Git {
    /// Opens the repository that contains this folder.
    pub async fn open(dir: &Path, environment: &ProcessEnvironment) -> Result<Self, GitError> {
        let around = environment.clone();
        let mut environment = environment.clone();
        for (name, value) in PINNED {
            environment = environment.with(*name, *value);
        }
        let facts = [
            "rev-parse",
            "--is-bare-repository",
            "--is-inside-work-tree",
            "--is-shallow-repository",
            "--show-object-format",
            "--show-toplevel",
        ];
        let list = ["config", "--list", "--null"];
        let (version, facts, config, own) = tokio::join!(
            probe(dir, &environment, &["version"]),
            probe(dir, &environment, &facts),
            probe(dir, &environment, &list),
            probe(dir, &environment, &["rev-parse", "--absolute-git-dir"]),
        );
        let version = check_version(&version?)?;
        let facts = match RepositoryFacts::read(dir, &facts?) {
            Err(GitError::Bare { .. }) => RepositoryFacts::of_bare(dir, &environment).await?,
            facts => facts?,
        };
        facts.check_embedded(&path_of(&own?.output.stdout))?;
        let config = config?;
        if config.code() != Some(0) {
            let message = stderr_line(&config);
            return Err(GitError::Damaged { dir: facts.top, message });
        }
        let config = GitConfig::parse(&config.output.stdout);
        let inner = GitInner {
            dir: dir.canonicalize().map_err(|source| {
                let what = format!("cannot open {}", dir.display());
                GitError::Io { what, source }
            })?,
            url: config.remote_url().and_then(public_url),
            users: config.users(&around),
            environment: config.seal(environment),
            around,
            top: facts.top,
            is_bare: facts.is_bare,
            version,
            hash: facts.hash,
            is_shallow: facts.is_shallow,
        };
        Ok(Self { inner: Arc::new(inner), attributes: None })
    }
}

fn check_version(finished: &FinishedProcess) -> Result<GitVersion, GitError> {
    let printed = String::from_utf8_lossy(&finished.output.stdout);
    let Some(version) = GitVersion::parse(&printed) else {
        return Err(GitError::Unexpected { command: "version".to_owned() });
    };
    if version < GitVersion::OLDEST {
        let GitVersion(major, minor, _) = GitVersion::OLDEST;
        let found = printed.trim().trim_start_matches("git version ").to_owned();
        return Err(GitError::TooOld { found, needed: format!("{major}.{minor}") });
    }
    Ok(version)
}

struct RepositoryFacts {
    top: PathBuf,
    is_bare: bool,
    hash: ObjectFormat,
    is_shallow: bool,
}

impl RepositoryFacts {
    fn read(dir: &Path, finished: &FinishedProcess) -> Result<Self, GitError> {
        let mut lines = finished.output.stdout.splitn(5, |byte| *byte == b'\n');
        let mut line = || lines.next().unwrap_or_default();
        let (is_bare, is_inside) = (line() == b"true", line() == b"true");
        let (is_shallow, hash) = (line() == b"true", hash_named(line()));
        let top = path_of(line());
        if finished.code() != Some(0) {
            return Err(refusal(dir, finished, is_bare));
        }
        if is_bare {
            return Err(GitError::Bare { dir: dir.to_owned() });
        }
        if !is_inside || !top.is_absolute() {
            return Err(GitError::InsideGitFolder { dir: dir.to_owned() });
        }
        Ok(Self { top, is_bare: false, hash, is_shallow })
    }

    /// The facts of a bare repository, whose root is its own folder.
    async fn of_bare(dir: &Path, environment: &ProcessEnvironment) -> Result<Self, GitError> {
        let facts =
            ["rev-parse", "--is-shallow-repository", "--show-object-format", "--absolute-git-dir"];
        let finished = probe(dir, environment, &facts).await?;
        if finished.code() != Some(0) {
            return Err(refusal(dir, &finished, false));
        }
        let mut lines = finished.output.stdout.splitn(3, |byte| *byte == b'\n');
        let mut line = || lines.next().unwrap_or_default();
        let (is_shallow, hash, top) = (line() == b"true", hash_named(line()), path_of(line()));
        Ok(Self { top, is_bare: true, hash, is_shallow })
    }

    /// Rejects a repository that a commit may have brought. A commit can contain files that look
    /// like a git folder, but not a `.git`, so only a repository that belongs to a `.git` is
    /// accepted.
    fn check_embedded(&self, git_dir: &Path) -> Result<(), GitError> {
        let is_own = |top: &Path| match (git_folder_of(top).canonicalize(), git_dir.canonicalize())
        {
            (Ok(own), Ok(found)) => own == found,
            _ => false,
        };
        if !self.is_bare {
            // A repository can name any folder as its work tree, such as the user's home. All
            // files there would be reviewed.
            let top = self.top.clone();
            return if is_own(&top) { Ok(()) } else { Err(GitError::StrayWorkTree { top }) };
        }
        match root_of(&self.top) {
            Some(around) if !is_own(&around) => {
                Err(GitError::Embedded { dir: self.top.clone(), around })
            }
            _ => Ok(()),
        }
    }
}

/// The git folder of a work tree: its `.git`, or the folder that a `.git` file names in a linked
/// work tree or a submodule.
pub(super) fn git_folder_of(top: &Path) -> PathBuf {
    let own = top.join(".git");
    let link = read_following_links(&own, MAX_LINK).unwrap_or_default();
    match link.strip_prefix(b"gitdir:") {
        Some(path) => top.join(OsStr::from_bytes(path.trim_ascii())),
        None => own,
    }
}

/// A path at the end of a command's output.
fn path_of(line: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(line.strip_suffix(b"\n").unwrap_or(line)))
}

fn hash_named(name: &[u8]) -> ObjectFormat {
    if name == b"sha256" { ObjectFormat::Sha256 } else { ObjectFormat::Sha1 }
}

fn refusal(dir: &Path, finished: &FinishedProcess, is_bare: bool) -> GitError {
    let message = stderr_line(finished);
    let dir = dir.to_owned();
    if is_bare {
        GitError::Bare { dir }
    } else if message.contains("dubious ownership") {
        GitError::DubiousOwnership { dir: root_of(&dir).unwrap_or(dir) }
    } else if message.contains("must be run in a work tree") {
        GitError::InsideGitFolder { dir }
    } else if let Some(root) = root_of(&dir) {
        GitError::Damaged { dir: root, message }
    } else if message.contains("not a git repository") {
        GitError::NoRepository { dir }
    } else {
        GitError::Damaged { dir, message }
    }
}

/// The nearest folder with a `.git`.
fn root_of(dir: &Path) -> Option<PathBuf> {
    let dir = dir.canonicalize().ok()?;
    dir.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
}

impl Git {
    /// The git folder that all work trees share.
    pub fn shared_folder(&self) -> PathBuf {
        shared_git_dir_of(self.top())
    }

    /// The output of `git worktree list`, and the byte that ends its lines. Git fails to list a
    /// worktree that another process is adding at this moment, so a failure is tried again.
    pub(super) async fn worktree_list(&self) -> Result<(Vec<u8>, u8), GitError> {
        let mut call = GitCall::new(["worktree", "list", "--porcelain"]);
        let mut end = b'\n';
        if self.inner.version >= GitVersion::EXACT_WORK_TREES {
            (call, end) = (call.args(["-z"]), 0);
        }
        for _ in 1..LIST_ATTEMPTS {
            if let Ok(printed) = self.output(&call).await {
                return Ok((printed, end));
            }
            tokio::time::sleep(LIST_PAUSE).await;
        }
        Ok((self.output(&call).await?, end))
    }

    /// The roots of all existing work trees, this one first; for a bare repository, its own
    /// folder.
    pub async fn work_trees(&self) -> Result<Vec<PathBuf>, GitError> {
        let (printed, end) = self.worktree_list().await?;
        let lines = printed.split(|byte| *byte == end);
        let paths = lines.filter_map(|line| line.strip_prefix(b"worktree "));
        let own = git_dir_of(self.top());
        let shared = shared_by(&own);
        let mut tops = vec![self.top().to_owned()];
        for top in paths.map(|path| PathBuf::from(OsStr::from_bytes(path))) {
            let folder = shared.as_deref().and_then(|shared| folder_inside(shared, &top));
            // The open work tree may be listed under another name.
            if folder.is_some() && folder != own.canonicalize().ok() {
                tops.push(top);
            }
        }
        Ok(tops)
    }
}

/// The git folder of a work tree; a bare repository is its own git folder.
pub(crate) fn git_dir_of(top: &Path) -> PathBuf {
    let has_own = std::fs::symlink_metadata(top.join(".git")).is_ok();
    if has_own { git_folder_of(top) } else { top.to_owned() }
}

/// The git folder of the whole repository, which all work trees share.
pub(crate) fn shared_git_dir_of(top: &Path) -> PathBuf {
    let own = git_dir_of(top);
    shared_by(&own).unwrap_or(own)
}

/// The git folder of the whole repository, from that of one of its work trees.
pub(super) fn shared_by(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    match read_following_links(&folder.join("commondir"), MAX_LINK) {
        Ok(path) => folder.join(OsStr::from_bytes(path.trim_ascii())).canonicalize().ok(),
        Err(_) => Some(folder),
    }
}

/// The git folder of a work tree, if it belongs to the repository. Another repository may have
/// replaced a former work tree.
fn folder_inside(shared: &Path, top: &Path) -> Option<PathBuf> {
    let folder = git_dir_of(top).canonicalize().ok()?;
    let is_linked = folder.parent() == Some(&shared.join("worktrees"));
    (folder == shared || is_linked).then_some(folder)
}
