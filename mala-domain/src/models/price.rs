//! What calls cost. What a provider did not say makes a cost unknown, and a reservation is made for
//! the worst.

use super::catalogue::Model;
use crate::agent::budget::Dollars;
use crate::conversation::Tokens;

/// What a model costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// What most calls cost.
    pub rates: Rates,
    /// What calls with an input above so many tokens cost, when that is something else.
    pub long: Option<(u64, Rates)>,
}

/// Dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rates {
    /// Input that is not cached.
    pub input: f64,
    /// Output, reasoning included.
    pub output: f64,
    /// Input that is read from the cache, where known.
    pub cache_read: Option<f64>,
    /// Input that is written to the cache, where known.
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
    /// What a call cost; `None` when its price or its tokens are unknown. Cached input without a
    /// price of its own counts as input.
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

    /// What a call with so many tokens costs at worst: nothing is read from the cache and all is
    /// written to it.
    pub fn worst_cost(&self, input: u64, output: u64) -> Option<Dollars> {
        let price = self.price.as_ref()?;
        let worst = |rates: &Rates| {
            let each = rates.cache_write.unwrap_or(rates.input).max(rates.input);
            input as f64 * each + output as f64 * rates.output
        };
        Some(Dollars::at_least(worst(price.rates_for(input)) / 1e6))
    }
}
