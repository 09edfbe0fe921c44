//! The rules of the in-process agent: what it may spend, what it is told, how its answer is read and
//! what its claims are worth. The order of its calls is elsewhere; nothing here asks a model.

pub mod answer;
pub mod brief;
pub mod budget;
pub mod clean;
pub mod fence;
pub mod judge;
pub mod prompts;
pub mod shown;

/// Its name in reports.
pub const NAME: &str = "agent-sdk";
