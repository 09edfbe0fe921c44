//! Renders reports: one pure function per format. Text from outside (reviewed files, model answers, paths) is
//! untrusted, and each format escapes it. No format may show an incomplete review as a pass.

pub mod eval;
mod github;
mod gitlab;
mod json;
mod junit;
mod level;
pub mod markdown;
mod ranking;
mod rdjson;
mod sarif;
pub mod terminal;
mod visible;
mod wording;

#[cfg(test)]
mod tests;

pub use visible::{one_line, short_line};

use crate::change::FilePath;
use crate::report::Report;
use std::collections::BTreeMap;

/// A report and the files it refers to.
#[derive(Debug, Clone, Copy)]
pub struct View<'r> {
    /// The report.
    pub report: &'r Report,
    /// The files with findings, at head. For a missing file, the evidence of its findings is shown.
    pub sources: &'r BTreeMap<FilePath, String>,
}

/// Renders a report in one format.
pub type Output = fn(&View<'_>) -> String;

/// All formats, by name. `text` is plain text here; for a terminal, use `terminal::render`.
pub const OUTPUTS: &[(&str, Output)] = &[
    ("text", terminal::plain),
    ("markdown", markdown::render),
    ("json", json::render),
    ("sarif", sarif::render),
    ("rdjson", rdjson::render),
    ("gitlab", gitlab::render),
    ("junit", junit::render),
    ("github", github::render),
];

/// The renderer of a format.
pub fn output(name: &str) -> Option<Output> {
    OUTPUTS.iter().find(|(known, _)| *known == name).map(|(_, output)| *output)
}
