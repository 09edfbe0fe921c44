//! The tools over a tree in memory.
