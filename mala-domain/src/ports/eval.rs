//! What an eval needs of the world: somebody who runs a case, and a place to keep what came of it.

use super::{BoxFuture, StoreError};
use crate::eval::{Case, CaseRecord};

/// Has a case reviewed. Whatever goes wrong with one case is in its record.
pub trait CaseRunner: Send + Sync {
    /// The record of one trial of a case of this set.
    fn run<'a>(&'a self, set: &'a str, case: &'a Case, trial: u32) -> BoxFuture<'a, CaseRecord>;
}

/// Keeps records as they come.
pub trait Journal: Send + Sync {
    /// Keeps a record. When it returns, the record outlives the program.
    fn append(&self, record: &CaseRecord) -> Result<(), StoreError>;
}
