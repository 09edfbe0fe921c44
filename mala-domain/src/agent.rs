//! The rules of the in-process agent: what it may spend, what it is told, how its answer is read and
//! what its claims are worth. The order of its calls is elsewhere; nothing here asks a model.

pub mod answer;
pub mod brief;
pub mod budget;
pub mod claims;
pub mod fence;
pub mod line_format;
pub mod prompts;
pub mod redacted_file;

/// Its name in reports.
pub const NAME: &str = "agent-sdk";
