//! What only this clone knows: a secret in its git folder, which no commit and no clone carries along. What
//! is kept in the work tree is believed only with a mark that is made from it, so that a change cannot
//! bring its own verdict.

use crate::bounded_read::read_no_follow;
use crate::git::git_dir_of;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const NAME: &str = "mala-secret";
const LENGTH: u64 = 32;

/// The secret of one clone.
#[derive(Debug, Clone)]
pub(super) struct Stamp {
    folder: PathBuf,
}

impl Stamp {
    /// That of the work tree, or of the bare repository, at `top`.
    pub(super) fn of_work_tree(top: &Path) -> Self {
        Self { folder: git_dir_of(top) }
    }

    /// The git folder of this work tree.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The mark for a thing of this name; `None` when this clone never made one.
    pub(super) fn mark(&self, name: &str) -> Option<String> {
        mark(&self.secret()?, name)
    }

    /// The same, with the secret made where there is none.
    pub(super) fn make(&self, name: &str) -> io::Result<String> {
        if let Some(mark) = self.mark(name) {
            return Ok(mark);
        }
        let path = self.folder.join(NAME);
        let named = |error: io::Error| {
            io::Error::new(error.kind(), format!("writing {}: {error}", path.display()))
        };
        let mut draft = tempfile::NamedTempFile::new_in(&self.folder).map_err(named)?;
        draft.write_all(super::fresh_secret().as_bytes()).map_err(named)?;
        match draft.persist_noclobber(&path) {
            Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(named(error.error));
            }
            // Another process was faster.
            _ => {}
        }
        self.mark(name).ok_or_else(|| named(io::Error::other("it is no secret of mala")))
    }

    fn secret(&self) -> Option<Vec<u8>> {
        let bytes = read_no_follow(&self.folder.join(NAME), LENGTH).ok()?;
        let is_whole = bytes.len() == 32 && bytes.iter().all(u8::is_ascii_hexdigit);
        is_whole.then_some(bytes)
    }
}

/// The HMAC of a name; `None` cannot happen, since a key of any length is allowed.
fn mark(secret: &[u8], name: &str) -> Option<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
    mac.update(name.as_bytes());
    Some(crate::git::hex(&mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_belong_to_a_clone_and_to_a_name() {
        let clone = || {
            let top = tempfile::tempdir().unwrap();
            std::fs::create_dir(top.path().join(".git")).unwrap();
            top
        };
        let (one, other) = (clone(), clone());
        let stamp = Stamp::of_work_tree(one.path());
        assert_eq!(stamp.mark("a"), None, "nothing is believed before anything was written");
        let made = stamp.make("a").unwrap();
        assert_eq!(stamp.mark("a"), Some(made.clone()));
        assert_ne!(stamp.mark("b"), Some(made.clone()));
        assert_ne!(Stamp::of_work_tree(other.path()).make("a").unwrap(), made);
        let linked = tempfile::tempdir().unwrap();
        let link = format!("gitdir: {}\n", one.path().join(".git").display());
        std::fs::write(linked.path().join(".git"), link).unwrap();
        assert_eq!(Stamp::of_work_tree(linked.path()).mark("a"), Some(made));
    }
}
