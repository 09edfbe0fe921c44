//! Paths as URI references, percent-encoded byte by byte.

use crate::change::FilePath;

/// The URI of a path, relative to the root of the repository.
pub(super) fn of_path(path: &FilePath) -> String {
    let mut out = String::new();
    for byte in path.as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(*byte));
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Whether the text is an absolute URL with only valid characters.
pub(super) fn is_absolute(text: &str) -> bool {
    let has_scheme = ["https://", "http://", "ssh://", "git://", "file://"]
        .iter()
        .any(|scheme| text.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty()));
    has_scheme
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~:/@+%=".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_path_survives() {
        let rows: &[(&[u8], &str)] = &[
            (b"src/main.rs", "src/main.rs"),
            (b"a b/100%/x#y?z", "a%20b/100%25/x%23y%3Fz"),
            (b"c:/x", "c%3A/x"),
            (b"\xff\n.txt", "%FF%0A.txt"),
            ("\u{e9}".as_bytes(), "%C3%A9"),
        ];
        for (path, expected) in rows {
            assert_eq!(of_path(&FilePath::from_bytes(*path)), *expected);
        }
    }

    #[test]
    fn only_urls_are_repositories() {
        for good in ["https://example.com/o/r.git", "ssh://git@example.com/o/r"] {
            assert!(is_absolute(good), "{good}");
        }
        for bad in ["git@example.com:o/r", "/srv/r", "https://", "https://a b", "javascript:x"] {
            assert!(!is_absolute(bad), "{bad}");
        }
    }
}
