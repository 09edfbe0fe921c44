//! How a report is shown: one pure function per format, all of the same `View`. Text from outside (a
//! reviewed file, a model's answer, a path) is hostile here: each format makes it harmless in its own
//! way, and none of them lets "could not review" look like a pass.

pub mod eval;
pub mod gate;
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

/// A report and the text that it talks about.
#[derive(Debug, Clone, Copy)]
pub struct View<'r> {
    /// What is shown.
    pub report: &'r Report,
    /// The files with findings as they are at head; a file that is missing here is shown by the
    /// evidence of its findings.
    pub sources: &'r BTreeMap<FilePath, String>,
}

/// One way to show a report.
pub type Output = fn(&View<'_>) -> String;

/// Every format, by the name that users write. `text` is plain here; a terminal calls
/// `terminal::render` with what it can do.
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

/// The format with this name.
pub fn output(name: &str) -> Option<Output> {
    OUTPUTS.iter().find(|(known, _)| *known == name).map(|(_, output)| *output)
}
