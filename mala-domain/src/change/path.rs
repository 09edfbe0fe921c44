//! Paths inside a repository. Git paths are bytes, reports are text. `FilePath` stores the bytes
//! and prints them as git does, so that different paths print differently.

use std::borrow::Cow;

/// A path relative to the root of the repository, with `/` as separator.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FilePath {
    bytes: Vec<u8>,
}

impl FilePath {
    /// A path from bytes as git stores them.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self { bytes: bytes.into() }
    }

    /// The bytes as git stores them.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The path as text, with invalid UTF-8 replaced. For display only.
    pub fn to_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.bytes)
    }

    /// The file name; empty if it is not UTF-8.
    pub fn file_name(&self) -> &str {
        let name = self.bytes.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        std::str::from_utf8(name).unwrap_or_default()
    }

    /// The part of the file name after its last dot.
    pub fn extension(&self) -> Option<&str> {
        let name = self.bytes.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let dot = name.iter().rposition(|byte| *byte == b'.')?;
        std::str::from_utf8(name.get(dot + 1..)?).ok()
    }

    /// Whether the path stays inside the repository: relative, no `..`, no empty component, no NUL.
    pub fn stays_inside(&self) -> bool {
        !self.bytes.is_empty()
            && !self.bytes.contains(&0)
            && self
                .bytes
                .split(|byte| *byte == b'/')
                .all(|part| !matches!(part, b"" | b"." | b".."))
    }

    /// Whether the path equals `file` or is a directory above it. The empty path contains every
    /// file.
    pub fn holds(&self, file: &Self) -> bool {
        let rest = file.bytes.strip_prefix(self.bytes.as_slice());
        self.bytes.is_empty() || rest.is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
    }

    /// Parses the printed form.
    pub fn parse(text: &str) -> Self {
        let quoted = text.len() >= 2 && text.starts_with('"') && text.ends_with('"');
        match text.get(1..text.len().saturating_sub(1)) {
            Some(inner) if quoted => Self { bytes: unescape(inner.as_bytes()) },
            _ => Self { bytes: text.as_bytes().to_vec() },
        }
    }
}

impl std::fmt::Display for FilePath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match std::str::from_utf8(&self.bytes) {
            Ok(text) if !text.chars().any(needs_quotes) => f.write_str(text),
            _ => write!(f, "\"{}\"", escape(&self.bytes)),
        }
    }
}

impl From<&str> for FilePath {
    fn from(text: &str) -> Self {
        Self { bytes: text.as_bytes().to_vec() }
    }
}

fn needs_quotes(c: char) -> bool {
    c.is_control() || c == '"' || c == '\\'
}

fn escape(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                c if c.is_control() => {
                    let mut buffer = [0; 4];
                    c.encode_utf8(&mut buffer).bytes().for_each(|byte| push_octal(&mut out, byte));
                }
                c => out.push(c),
            }
        }
        chunk.invalid().iter().for_each(|byte| push_octal(&mut out, *byte));
    }
    out
}

fn push_octal(out: &mut String, byte: u8) {
    out.push_str(&format!("\\{byte:03o}"));
}

/// Decodes git's backslash escapes.
pub(super) fn unescape(inner: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'\\' {
            out.push(*first);
            continue;
        }
        match rest {
            [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', tail @ ..] => {
                out.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest = tail;
            }
            [escaped, tail @ ..] => {
                out.push(match escaped {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'a' => 7,
                    b'b' => 8,
                    b'v' => 11,
                    b'f' => 12,
                    other => *other,
                });
                rest = tail;
            }
            [] => out.push(b'\\'),
        }
    }
    out
}

impl serde::Serialize for FilePath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for FilePath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <Cow<'de, str>>::deserialize(deserializer)?;
        Ok(Self::parse(&text))
    }
}

impl schemars::JsonSchema for FilePath {
    fn schema_name() -> Cow<'static, str> {
        "FilePath".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "Path relative to the root of the repository; quoted as git quotes it if it contains control characters, quotes or invalid UTF-8"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn prints_as_git_does() {
        let rows: &[(&[u8], &str)] = &[
            (b"src/main.rs", "src/main.rs"),
            ("caf\u{e9}/x y.py".as_bytes(), "caf\u{e9}/x y.py"),
            (b"a\nb", "\"a\\nb\""),
            (b"say \"hi\"", "\"say \\\"hi\\\"\""),
            (b"\xff\xfe.txt", "\"\\377\\376.txt\""),
            (b"tab\there", "\"tab\\there\""),
        ];
        for (bytes, printed) in rows {
            assert_eq!(FilePath::from_bytes(*bytes).to_string(), *printed);
        }
    }

    #[test]
    fn detects_paths_outside_the_repository() {
        for bad in ["", "/etc/passwd", "../x", "a/../b", "a//b", "./a", "a\0b"] {
            assert!(!FilePath::from(bad).stays_inside(), "{bad:?}");
        }
        for good in ["a", "a/b", "..a/b..", "...", ".git/x"] {
            assert!(FilePath::from(good).stays_inside(), "{good:?}");
        }
    }

    #[test]
    fn directories_contain_their_files() {
        for (folder, file, holds) in [
            ("", "a", true),
            ("a", "a", true),
            ("a", "a/b/c", true),
            ("a/b", "a/bc", false),
            ("a/b", "a", false),
        ] {
            assert_eq!(FilePath::from(folder).holds(&file.into()), holds, "{folder} {file}");
        }
    }

    proptest! {
        #[test]
        fn printed_paths_parse_back(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let path = FilePath::from_bytes(bytes);
            prop_assert_eq!(FilePath::parse(&path.to_string()), path);
        }
    }
}
