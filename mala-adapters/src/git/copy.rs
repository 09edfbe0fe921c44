//! Temporary copies of a repository, for programs that are not trusted with the real one. A copy
//! has a git folder of its own and borrows the objects of the repository, which stays unchanged.

use super::call::GitCall;
use super::diff::DiffSides;
use super::filter::{PathFilter, as_argument};
use super::index::copy_with_date;
use super::submodules::LIST_LINKS;
use super::{Git, GitError, GitInner, GitScopeError, ObjectFormat, ObjectId};
use crate::store::{DRAFTS, STATE};
use mala_domain::change::FilePath;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The author of commits in a copy. It is fixed, so that the same tree has the same id.
const FIXED_AUTHOR: [(&str, &str); 6] = [
    ("GIT_AUTHOR_NAME", "mala"),
    ("GIT_AUTHOR_EMAIL", "mala@localhost"),
    ("GIT_AUTHOR_DATE", "1700000000 +0000"),
    ("GIT_COMMITTER_NAME", "mala"),
    ("GIT_COMMITTER_EMAIL", "mala@localhost"),
    ("GIT_COMMITTER_DATE", "1700000000 +0000"),
];

/// Disables the attributes that change files on checkout. An encoding cannot be disabled, only
/// unset.
const RAW_ATTRIBUTES: &[u8] = b"* -text -ident !filter !working-tree-encoding\n";

impl Git {
    /// The full id of the commit that a revision names.
    pub async fn commit_id(&self, revision: &str) -> Result<String, GitScopeError> {
        Ok(self.commit(revision).await?.0)
    }

    /// Creates a copy without files in this folder, which must not exist, and opens it.
    pub fn copy_to(&self, folder: &Path) -> Result<Self, GitError> {
        let own = folder.join(".git");
        let format = match self.inner.hash {
            ObjectFormat::Sha1 => "\trepositoryformatversion = 0\n",
            ObjectFormat::Sha256 => {
                "\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"
            }
        };
        write(&own.join("HEAD"), b"ref: refs/heads/mala\n")?;
        write(&own.join("config"), format!("[core]\n\tbare = false\n{format}").as_bytes())?;
        std::fs::create_dir_all(own.join("refs/heads")).map_err(failed("creating", &own))?;
        let shared = self.shared_dir();
        let objects = absolute(&shared.join("objects"))?;
        write(&own.join("objects/info/alternates"), &quoted(&objects))?;
        for (name, folder) in [("shallow", ""), ("info/exclude", "info")] {
            let theirs = shared.join(name);
            if theirs.exists() {
                std::fs::create_dir_all(own.join(folder))
                    .and_then(|()| std::fs::copy(&theirs, own.join(name)))
                    .map_err(failed("copying", &theirs))?;
            }
        }
        self.open_copy(folder)
    }

    /// Opens a copy that `copy_to` created. It has no configuration of its own, so nothing needs to
    /// be read.
    pub fn open_copy(&self, folder: &Path) -> Result<Self, GitError> {
        let folder = absolute(folder)?;
        let own = &self.inner;
        let inner = GitInner {
            dir: folder.clone(),
            top: folder,
            is_bare: false,
            environment: own.environment.clone().without("GIT_INDEX_FILE"),
            around: own.around.clone().without("GIT_INDEX_FILE"),
            version: own.version,
            hash: own.hash,
            is_shallow: own.is_shallow,
            url: None,
            users: own.users.clone(),
        };
        Ok(Self { inner: Arc::new(inner), attributes: None })
    }

    /// Creates a copy in this folder, with the files of a commit byte for byte.
    pub async fn copy_at(&self, commit: &str, folder: &Path) -> Result<(), GitError> {
        self.copy_to(folder)?;
        self.check_out_in(folder, commit).await
    }

    /// Checks out a commit in the copy in this folder, byte for byte.
    pub(super) async fn check_out_in(&self, folder: &Path, commit: &str) -> Result<(), GitError> {
        write(&folder.join(".git/info/attributes"), RAW_ATTRIBUTES)?;
        let call = GitCall::new(["checkout", "--quiet", "--force", "--detach", commit, "--"]);
        self.output(&inside(call, folder)).await?;
        Ok(())
    }

    /// Whether the index of the copy in this folder has exactly the files of a commit. False if
    /// git cannot read it.
    pub async fn index_matches(&self, commit: &str, folder: &Path) -> bool {
        let compare = ["diff-index", "--cached", "--quiet", "--ignore-submodules=none", commit];
        let finished = self.finish(&inside(GitCall::new(compare).args(["--"]), folder)).await;
        finished.is_ok_and(|finished| finished.code() == Some(0))
    }

    /// Creates a commit without files in the copy in this folder, to compare with.
    pub async fn create_empty_commit(&self, folder: &Path) -> Result<String, GitError> {
        let tree = self.empty_tree();
        let call = GitCall::new(["commit-tree", "-m", "nothing", tree.as_str()]);
        let commit = with_fixed_author(inside(call, folder));
        let id = self.output(&commit).await?;
        ObjectId::parse(id.trim_ascii()).map(|id| id.0).ok_or_else(|| commit.unexpected())
    }
}

/// A call that creates the same commit independent of the user and the time.
pub(super) fn with_fixed_author(call: GitCall) -> GitCall {
    FIXED_AUTHOR.iter().fold(call, |call, (name, value)| call.env(name, value))
}

/// A call that sees only the copy in this folder.
pub(super) fn inside(call: GitCall, folder: &Path) -> GitCall {
    call.dir(folder.to_owned())
        .env("GIT_DIR", folder.join(".git"))
        .env("GIT_WORK_TREE", folder)
        .env("GIT_INDEX_FILE", OsString::from(folder.join(".git/index")))
}

/// A path as one quoted line.
fn quoted(path: &Path) -> Vec<u8> {
    let mut line = vec![b'"'];
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'\n' => line.extend(b"\\n"),
            b'"' | b'\\' => line.extend([b'\\', *byte]),
            _ => line.push(*byte),
        }
    }
    line.extend(b"\"\n");
    line
}

fn absolute(path: &Path) -> Result<std::path::PathBuf, GitError> {
    path.canonicalize().map_err(failed("finding", path))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), GitError> {
    let parent = path.parent().unwrap_or(path);
    std::fs::create_dir_all(parent)
        .and_then(|()| std::fs::write(path, bytes))
        .map_err(failed("writing", path))
}

pub(super) fn failed(doing: &str, path: &Path) -> impl FnOnce(std::io::Error) -> GitError {
    let what = format!("{doing} {}", path.display());
    move |source| GitError::Io { what, source }
}

/// The index from which a snapshot is created.
struct SnapshotIndex<'g> {
    git: &'g Git,
    /// The git folder of the copy.
    own: PathBuf,
    file: PathBuf,
}

/// The work tree as a commit of a copy: all files that git does not ignore, including untracked
/// ones, without the files that mala writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkTreeSnapshot {
    /// The commit, in the copy.
    pub commit: String,
    /// The commit at HEAD.
    pub head: Option<String>,
    /// Submodules with uncommitted changes, which are not part of any commit of this repository.
    pub dirty: Vec<FilePath>,
}

impl Git {
    /// Stores the work tree as it is on disk, including untracked files, as a commit of the copy
    /// in this folder.
    pub async fn snapshot_work_tree(&self, folder: &Path) -> Result<WorkTreeSnapshot, GitError> {
        if self.inner.is_bare {
            return Err(GitError::Bare { dir: self.inner.dir.clone() });
        }
        let head = self.head().await?;
        let own = folder.join(".git");
        let index = SnapshotIndex { git: self, file: own.join("kept-index"), own };
        index.copy()?;
        index.clear_hidden_flags().await?;
        index.add_all(head.as_ref()).await?;
        let dirty = self.dirty_listed(index.call(LIST_LINKS)).await?;
        let tree = self.output(&index.call(["write-tree"])).await?;
        let tree = String::from_utf8_lossy(&tree).trim().to_owned();
        let mut commit = index.call(["commit-tree", "-m", "the work tree", &tree]);
        if let Some(head) = &head {
            commit = commit.args(["-p", head.as_str()]);
        }
        let commit = with_fixed_author(commit);
        let id = self.output(&commit).await?;
        match ObjectId::parse(id.trim_ascii()) {
            Some(id) => Ok(WorkTreeSnapshot { commit: id.0, head: head.map(|head| head.0), dirty }),
            None => Err(commit.unexpected()),
        }
    }
}

impl SnapshotIndex<'_> {
    fn call<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> GitCall {
        let top = &self.git.inner.top;
        GitCall::new(args)
            .dir(top.clone())
            .env("GIT_DIR", self.own.clone())
            .env("GIT_WORK_TREE", top.clone())
            .env("GIT_INDEX_FILE", self.file.clone())
    }

    /// Copies the repository's index, so that only changed files are read.
    fn copy(&self) -> Result<(), GitError> {
        let theirs = self.git.index_file();
        if !theirs.exists() {
            return Ok(());
        }
        copy_with_date(&theirs, &self.file)
            .and_then(|()| self.copy_shared(&theirs))
            .map_err(failed("copying", &theirs))
    }

    /// Copies the shared part of a split index.
    fn copy_shared(&self, theirs: &Path) -> std::io::Result<()> {
        for entry in fs::read_dir(theirs.parent().unwrap_or(theirs))? {
            let entry = entry?;
            let name = entry.file_name();
            if name.as_bytes().starts_with(b"sharedindex.") {
                fs::copy(entry.path(), self.own.join(name))?;
            }
        }
        Ok(())
    }

    /// Clears the flags that make git treat files as unchanged. Files that a sparse checkout omits
    /// are not on disk and keep their flag.
    async fn clear_hidden_flags(&self) -> Result<(), GitError> {
        let listed = self.git.output(&self.call(LIST_TAGS)).await?;
        let HiddenChanges { assumed, skipped } = HiddenChanges::among(&listed, &self.git.inner.top);
        for (bit, paths) in [("--no-assume-unchanged", assumed), ("--no-skip-worktree", skipped)] {
            if !paths.is_empty() {
                let call = self.call(["update-index", bit, "-z", "--stdin"]).stdin(paths);
                self.git.output(&call).await?;
            }
        }
        Ok(())
    }

    /// Adds everything on disk. The files that mala writes are reset to HEAD, in any letter case.
    /// They are reset afterwards because git cannot exclude files that are already ignored.
    async fn add_all(&self, head: Option<&ObjectId>) -> Result<(), GitError> {
        self.git.output(&self.call(["add", "--all", "--ignore-errors", "--", "."])).await?;
        let nothing = self.git.empty_tree();
        let before = head.unwrap_or(&nothing);
        let reset = self.call(["reset", "--quiet", before.as_str(), "--"]);
        let own = STATE.iter().map(|path| format!(":(icase){path}"));
        let own = own.chain([format!(":(icase){DRAFTS}*")]);
        self.git.output(&reset.args(own)).await?;
        Ok(())
    }
}

/// Lists every file of an index with its flags.
pub(super) const LIST_TAGS: [&str; 3] = ["ls-files", "-v", "-z"];

/// Files on disk that the index marks as unchanged, each followed by a NUL.
pub(super) struct HiddenChanges {
    pub(super) assumed: Vec<u8>,
    pub(super) skipped: Vec<u8>,
}

impl HiddenChanges {
    /// Those in the output of `LIST_TAGS`.
    pub(super) fn among(listed: &[u8], top: &Path) -> Self {
        let (mut assumed, mut skipped) = (Vec::new(), Vec::new());
        for entry in listed.split(|byte| *byte == 0) {
            let [tag, b' ', path @ ..] = entry else { continue };
            if tag.is_ascii_lowercase() {
                assumed.extend_from_slice(path);
                assumed.push(0);
            }
            let on_disk = || top.join(OsStr::from_bytes(path)).symlink_metadata();
            if tag.eq_ignore_ascii_case(&b'S') && on_disk().is_ok() {
                skipped.extend_from_slice(path);
                skipped.push(0);
            }
        }
        Self { assumed, skipped }
    }
}

/// A commit that differs from another one in one file.
#[derive(Debug, Clone, Copy)]
pub struct VariantCommit<'s> {
    /// The original commit.
    pub like: &'s str,
    /// Its parent; `None` for a root commit.
    pub after: Option<&'s str>,
    /// The file that differs.
    pub file: &'s FilePath,
    /// The text of that file.
    pub text: &'s str,
}

impl Git {
    /// The ids of the newest commits that are not merges, newest first.
    pub async fn non_merge_commits(&self, max: usize) -> Result<Vec<String>, GitError> {
        let Some(head) = self.head().await? else { return Ok(Vec::new()) };
        let count = format!("--max-count={max}");
        let call = GitCall::new(["rev-list", "--no-merges", &count, head.as_str(), "--"]);
        let listed = self.output(&call).await?;
        let ids = listed.split(|byte| *byte == b'\n').filter_map(ObjectId::parse);
        Ok(ids.map(|id| id.0).collect())
    }

    /// The unified diff between two commits, or between nothing and a commit.
    pub async fn patch_between(
        &self,
        base: Option<&str>,
        head: &str,
    ) -> Result<Vec<u8>, GitScopeError> {
        let base = match base {
            Some(base) => Some(self.commit(base).await?),
            None => None,
        };
        let (base, head) = (self.tree_of(base.as_ref()), self.commit(head).await?);
        let git = self.with_attributes_of(&base)?;
        git.diff(&DiffSides::Trees(base, head), &PathFilter::default()).await
    }

    /// Creates a commit in the copy of this repository in a folder, and returns its id.
    pub async fn create_variant_commit(
        &self,
        folder: &Path,
        variant: &VariantCommit<'_>,
    ) -> Result<String, GitError> {
        let index = OsString::from(folder.join(".git/variant-index"));
        let call = |args: &[&str]| {
            inside(GitCall::new(args.iter().copied()), folder).env("GIT_INDEX_FILE", index.clone())
        };
        self.output(&call(&["read-tree", variant.like])).await?;
        let store = call(&["hash-object", "-w", "--stdin", "--no-filters"]);
        let stored = self.output(&store.stdin(variant.text.as_bytes().to_vec())).await?;
        let blob = ObjectId::parse(stored.trim_ascii())
            .ok_or_else(|| GitError::Unexpected { command: "hash-object".to_owned() })?;
        let mode = self.mode_of(variant).await?;
        let mut entry = OsString::from(format!("{mode},{},", blob.as_str()));
        entry.push(as_argument(variant.file));
        let update = call(&["update-index", "--cacheinfo"]).args([entry]);
        self.output(&update).await?;
        let tree = self.output(&call(&["write-tree"])).await?;
        let tree = String::from_utf8_lossy(&tree).trim().to_owned();
        let mut commit = with_fixed_author(call(&["commit-tree", "-m", "the change", &tree]));
        if let Some(after) = variant.after {
            commit = commit.args(["-p", after]);
        }
        let id = self.output(&commit).await?;
        ObjectId::parse(id.trim_ascii()).map(|id| id.0).ok_or_else(|| commit.unexpected())
    }

    /// The file mode, which stays the same so that only the text changes.
    async fn mode_of(&self, variant: &VariantCommit<'_>) -> Result<&'static str, GitError> {
        let call =
            GitCall::new(["ls-tree", "-z", variant.like, "--"]).args([as_argument(variant.file)]);
        let listed = self.output(&call).await?;
        Ok(if listed.starts_with(b"100755") { "100755" } else { "100644" })
    }
}
