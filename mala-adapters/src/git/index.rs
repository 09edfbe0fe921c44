//! The entries of the index.

use super::call::Call;
use super::trees::{Entry, Kind};
use super::{Git, GitError, ObjectId};
use mala_domain::change::FilePath;
use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// How many bytes of paths are given to git at once: far below what a system takes.
const MAX_ARGUMENTS: usize = 100_000;

impl Git {
    /// What these paths are in the index, in the same order.
    pub(super) async fn index_entries(
        &self,
        paths: &[FilePath],
    ) -> Result<Vec<Option<Entry>>, GitError> {
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
        found: &mut HashMap<Vec<u8>, Entry>,
    ) -> Result<(), GitError> {
        let inside = paths.iter().filter(|path| path.stays_inside());
        let paths: Vec<_> = inside
            .map(|path| OsString::from_vec([b":(top,literal)", path.as_bytes()].concat()))
            .collect();
        if paths.is_empty() {
            return Ok(());
        }
        let call = Call::new(["ls-files", "--stage", "--full-name", "-z", "--"]).args(paths);
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
        let mut call = Call::new(["ls-files", "--full-name", "-z", "--"]);
        if !prefix.is_empty() {
            call = call.args([below]);
        }
        let listed = self.output(&call).await?;
        let names = listed.split(|byte| *byte == 0).filter_map(|path| path.strip_prefix(&*prefix));
        let is_direct = |name: &&[u8]| !name.is_empty() && !name.contains(&b'/');
        Ok(names.filter(is_direct).map(<[u8]>::to_vec).collect())
    }

    /// Files that a merge left with several versions in the index.
    pub(super) async fn unmerged(&self) -> Result<Vec<FilePath>, GitError> {
        let call = Call::new(["ls-files", "--unmerged", "--full-name", "-z"]);
        let listed = self.output(&call).await?;
        let mut paths: Vec<_> = listed
            .split(|byte| *byte == 0)
            .filter_map(|line| parse(line).map(|(path, _)| FilePath::from_bytes(path)))
            .collect();
        paths.dedup();
        Ok(paths)
    }
}

/// The submodules that `git ls-files --stage -z` lists.
pub(super) fn gitlinks(listed: &[u8]) -> impl Iterator<Item = FilePath> {
    let lines = listed.split(|byte| *byte == 0).filter(|line| line.starts_with(b"160000 "));
    lines.filter_map(|line| parse(line).map(|(path, _)| FilePath::from_bytes(path)))
}

/// `MODE SPACE ID SPACE STAGE TAB PATH`; no entry when the stage is not the merged one.
fn parse(line: &[u8]) -> Option<(&[u8], Option<Entry>)> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let (fields, path) = (&line[..tab], &line[tab + 1..]);
    let mut fields = fields.split(|byte| *byte == b' ');
    let (mode, id, stage) = (fields.next()?, fields.next()?, fields.next()?);
    let entry = Entry { kind: Kind::of_mode(mode), id: ObjectId::parse(id)? };
    Some((path, (stage == b"0").then_some(entry)))
}
