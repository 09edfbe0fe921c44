//! What an agent may spend. Everything is reserved at its worst before it is spent, so that a call
//! that could exceed a limit is never made.

mod dollars;
mod limits;
mod tracker;

pub use dollars::Dollars;
pub use limits::{Limits, Profile, UnknownPricePolicy};
pub use tracker::{BudgetTracker, CallUsage, Charge, LimitReached, Reservation};
