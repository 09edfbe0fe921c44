//! Responses on disk with their ETags, so that an unchanged resource costs one conditional request.

use crate::store::write_atomically;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::PathBuf;

/// The largest cached response, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// A folder of responses.
pub(super) struct ResponseCache {
    folder: PathBuf,
    /// What distinguishes this token's responses from those of others.
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
    pub(super) fn new(folder: PathBuf, token: &str) -> Self {
        Self { folder, owner: hex(token.as_bytes()) }
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

/// Creates a folder that only this user can read: responses may be private.
fn create_private(folder: &std::path::Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
