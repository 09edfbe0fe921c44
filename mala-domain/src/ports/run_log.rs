//! What a run remembers: an append-only log of events, and its metadata. A run holds the lock of
//! its repository from start to end.

use thiserror::Error;

/// The files of a run. The value exists only while the lock is held.
pub trait RunLog: Send + Sync {
    /// Adds a line to the log. It is on disk when this returns.
    fn append(&self, line: &str) -> Result<(), RunLogError>;

    /// The lines of the log, the oldest first. A last line that was not completely written is
    /// left out.
    fn lines(&self) -> Result<Vec<String>, RunLogError>;

    /// Starts an empty log; the old one is kept under the name of its run.
    fn start(&self, run_id: &str) -> Result<(), RunLogError>;

    /// The metadata, if there is any.
    fn metadata(&self) -> Result<Option<String>, RunLogError>;

    /// Replaces the metadata, all of it or nothing.
    fn save_metadata(&self, text: &str) -> Result<(), RunLogError>;

    /// Writes a file of the final report and returns where it is.
    fn save_report(&self, name: &str, text: &str) -> Result<String, RunLogError>;
}

/// Why a run cannot remember.
#[derive(Debug, Error)]
pub enum RunLogError {
    /// Another run holds the lock of the repository.
    #[error("another run holds the lock: {holder}")]
    Locked {
        /// Which process, on which host, since when.
        holder: String,
    },
    /// A file cannot be read or written.
    #[error("{what}: {source}")]
    Io {
        /// Which file.
        what: String,
        /// The cause.
        source: std::io::Error,
    },
}
