//! Language models: names, providers, limits and prices. Built-in data, which a user's own file can
//! change. An unknown price is unknown, not zero.

mod catalogue;
mod file;
mod price;
mod provider;

pub use catalogue::{ModelCatalogue, ModelChoice, ModelFeature, ModelSpec, UnknownModel};
pub use price::{ModelPrice, TokenRates, input_tokens, text_tokens};
pub use provider::{ModelProvider, ProviderSpec};

#[cfg(test)]
mod tests;
