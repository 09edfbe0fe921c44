//! The work tree with its untracked files. Git compares only what its index knows, so that untracked
//! files are put into a copy of the index, outside of the repository.

use super::call::Call;
use super::{Git, GitError};
use mala_domain::change::FilePath;
use std::ffi::OsString;
use std::fs::{File, FileTimes};
use std::path::Path;
use tempfile::TempDir;

/// What is untracked and not ignored.
#[derive(Debug, Default)]
pub(super) struct Untracked {
    pub(super) files: Vec<FilePath>,
    /// Folders that are repositories of their own.
    pub(super) repositories: Vec<FilePath>,
}

/// A copy of the index, gone when the value is.
#[derive(Debug)]
pub(super) struct IndexCopy {
    folder: TempDir,
}

impl IndexCopy {
    pub(super) fn path(&self) -> OsString {
        self.folder.path().join("index").into_os_string()
    }
}

impl Git {
    pub(super) async fn untracked(&self) -> Result<Untracked, GitError> {
        let call = Call::new(["ls-files", "--others", "--exclude-standard", "--full-name", "-z"]);
        let listed = self.output(&call).await?;
        let mut untracked = Untracked::default();
        for path in listed.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
            match path.strip_suffix(b"/") {
                Some(folder) => untracked.repositories.push(FilePath::from_bytes(folder)),
                None => untracked.files.push(FilePath::from_bytes(path)),
            }
        }
        Ok(untracked)
    }

    /// The index with these files in it too. Their content there is empty and of no date, so that git
    /// looks at the files themselves.
    pub(super) async fn index_with(&self, files: &[FilePath]) -> Result<IndexCopy, GitError> {
        let index = self.git_path("index").await?;
        let copy = tempfile::Builder::new().prefix("mala-index-").tempdir();
        let io = |what: String| move |source| GitError::Io { what, source };
        let copy = IndexCopy { folder: copy.map_err(io("making a temporary folder".to_owned()))? };
        if index.exists() {
            copy_with_date(&index, Path::new(&copy.path()))
                .map_err(io(format!("copying {}", index.display())))?;
        }
        let blob = self.inner.hash.empty_blob();
        let mut entries = Vec::new();
        for file in files {
            entries.extend_from_slice(format!("100644 {blob}\t").as_bytes());
            entries.extend_from_slice(file.as_bytes());
            entries.push(0);
        }
        let call = Call::new(["update-index", "-z", "--index-info"]).stdin(entries);
        self.output(&call.env("GIT_INDEX_FILE", copy.path())).await?;
        Ok(copy)
    }
}

/// Copies an index with its date. Git looks into files that changed within a tick of the index's date:
/// with a later one it would take them for unchanged.
pub(super) fn copy_with_date(from: &Path, to: &Path) -> std::io::Result<()> {
    let modified = from.metadata()?.modified()?;
    // The contents alone: the index of a read-only repository is read-only, and its copy must not be.
    std::fs::write(to, std::fs::read(from)?)?;
    File::options().write(true).open(to)?.set_times(FileTimes::new().set_modified(modified))
}
