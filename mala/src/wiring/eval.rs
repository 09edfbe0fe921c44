//! Evals over real adapters: cases are checked out as repositories and reviewed like any other change.

mod bench;
mod captured;
mod git;
mod judge;
mod sample;
mod sets;
mod worker;

pub use bench::{Bench, Real, Who};
pub use captured::{keep_captured, recalled};
pub use git::{EvalGit, OpenedRepository};
pub use judge::JudgeDesk;
pub use mala_adapters::models::closing::Calls;
pub use mala_adapters::models::recorded::{Lost, lost_below};
pub use sample::Sample;
pub use sets::{PLANTED_SET, STARTER, begin_set, find_set, prepare_state, starter};
pub use worker::{Stop, start_worker};
