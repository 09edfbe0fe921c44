//! The command line of mala, its settings, and the wiring of adapters to the pipeline.

pub mod cli;
pub mod console;
pub mod environment;
pub mod exit;
pub mod failure;
pub mod gate;
pub(crate) mod hook;
pub(crate) mod interrupt;
pub mod progress;
pub mod settings;
pub(crate) mod target;
pub mod wiring;
