//! The index: its entries, and a copy of it with untracked files. Git compares only files that are
//! in its index, so untracked files are added to a temporary copy.

use super::call::GitCall;
use super::trees::{GitEntry, GitEntryKind};
use super::{Git, GitError, ObjectId};
use mala_domain::change::FilePath;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{File, FileTimes};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use tempfile::TempDir;

/// The most bytes of paths in one call, far below the system's limit.
const MAX_ARGUMENTS: usize = 100_000;

impl Git {
    /// The index entries of these paths, in the same order.
    pub(super) async fn index_entries(
        &self,
        paths: &[FilePath],
    ) -> Result<Vec<Option<GitEntry>>, GitError> {
        let mut found = HashMap::new();
        let mut rest = paths;
        while !rest.is_empty() {
            let mut n_bytes = 0;
            let fitting = rest.iter().take_while(|path| {
                n_bytes += path.as_bytes().len() + 32;
                n_bytes <= MAX_ARGUMENTS
            });
            let (now, later) = rest.split_at(fitting.count().max(1));
            self.list_index(now, &mut found).await?;
            rest = later;
        }
        Ok(paths.iter().map(|path| found.get(path.as_bytes()).cloned()).collect())
    }

    async fn list_index(
        &self,
        paths: &[FilePath],
        found: &mut HashMap<Vec<u8>, GitEntry>,
    ) -> Result<(), GitError> {
        let inside = paths.iter().filter(|path| path.stays_inside());
        let paths: Vec<_> = inside
            .map(|path| OsString::from_vec([b":(top,literal)", path.as_bytes()].concat()))
            .collect();
        if paths.is_empty() {
            return Ok(());
        }
        let call = GitCall::new(["ls-files", "--stage", "--full-name", "-z", "--"]).args(paths);
        let listed = self.output(&call).await?;
        for line in listed.split(|byte| *byte == 0).filter(|line| !line.is_empty()) {
            let (path, entry) = parse(line).ok_or_else(|| call.unexpected())?;
            found.extend(entry.map(|entry| (path.to_vec(), entry)));
        }
        Ok(())
    }

    /// The names of the files directly in a folder.
    pub(super) async fn index_files_in(&self, folder: &FilePath) -> Result<Vec<Vec<u8>>, GitError> {
        let prefix = match folder.as_bytes() {
            b"" => Vec::new(),
            folder => [folder, b"/"].concat(),
        };
        let below = OsString::from_vec([b":(top,literal)", prefix.as_slice()].concat());
        let mut call = GitCall::new(["ls-files", "--full-name", "-z", "--"]);
        if !prefix.is_empty() {
            call = call.args([below]);
        }
        let listed = self.output(&call).await?;
        let names = listed.split(|byte| *byte == 0).filter_map(|path| path.strip_prefix(&*prefix));
        let is_direct = |name: &&[u8]| !name.is_empty() && !name.contains(&b'/');
        Ok(names.filter(is_direct).map(<[u8]>::to_vec).collect())
    }

    /// Files with several versions in the index after a merge.
    pub(super) async fn unmerged(&self) -> Result<Vec<FilePath>, GitError> {
        let call = GitCall::new(["ls-files", "--unmerged", "--full-name", "-z"]);
        let listed = self.output(&call).await?;
        let mut paths: Vec<_> = listed
            .split(|byte| *byte == 0)
            .filter_map(|line| parse(line).map(|(path, _)| FilePath::from_bytes(path)))
            .collect();
        paths.dedup();
        Ok(paths)
    }
}

/// The submodules in the output of `git ls-files --stage -z`.
pub(super) fn gitlinks(listed: &[u8]) -> impl Iterator<Item = FilePath> {
    let lines = listed.split(|byte| *byte == 0).filter(|line| line.starts_with(b"160000 "));
    lines.filter_map(|line| parse(line).map(|(path, _)| FilePath::from_bytes(path)))
}

/// `MODE SPACE ID SPACE STAGE TAB PATH`. There is no entry if the stage is not 0.
fn parse(line: &[u8]) -> Option<(&[u8], Option<GitEntry>)> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let (fields, path) = (&line[..tab], &line[tab + 1..]);
    let mut fields = fields.split(|byte| *byte == b' ');
    let (mode, id, stage) = (fields.next()?, fields.next()?, fields.next()?);
    let entry = GitEntry { kind: GitEntryKind::of_mode(mode), id: ObjectId::parse(id)? };
    Some((path, (stage == b"0").then_some(entry)))
}

/// Paths that are neither tracked nor ignored.
#[derive(Debug, Default)]
pub(super) struct UntrackedFiles {
    pub(super) files: Vec<FilePath>,
    /// Folders that are repositories of their own.
    pub(super) repositories: Vec<FilePath>,
}

/// A temporary copy of the index.
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
    pub(super) async fn untracked(&self) -> Result<UntrackedFiles, GitError> {
        let call =
            GitCall::new(["ls-files", "--others", "--exclude-standard", "--full-name", "-z"]);
        let listed = self.output(&call).await?;
        let mut untracked = UntrackedFiles::default();
        for path in listed.split(|byte| *byte == 0).filter(|path| !path.is_empty()) {
            match path.strip_suffix(b"/") {
                Some(folder) => untracked.repositories.push(FilePath::from_bytes(folder)),
                None => untracked.files.push(FilePath::from_bytes(path)),
            }
        }
        Ok(untracked)
    }

    /// A copy of the index with these files added. Their entries are empty and without a date, so
    /// that git reads the files.
    pub(super) async fn index_with(&self, files: &[FilePath]) -> Result<IndexCopy, GitError> {
        let index = self.index_file();
        let copy = tempfile::Builder::new().prefix("mala-index-").tempdir();
        let io = |what: String| move |source| GitError::Io { what, source };
        let copy =
            IndexCopy { folder: copy.map_err(io("cannot create a temporary folder".to_owned()))? };
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
        let call = GitCall::new(["update-index", "-z", "--index-info"]).stdin(entries);
        self.output(&call.env("GIT_INDEX_FILE", copy.path())).await?;
        Ok(copy)
    }
}

/// Copies an index with its modification time. Git reads files that changed at the time of the
/// index; with a later time it would treat them as unchanged.
pub(super) fn copy_with_date(from: &Path, to: &Path) -> std::io::Result<()> {
    let modified = from.metadata()?.modified()?;
    // Copies only the content: the index of a read-only repository is read-only, and the copy must
    // not be.
    std::fs::write(to, std::fs::read(from)?)?;
    File::options().write(true).open(to)?.set_times(FileTimes::new().set_modified(modified))
}
