//! The world around importers: files to read, clones to take code from, and the set to write.

mod code;
mod gather;
mod write;

pub use code::Clones;
pub(super) use code::texts;
pub use gather::{Gathered, gather};
pub use write::SetWriter;
