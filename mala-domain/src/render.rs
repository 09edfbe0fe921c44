//! Renders reports: one pure function per format. Text from outside (reviewed files, model answers,
//! paths) is untrusted, and each format escapes it. No format may show an incomplete review as a
//! pass.

pub mod fix_prompt;
pub mod gate;
mod github;
mod gitlab;
mod junit;
pub mod markdown;
mod ranking;
mod rdjson;
mod sarif;
pub mod terminal;
#[cfg(test)]
pub(crate) mod tests;
mod visible;
mod wording;

pub use visible::{at_most, one_line, short_line, visible};

use crate::change::FilePath;
use crate::report::Report;
use std::collections::BTreeMap;

/// A report and the files it refers to.
#[derive(Debug, Clone, Copy)]
pub struct ReportView<'r> {
    /// The report.
    pub report: &'r Report,
    /// The files with findings, at head. For a missing file, the evidence of its findings is shown.
    pub sources: &'r BTreeMap<FilePath, String>,
}

/// Renders a report in one format.
pub type ReportRenderer = fn(&ReportView<'_>) -> String;

/// All formats, by name. `text` is plain text here; for a terminal, use `terminal::render`.
pub const OUTPUTS: &[(&str, ReportRenderer)] = &[
    ("text", terminal::plain),
    ("markdown", markdown::render),
    ("json", json),
    ("sarif", sarif::render),
    ("rdjson", rdjson::render),
    ("gitlab", gitlab::render),
    ("junit", junit::render),
    ("github", github::render),
];

/// The renderer of a format.
pub fn output(name: &str) -> Option<ReportRenderer> {
    OUTPUTS.iter().find(|(known, _)| *known == name).map(|(_, output)| *output)
}

/// Renders the report as JSON, with a final line feed.
fn json(view: &ReportView<'_>) -> String {
    pretty_json(view.report)
}

/// Serializes a value as pretty-printed JSON, with a final line feed. On failure, which none of our
/// types can cause, returns an object with an `error`.
fn pretty_json<T: serde::Serialize>(value: &T) -> String {
    let mut text = serde_json::to_string_pretty(value)
        .unwrap_or_else(|error| serde_json::json!({"error": error.to_string()}).to_string());
    text.push('\n');
    text
}
