//! Finding the repository around a folder, and making sure of what it is.

use super::call::{complaint_of, probe};
use super::config::Config;
use super::{Git, GitError, Hash, Inner, Version, remote};
use crate::process::{Environment, Finished};
use crate::regular::read_named;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// For every call: no prompts, no network, no locks, no replaced objects, messages in English.
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

/// A `.git` that is a file names a path.
pub(super) const MAX_LINK: u64 = 8 << 10;

impl Git {
    /// Opens the repository that this folder is in.
    pub async fn open(dir: &Path, environment: &Environment) -> Result<Self, GitError> {
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
        let facts = match Facts::read(dir, &facts?) {
            Err(GitError::Bare { .. }) => Facts::of_bare(dir, &environment).await?,
            facts => facts?,
        };
        facts.refuse_embedded(&path_of(&own?.output.stdout))?;
        let config = config?;
        if config.code() != Some(0) {
            let complaint = complaint_of(&config);
            return Err(GitError::Damaged { dir: facts.top, complaint });
        }
        let config = Config::parse(&config.output.stdout);
        let inner = Inner {
            dir: dir.canonicalize().map_err(|source| {
                let what = format!("no such folder: {}", dir.display());
                GitError::Io { what, source }
            })?,
            url: config.remote_url().and_then(remote::public_url),
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

fn check_version(finished: &Finished) -> Result<Version, GitError> {
    let printed = String::from_utf8_lossy(&finished.output.stdout);
    let Some(version) = Version::parse(&printed) else {
        return Err(GitError::Unexpected { command: "version".to_owned() });
    };
    if version < Version::OLDEST {
        let Version(major, minor, _) = Version::OLDEST;
        let found = printed.trim().trim_start_matches("git version ").to_owned();
        return Err(GitError::TooOld { found, needed: format!("{major}.{minor}") });
    }
    Ok(version)
}

struct Facts {
    top: PathBuf,
    is_bare: bool,
    hash: Hash,
    is_shallow: bool,
}

impl Facts {
    fn read(dir: &Path, finished: &Finished) -> Result<Self, GitError> {
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

    /// Of a repository without a work tree: its own folder is all the place that it has.
    async fn of_bare(dir: &Path, environment: &Environment) -> Result<Self, GitError> {
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

    /// A commit can bring files that git takes for a repository, with configuration, objects and all that
    /// mala keeps in a git folder. It cannot bring a `.git`: only what that leads to is believed.
    fn refuse_embedded(&self, git_dir: &Path) -> Result<(), GitError> {
        let is_own = |top: &Path| match (git_folder_of(top).canonicalize(), git_dir.canonicalize())
        {
            (Ok(own), Ok(found)) => own == found,
            _ => false,
        };
        if !self.is_bare {
            // A repository may say that its work tree is anywhere, such as the user's home. Everything
            // there would be under review, and read.
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

/// The git folder of a work tree: its `.git`, or what that names in a linked work tree or a submodule.
pub(super) fn git_folder_of(top: &Path) -> PathBuf {
    let own = top.join(".git");
    let link = read_named(&own, MAX_LINK).unwrap_or_default();
    match link.strip_prefix(b"gitdir:") {
        Some(path) => top.join(OsStr::from_bytes(path.trim_ascii())),
        None => own,
    }
}

/// A path that ends a command's output.
fn path_of(line: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(line.strip_suffix(b"\n").unwrap_or(line)))
}

fn hash_named(name: &[u8]) -> Hash {
    if name == b"sha256" { Hash::Sha256 } else { Hash::Sha1 }
}

fn refusal(dir: &Path, finished: &Finished, is_bare: bool) -> GitError {
    let complaint = complaint_of(finished);
    let dir = dir.to_owned();
    if is_bare {
        GitError::Bare { dir }
    } else if complaint.contains("dubious ownership") {
        GitError::DubiousOwnership { dir: root_of(&dir).unwrap_or(dir) }
    } else if complaint.contains("must be run in a work tree") {
        GitError::InsideGitFolder { dir }
    } else if let Some(root) = root_of(&dir) {
        GitError::Damaged { dir: root, complaint }
    } else if complaint.contains("not a git repository") {
        GitError::NoRepository { dir }
    } else {
        GitError::Damaged { dir, complaint }
    }
}

/// The nearest folder with a `.git`.
fn root_of(dir: &Path) -> Option<PathBuf> {
    let dir = dir.canonicalize().ok()?;
    dir.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
}
