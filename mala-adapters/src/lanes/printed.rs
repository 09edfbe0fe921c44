//! The output of lanes. While a lane runs, it is in the session's scratch folder, which is removed; at the end
//! of the session, a copy without secrets is written to the session's folder.

use crate::bounded_read::read_no_follow;
use crate::store::write_unsynced;
use mala_domain::secrets;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub(super) const STDOUT: &str = "stdout.txt";
pub(super) const STDERR: &str = "stderr.txt";

/// The largest output that is kept of a lane that did not end by itself.
const MAX_BYTES: u64 = 256 << 20;

/// Writes the output of a lane without secrets. Output without secrets is written byte for byte, even if it is
/// not UTF-8.
pub(super) fn keep_clean(path: &Path, printed: &[u8]) -> io::Result<()> {
    let text = String::from_utf8_lossy(printed);
    let clean = secrets::redact(&text);
    let is_clean = clean.as_ref() == text.as_ref();
    write_unsynced(path, if is_clean { printed } else { clean.as_bytes() })
}

/// Copies the output of lanes that did not end by themselves from the scratch folder of a session.
pub fn keep_printed(scratch: &Path, folder: &Path) {
    let lanes = folder.join("lanes");
    for question in folders(&lanes).iter().flat_map(|lane| folders(lane)) {
        let Ok(below) = question.strip_prefix(&lanes) else { continue };
        for name in [STDOUT, STDERR] {
            let kept = question.join(name);
            if fs::symlink_metadata(&kept).is_ok() {
                continue;
            }
            let printed = read_no_follow(&scratch.join(below).join(name), MAX_BYTES);
            match printed.and_then(|printed| keep_clean(&kept, &printed)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    tracing::debug!(%error, "cannot keep the output of a lane");
                }
                _ => {}
            }
        }
    }
}

/// The folders in a folder.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    entries.filter(is_folder).map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_a_secret_in_it_is_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let token = format!("ghp_{}", "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC3");
        for (printed, stays) in [
            (b"plain \xff\xfe bytes\0".to_vec(), true),
            (Vec::new(), true),
            (format!("the key is {token}\n").into_bytes(), false),
            ([token.as_bytes(), b" \xff"].concat(), false),
        ] {
            keep_clean(&path, &printed).unwrap();
            let kept = fs::read(&path).unwrap();
            assert_eq!(kept == printed, stays, "{kept:?}");
            assert!(!String::from_utf8_lossy(&kept).contains(&token));
        }
    }
}
