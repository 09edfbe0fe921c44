//! The report itself, for programs: pretty-printed, its fields in the order of the type.

use super::View;

/// The report as JSON, with a line feed at the end.
pub(super) fn render(view: &View<'_>) -> String {
    pretty(view.report)
}

/// A value as pretty JSON, with a line feed at the end. A value that cannot be written (none of ours
/// is) leaves an object that no reader takes for a result.
pub(super) fn pretty<T: serde::Serialize>(value: &T) -> String {
    let mut text = serde_json::to_string_pretty(value)
        .unwrap_or_else(|error| serde_json::json!({"error": error.to_string()}).to_string());
    text.push('\n');
    text
}
