//! What an agent may spend. Everything is reserved at its worst before it is spent, so that a call
//! that could exceed a limit is never made.

mod dollars;
mod limits;
mod purse;

pub use dollars::Dollars;
pub use limits::{Limits, Profile, Unpriced};
pub use purse::{BudgetTracker, CallUsage, Charge, LimitReached, Reservation};
