//! The texts that a review looks at: the changed files on both sides.

use crate::change::FilePath;
use crate::ports::Blob;
use std::collections::BTreeMap;

/// The contents of files at base and at head, as far as they were read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texts {
    /// By the path at base.
    pub base: BTreeMap<FilePath, Blob>,
    /// By the path at head.
    pub head: BTreeMap<FilePath, Blob>,
}

impl Texts {
    /// The text at head.
    pub fn at_head(&self, path: &FilePath) -> Option<&str> {
        self.head.get(path).and_then(Blob::text)
    }

    /// The text at base.
    pub fn at_base(&self, path: &FilePath) -> Option<&str> {
        self.base.get(path).and_then(Blob::text)
    }
}
