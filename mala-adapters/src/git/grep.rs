//! Searches words and texts in a state of the tree, with `git grep`.

use super::call::GitCall;
use super::{Git, GitError, ObjectId};
use mala_domain::change::FilePath;
use mala_domain::ports::{CaseSensitivity, FoundLines, TextQuery, WordHit, WordQuery};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// The most output of a word search, in bytes.
const MAX_OUTPUT: usize = 32 << 20;

/// The most output of a text search, in bytes.
const MAX_TEXTS: usize = 4 << 20;

/// The longest part of a line that is kept: a minified script may be one line of a megabyte.
const MAX_LINE: usize = 2000;

/// The most words that are searched as plain strings.
const MAX_PLAIN: usize = 3;

/// The most words of one pattern.
const MAX_WORDS: usize = 500;

/// The state to search.
#[derive(Debug, Clone)]
pub(super) enum GrepTarget {
    Commit(ObjectId),
    Index,
    WorkTree,
}

impl Git {
    /// The lines with any of the words, sorted by path and line.
    pub(super) async fn grep(
        &self,
        grep_target: &GrepTarget,
        query: &WordQuery,
    ) -> Result<Vec<WordHit>, GitError> {
        let is_word = |word: &&String| !word.is_empty() && !word.contains(['\n', '\0']);
        let words: Vec<_> = query.words.iter().filter(is_word).collect();
        let mut hits: Vec<WordHit> = Vec::new();
        for words in words.chunks(MAX_WORDS) {
            let call = self.grep_call(grep_target, words, &query.globs);
            let finished = self.finish(&call).await?;
            match finished.code() {
                Some(0 | 1) => {}
                _ if finished.output.stdout_cut => {}
                _ => return Err(call.failed(&finished)),
            }
            let prefix = grep_target.prefix();
            hits.extend(parse(&finished.output.stdout, prefix.as_bytes()).take(query.max_hits));
        }
        hits.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        hits.dedup();
        hits.truncate(query.max_hits);
        Ok(hits)
    }

    /// The lines with any of the texts, sorted by path and line.
    pub(super) async fn grep_texts(
        &self,
        grep_target: &GrepTarget,
        query: &TextQuery,
    ) -> Result<FoundLines, GitError> {
        let every_line = String::new();
        let is_line = |text: &&String| !text.contains(['\n', '\0']);
        let mut texts: Vec<_> = query.texts.iter().filter(is_line).collect();
        if texts.is_empty() {
            texts.push(&every_line);
        }
        let case = match query.case {
            CaseSensitivity::Exact => "--no-ignore-case",
            CaseSensitivity::Ignored => "--ignore-case",
        };
        let call = GitCall::new(OPTIONS.iter().copied())
            .args([case])
            .args(pattern(&texts))
            .output(MAX_TEXTS);
        let call = grep_target.named(call).args(["--"]).args(places(query));
        let finished = self.finish(&call).await?;
        let is_cut = finished.output.stdout_cut;
        if !is_cut && !matches!(finished.code(), Some(0 | 1)) {
            return Err(call.failed(&finished));
        }
        let prefix = grep_target.prefix();
        let mut lines: Vec<_> = parse(&finished.output.stdout, prefix.as_bytes()).collect();
        lines.retain(|line| query.looks_in(&line.file));
        lines.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        Ok(FoundLines { lines, is_cut })
    }

    fn grep_call(&self, grep_target: &GrepTarget, words: &[&String], globs: &[String]) -> GitCall {
        let call =
            GitCall::new(OPTIONS.iter().copied()).args(["--word-regexp"]).args(pattern(words));
        let call = grep_target.named(call.output(MAX_OUTPUT));
        call.args(["--"]).args(globs.iter().map(|glob| format!(":(top){glob}")))
    }
}

const OPTIONS: &[&str] = &[
    "grep",
    "--line-number",
    "-I",
    "--null",
    "--full-name",
    "--no-color",
    "--no-recurse-submodules",
    "--threads=4",
];

impl GrepTarget {
    fn named(&self, call: GitCall) -> GitCall {
        match self {
            Self::Commit(id) => call.args([id]),
            Self::Index => call.args(["--cached"]),
            Self::WorkTree => call.args(["--untracked"]),
        }
    }

    /// The prefix of each path in git's output.
    fn prefix(&self) -> String {
        match self {
            Self::Commit(id) => format!("{}:", id.as_str()),
            Self::Index | Self::WorkTree => String::new(),
        }
    }
}

/// The pathspecs of a search: one path, or the given extensions. Git can only combine pathspecs
/// with "or", so the caller filters the rest.
fn places(query: &TextQuery) -> Vec<OsString> {
    match &query.below {
        Some(below) if !below.as_bytes().is_empty() => {
            vec![OsString::from_vec([b":(top,literal)", below.as_bytes()].concat())]
        }
        _ => query.endings.iter().map(|ending| format!(":(top,glob)**/*{ending}").into()).collect(),
    }
}

/// One pattern for all words, because git scans every file once per pattern. A few plain strings
/// are faster.
fn pattern(words: &[&String]) -> Vec<OsString> {
    if words.len() <= MAX_PLAIN {
        let plain = words.iter().flat_map(|word| ["-e".into(), OsString::from(word)]);
        return std::iter::once("--fixed-strings".into()).chain(plain).collect();
    }
    let mut words: Vec<_> = words.iter().map(|word| escape(word)).collect();
    // Longer words first: a match is not extended after it ended inside a word.
    words.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
    vec!["--extended-regexp".into(), "-e".into(), words.join("|").into()]
}

fn escape(word: &str) -> String {
    let mut escaped = String::with_capacity(word.len());
    for c in word.chars() {
        if r".[\*^$()+?{}|".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// `PATH NUL LINE NUL TEXT LF`, repeated. An incomplete entry at the end is dropped.
fn parse<'a>(printed: &'a [u8], prefix: &'a [u8]) -> impl Iterator<Item = WordHit> + 'a {
    let mut rest = printed;
    std::iter::from_fn(move || {
        let (path, after) = split(rest, 0)?;
        let (line, after) = split(after, 0)?;
        let (text, after) = split(after, b'\n')?;
        rest = after;
        let line = std::str::from_utf8(line).ok()?.parse().ok()?;
        let path = path.strip_prefix(prefix).unwrap_or(path);
        let text = String::from_utf8_lossy(text.get(..MAX_LINE).unwrap_or(text)).into_owned();
        Some(WordHit { file: FilePath::from_bytes(path), line, text })
    })
}

fn split(bytes: &[u8], end: u8) -> Option<(&[u8], &[u8])> {
    let at = bytes.iter().position(|byte| *byte == end)?;
    Some((&bytes[..at], &bytes[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_output_ends_at_the_last_whole_line() {
        let printed = b"abc:x\ny.py\x002\0 hit\nabc:z\x003\0cut he";
        let hits: Vec<_> = parse(printed, b"abc:").collect();
        let hit = WordHit { file: FilePath::from("x\ny.py"), line: 2, text: " hit".to_owned() };
        assert_eq!(hits, [hit]);
    }

    #[test]
    fn words_are_escaped() {
        let words = ["a.b", "longer|one", "c", "d"].map(str::to_owned);
        let words: Vec<_> = words.iter().collect();
        assert_eq!(pattern(&words)[2], r"longer\|one|a\.b|c|d");
        assert_eq!(pattern(&words[..2]), ["--fixed-strings", "-e", "a.b", "-e", "longer|one"]);
    }
}
