//! Evals over real adapters: cases are checked out as repositories and reviewed like any other change.

mod captured;
mod case_reviewer;
mod git;
mod judge;
mod sample;
mod sets;
mod worker;

pub use captured::{keep_captured, reviewed_code};
pub use case_reviewer::{CaseReviewer, ConfiguredReviewer, EvalReviewer};
pub use git::{CaseRepositories, EvalGit, OpenedRepository};
pub use judge::JudgeSetup;
pub use mala_adapters::models::closing::Calls;
pub use mala_adapters::models::recorded::{Lost, lost_below};
pub use sample::SampleRepository;
pub use sets::{PLANTED_SET, STARTER, begin_set, find_set, prepare_state, starter};
pub use worker::{StopSignal, start_worker};
