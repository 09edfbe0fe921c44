//! Path globs of `mala.yaml`: like lines of a `.gitignore`, without negation.

use crate::change::FilePath;
use globset::{Candidate, GlobBuilder, GlobSet, GlobSetBuilder};

/// Maximum number of patterns in one list.
const MAX_PATTERNS: usize = 1000;
const MAX_PATTERN_BYTES: usize = 1000;

/// A set of path globs. A pattern without a slash matches at any depth; one with a slash is
/// relative to the root of the repository; a pattern that matches a directory matches everything in
/// it.
#[derive(Debug, Clone)]
pub struct PathGlobs {
    set: GlobSet,
}

/// An invalid pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{pattern}` is not a valid path glob: {why}")]
pub struct GlobError {
    /// The index of the pattern in its list.
    pub index: usize,
    /// The pattern.
    pub pattern: String,
    /// What is wrong with it.
    pub why: String,
}

impl PathGlobs {
    /// Compiles the patterns.
    pub fn new<P: AsRef<str>>(patterns: &[P]) -> Result<Self, GlobError> {
        let mut builder = GlobSetBuilder::new();
        for (index, pattern) in patterns.iter().enumerate() {
            let pattern = pattern.as_ref();
            let problem = |why: String| GlobError { index, pattern: shorten(pattern), why };
            if index >= MAX_PATTERNS {
                return Err(problem(format!("a list has at most {MAX_PATTERNS} patterns")));
            }
            for form in forms(pattern).map_err(|why| problem(why.to_owned()))? {
                let glob = GlobBuilder::new(&form)
                    .literal_separator(true)
                    .backslash_escape(true)
                    .build()
                    .map_err(|error| problem(error.kind().to_string()))?;
                builder.add(glob);
            }
        }
        let set = builder.build().map_err(|error| GlobError {
            index: 0,
            pattern: patterns.first().map(|first| shorten(first.as_ref())).unwrap_or_default(),
            why: error.kind().to_string(),
        })?;
        Ok(Self { set })
    }

    /// Whether any pattern matches this path.
    pub fn matches(&self, path: &FilePath) -> bool {
        !self.set.is_empty() && self.set.is_match_candidate(&Candidate::from_bytes(path.as_bytes()))
    }

    /// Whether there are no patterns.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty()
    }
}

/// The globs for a pattern: the path itself, and everything below it.
fn forms(pattern: &str) -> Result<[String; 2], &'static str> {
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err("it is too long");
    }
    if pattern.starts_with('!') {
        return Err("patterns cannot be negated");
    }
    let bare = pattern.strip_prefix("./").unwrap_or(pattern).trim_end_matches('/');
    let rooted = bare.trim_start_matches('/');
    if rooted.is_empty() {
        return Err("it is empty");
    }
    let path = if bare.contains('/') { rooted.to_owned() } else { format!("**/{rooted}") };
    Ok([format!("{path}/**"), path])
}

fn shorten(pattern: &str) -> String {
    pattern.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_a_gitignore() {
        let rows: &[(&str, &[&str], &[&str])] = &[
            ("*.md", &["a.md", "docs/b.md"], &["a.mdx", "a.md5"]),
            ("docs", &["docs/a", "x/docs/b/c", "docs"], &["docs2/a"]),
            ("docs/", &["docs/a"], &["mydocs/a"]),
            ("/docs", &["docs/a"], &["x/docs/a"]),
            ("tests/**", &["tests/a/b"], &["x/tests/a"]),
            ("**/fixtures/**", &["a/fixtures/b", "fixtures/b"], &["fixture/b"]),
            ("src/*.py", &["src/a.py"], &["src/x/a.py"]),
            ("./src/a.{js,ts}", &["src/a.js", "src/a.ts"], &["src/a.py"]),
        ];
        for (pattern, fit, miss) in rows {
            let globs = PathGlobs::new(&[pattern]).unwrap();
            for path in *fit {
                assert!(globs.matches(&FilePath::from(*path)), "{pattern} fits {path}");
            }
            for path in *miss {
                assert!(!globs.matches(&FilePath::from(*path)), "{pattern} does not fit {path}");
            }
        }
    }

    #[test]
    fn invalid_globs_are_rejected() {
        for (pattern, why) in [
            ("!keep", "patterns cannot be negated"),
            ("", "it is empty"),
            ("/", "it is empty"),
            ("a[", "unclosed character class; missing ']'"),
        ] {
            let problem = PathGlobs::new(&["fine", pattern]).unwrap_err();
            assert_eq!((problem.index, problem.why.as_str()), (1, why), "{pattern}");
        }
    }

    #[test]
    fn invalid_utf8_paths_can_match() {
        let globs = PathGlobs::new(&["*.bin"]).unwrap();
        assert!(globs.matches(&FilePath::from_bytes(b"a/\xff.bin".to_vec())));
    }
}
