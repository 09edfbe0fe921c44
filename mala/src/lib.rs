//! The edge of mala: the command line, the settings, and the wiring of the world to the pipeline.

pub mod cli;
pub mod console;
pub mod gate;
pub(crate) mod hook;
pub mod progress;
pub mod settings;
pub mod surroundings;
pub mod telemetry;
pub mod wiring;
