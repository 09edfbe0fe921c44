//! What a change breaks in files it does not show: a removed or renamed definition that is still
//! used, a call that no longer fits, a case that nobody handles, an import that leads nowhere, a key
//! that is still read.
//!
//! The stages are values in, values out: [`FileDelta::of`] compares one file's two versions,
//! [`plan`] says what has to be looked up, [`UserFile::of`] reads a file that was found, and
//! [`fold`] decides. Whoever drives them fetches in between. A use is reported only with evidence
//! that it means the broken thing.

mod checks;
mod contract;
mod delta;
mod fit;
mod fold;
mod keys;
mod plan;
mod report;
mod resolve;
mod user;
mod words;

pub use checks::{DELETED_TESTS, UNRESOLVED_IMPORT, checks};
pub use delta::{FileDelta, Versions};
pub use fold::{Found, fold};
pub use plan::{Plan, plan};
pub use user::UserFile;

pub(crate) use words::is_common as is_common_word;

#[cfg(test)]
mod tests;
