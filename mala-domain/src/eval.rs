//! Measures reviewers: cases with known problems, the rule by which a finding hits one, and the
//! numbers that follow. Everything is a function of values; chance comes from a seed that is passed in.

pub mod bootstrap;
pub mod capture;
pub mod case;
pub mod compare;
pub mod curve;
pub mod dummy;
pub mod import;
pub mod judging;
pub mod matching;
pub mod plant;
pub mod purse;
pub mod record;
pub mod result;
pub mod scores;
pub mod seeded;
pub mod trees;
pub mod view;

pub use case::{Case, CaseError, Meta, Truth};
pub use judging::{JudgeUsed, Judgement};
pub use matching::{Assignment, Mode, Pair, Rule, Spot};
pub use record::{BaseOrigin, CaseRecord, CaseSpent, Prediction, RunHeader};
pub use result::EvalResult;
