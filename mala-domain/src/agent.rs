//! The rules of the in-process agent: its budget, its prompts, how its answers are parsed, and how its
//! claims are checked against the files. `mala-pipeline` makes the calls.

pub mod answer;
pub mod brief;
pub mod budget;
pub mod claims;
pub mod fence;
pub mod line_format;
pub mod prompts;
pub mod redacted_file;

/// The name of the agent in reports.
pub const NAME: &str = "agent-sdk";
