//! Throw-away copies of a repository, for those who are not trusted with the real one. A copy has a git
//! folder of its own and borrows the objects; whatever happens in it, the repository stays as it is.

use super::call::Call;
use super::{Git, GitError, Hash, ObjectId, ScopeError};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Who a copy's own commits are by: nobody, at no time, so that the same tree has the same id.
const NOBODY: [(&str, &str); 6] = [
    ("GIT_AUTHOR_NAME", "mala"),
    ("GIT_AUTHOR_EMAIL", "mala@localhost"),
    ("GIT_AUTHOR_DATE", "1700000000 +0000"),
    ("GIT_COMMITTER_NAME", "mala"),
    ("GIT_COMMITTER_EMAIL", "mala@localhost"),
    ("GIT_COMMITTER_DATE", "1700000000 +0000"),
];

/// Takes away what a commit's own attributes do to its files when they are written. An encoding cannot be
/// turned off, only left unsaid.
const AS_IT_IS: &[u8] = b"* -text -ident !filter !working-tree-encoding\n";

impl Git {
    /// The full id of the commit that a revision names.
    pub async fn commit_id(&self, revision: &str) -> Result<String, ScopeError> {
        Ok(self.commit(revision).await?.0)
    }

    /// Makes a copy without files in this folder, which is not there yet.
    pub async fn copy_to(&self, folder: &Path) -> Result<(), GitError> {
        let format = match self.inner.hash {
            Hash::Sha1 => "--object-format=sha1",
            Hash::Sha256 => "--object-format=sha256",
        };
        let init = ["init", "--quiet", "--template=", "--initial-branch=mala", format, "--"];
        self.output(&Call::new(init).args([folder])).await?;
        let own = folder.join(".git");
        let objects = absolute(&self.git_path("objects").await?)?;
        write(&own.join("objects/info/alternates"), &quoted(&objects))?;
        for (name, folder) in [("shallow", ""), ("info/exclude", "info")] {
            let theirs = self.git_path(name).await?;
            if theirs.exists() {
                std::fs::create_dir_all(own.join(folder))
                    .and_then(|()| std::fs::copy(&theirs, own.join(name)))
                    .map_err(failed("copying", &theirs))?;
            }
        }
        Ok(())
    }

    /// Makes a copy in this folder, with the files byte for byte as they are at a commit.
    pub async fn copy_at(&self, commit: &str, folder: &Path) -> Result<(), GitError> {
        self.copy_to(folder).await?;
        self.check_out_in(folder, commit).await
    }

    /// Checks out a commit in the copy in this folder, byte for byte.
    pub(super) async fn check_out_in(&self, folder: &Path, commit: &str) -> Result<(), GitError> {
        write(&folder.join(".git/info/attributes"), AS_IT_IS)?;
        let call = Call::new(["checkout", "--quiet", "--force", "--detach", commit, "--"]);
        self.output(&inside(call, folder)).await?;
        Ok(())
    }

    /// Whether the index of the copy in this folder has the files of a commit and no others. One that git
    /// cannot read has not.
    pub async fn has_index_of(&self, commit: &str, folder: &Path) -> bool {
        let compare = ["diff-index", "--cached", "--quiet", "--ignore-submodules=none", commit];
        let finished = self.finish(&inside(Call::new(compare).args(["--"]), folder)).await;
        finished.is_ok_and(|finished| finished.code() == Some(0))
    }

    /// Makes a commit without any file in the copy in this folder, to compare with.
    pub async fn nothing(&self, folder: &Path) -> Result<String, GitError> {
        let tree = self.empty_tree();
        let call = Call::new(["commit-tree", "-m", "nothing", tree.as_str()]);
        let commit = by_nobody(inside(call, folder));
        let id = self.output(&commit).await?;
        ObjectId::parse(id.trim_ascii()).map(|id| id.0).ok_or_else(|| commit.unexpected())
    }
}

/// A call that makes the same commit whoever makes it, and whenever.
pub(super) fn by_nobody(call: Call) -> Call {
    NOBODY.iter().fold(call, |call, (name, value)| call.env(name, value))
}

/// A call that sees the copy in this folder and nothing else.
pub(super) fn inside(call: Call, folder: &Path) -> Call {
    call.dir(folder.to_owned())
        .env("GIT_DIR", folder.join(".git"))
        .env("GIT_WORK_TREE", folder)
        .env("GIT_INDEX_FILE", OsString::from(folder.join(".git/index")))
}

/// A path as a line of its own, whatever is in its name.
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
