//! Measures reviewers: cases with known problems, planted defects, importers of public benchmarks,
//! scores, comparisons and reports. It calls the review use case and reaches git only through `ports`.

#![warn(missing_docs)]

pub mod bootstrap;
pub mod budget;
pub mod canary;
pub mod capture;
pub mod case;
pub mod case_review;
pub mod compare;
pub mod curve;
pub mod dummy;
pub mod import;
pub mod judging;
pub mod limits;
pub mod matching;
mod mutation;
pub mod plant;
pub mod ports;
pub mod random;
pub mod record;
pub mod render;
pub mod result;
pub mod run;
pub mod scores;
pub mod store;
pub mod trees;
pub mod view;

pub use case::{CaseError, CaseMeta, EvalCase, KnownProblem};
pub use judging::{JudgeUsed, Judgement};
pub use matching::{Assignment, MatchMode, MatchRule, MatchedPair, ProblemLocation};
pub use record::{BaseOrigin, CaseRecord, CaseUsage, Prediction, RunHeader};
pub use result::EvalResult;
