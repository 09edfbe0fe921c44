//! Adds mala's state folder to `.gitignore`, with the line endings of the file.

/// The state folder also has the rules and waivers of the project, which are committed.
const LINES: [&str; 4] = [
    "# mala: reviews are local, rules and waivers are committed",
    ".mala/*",
    "!.mala/rules/",
    "!.mala/waivers.yaml",
];

/// The content with the state folder added; `None` if it contains it already.
pub(super) fn with_state(old: &[u8]) -> Option<Vec<u8>> {
    let ignored = |line: &[u8]| {
        let line = line.trim_ascii();
        let line = line.strip_prefix(b"/").unwrap_or(line);
        matches!(line, b".mala" | b".mala/" | b".mala/*" | b".mala/**")
    };
    if old.split(|byte| *byte == b'\n').any(ignored) {
        return None;
    }
    let ending: &[u8] = if old.windows(2).any(|pair| pair == b"\r\n") { b"\r\n" } else { b"\n" };
    let mut new = old.to_vec();
    if !new.is_empty() && !new.ends_with(b"\n") {
        new.extend_from_slice(ending);
    }
    for line in LINES {
        new.extend_from_slice(line.as_bytes());
        new.extend_from_slice(ending);
    }
    Some(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(old: &str) -> Option<String> {
        with_state(old.as_bytes()).map(|new| String::from_utf8(new).unwrap())
    }

    #[test]
    fn the_state_is_ignored_once() {
        for old in [".mala/\n", "/.mala\r\nx", "a\n  .mala/*  \n", "/.mala/**"] {
            assert_eq!(after(old), None, "{old:?}");
        }
        let new = after("target").unwrap();
        assert_eq!(after(&new), None);
        assert!(new.starts_with("target\n# mala"), "{new}");
    }

    #[test]
    fn line_endings_are_kept() {
        assert!(after("a\r\nb").unwrap().starts_with("a\r\nb\r\n# mala"));
        assert!(!after("a\r\n").unwrap().replace("\r\n", "").contains('\n'));
        assert!(!after("a\n").unwrap().contains('\r'));
    }

    #[test]
    fn similar_patterns_do_not_count() {
        for old in ["# .mala/", "!.mala/", ".malaria", "x/.mala/y"] {
            assert!(after(old).is_some(), "{old:?}");
        }
    }
}
