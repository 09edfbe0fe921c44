//! Finds code in other files that a change breaks: uses of a removed or renamed definition, calls
//! that no longer fit, matches without a new member, imports that lead nowhere.
//!
//! The stages are pure: [`FileDelta::of`] compares the two versions of one file, [`plan`]
//! determines what to look up, [`UserFile::of`] parses a file that was found, and [`fold`] decides.
//! The caller fetches in between. A use is reported only with evidence that it refers to the broken
//! definition.

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
