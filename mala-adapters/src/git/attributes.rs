//! What `.gitattributes` says of files, read from the trusted side of the change.

use super::call::Call;
use super::{Git, GitError, Version};
use mala_domain::change::{Attributes, FilePath, Mark};
use std::collections::HashMap;

impl Git {
    /// The attributes of these paths. An old git reads them only from the files on disk, which may
    /// be the ones under review: then there are none.
    pub(super) async fn attributes(
        &self,
        paths: &[FilePath],
    ) -> Result<HashMap<FilePath, Attributes>, GitError> {
        if paths.is_empty() || self.inner.version < Version::ATTRIBUTES_OF_TREES {
            return Ok(HashMap::new());
        }
        let mut asked = Vec::new();
        for path in paths {
            asked.extend_from_slice(path.as_bytes());
            asked.push(0);
        }
        let args =
            ["check-attr", "--stdin", "-z", "linguist-generated", "linguist-vendored", "diff"];
        let call = Call::new(args).stdin(asked);
        let printed = self.output(&call).await?;
        let fields: Vec<_> = printed.split(|byte| *byte == 0).collect();
        let mut found: HashMap<FilePath, Attributes> = HashMap::new();
        for fields in fields.chunks_exact(3) {
            let mark = Mark::parse(fields[2]);
            if mark == Mark::Unspecified {
                continue;
            }
            let attributes = found.entry(FilePath::from_bytes(fields[0])).or_default();
            match fields[1] {
                b"linguist-generated" => attributes.generated = mark,
                b"linguist-vendored" => attributes.vendored = mark,
                _ => attributes.diff = mark,
            }
        }
        Ok(found)
    }
}
