//! The files of a case at base and at head. Without `base_files`, the diff is reverted from the files at head;
//! a file to which the diff does not apply is treated as new.

#[cfg(test)]
mod tests;

use super::case::EvalCase;
use super::ports::FileContents as Files;
use super::record::BaseOrigin;
use mala_domain::change::{EntryKind, FileDiff, FilePath, FileStatus, read};
use std::collections::BTreeMap;

/// Both sides of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseTrees {
    /// The files at base.
    pub base: Files,
    /// The files at head.
    pub head: Files,
    /// The origin of the files at base.
    pub origin: BaseOrigin,
    /// Files to which the diff does not apply, with the reason.
    pub notes: Vec<String>,
}

impl CaseTrees {
    /// Both sides of this case.
    pub fn of(case: &EvalCase) -> Self {
        let bytes = |files: &BTreeMap<FilePath, String>| -> Files {
            files.iter().map(|(path, text)| (path.clone(), text.as_bytes().to_vec())).collect()
        };
        let head = bytes(&case.files);
        if let Some(base) = &case.base_files {
            let origin = BaseOrigin::Given;
            return Self { base: bytes(base), head, origin, notes: Vec::new() };
        }
        match read(case.diff.as_bytes()) {
            Ok(files) => TreeReverter::new(head).all(&files),
            Err(error) => {
                let notes = vec![format!("treating all files as new: invalid diff: {error}")];
                Self { base: Files::new(), head, origin: BaseOrigin::Empty, notes }
            }
        }
    }
}

struct TreeReverter {
    trees: CaseTrees,
    n_reverted: usize,
    n_kept_new: usize,
}

impl TreeReverter {
    fn new(head: Files) -> Self {
        let trees =
            CaseTrees { base: head.clone(), head, origin: BaseOrigin::Reverted, notes: Vec::new() };
        Self { trees, n_reverted: 0, n_kept_new: 0 }
    }

    fn all(mut self, files: &[FileDiff<'_>]) -> CaseTrees {
        // First remove all files that the diff names, so that files may swap their paths.
        for file in files {
            self.trees.base.remove(&file.path);
        }
        for file in files {
            match self.one(file) {
                Ok(()) => self.n_reverted += 1,
                Err(why) => {
                    self.n_kept_new += usize::from(self.trees.head.contains_key(&file.path));
                    self.trees.notes.push(format!("{}: {why}", file.path));
                }
            }
        }
        self.trees.origin = match (self.n_reverted, self.n_kept_new) {
            (_, 0) => BaseOrigin::Reverted,
            (0, _) => BaseOrigin::Empty,
            _ => BaseOrigin::PartlyReverted,
        };
        self.trees
    }

    fn one(&mut self, file: &FileDiff<'_>) -> Result<(), &'static str> {
        let named = [&file.path, file.base_path()];
        if !named.into_iter().all(|path| path.stays_inside() && !is_of_git(path)) {
            return Err("the path leaves the tree; skipped");
        }
        if file.is_binary || file.kind() != EntryKind::File {
            return Err("not a text file; used as it is at head");
        }
        if file.status == FileStatus::Added {
            if !self.trees.head.contains_key(&file.path) {
                let text = file.apply(b"").ok_or("the case has no such file; skipped")?;
                self.trees.head.insert(file.path.clone(), text);
            }
            return Ok(());
        }
        let at_head = match file.status {
            FileStatus::Deleted => Some(&[][..]),
            _ => self.trees.head.get(&file.path).map(Vec::as_slice),
        };
        let at_head = at_head.ok_or("the case has no such file; skipped")?;
        let at_base =
            file.revert(at_head).ok_or("the diff does not apply in reverse; treated as new")?;
        self.trees.base.insert(file.base_path().clone(), at_base);
        Ok(())
    }
}

fn is_of_git(path: &FilePath) -> bool {
    path.as_bytes().split(|byte| *byte == b'/').any(|part| part.eq_ignore_ascii_case(b".git"))
}
