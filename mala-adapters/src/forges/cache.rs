//! Responses on disk with their ETags, so that an unchanged resource costs one conditional request.

use crate::store::write_atomically;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How long responses are kept.
const KEPT_RESPONSES: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// The largest cached response, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// A folder of responses.
pub(super) struct ResponseCache {
    folder: PathBuf,
    /// Distinguishes the responses of this account from those of others.
    owner: String,
}

/// A stored response.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredResponse {
    /// The whole URL, against collisions and for people who look at the file.
    url: String,
    pub(super) etag: String,
    pub(super) body: Value,
    pub(super) has_next: bool,
}

impl ResponseCache {
    /// The folder for the account with this token or name. Removes old responses.
    pub(super) fn new(folder: PathBuf, owner: &str) -> Self {
        remove_old(&folder, KEPT_RESPONSES);
        Self { folder, owner: hex(owner.as_bytes()) }
    }

    pub(super) fn get(&self, url: &str) -> Option<StoredResponse> {
        let path = self.path(url);
        let is_small = path.metadata().is_ok_and(|found| found.len() <= MAX_BYTES);
        let bytes = std::fs::read(path).ok().filter(|_| is_small)?;
        let stored: StoredResponse = serde_json::from_slice(&bytes).ok()?;
        (stored.url == url).then_some(stored)
    }

    /// Stores a response. A folder that cannot be written only costs time later.
    pub(super) fn put(&self, url: &str, etag: &str, body: &Value, has_next: bool) {
        let stored = StoredResponse {
            url: url.to_owned(),
            etag: etag.to_owned(),
            body: body.clone(),
            has_next,
        };
        let stored = serde_json::to_vec(&stored).map_err(std::io::Error::from);
        let written = stored.and_then(|bytes| {
            create_private(&self.folder)?;
            write_atomically(&self.path(url), &bytes)
        });
        if let Err(error) = written {
            tracing::debug!(%error, "cannot cache a response");
        }
    }

    fn path(&self, url: &str) -> PathBuf {
        self.folder.join(format!("{}.json", hex(format!("{} {url}", self.owner).as_bytes())))
    }
}

/// Removes files that were not written or used for this time. Files that cannot be removed only
/// take space.
pub(super) fn remove_old(folder: &Path, kept: Duration) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let modified = entry.metadata().and_then(|found| found.modified());
        let age = modified.ok().and_then(|time| SystemTime::now().duration_since(time).ok());
        if age.is_none_or(|age| age <= kept) {
            continue;
        }
        let path = entry.path();
        let removed = match path.is_dir() {
            true => std::fs::remove_dir_all(&path),
            false => std::fs::remove_file(&path),
        };
        if let Err(error) = removed {
            tracing::debug!(%error, path = %path.display(), "cannot remove what is not used");
        }
    }
}

/// Creates a folder that only this user can read: responses may be private.
fn create_private(folder: &std::path::Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn what_is_not_used_is_removed() {
        let cache = tempfile::tempdir().unwrap();
        let old = SystemTime::now() - Duration::from_secs(100);
        for (name, time) in [("old", Some(old)), ("used", None)] {
            let folder = cache.path().join(name);
            std::fs::create_dir_all(folder.join("objects")).unwrap();
            let file = cache.path().join(format!("{name}.json"));
            std::fs::write(&file, "{}").unwrap();
            for path in [&folder, &file] {
                time.into_iter()
                    .for_each(|time| File::open(path).unwrap().set_modified(time).unwrap());
            }
        }
        remove_old(cache.path(), Duration::from_secs(50));
        let left = std::fs::read_dir(cache.path()).unwrap();
        let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["used", "used.json"]);
    }
}
