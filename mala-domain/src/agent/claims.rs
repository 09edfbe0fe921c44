//! What a model's claims are worth: grounded in the text at head, and refuted by a look at it.

mod evidence;
mod missing_names;

pub use evidence::ground_evidence;
pub use missing_names::{MissingNames, NameBindings, missing_names, refuted_by_definition};

#[cfg(test)]
mod tests;
