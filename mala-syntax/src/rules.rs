//! Syntax-tree rules as data: one YAML file per rule, embedded at build time or read by the caller
//! from the repository under review. A rule file is checked when it is read. The compiled rules are
//! indexed by node kind and need one walk over the tree for all rules.

mod builtin;
mod compile;
pub mod ecmascript;
mod error;
mod example;
mod flows;
mod index;
mod inspect;
mod matching;
pub mod native;
mod rule;
pub mod schema;
mod set;
mod template;
mod test_path;
#[cfg(test)]
mod tests;
mod walk;

pub use compile::Matchers;
pub use error::RuleError;
pub use example::{ExampleFailure, ExampleKind, check_examples};
pub use matching::RuleMatch;
pub use rule::{Detector, Rule};
pub use set::{Extent, RuleSet, Searched};
pub use template::Captures;
pub use test_path::is_test_path;
pub(crate) use test_path::{is_built, is_kept_as_sample, is_sample, is_showcase};
