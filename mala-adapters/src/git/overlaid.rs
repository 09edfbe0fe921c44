//! Two commits of this repository in a throw-away copy, with some of their files replaced.

use super::call::GitCall;
use super::copy::inside;
use super::filter::as_argument;
use super::import::{ImportedCommits, ImportedFiles, WHO, put, put_file};
use super::{Git, GitError, ObjectId};
use mala_domain::change::FilePath;
use std::collections::BTreeMap;
use std::path::Path;

/// A commit with some of its files replaced.
#[derive(Debug, Clone, Copy)]
pub struct OverlaidCommit<'o> {
    /// The commit; the empty tree when there is none.
    pub commit: Option<&'o str>,
    /// The contents of the replaced files.
    pub files: &'o ImportedFiles,
}

impl Git {
    /// Copies this repository into a folder, which does not exist yet, with `base` and then `head` as
    /// its only commits; `head` is checked out.
    pub async fn copy_overlaid(
        &self,
        folder: &Path,
        base: OverlaidCommit<'_>,
        head: OverlaidCommit<'_>,
    ) -> Result<ImportedCommits, GitError> {
        self.copy_to(folder)?;
        let mut stream = Vec::new();
        for (mark, name, overlaid) in [(1, "base", base), (2, "mala", head)] {
            put(&mut stream, &format!("commit refs/heads/{name}\nmark :{mark}\n"));
            put(&mut stream, &format!("author {WHO}\ncommitter {WHO}\n"));
            put(&mut stream, &format!("data {}\n{name}\n", name.len()));
            put(&mut stream, if mark == 2 { "from :1\ndeleteall\n" } else { "deleteall\n" });
            if let Some(commit) = overlaid.commit {
                let call = GitCall::new(["rev-parse", &format!("{commit}^{{tree}}")]);
                let tree = ObjectId::parse(self.output(&call).await?.trim_ascii());
                let tree = tree.ok_or_else(|| unexpected("rev-parse"))?;
                put(&mut stream, &format!("M 040000 {} \"\"\n", tree.as_str()));
            }
            let modes = self.modes(overlaid).await?;
            for (path, bytes) in overlaid.files {
                let mode = modes.get(path).map_or("100644", String::as_str);
                put_file(&mut stream, mode, path, bytes);
            }
            put(&mut stream, &format!("\nget-mark :{mark}\n"));
        }
        put(&mut stream, "done\n");
        let import = GitCall::new(["fast-import", "--quiet", "--done", "--date-format=raw"]);
        let printed = self.output(&inside(import, folder).stdin(stream)).await?;
        let mut ids = printed.split(|byte| *byte == b'\n').map(ObjectId::parse);
        let mut next = || ids.next().flatten().map(|id| id.0);
        let (Some(base), Some(head)) = (next(), next()) else {
            return Err(unexpected("fast-import"));
        };
        self.check_out_in(folder, &head).await?;
        Ok(ImportedCommits { base, head })
    }

    /// The modes that the replaced files have in the commit.
    async fn modes(
        &self,
        overlaid: OverlaidCommit<'_>,
    ) -> Result<BTreeMap<FilePath, String>, GitError> {
        let Some(commit) = overlaid.commit else { return Ok(BTreeMap::new()) };
        let call = GitCall::new(["ls-tree", "-z", "--full-tree", commit, "--"])
            .args(overlaid.files.keys().map(as_argument));
        let listed = self.output(&call).await?;
        let entries = listed.split(|byte| *byte == 0).filter_map(|entry| {
            let tab = entry.iter().position(|byte| *byte == b'\t')?;
            let mode = std::str::from_utf8(entry.get(..6)?).ok()?;
            let is_file = matches!(mode, "100644" | "100755");
            let path = FilePath::from_bytes(entry.get(tab + 1..)?);
            is_file.then(|| (path, mode.to_owned()))
        });
        Ok(entries.collect())
    }
}

fn unexpected(command: &str) -> GitError {
    GitError::Unexpected { command: command.to_owned() }
}
