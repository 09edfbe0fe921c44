//! Creates the adapters and connects them to the pipeline. No other module names concrete adapters.

pub mod changes;
pub mod eval;
pub mod forges;
pub mod gate;
pub mod ledger;
pub mod models;
pub mod probe;
pub mod reviewers;
pub mod rules;
pub mod run;
pub mod task;
pub mod trusted_settings;
pub mod webhooks;

pub use mala_adapters::store::{StateFolder, StoredRunError};

use mala_adapters::{bounded_read, linters, store};
use mala_domain::config::LinterName;
use mala_domain::report::Report;
use mala_pipeline::review::StartTime;
use std::io::{self, ErrorKind};
use std::path::Path;

/// The store for reviews of the work tree at `top`.
pub fn state_folder(top: &Path) -> StateFolder {
    StateFolder::of_work_tree(top)
}

/// The time when a review starts.
pub fn start_time() -> StartTime {
    let now = jiff::Timestamp::now();
    StartTime { stamp: now.strftime("%Y%m%dT%H%M%S%.3fZ").to_string(), at: now.to_string() }
}

/// A report in a JSON file.
pub fn read_report(path: &Path) -> Result<Report, StoredRunError> {
    store::read_report(path)
}

/// The content of a file of at most `max` bytes; links are followed.
pub fn read_following_links(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    bounded_read::read_following_links(path, max)
}

/// Writes a file atomically.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    store::write_atomically(path, bytes)
}

/// Writes a file that must not exist yet.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    store::write_new(path, bytes)
}

/// The program of a linter.
pub fn linter_program(name: LinterName) -> &'static str {
    linters::program(name)
}

/// Whether the root of a project shows that it uses a linter. `has` checks for a file or folder, `text`
/// reads a file.
pub fn is_linter_set_up(
    name: LinterName,
    has: &dyn Fn(&str) -> bool,
    text: &dyn Fn(&str) -> Option<String>,
) -> bool {
    linters::is_set_up(name, has, text)
}

/// Writes an output file of a command, or returns the reason why it cannot be written.
pub fn write_output(path: &Path, text: &str) -> Result<(), String> {
    store::write_output(path, text.as_bytes()).map_err(|error| match error.kind() {
        // The error itself names the temporary file.
        ErrorKind::NotFound => "no such folder".to_owned(),
        kind => kind.to_string(),
    })
}
