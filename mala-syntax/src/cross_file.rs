//! What a change breaks in files it does not show: a removed or renamed definition that is still
//! used, a call that no longer fits, a match without a new member, an import that leads
//! nowhere.
//!
//! The stages are values in, values out: [`FileDelta::of`] compares one file's two versions,
//! [`plan`] says what has to be looked up, [`UserFile::of`] reads a file that was found, and
//! [`fold`] decides. The caller fetches in between. A use is reported only with evidence
//! that it means the broken thing.

mod checks;
mod contract;
mod delta;
mod fit;
mod fold;
mod plan;
mod report;
mod resolve;
mod user;
mod words;

pub use checks::{UNRESOLVED_IMPORT, checks};
pub use delta::{FileDelta, FileVersions};
pub use fold::{FoundFiles, fold};
pub use plan::{LookupPlan, plan};
pub use user::UserFile;

pub(crate) use resolve::same_family;
pub(crate) use words::is_common as is_common_word;

#[cfg(test)]
mod tests;
