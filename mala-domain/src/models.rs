//! Language models: names, providers, limits and prices. Built-in data, which a user's own file can
//! change. An unknown price is unknown, not zero.

mod catalogue;
mod file;
mod price;

pub use catalogue::{Ability, Catalogue, Choice, Model, Provider, UnknownModel};
pub use price::{Price, Rates, input_tokens, text_tokens};

#[cfg(test)]
mod tests;
