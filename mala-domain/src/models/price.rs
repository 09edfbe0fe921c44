//! Costs of calls. The cost is unknown if the provider does not report its usage; a reservation assumes the
//! worst case.

use super::catalogue::Model;
use crate::agent::budget::Dollars;
use crate::conversation::Tokens;

/// The price of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// The rates of most calls.
    pub rates: Rates,
    /// The rates of calls with more input tokens than this number, if they differ.
    pub long: Option<(u64, Rates)>,
}

/// Prices in dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Input that is not cached.
    pub input: f64,
    /// Output, including reasoning.
    pub output: f64,
    /// Input read from the cache, if known.
    pub cache_read: Option<f64>,
    /// Input written to the cache, if known.
    pub cache_write: Option<f64>,
}

impl Price {
    fn rates_for(&self, input: u64) -> &Rates {
        match &self.long {
            Some((above, rates)) if input > *above => rates,
            _ => &self.rates,
        }
    }
}

impl Model {
    /// The cost of a call; `None` if the price or the number of tokens is unknown. Without a price for cache
    /// reads, they cost as much as other input.
    pub fn cost(&self, tokens: &Tokens) -> Option<Dollars> {
        let (input, output) = (tokens.input?, tokens.output?);
        let rates = self.price.as_ref()?.rates_for(input);
        let read = tokens.cache_read.unwrap_or(0).min(input);
        let written = tokens.cache_write.unwrap_or(0).min(input - read);
        let writing = match written {
            0 => 0.0,
            _ => rates.cache_write?,
        };
        let sum = (input - read - written) as f64 * rates.input
            + read as f64 * rates.cache_read.unwrap_or(rates.input)
            + written as f64 * writing
            + output as f64 * rates.output;
        Some(Dollars::at_least(sum / 1e6))
    }

    /// The maximum cost of a call: no cache reads, and all input written to the cache.
    pub fn worst_cost(&self, input: u64, output: u64) -> Option<Dollars> {
        let price = self.price.as_ref()?;
        let worst = |rates: &Rates| {
            let each = rates.cache_write.unwrap_or(rates.input).max(rates.input);
            input as f64 * each + output as f64 * rates.output
        };
        Some(Dollars::at_least(worst(price.rates_for(input)) / 1e6))
    }
}
