//! The budget of an agent. Every call reserves its worst case first, so that no call can exceed a
//! limit.

mod dollars;
mod limits;
mod tracker;

pub use dollars::Dollars;
pub use limits::{Limits, Profile, UnknownPricePolicy};
pub use tracker::{BudgetTracker, CallUsage, Charge, LimitReached, Reservation};
