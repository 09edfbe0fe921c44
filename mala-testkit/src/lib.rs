//! A sealed world for tests: real git repositories and the real binaries.

#![expect(clippy::unwrap_used, reason = "a test that cannot set up its world has to fail")]

mod cleaning;
mod repo;
mod world;

pub use cleaning::Cleaning;
pub use repo::TestRepo;
pub use world::World;
