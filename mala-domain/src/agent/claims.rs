//! Checks claims of a model against the files: finds their evidence at head, and refutes claims about
//! missing names.

mod evidence;
mod missing_names;

pub use evidence::ground_evidence;
pub use missing_names::{MissingNames, NameBindings, missing_names, refuted_by_definition};

#[cfg(test)]
mod tests;
