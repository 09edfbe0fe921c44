//! Results as text, Markdown and HTML. Each view is built once, as a document. Names come from sets and
//! models and are untrusted.

mod board;
mod case;
mod comparison;
mod document;
pub mod html;
mod result;
#[cfg(test)]
mod tests;

pub use board::{LeaderboardRow, board};
pub use case::case;
pub use comparison::comparison;
pub use document::{Document, DocumentBlock, TextTable};
pub use result::result;

use crate::bootstrap::ConfidenceInterval;

/// `0.444`, or a dash.
fn rate(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"))
}

/// `0.444 [0.31, 0.58]`.
fn with_interval(value: Option<f64>, interval: Option<ConfidenceInterval>) -> String {
    match interval {
        Some(ConfidenceInterval { low, high }) if value.is_some() => {
            format!("{} [{low:.2}, {high:.2}]", rate(value))
        }
        _ => rate(value),
    }
}

/// `+0.031`.
fn difference(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:+.3}"))
}

/// `$0.0123`, or a question mark: an unknown cost is not zero.
fn dollars(value: Option<f64>) -> String {
    value.map_or_else(|| "?".to_owned(), |value| format!("${value:.4}"))
}

/// `1.2 s`, or a dash.
fn seconds(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1} s"))
}

/// `1 rule`, `2 rules`.
fn plural(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
