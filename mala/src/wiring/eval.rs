//! Has cases reviewed: each is laid out as a repository of its own and goes the way of any review. The
//! reviewers that only pretend are asked directly: what they test is the scoring.

mod bench;
mod captured;
mod judge;
mod sample;
mod sets;
mod worker;

pub use bench::{Bench, Real, Who};
pub use captured::{keep_captured, recalled};
pub use judge::JudgeDesk;
pub use mala_adapters::cases::{CaseSet, Clones, Fingerprint, SetWriter, gather};
pub use mala_adapters::evals::{EvalFilesError, Evals, RunFolder, Writer};
pub use mala_adapters::models::call_tracker::CallTracker;
pub use mala_adapters::models::recording::{LostCalls, lost_calls_below};
pub use sample::Sample;
pub use sets::{PLANTED_SET, STARTER, begin_set, find_set, save_set, starter};
pub use worker::{Stop, start_worker};

use std::path::Path;

/// Where the evals of the work tree at `top` are kept.
pub fn evals(top: &Path) -> Evals {
    Evals::of_work_tree(top)
}
