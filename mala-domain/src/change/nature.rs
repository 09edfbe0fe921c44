//! Tells what people write from what tools write. Skipping a file is a loss of review, so that a
//! guess needs a strong sign: a name that only a tool gives, a header that says so, or lines that
//! nobody types.

mod header;
mod names;
#[cfg(test)]
mod tests;

use super::{FilePath, Nature};

/// A value of `.gitattributes`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mark {
    /// Nothing is said.
    #[default]
    Unspecified,
    /// `attribute`, `attribute=true`.
    Set,
    /// `-attribute`, `attribute=false`.
    Unset,
}

impl Mark {
    /// From what `git check-attr` prints.
    pub fn parse(value: &[u8]) -> Self {
        match value {
            b"set" | b"true" => Self::Set,
            b"unset" | b"false" => Self::Unset,
            _ => Self::Unspecified,
        }
    }
}

/// What `.gitattributes` says of a file.
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
    /// The nature of a text file. What a person says in `.gitattributes` goes before any guess.
    ///
    /// `text` is the file as it was at base. Otherwise a change could put itself out of review by
    /// adding a header.
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

    /// The nature of a file that the change adds. Its header is the change's own word for it, and
    /// does not count; its name and its form do.
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
    /// The nature of a file that git takes for binary, by its name: a source that holds bytes that are
    /// no text still runs, and nobody has chosen to leave it out.
    pub fn of_binary(path: &FilePath, attributes: Attributes) -> Self {
        match names::is_source(path) {
            true => Self::of_garbled(path, attributes),
            false => Self::Binary,
        }
    }

    /// The nature of a source or a text that git takes for binary.
    pub fn of_garbled(path: &FilePath, attributes: Attributes) -> Self {
        match Self::of_new(path, attributes, None) {
            Self::Source => Self::Garbled,
            _ => Self::Binary,
        }
    }
}

/// A line longer than this is not typed.
const LONG_LINE: usize = 500;

/// Smaller files may be one long line and still be written by hand.
const MIN_COMPRESSED: usize = 4096;

/// A licence above compressed code has about as many lines.
const MAX_TYPED_LINES: usize = 30;

/// Scripts and style sheets that are nearly all long lines.
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
