//! Tracks the budget of one review. A reservation counts as spent until it is settled; usage that the
//! provider does not report stays at its reserved worst case.

use super::{Dollars, Limits, UnknownPricePolicy};
use thiserror::Error;

/// A charge against the budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Charge {
    /// A call to a model, in the worst case.
    Call {
        /// Tokens in and out.
        tokens: u64,
        /// Dollars; `None` if the price is unknown.
        dollars: Option<Dollars>,
    },
    /// A call to a tool.
    Tool,
}

/// The actual usage of a call; `None` where the provider does not report it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallUsage {
    /// Tokens in and out.
    pub tokens: Option<u64>,
    /// The input tokens that came from a cache.
    pub cache_read: Option<u64>,
    /// Dollars.
    pub dollars: Option<Dollars>,
}

impl CallUsage {
    /// The usage of a call that the provider rejected without cost.
    pub const NOTHING: Self =
        Self { tokens: Some(0), cache_read: Some(0), dollars: Some(Dollars::ZERO) };
}

/// A reserved charge. One that is never settled stays spent.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a reservation must be settled"]
pub struct Reservation {
    charge: Charge,
}

/// The limit that a charge would exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum LimitReached {
    /// No call is left.
    #[error("all {0} model calls are spent")]
    Calls(u32),
    /// No retry is left.
    #[error("all {0} retries are spent")]
    Retries(u32),
    /// No tool call is left.
    #[error("all {0} tool calls are spent")]
    Tools(u32),
    /// The call could use more tokens than are left.
    #[error("the call could exceed the budget of {0} tokens")]
    Tokens(u64),
    /// The call could cost more than is left.
    #[error("the call could exceed the budget of {0}")]
    Cost(Dollars),
    /// The price of the call is unknown.
    #[error(
        "the price of the model is unknown, so the budget of {0} cannot be kept; give its price in \
         the user's own list of models, or set review.budget.allow_unknown_price"
    )]
    UnknownPrice(Dollars),
}

/// The budget of one review, and how much of it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetTracker {
    limits: Limits,
    llm_calls: u32,
    tool_calls: u32,
    tokens: u64,
    cost: Dollars,
    cache_read: u64,
    open: u32,
    retries: u32,
    unknown: UnreportedUsage,
}

/// The counters that a provider did not report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct UnreportedUsage {
    tokens: bool,
    cost: bool,
    cache_read: bool,
}

impl BudgetTracker {
    /// A tracker with an unused budget.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            llm_calls: 0,
            tool_calls: 0,
            tokens: 0,
            cost: Dollars::ZERO,
            cache_read: 0,
            open: 0,
            retries: 0,
            unknown: UnreportedUsage::default(),
        }
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Reserves the worst case of a call. The error names the limit that it could exceed.
    pub fn reserve(&mut self, charge: Charge) -> Result<Reservation, LimitReached> {
        match charge {
            Charge::Call { tokens, dollars } => {
                if self.llm_calls >= self.limits.max_llm_calls {
                    return Err(LimitReached::Calls(self.limits.max_llm_calls));
                }
                self.reserve_tokens(tokens, dollars)?;
                self.llm_calls += 1;
            }
            Charge::Tool if self.tool_calls < self.limits.max_tool_calls => self.tool_calls += 1,
            Charge::Tool => return Err(LimitReached::Tools(self.limits.max_tool_calls)),
        }
        self.open += 1;
        Ok(Reservation { charge })
    }

    /// Reserves a request that repeats a failed one. It does not count as a call, but its possible
    /// cost is reserved.
    pub fn reserve_retry(&mut self, charge: Charge) -> Result<Reservation, LimitReached> {
        let Charge::Call { tokens, dollars } = charge else { return self.reserve(charge) };
        if self.retries >= self.limits.max_retries {
            return Err(LimitReached::Retries(self.limits.max_retries));
        }
        self.reserve_tokens(tokens, dollars)?;
        self.retries += 1;
        self.open += 1;
        Ok(Reservation { charge })
    }

    fn reserve_tokens(
        &mut self,
        tokens: u64,
        dollars: Option<Dollars>,
    ) -> Result<(), LimitReached> {
        let Limits { max_tokens, max_cost, unpriced, .. } = self.limits;
        let all_tokens = self.tokens.saturating_add(tokens);
        if all_tokens > max_tokens {
            return Err(LimitReached::Tokens(max_tokens));
        }
        let all_cost = match dollars {
            Some(dollars) => self.cost.plus(dollars),
            None if unpriced == UnknownPricePolicy::Allow => self.cost,
            None => return Err(LimitReached::UnknownPrice(max_cost)),
        };
        if all_cost > max_cost {
            return Err(LimitReached::Cost(max_cost));
        }
        (self.tokens, self.cost) = (all_tokens, all_cost);
        Ok(())
    }

    /// Replaces the reserved worst case by the reported usage.
    pub fn settle(&mut self, reservation: Reservation, used: CallUsage) {
        self.open = self.open.saturating_sub(1);
        let Charge::Call { tokens, dollars } = reservation.charge else { return };
        match used.tokens {
            Some(actual) => {
                self.tokens = self.tokens.saturating_sub(tokens).saturating_add(actual);
            }
            None => self.unknown.tokens = true,
        }
        match (used.dollars, dollars) {
            (Some(actual), reserved) => {
                self.cost = self.cost.less(reserved.unwrap_or_default()).plus(actual);
            }
            (None, _) => self.unknown.cost = true,
        }
        match used.cache_read {
            Some(read) => self.cache_read = self.cache_read.saturating_add(read),
            None => self.unknown.cache_read = true,
        }
    }

    /// Whether a reservation is open, so that more of the budget may become free.
    pub fn has_open(&self) -> bool {
        self.open > 0
    }

    /// Calls to models that may still be made.
    pub fn calls_left(&self) -> u32 {
        self.limits.max_llm_calls.saturating_sub(self.llm_calls)
    }

    /// Calls to tools that may still be made.
    pub fn tools_left(&self) -> u32 {
        self.limits.max_tool_calls.saturating_sub(self.tool_calls)
    }

    /// Calls to models so far.
    pub fn llm_calls(&self) -> u32 {
        self.llm_calls
    }

    /// Calls to tools so far.
    pub fn tool_calls(&self) -> u32 {
        self.tool_calls
    }

    /// Tokens so far, at most.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Dollars so far, at most.
    pub fn cost(&self) -> Dollars {
        self.cost
    }

    /// Tokens used; `None` if a provider did not report them.
    pub fn known_tokens(&self) -> Option<u64> {
        (!self.unknown.tokens && self.open == 0).then_some(self.tokens)
    }

    /// Dollars spent; `None` if unknown.
    pub fn known_cost(&self) -> Option<Dollars> {
        (!self.unknown.cost && self.open == 0).then_some(self.cost)
    }

    /// Tokens read from a cache; `None` if a provider did not report them.
    pub fn known_cache_read(&self) -> Option<u64> {
        (!self.unknown.cache_read && self.open == 0).then_some(self.cache_read)
    }
}

#[cfg(test)]
mod tests;
