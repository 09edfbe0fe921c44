//! Measures reviewers: cases with known problems, the rule by which a finding hits one, and the
//! numbers that follow. Everything is a function of values; chance comes from a seed that is passed in.

//B pub mod bootstrap;
pub mod case;
//B pub mod compare;
//B pub mod dummy;
pub mod matching;
//B pub mod record;
//B pub mod result;
//B pub mod scores;
pub mod seeded;

pub use case::{Case, CaseError, Meta, Truth};
pub use matching::{Assignment, Mode, Pair, Rule, Spot};
//B pub use record::{BaseOrigin, CaseRecord, CaseSpent, Prediction, RunHeader};
//B pub use result::EvalResult;
