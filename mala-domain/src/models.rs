//! Language models: names, providers, limits and prices. Built-in data, which a user's own file can
//! change. An unknown price is unknown, not zero.

mod catalogue;
mod file;
mod price;
mod provider;

pub use catalogue::{Ability, Catalogue, Choice, Model, UnknownModel};
pub use price::{Price, Rates, input_tokens, text_tokens};
pub use provider::{Provider, ProviderSpec};

#[cfg(test)]
mod tests;
