//! A sealed world for tests: real git repositories, the real binaries, and a model server.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its world has to fail")]

mod cleaning;
pub mod model_server;
mod repo;
mod world;

pub use cleaning::Cleaning;
pub use model_server::ModelServer;
pub use repo::TestRepo;
pub use world::World;
