//! An isolated environment for tests: real git repositories, the real binaries, and a model
//! server.

#![expect(clippy::unwrap_used, reason = "a test fails if it cannot be set up")]

pub mod model_server;
mod output_filter;
mod repo;
mod world;

pub use model_server::ModelServer;
pub use output_filter::OutputFilter;
pub use repo::TestRepo;
pub use world::World;
