//! Where the files of a review are kept.

use thiserror::Error;

/// Keeps each review's files in a folder of their own.
pub trait RunStore: Send + Sync {
    /// Where the folder of this name will be, once it is known that it can be written.
    fn prepare(&self, name: &str) -> Result<String, StoreError>;

    /// Writes all of these files, or none.
    fn save(&self, name: &str, files: &[(&str, String)]) -> Result<(), StoreError>;
}

/// Why files could not be kept.
#[derive(Debug, Error)]
#[error("{what}: {source}")]
pub struct StoreError {
    /// What was being written.
    pub what: String,
    /// The cause.
    pub source: std::io::Error,
}
