//! The use cases, as sequences of stages: scope, context, review, admit, decide, publish.

pub mod agent;
pub mod command;
pub mod events;
pub mod gate;
pub mod pull_request;
pub mod review;
pub mod run;
pub mod task;
