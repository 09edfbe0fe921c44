//! What is wrong with a configuration file, and where.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::ops::Range;
use thiserror::Error;

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The 1-based line.
    pub line: usize,
    /// The 1-based column, in characters.
    pub column: usize,
    /// The bytes that it is about.
    pub bytes: Range<usize>,
}

impl Place {
    /// The start of the file: for what has no better place.
    pub fn start() -> Self {
        Self { line: 1, column: 1, bytes: 0..0 }
    }
}

/// Why a configuration file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{}:{}: {message}", place.line, place.column)]
pub struct ConfigError {
    /// The file's name.
    pub file: String,
    /// Where.
    pub place: Place,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub hint: Option<String>,
    /// The lines around the place, with the place marked.
    pub frame: String,
}

/// Something in a configuration file that is accepted and perhaps not meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigWarning {
    /// The file's name.
    pub file: String,
    /// Where.
    pub place: Place,
    /// What to know.
    pub message: String,
    /// Which part of mala it is about.
    pub concern: Concern,
}

/// Which part of mala a warning is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concern {
    /// A review of a local change.
    Review,
    /// Triggers and runs.
    Run,
}

impl std::fmt::Display for ConfigWarning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.place.line, self.place.column, self.message)
    }
}

impl ConfigError {
    /// The error of a file at a place; control characters of the file's text are escaped.
    pub(crate) fn new(file: &str, place: Place, message: &str) -> Self {
        let (file, message) = (file.to_owned(), printable(message));
        Self { file, place, message, hint: None, frame: String::new() }
    }

    /// With a way out.
    pub(crate) fn hint(mut self, hint: Option<&str>) -> Self {
        self.hint = hint.map(printable);
        self
    }

    /// With the lines around the place, cut from the file's text, and a label at the place.
    pub(crate) fn frame(mut self, text: &str, label: &str) -> Self {
        self.frame = frame(&self.file, text, &self.place, label);
        self
    }
}

/// Keys and values of a file can hold anything, and this goes to a terminal.
fn printable(text: &str) -> String {
    let escape = |c: char| match c {
        '\n' => c.to_string(),
        c if c.is_control() => c.escape_default().to_string(),
        c => c.to_string(),
    };
    text.chars().map(escape).collect()
}

/// Lines before and after the marked one.
const CONTEXT_LINES: usize = 2;
/// A longer line is cut: a frame is for looking at.
const MAX_LINE_BYTES: usize = 160;

/// The lines around a place, with the place marked and labelled.
fn frame(file: &str, text: &str, place: &Place, label: &str) -> String {
    let first = place.line.saturating_sub(CONTEXT_LINES).max(1);
    let mut source = String::new();
    let mut marked = 0..0;
    let mut offset = 0;
    for (index, raw) in text.split_inclusive('\n').enumerate() {
        let number = index + 1;
        if number > place.line + CONTEXT_LINES {
            break;
        }
        if number >= first {
            let line = cut(raw.trim_end_matches(['\n', '\r']));
            if number == place.line {
                let within = |at: usize| source.len() + at.saturating_sub(offset).min(line.len());
                let start = floor(&source, line, within(place.bytes.start));
                marked = start..floor(&source, line, within(place.bytes.end)).max(start);
            }
            source.push_str(line);
            source.push('\n');
        }
        offset += raw.len();
    }
    let snippet = Snippet::source(source.as_str())
        .line_start(first)
        .path(file)
        .fold(false)
        .annotation(AnnotationKind::Primary.span(marked).label(label));
    let group = Group::with_level(Level::ERROR).element(snippet);
    Renderer::plain().render(&[group])
}

/// The start of a line that is too long, at a character boundary.
fn cut(line: &str) -> &str {
    let end = (0..=line.len().min(MAX_LINE_BYTES)).rev().find(|at| line.is_char_boundary(*at));
    line.get(..end.unwrap_or(0)).unwrap_or_default()
}

/// The last character boundary at or before an offset into `before` plus `line`.
fn floor(before: &str, line: &str, offset: usize) -> usize {
    let within = offset.saturating_sub(before.len());
    let boundary = (0..=within).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
    before.len() + boundary
}
