//! Classifies files as handwritten, generated, vendored and so on. Skipping a file means it is not
//! reviewed, so a guess needs strong evidence: a name that only tools use, a generated-code header, or
//! very long lines.

mod header;
mod names;
#[cfg(test)]
mod tests;

use super::{FilePath, Nature};

/// The state of a git attribute.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mark {
    /// Not specified.
    #[default]
    Unspecified,
    /// `attribute`, `attribute=true`.
    Set,
    /// `-attribute`, `attribute=false`.
    Unset,
}

impl Mark {
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
pub struct Attributes {
    /// `linguist-generated`
    pub generated: Mark,
    /// `linguist-vendored`
    pub vendored: Mark,
    /// `diff`; unset by `binary`.
    pub diff: Mark,
}

impl Nature {
    /// Classifies a text file. Git attributes take precedence over guesses.
    ///
    /// `text` must be the content at base: otherwise a change could exclude itself from review by adding a
    /// generated-code header.
    pub fn of(path: &FilePath, attributes: Attributes, text: Option<&str>) -> Self {
        match Self::of_new(path, attributes, text) {
            Self::Source
                if attributes.generated == Mark::Unspecified
                    && text.is_some_and(header::says_generated) =>
            {
                Self::Generated
            }
            nature => nature,
        }
    }

    /// Classifies a file that the change adds. Its header is ignored, because it is part of the change;
    /// its name and its line lengths count.
    pub fn of_new(path: &FilePath, attributes: Attributes, text: Option<&str>) -> Self {
        let guess = |mark: Mark, sign: bool| match mark {
            Mark::Set => true,
            Mark::Unset => false,
            Mark::Unspecified => sign,
        };
        let name = path.file_name();
        if attributes.diff == Mark::Unset {
            Self::Binary
        } else if guess(attributes.vendored, names::is_vendored(path)) {
            Self::Vendored
        } else if attributes.generated == Mark::Set {
            Self::Generated
        } else if attributes.generated == Mark::Unset {
            Self::Source
        } else if names::is_lock(name) {
            Self::Lock
        } else if names::is_minified(name) || text.is_some_and(|text| is_compressed(name, text)) {
            Self::Minified
        } else if names::is_generated(path) {
            Self::Generated
        } else {
            Self::Source
        }
    }
}

impl Nature {
    /// Classifies a file that git treats as binary. A source file with binary bytes can still be executed,
    /// so it is not skipped silently.
    pub fn of_binary(path: &FilePath, attributes: Attributes) -> Self {
        match names::is_source(path) {
            true => Self::of_garbled(path, attributes),
            false => Self::Binary,
        }
    }

    /// Classifies a file that git treats as binary but whose name or history is that of a text file.
    pub fn of_garbled(path: &FilePath, attributes: Attributes) -> Self {
        match Self::of_new(path, attributes, None) {
            Self::Source => Self::Garbled,
            _ => Self::Binary,
        }
    }
}

/// A longer line is not handwritten.
const LONG_LINE: usize = 500;

/// A smaller file may consist of one long handwritten line.
const MIN_COMPRESSED: usize = 4096;

/// Minified code may start with a license of about this many lines.
const MAX_TYPED_LINES: usize = 30;

/// Whether a script or style sheet consists mostly of very long lines.
fn is_compressed(name: &str, text: &str) -> bool {
    let kind = name.rsplit('.').next().unwrap_or_default();
    if !matches!(kind, "js" | "mjs" | "cjs" | "css") || text.len() < MIN_COMPRESSED {
        return false;
    }
    let (mut n_typed, mut n_long_bytes) = (0, 0);
    for line in text.lines() {
        match line.len() {
            0 => {}
            length if length > LONG_LINE => n_long_bytes += length,
            _ => n_typed += 1,
        }
        if n_typed > MAX_TYPED_LINES {
            return false;
        }
    }
    n_long_bytes >= text.len() / 5 * 4
}
