//! An isolated environment for tests: real git repositories, the real binaries, a model server, a GitHub
//! and a GitLab.

#![expect(clippy::unwrap_used, reason = "a test fails if it cannot be set up")]

pub mod coder_tools;
pub mod forge_server;
pub mod github_server;
pub mod gitlab_server;
mod loopback;
pub mod model_server;
mod output_filter;
mod repo;
mod world;

pub use github_server::GitHubServer;
pub use gitlab_server::GitLabServer;
pub use model_server::ModelServer;
pub use output_filter::OutputFilter;
pub use repo::TestRepo;
pub use world::World;
