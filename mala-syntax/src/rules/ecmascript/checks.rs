//! The checks over the facts of a file, by what they are about.

pub(super) mod arguments;
pub(super) mod asynchronous;
pub(super) mod comparison;
pub(super) mod control;
pub(super) mod credentials;
pub(super) mod exposure;
pub(super) mod misuse;
pub(super) mod naming;
pub(super) mod react;
pub(super) mod requests;
pub(super) mod sanitizing;

use crate::rules::native::NativeMatch;
use tree_sitter::Node;

/// A match of a node, with what to fill into the texts.
fn found(node: Node<'_>, captures: Vec<(&'static str, String)>) -> NativeMatch {
    NativeMatch { bytes: node.byte_range(), because: None, captures }
}

/// Names like `$hash$` and `__webpack_require__` are filled in by a build.
fn is_filled_in(name: &str) -> bool {
    (name.starts_with('$') && name.ends_with('$')) || name.starts_with("__")
}

/// The start of an expression, on one line.
fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= 60 {
        return line;
    }
    line.chars().take(59).chain(['…']).collect()
}

/// Whether a path is that of a pattern, in which `*` stands for anything.
fn path_matches(pattern: &str, path: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| path.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.split_once(part) {
            Some((_, behind)) => rest = behind,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::path_matches;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, path, expected) in [
            ("pg:Client", "pg:Client", true),
            ("pg:Client", "pg:Clients", false),
            ("mysql:create*", "mysql:createPool", true),
            ("jose:SignJWT()*.sign", "jose:SignJWT().setIssuedAt().sign", true),
            ("jose:SignJWT()*.sign", "jose:SignJWT().setIssuedAt()", false),
            ("passport-*:*Strategy", "passport-github2:Strategy", true),
            ("*", "anything", true),
        ] {
            assert_eq!(path_matches(pattern, path), expected, "{pattern} {path}");
        }
    }
}
