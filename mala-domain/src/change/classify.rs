//! Classifies files as handwritten, generated, vendored and so on. Skipping a file means it is not
//! reviewed, so a guess needs strong evidence: a name that only tools use, a generated-code header,
//! or very long lines.

mod names;
#[cfg(test)]
mod tests;

use super::{FileClass, FilePath};

/// The state of a git attribute.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AttributeState {
    /// Not specified.
    #[default]
    Unspecified,
    /// `attribute`, `attribute=true`.
    Set,
    /// `-attribute`, `attribute=false`.
    Unset,
}

impl AttributeState {
    /// Parses a value that `git check-attr` prints.
    pub fn parse(value: &[u8]) -> Self {
        match value {
            b"set" | b"true" => Self::Set,
            b"unset" | b"false" => Self::Unset,
            _ => Self::Unspecified,
        }
    }
}

/// The git attributes of a file that affect its class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GitAttributes {
    /// `linguist-generated`
    pub generated: AttributeState,
    /// `linguist-vendored`
    pub vendored: AttributeState,
    /// `diff`; unset by `binary`.
    pub diff: AttributeState,
}

impl FileClass {
    /// Classifies a text file. Git attributes take precedence over guesses.
    ///
    /// `text` must be the content at base: otherwise a change could exclude itself from review by
    /// adding a generated-code header.
    pub fn of(path: &FilePath, attributes: GitAttributes, text: Option<&str>) -> Self {
        match Self::of_new(path, attributes, text) {
            Self::Source
                if attributes.generated == AttributeState::Unspecified
                    && text.is_some_and(has_generated_marker) =>
            {
                Self::Generated
            }
            class => class,
        }
    }

    /// Classifies a file that the change adds. Its header is ignored, because it is part of the
    /// change; its name and its line lengths count.
    pub fn of_new(path: &FilePath, attributes: GitAttributes, text: Option<&str>) -> Self {
        let attribute_or = |mark: AttributeState, guess: bool| match mark {
            AttributeState::Set => true,
            AttributeState::Unset => false,
            AttributeState::Unspecified => guess,
        };
        let name = path.file_name();
        if attributes.diff == AttributeState::Unset {
            Self::Binary
        } else if attribute_or(attributes.vendored, names::is_vendored(path)) {
            Self::Vendored
        } else if attributes.generated == AttributeState::Set {
            Self::Generated
        } else if attributes.generated == AttributeState::Unset {
            Self::Source
        } else if names::is_lock(name) {
            Self::Lock
        } else if names::is_minified(name) || text.is_some_and(|text| is_minified_text(name, text))
        {
            Self::Minified
        } else if names::is_generated(path) {
            Self::Generated
        } else {
            Self::Source
        }
    }
}

impl FileClass {
    /// Classifies a file that git treats as binary. A source file with binary bytes can still be
    /// executed, so it is not skipped silently.
    pub fn of_binary(path: &FilePath, attributes: GitAttributes) -> Self {
        match names::is_source(path) {
            true => Self::of_garbled(path, attributes),
            false => Self::Binary,
        }
    }

    /// Classifies a file that git treats as binary but whose name or history is that of a text
    /// file.
    pub fn of_garbled(path: &FilePath, attributes: GitAttributes) -> Self {
        match Self::of_new(path, attributes, None) {
            Self::Source => Self::Garbled,
            _ => Self::Binary,
        }
    }
}

/// A longer line is not handwritten.
const LONG_LINE_BYTES: usize = 500;

/// A smaller file may consist of one long handwritten line.
const MIN_MINIFIED_BYTES: usize = 4096;

/// Minified code may start with a license of about this many lines.
const MAX_SHORT_LINES: usize = 30;

/// Whether a script or style sheet consists mostly of very long lines.
fn is_minified_text(name: &str, text: &str) -> bool {
    let kind = name.rsplit('.').next().unwrap_or_default();
    if !matches!(kind, "js" | "mjs" | "cjs" | "css") || text.len() < MIN_MINIFIED_BYTES {
        return false;
    }
    let (mut n_short, mut n_long_bytes) = (0, 0);
    for line in text.lines() {
        match line.len() {
            0 => {}
            length if length > LONG_LINE_BYTES => n_long_bytes += length,
            _ => n_short += 1,
        }
        if n_short > MAX_SHORT_LINES {
            return false;
        }
    }
    n_long_bytes >= text.len() / 5 * 4
}

/// Number of lines searched for a header.
const MAX_LINES: usize = 30;

/// Maximum distance in lines between "generated" and a warning not to edit.
const MAX_WARNING_DISTANCE: usize = 3;

const WARNINGS: &[&str] = &[
    "do not edit",
    "do not modify",
    "do not change",
    "do not manually",
    "don't edit",
    "don't modify",
    "changes will be lost",
    "edits will be lost",
    "will be overwritten",
];

/// The line that compilers put at the top of every module they convert to CommonJS.
const COMPILED: &str = "Object.defineProperty(exports, \"__esModule\", { value: true });";

/// The first lines of the script that javadoc adds to its pages.
const JAVADOC: [&str; 3] = ["function show(type)", "{", "    count = 0;"];

/// Whether the first lines contain a generated-code marker: a comment that says the file is
/// generated and must not be edited, `@generated`, `<auto-generated>`, or a known line of a
/// compiler.
fn has_generated_marker(text: &str) -> bool {
    if text.lines().take(JAVADOC.len()).eq(JAVADOC) {
        return true;
    }
    let head = text.lines().take(MAX_LINES).enumerate();
    let mut claimed_at = None;
    for (number, line) in head {
        if line.starts_with(COMPILED) {
            return true;
        }
        let Some(text) = comment(line) else { continue };
        if is_marker(text) {
            return true;
        }
        let text = text.to_ascii_lowercase();
        if text.contains("generated") {
            claimed_at = Some(number);
        }
        let warns = WARNINGS.iter().any(|warning| text.contains(warning));
        if warns && claimed_at.is_some_and(|claimed| number - claimed < MAX_WARNING_DISTANCE) {
            return true;
        }
    }
    false
}

/// Whether a comment starts or ends with the word `@generated`, or starts with the tag of C# tools.
fn is_marker(text: &str) -> bool {
    let starts = text.strip_prefix("@generated").is_some_and(|rest| {
        rest.is_empty() || rest.starts_with(|next: char| next.is_whitespace() || next == ':')
    });
    starts
        || text.ends_with(" @generated")
        || text.to_ascii_lowercase().starts_with("<auto-generated")
}

/// The text of a comment line; `None` for code and for very long lines.
fn comment(line: &str) -> Option<&str> {
    let line = line.trim();
    let starts = ["//", "#", "/*", "*", "--", ";", "<!--", "\"\"\"", "'''", "%", "{-", "(*", "::"];
    let is_comment = line.len() < 400 && starts.iter().any(|start| line.starts_with(start));
    let leader = |c: char| "/#*-;<!\"'%{(:".contains(c) || c.is_whitespace();
    let trailer = |c: char| "*/->\"'})".contains(c) || c.is_whitespace();
    // The tag of C# tools starts with one of the leader characters.
    match line.find("<auto-generated") {
        Some(at) if is_comment => line.get(at..),
        _ => is_comment.then(|| line.trim_start_matches(leader).trim_end_matches(trailer)),
    }
}
