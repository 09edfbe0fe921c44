//! Which `mala.yaml` applies to a review. A change must not choose the rules of its own review, so the
//! file comes from the trusted revision. An uncommitted file has no effect.

use mala_domain::config::FILE_NAME;

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
    /// A notice for the user.
    pub notice: Option<String>,
}

/// Chooses the file at the trusted revision: the base of a range, branch or commit; `HEAD` for the
/// working tree, the index and a patch. The one at head or on disk only causes a notice.
pub fn choose(
    trusted: Option<RepositoryFile>,
    at_head: Option<RepositoryFile>,
) -> RepositoryFileChoice {
    let notice = match (&trusted, at_head) {
        (None, Some(_)) => {
            Some(format!("{FILE_NAME} is not at the base of this change: using the defaults"))
        }
        (Some(trusted), Some(head)) if trusted.bytes != head.bytes => {
            Some(format!("{FILE_NAME} in the work tree differs: using {}", trusted.name))
        }
        _ => None,
    };
    RepositoryFileChoice { file: trusted, notice }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disk(text: &[u8]) -> Option<RepositoryFile> {
        Some(RepositoryFile::on_disk(text.to_vec()))
    }

    #[test]
    fn the_change_never_brings_its_own_configuration() {
        let trusted = || Some(RepositoryFile::committed("main", b"a".to_vec()));
        for (base, head) in [(None, disk(b"b")), (trusted(), disk(b"b"))] {
            let chosen = choose(base.clone(), head);
            assert_eq!(chosen.file, base);
            assert!(chosen.notice.is_some());
        }
    }

    #[test]
    fn equal_files_give_no_notice() {
        for (trusted, head) in [(None, None), (disk(b"a"), disk(b"a")), (disk(b"a"), None)] {
            assert_eq!(choose(trusted, head).notice, None);
        }
    }
}
