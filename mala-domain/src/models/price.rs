//! Costs of calls. The cost is unknown if the provider does not report its usage; a reservation
//! assumes the worst case.

use super::catalogue::ModelSpec;
use crate::agent::budget::Dollars;
use crate::conversation::{AnswerFormat, ChatRequest, ChatTurn, TokenCounts, TurnPart};

/// The price of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelPrice {
    /// The rates of most calls.
    pub rates: TokenRates,
    /// The rates of calls with more input tokens than this number, if they differ.
    pub long: Option<(u64, TokenRates)>,
}

/// Prices in dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenRates {
    /// Input that is not cached.
    pub input: f64,
    /// Output, including reasoning.
    pub output: f64,
    /// Input read from the cache, if known.
    pub cache_read: Option<f64>,
    /// Input written to the cache, if known.
    pub cache_write: Option<f64>,
}

impl ModelPrice {
    fn rates_for(&self, input: u64) -> &TokenRates {
        match &self.long {
            Some((above, rates)) if input > *above => rates,
            _ => &self.rates,
        }
    }
}

impl ModelSpec {
    /// The cost of a call; `None` if the price or the number of tokens is unknown. Without a price
    /// for cache reads, they cost as much as other input.
    pub fn cost(&self, tokens: &TokenCounts) -> Option<Dollars> {
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
        let worst = |rates: &TokenRates| {
            let each = rates.cache_write.unwrap_or(rates.input).max(rates.input);
            input as f64 * each + output as f64 * rates.output
        };
        Some(Dollars::at_least(worst(price.rates_for(input)) / 1e6))
    }
}

/// English text and code have three to four bytes per token, about a third less with Anthropic;
/// other scripts have three bytes per character and about one token each.
const BYTES_PER_5_TOKENS: u64 = 12;
/// Tokens that providers add per message, call or tool.
const AROUND: u64 = 12;

/// Estimates the tokens of a text.
pub fn text_tokens(text: &str) -> u64 {
    bytes_as_tokens(text.len())
}

/// Estimates the input tokens of a request.
pub fn input_tokens(ask: &ChatRequest) -> u64 {
    let tools = ask.tools.iter().map(|tool| {
        let schema = tool.arguments.to_string().len();
        bytes_as_tokens(tool.name.len() + tool.description.len() + schema) + AROUND
    });
    let form = match &ask.form {
        AnswerFormat::Text => 0,
        AnswerFormat::Json { schema, .. } => bytes_as_tokens(schema.to_string().len()) + AROUND,
    };
    let turns = ask.turns.iter().map(turn_tokens);
    tools.chain(turns).sum::<u64>() + text_tokens(&ask.system) + form + AROUND
}

fn turn_tokens(turn: &ChatTurn) -> u64 {
    match turn {
        ChatTurn::User(parts) => parts.iter().map(part_tokens).sum(),
        ChatTurn::Model(said) => {
            let calls = said.calls.iter().map(|call| call.name.len() + call.arguments.len());
            let told = said.text.len() + calls.sum::<usize>();
            // The provider's own form repeats the text and may contain reasoning.
            bytes_as_tokens(told.max(said.verbatim.to_string().len())) + AROUND
        }
    }
}

fn part_tokens(part: &TurnPart) -> u64 {
    let text = match part {
        TurnPart::Text(text) | TurnPart::Repeated(text) => text,
        TurnPart::ToolResult(result) => &result.text,
    };
    text_tokens(text) + AROUND
}

fn bytes_as_tokens(bytes: usize) -> u64 {
    (bytes as u64).saturating_mul(5).div_ceil(BYTES_PER_5_TOKENS)
}
