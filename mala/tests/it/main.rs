//! The real binaries in a sealed world, with all that they say in one snapshot.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot set up its world has to fail"
)]
#![expect(clippy::too_many_lines, reason = "the whole output of a command is part of its test")]

mod agent;
mod agent_tools;
mod cerberus;
mod command;
mod config;
mod context;
mod demo;
mod doctor;
mod drift;
mod eval;
mod findings;
mod gate;
mod hook;
mod house;
mod init;
mod injection;
mod many_reviews;
mod models;
mod pre_commit;
mod pull_request;
mod readme;
mod real_model;
mod review;
mod rules;
mod run;
mod runs;
mod shell;
mod task;

use mala_testkit::World;

/// A world with the `mala` binary.
fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_mala"))
}

/// A world with the `review-gate` binary.
fn gate_world() -> World {
    World::new(env!("CARGO_BIN_EXE_review-gate"))
}
