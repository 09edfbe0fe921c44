//! Numbers as people read them. What is not there is a dash, never a zero.

use crate::bootstrap::ConfidenceInterval;

/// `0.444`, or a dash.
pub(super) fn rate(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"))
}

/// `0.444 [0.31, 0.58]`.
pub(super) fn with_interval(value: Option<f64>, interval: Option<ConfidenceInterval>) -> String {
    match interval {
        Some(ConfidenceInterval { low, high }) if value.is_some() => {
            format!("{} [{low:.2}, {high:.2}]", rate(value))
        }
        _ => rate(value),
    }
}

/// `+0.031`.
pub(super) fn difference(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:+.3}"))
}

/// `$0.0123`, or a question mark: an unknown cost is not zero.
pub(super) fn dollars(value: Option<f64>) -> String {
    value.map_or_else(|| "?".to_owned(), |value| format!("${value:.4}"))
}

/// `1.2 s`, or a dash.
pub(super) fn seconds(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1} s"))
}

/// `1 rule`, `2 rules`.
pub(super) fn plural(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
