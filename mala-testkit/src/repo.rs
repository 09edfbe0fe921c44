//! A temporary repository with real git, a fixed author and fixed dates, so that commits have the
//! same ids on every machine.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;

/// A repository in a folder that is deleted with the value.
#[derive(Debug)]
pub struct TestRepo {
    folder: TempDir,
    root: PathBuf,
    n_commits: AtomicU64,
}

impl Default for TestRepo {
    fn default() -> Self {
        Self::new()
    }
}

impl TestRepo {
    /// An empty repository on the branch `main`, without a commit.
    pub fn new() -> Self {
        let repo = Self::plain_folder("repo");
        repo.git(&["init", "-q", "-b", "main"]);
        repo
    }

    /// A folder without a repository.
    pub fn plain_folder(name: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join(name);
        std::fs::create_dir(&root).unwrap();
        Self { folder, root, n_commits: AtomicU64::new(0) }
    }

    /// A repository with one commit that contains these files.
    pub fn with_files(files: &[(&str, &str)]) -> Self {
        let repo = Self::new();
        for (path, text) in files {
            repo.write(path, text);
        }
        repo.commit("start");
        repo
    }

    /// The root of the work tree.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path next to the work tree, in the same temporary folder.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.root.parent().unwrap_or(self.folder.path()).join(name)
    }

    /// The absolute path of a file in the work tree.
    pub fn path(&self, path: impl AsRef<[u8]>) -> PathBuf {
        self.root.join(OsStr::from_bytes(path.as_ref()))
    }

    /// Writes a file and creates its folders.
    pub fn write(&self, path: impl AsRef<[u8]>, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        let parent = path.parent().unwrap();
        std::fs::create_dir_all(parent).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Removes a file.
    pub fn remove(&self, path: impl AsRef<[u8]>) {
        std::fs::remove_file(self.path(path)).unwrap();
    }

    /// Creates a symbolic link.
    pub fn link(&self, path: impl AsRef<[u8]>, target: impl AsRef<Path>) {
        std::os::unix::fs::symlink(target, self.path(path)).unwrap();
    }

    /// Stages everything.
    pub fn stage(&self) {
        self.git(&["add", "-A"]);
    }

    /// Stages everything and commits it. Returns the id of the commit.
    pub fn commit(&self, message: &str) -> String {
        self.stage();
        self.commit_staged(message)
    }

    /// Commits what is staged. Returns the id of the commit.
    pub fn commit_staged(&self, message: &str) -> String {
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.head()
    }

    /// The id of HEAD.
    pub fn head(&self) -> String {
        self.id("HEAD")
    }

    /// The id of a revision.
    pub fn id(&self, revision: &str) -> String {
        self.git(&["rev-parse", revision])
    }

    /// Creates a branch at HEAD and checks it out.
    pub fn branch(&self, name: &str) {
        self.git(&["checkout", "-q", "-b", name]);
    }

    /// Checks out a branch or a commit.
    pub fn checkout(&self, revision: &str) {
        self.git(&["checkout", "-q", revision]);
    }

    /// Runs git, which must succeed. Returns its trimmed stdout.
    pub fn git(&self, args: &[&str]) -> String {
        let output = self.try_git(args);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {args:?}: {complaint}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Runs git.
    pub fn try_git(&self, args: &[&str]) -> Output {
        // Every call has its own date, so that commits are ordered by date.
        let number = self.n_commits.fetch_add(1, Ordering::Relaxed) + 1;
        let date = format!("{} +0000", 1_700_000_000 + number);
        let mut command = Command::new("git");
        command.args(args).current_dir(&self.root).env_clear();
        for kept in ["PATH", "TMPDIR"] {
            command.envs(std::env::var_os(kept).map(|value| (kept, value)));
        }
        command
            .env("HOME", self.folder.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("LC_ALL", "C")
            .env("GIT_AUTHOR_NAME", "Ada")
            .env("GIT_AUTHOR_EMAIL", "ada@example.org")
            .env("GIT_COMMITTER_NAME", "Ada")
            .env("GIT_COMMITTER_EMAIL", "ada@example.org")
            .env("GIT_AUTHOR_DATE", &date)
            .env("GIT_COMMITTER_DATE", &date)
            .env("GIT_ALLOW_PROTOCOL", "file")
            .output()
            .unwrap()
    }
}
