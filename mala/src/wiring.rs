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
pub mod trusted_settings;
pub mod webhooks;

pub use mala_adapters::bounded_read::read_following_links;
pub use mala_adapters::linters;
pub use mala_adapters::store::{
    StateFolder, StoredRunError, read_report, write_atomically, write_new,
};

use mala_adapters::store;
use std::io::ErrorKind;
use std::path::Path;

/// The store for reviews of the work tree at `top`.
pub fn state_folder(top: &Path) -> StateFolder {
    StateFolder::of_work_tree(top)
}

/// Writes an output file of a command, or returns the reason why it cannot be written.
pub fn write_output(path: &Path, text: &str) -> Result<(), String> {
    store::write_output(path, text.as_bytes()).map_err(|error| match error.kind() {
        // The error itself names the temporary file.
        ErrorKind::NotFound => "no such folder".to_owned(),
        kind => kind.to_string(),
    })
}
