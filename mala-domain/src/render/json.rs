//! The report as pretty-printed JSON.

use super::View;

/// Renders the report as JSON, with a final line feed.
pub(super) fn render(view: &View<'_>) -> String {
    pretty(view.report)
}

/// Serializes a value as pretty-printed JSON, with a final line feed. On failure, which none of our types can
/// cause, returns an object with an `error`.
pub(super) fn pretty<T: serde::Serialize>(value: &T) -> String {
    let mut text = serde_json::to_string_pretty(value)
        .unwrap_or_else(|error| serde_json::json!({"error": error.to_string()}).to_string());
    text.push('\n');
    text
}
