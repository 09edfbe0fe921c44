//! The agent against a scripted model: what it sends, what it makes of each answer, and that no
//! limit is exceeded.

mod answers;
mod flow;
mod limits;
mod prompts;
mod scripted;
mod thorough;
mod verification;
