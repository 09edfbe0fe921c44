//! Evals for people: a result, a comparison, a board of runs, a case. Each is put together once, as a
//! document, and shown as plain text or as Markdown. Names come from sets and models: they are hostile
//! text.

mod board;
mod case;
mod comparison;
mod document;
pub mod html;
mod numbers;
mod result;
#[cfg(test)]
mod tests;

pub use board::{LeaderboardRow, board};
pub use case::case;
pub use comparison::comparison;
pub use document::{Document, DocumentBlock, TextTable};
pub use result::result;
