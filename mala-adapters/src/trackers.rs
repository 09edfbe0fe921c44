//! Trackers: the built-in one in the ledger's database, and `bd` programs.

mod beads;
mod builtin;

pub use beads::BeadsTracker;
pub use builtin::BuiltinTracker;
pub(crate) use builtin::TASK_TABLES;
