//! The reviewer that runs in this process: a model with read-only tools, inside hard limits.

pub mod tools;
