//! An isolated environment for tests: real git repositories, the real binaries, a model server, and a
//! GitHub.

#![expect(clippy::unwrap_used, reason = "a test fails if it cannot be set up")]

pub mod coder_tools;
pub mod github_server;
pub mod model_server;
mod output_filter;
mod repo;
mod world;

pub use github_server::GitHubServer;
pub use model_server::ModelServer;
pub use output_filter::OutputFilter;
pub use repo::TestRepo;
pub use world::World;
