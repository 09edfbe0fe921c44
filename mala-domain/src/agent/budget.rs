//! What an agent may spend. Everything is reserved at its worst before it is spent, so that a call
//! that could exceed a limit is never made.

mod dollars;
mod ledger;
mod limits;

pub use dollars::Dollars;
pub use ledger::{Deed, Ledger, Reservation, Spent, Used};
pub use limits::{Limits, Profile, Unpriced};
