//! The secret of a clone, in its git folder, where no commit and no other clone has it. Files of mala in the
//! work tree carry a signature that is made with it, so that a commit cannot bring its own verdict.

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
pub(super) struct CloneSecret {
    folder: PathBuf,
}

impl CloneSecret {
    /// The secret of the work tree, or of the bare repository, at `top`.
    pub(super) fn of_work_tree(top: &Path) -> Self {
        Self { folder: git_dir_of(top) }
    }

    /// The signature of a text; `None` if this clone has no secret yet.
    pub(super) fn signature(&self, text: &str) -> Option<String> {
        hmac(&self.secret()?, text)
    }

    /// The signature of a text. Creates the secret if there is none.
    pub(super) fn sign(&self, text: &str) -> io::Result<String> {
        if let Some(signature) = self.signature(text) {
            return Ok(signature);
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
        self.signature(text).ok_or_else(|| named(io::Error::other("it has no valid secret")))
    }

    fn secret(&self) -> Option<Vec<u8>> {
        let bytes = read_no_follow(&self.folder.join(NAME), LENGTH).ok()?;
        let is_whole = bytes.len() == 32 && bytes.iter().all(u8::is_ascii_hexdigit);
        is_whole.then_some(bytes)
    }
}

/// The HMAC of a text. It is never `None`, because a key may have any length.
fn hmac(secret: &[u8], text: &str) -> Option<String> {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).ok()?;
    mac.update(text.as_bytes());
    Some(crate::git::hex(&mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_belong_to_a_clone_and_to_a_text() {
        let clone = || {
            let top = tempfile::tempdir().unwrap();
            std::fs::create_dir(top.path().join(".git")).unwrap();
            top
        };
        let (one, other) = (clone(), clone());
        let secret = CloneSecret::of_work_tree(one.path());
        assert_eq!(secret.signature("a"), None, "a clone without a secret has no signatures");
        let made = secret.sign("a").unwrap();
        assert_eq!(secret.signature("a"), Some(made.clone()));
        assert_ne!(secret.signature("b"), Some(made.clone()));
        assert_ne!(CloneSecret::of_work_tree(other.path()).sign("a").unwrap(), made);
        let linked = tempfile::tempdir().unwrap();
        let link = format!("gitdir: {}\n", one.path().join(".git").display());
        std::fs::write(linked.path().join(".git"), link).unwrap();
        assert_eq!(CloneSecret::of_work_tree(linked.path()).signature("a"), Some(made));
    }
}
