//! Language models: names, providers, limits and prices. Built-in data, which a user's own file can change.
//! An unknown price is unknown, not zero.

mod catalogue;
mod choose;
mod estimate;
mod file;
mod price;

pub use catalogue::{Ability, Catalogue, Model, Provider};
pub use choose::{Choice, UnknownModel};
pub use estimate::{input_tokens, text_tokens};
pub use price::{Price, Rates};

#[cfg(test)]
mod tests;
