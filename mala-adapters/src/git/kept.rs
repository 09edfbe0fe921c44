//! The work tree as it is on disk, kept as a commit of a throw-away copy: all that git does not ignore,
//! whatever the index was told to overlook, and nothing that mala itself writes.

use super::call::Call;
use super::copy::{by_nobody, failed};
use super::submodules::LIST_LINKS;
use super::working_tree::copy_with_date;
use super::{Git, GitError, ObjectId};
use crate::store::STATE;
use mala_domain::change::FilePath;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The index that the work tree is kept with.
struct KeptIndex<'g> {
    git: &'g Git,
    /// The git folder of the copy.
    own: PathBuf,
    file: PathBuf,
}

/// A work tree that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptWork {
    /// The commit of the copy that it is.
    pub commit: String,
    /// The commit at HEAD.
    pub head: Option<String>,
    /// Submodules with changes that are not committed in them: no commit of this repository has those.
    pub dirty: Vec<FilePath>,
}

impl Git {
    /// Keeps the work tree as it is on disk, untracked files included, as a commit of the copy in this
    /// folder.
    pub async fn keep_work_tree(&self, folder: &Path) -> Result<KeptWork, GitError> {
        if self.inner.is_bare {
            return Err(GitError::Bare { dir: self.inner.dir.clone() });
        }
        let head = self.head().await?;
        let own = folder.join(".git");
        let index = KeptIndex { git: self, file: own.join("kept-index"), own };
        index.copy().await?;
        index.overlook_nothing().await?;
        index.add_all(head.as_ref()).await?;
        let dirty = self.dirty_listed(index.call(LIST_LINKS)).await?;
        let tree = self.output(&index.call(["write-tree"])).await?;
        let tree = String::from_utf8_lossy(&tree).trim().to_owned();
        let mut commit = index.call(["commit-tree", "-m", "the work tree", &tree]);
        if let Some(head) = &head {
            commit = commit.args(["-p", head.as_str()]);
        }
        let commit = by_nobody(commit);
        let id = self.output(&commit).await?;
        match ObjectId::parse(id.trim_ascii()) {
            Some(id) => Ok(KeptWork { commit: id.0, head: head.map(|head| head.0), dirty }),
            None => Err(commit.unexpected()),
        }
    }
}

impl KeptIndex<'_> {
    fn call<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Call {
        let top = &self.git.inner.top;
        Call::new(args)
            .dir(top.clone())
            .env("GIT_DIR", self.own.clone())
            .env("GIT_WORK_TREE", top.clone())
            .env("GIT_INDEX_FILE", self.file.clone())
    }

    /// The repository's index, so that only files that changed are read.
    async fn copy(&self) -> Result<(), GitError> {
        let theirs = self.git.git_path("index").await?;
        if !theirs.exists() {
            return Ok(());
        }
        copy_with_date(&theirs, &self.file)
            .and_then(|()| self.copy_shared(&theirs))
            .map_err(failed("copying", &theirs))
    }

    /// The other part of an index in two parts.
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

    /// Git takes some files for unchanged without a look when it was told so. Those that a sparse
    /// checkout leaves out are not on disk, and are unchanged indeed.
    async fn overlook_nothing(&self) -> Result<(), GitError> {
        let listed = self.git.output(&self.call(LIST_TAGS)).await?;
        let Overlooked { assumed, skipped } = Overlooked::among(&listed, &self.git.inner.top);
        for (bit, paths) in [("--no-assume-unchanged", assumed), ("--no-skip-worktree", skipped)] {
            if !paths.is_empty() {
                let call = self.call(["update-index", bit, "-z", "--stdin"]).stdin(paths);
                self.git.output(&call).await?;
            }
        }
        Ok(())
    }

    /// Everything on disk; mala's own files are as they are at HEAD, in whatever case they are written. They
    /// are put back afterwards: git fails to leave out what it ignores already.
    async fn add_all(&self, head: Option<&ObjectId>) -> Result<(), GitError> {
        self.git.output(&self.call(["add", "--all", "--ignore-errors", "--", "."])).await?;
        let nothing = self.git.empty_tree();
        let before = head.unwrap_or(&nothing);
        let reset = self.call(["reset", "--quiet", before.as_str(), "--"]);
        let own = STATE.map(|path| format!(":(icase){path}"));
        self.git.output(&reset.args(own)).await?;
        Ok(())
    }
}

/// Lists every file of an index with what git was told of it.
pub(super) const LIST_TAGS: [&str; 3] = ["ls-files", "-v", "-z"];

/// Files of an index that git was told to overlook and that are on disk, each with a zero after it.
pub(super) struct Overlooked {
    pub(super) assumed: Vec<u8>,
    pub(super) skipped: Vec<u8>,
}

impl Overlooked {
    /// Those in such a list.
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
