//! Which `mala.yaml` applies to a review. A change must not choose the rules of its own review: the
//! file comes from the trusted revision. Only a review of a working tree may use an uncommitted one.

use mala_domain::config::FILE_NAME;
use mala_domain::scope::ReviewTarget;

/// A configuration file and where it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryFile {
    /// The name for messages, such as `mala.yaml at HEAD`.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl RepositoryFile {
    /// `mala.yaml` at this revision.
    pub fn committed(revision: &str, bytes: Vec<u8>) -> Self {
        Self { name: format!("{FILE_NAME} at {revision}"), bytes }
    }

    /// `mala.yaml` in the working tree.
    pub fn on_disk(bytes: Vec<u8>) -> Self {
        Self { name: FILE_NAME.to_owned(), bytes }
    }
}

/// The file that applies, and a notice about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryFileChoice {
    /// The file; `None` for the defaults.
    pub file: Option<RepositoryFile>,
    /// What the user should know.
    pub notice: Option<String>,
}

/// Chooses between the file at the trusted revision (the base of a range, branch or commit; `HEAD`
/// for the working tree, the index and a patch) and the one on disk.
pub fn choose(
    target: &ReviewTarget,
    trusted: Option<RepositoryFile>,
    on_disk: Option<RepositoryFile>,
) -> RepositoryFileChoice {
    let own_tree = matches!(target, ReviewTarget::WorkingTree | ReviewTarget::Staged);
    match (trusted, on_disk) {
        (None, Some(file)) if own_tree => RepositoryFileChoice {
            file: Some(file),
            notice: Some(format!("{FILE_NAME} is not committed: using the one in the work tree")),
        },
        (None, Some(_)) => RepositoryFileChoice {
            file: None,
            notice: Some(format!(
                "{FILE_NAME} is not at the base of this change: using the defaults"
            )),
        },
        (Some(trusted), Some(disk)) if trusted.bytes != disk.bytes => RepositoryFileChoice {
            notice: Some(format!("{FILE_NAME} in the work tree differs: using {}", trusted.name)),
            file: Some(trusted),
        },
        (trusted, _) => RepositoryFileChoice { file: trusted, notice: None },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_change_never_brings_its_own_configuration() {
        let trusted = || Some(RepositoryFile::committed("main", b"a".to_vec()));
        let disk = |text: &[u8]| Some(RepositoryFile::on_disk(text.to_vec()));
        let range = ReviewTarget::Range { base: "main".into(), head: "HEAD".into() };
        let branch = ReviewTarget::SinceMergeBase { base: "main".into(), head: "HEAD".into() };
        let commits = ReviewTarget::Commits(vec!["HEAD".into()]);
        let patch = ReviewTarget::Patch(Vec::new());
        for target in [range, branch, commits, patch] {
            assert_eq!(choose(&target, None, disk(b"b")).file, None, "{target:?}");
            assert_eq!(choose(&target, trusted(), disk(b"b")).file, trusted(), "{target:?}");
        }
        for target in [ReviewTarget::WorkingTree, ReviewTarget::Staged] {
            let chosen = choose(&target, None, disk(b"b"));
            assert_eq!(chosen.file, disk(b"b"), "{target:?}");
            assert!(chosen.notice.is_some());
            assert_eq!(choose(&target, trusted(), disk(b"b")).file, trusted(), "{target:?}");
        }
    }

    #[test]
    fn equal_files_give_no_notice() {
        let file = |text: &[u8]| Some(RepositoryFile::on_disk(text.to_vec()));
        for (trusted, disk) in [(None, None), (file(b"a"), file(b"a")), (file(b"a"), None)] {
            assert_eq!(choose(&ReviewTarget::WorkingTree, trusted, disk).notice, None);
        }
    }
}
