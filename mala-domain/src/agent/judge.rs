//! What a model's claims are worth: grounded in the text at head, and refuted by a look at it.

mod ground;
mod missing;

pub use ground::ground;
pub use missing::{Bindings, MissingClaim, missing_claim, refuted_by_definition};

#[cfg(test)]
mod tests;
