//! The models that can be asked: what they take, what they cost, who provides them. One data file
//! holds what mala knows, and a user's own file is laid over it. An unknown price is unknown, not zero.

mod catalogue;
mod choose;
mod estimate;
mod file;
mod price;
mod provider;

pub use catalogue::{Ability, Catalogue, Model};
pub use choose::{Choice, UnknownModel};
pub use estimate::{input_tokens, text_tokens};
pub use price::{Price, Rates};
pub use provider::{Provider, ProviderSpec};

#[cfg(test)]
mod tests;
