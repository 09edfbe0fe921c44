//! Errors and warnings about configuration files, with positions.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::ops::Range;
use thiserror::Error;

/// A position in a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigPosition {
    /// The 1-based line.
    pub line: usize,
    /// The 1-based column, in characters.
    pub column: usize,
    /// The bytes it covers.
    pub bytes: Range<usize>,
}

impl ConfigPosition {
    /// The start of the file, for errors without a more precise position.
    pub fn start() -> Self {
        Self { line: 1, column: 1, bytes: 0..0 }
    }
}

/// An error in a configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{}:{}: {message}", place.line, place.column)]
pub struct ConfigError {
    /// The file name.
    pub file: String,
    /// The position.
    pub place: ConfigPosition,
    /// What is wrong.
    pub message: String,
    /// How to fix it.
    pub hint: Option<String>,
    /// The lines around the position, with the position marked.
    pub frame: String,
}

/// A warning about a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigWarning {
    /// The file name.
    pub file: String,
    /// The position.
    pub place: ConfigPosition,
    /// The message.
    pub message: String,
    /// Which commands it concerns.
    pub concern: WarningTopic,
}

/// Which commands a warning concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarningTopic {
    /// Reviews of local changes.
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
    /// An error at a position; control characters in `message` are escaped.
    pub(crate) fn new(file: &str, place: ConfigPosition, message: &str) -> Self {
        let (file, message) = (file.to_owned(), printable(message));
        Self { file, place, message, hint: None, frame: String::new() }
    }

    /// Adds a hint.
    pub(crate) fn hint(mut self, hint: Option<&str>) -> Self {
        self.hint = hint.map(printable);
        self
    }

    /// Adds the lines around the position, with a label.
    pub(crate) fn frame(mut self, text: &str, label: &str) -> Self {
        self.frame = frame(&self.file, text, &self.place, label);
        self
    }
}

/// Escapes control characters: keys and values of the file are printed to the terminal.
fn printable(text: &str) -> String {
    let escape = |c: char| match c {
        '\n' => c.to_string(),
        c if c.is_control() => c.escape_default().to_string(),
        c => c.to_string(),
    };
    text.chars().map(escape).collect()
}

/// Number of lines before and after the marked one.
const CONTEXT_LINES: usize = 2;
/// Maximum length of a line in a frame.
const MAX_LINE_BYTES: usize = 160;

/// The lines around a position, with the position marked and labelled.
fn frame(file: &str, text: &str, place: &ConfigPosition, label: &str) -> String {
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

/// The start of a line, cut at a character boundary.
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
