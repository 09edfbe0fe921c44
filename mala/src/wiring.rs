//! Where the world is put together: the only place that names concrete adapters.

pub mod changes;
pub mod eval;
pub mod gate;
pub mod ledger;
pub mod models;
pub mod probe;
pub mod reviewers;
pub mod rules;

use mala_adapters::store::StateFolder;
use std::path::Path;

/// Where the reviews of the work tree at `top` are kept.
pub fn state_folder(top: &Path) -> StateFolder {
    StateFolder::of_work_tree(top)
}
