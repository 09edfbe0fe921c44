//! Claims that something is missing, and whether it is. Reviewers that see a part of a file invent
//! missing imports and definitions more than anything else; a look at the whole file settles it. A
//! look that is wrong would silence a real problem, so whatever is in doubt is left to those who read.

use crate::change::{FilePath, LineSpan};
use regex::Regex;
use std::sync::LazyLock;

/// A claim that names are not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingClaim {
    /// The names that are said to be missing.
    pub names: Vec<String>,
}

/// Tells where the files at head bind names.
pub trait Bindings {
    /// The line on which the file defines or imports exactly this name, so that the code at the cited
    /// lines has it for sure; never one of the cited lines.
    fn line_of(&self, file: &FilePath, name: &str, cited: LineSpan) -> Option<u32>;
}

#[expect(clippy::expect_used, reason = "constant patterns, compiled by every test")]
static SAYS_MISSING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:missing (?:import|definition|declaration|include)|(?:is |are |was |were )?(?:never|not) (?:imported|defined|declared)|undefined (?:name|function|symbol|class|reference|identifier)|without (?:importing|an import|defining)|unresolved (?:name|import|reference|symbol)|no (?:import|definition) (?:of|for))\b",
    )
    .expect("the pattern is valid")
});

/// A name may be there and yet not at that time, on that path or in that place.
#[expect(clippy::expect_used, reason = "constant patterns, compiled by every test")]
static ONLY_SOMETIMES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:before|until|unless|when|while|if|after|under|on|yet|inside|within|outside|from|by|anymore|any more|no longer|in)\b",
    )
    .expect("the pattern is valid")
});

#[expect(clippy::expect_used, reason = "constant patterns, compiled by every test")]
static HERE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:in|from|inside|within) (?:this|the) (?:file|module|source file)\b")
        .expect("the pattern is valid")
});

#[expect(clippy::expect_used, reason = "constant patterns, compiled by every test")]
static QUOTED_NAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"[`'"]([A-Za-z_$][A-Za-z0-9_$]{0,80})(?:\(\))?[`'"]"#)
        .expect("the pattern is valid")
});

/// The names that a claim says are missing; `None` when it says nothing of the kind, or when it says
/// so of some time or place only. The title alone counts: a body names other things too.
pub fn missing_claim(title: &str) -> Option<MissingClaim> {
    if !SAYS_MISSING.is_match(title) || ONLY_SOMETIMES.is_match(&HERE.replace_all(title, " ")) {
        return None;
    }
    let found = QUOTED_NAME.captures_iter(title);
    let mut names: Vec<String> =
        found.filter_map(|it| Some(it.get(1)?.as_str().to_owned())).collect();
    names.dedup();
    (!names.is_empty()).then_some(MissingClaim { names })
}

/// Why a claim about these lines is wrong: each name that it calls missing is bound in the file.
/// `None` when it makes no such claim, or when one of the names is not.
pub fn refuted_by_definition(
    title: &str,
    file: &FilePath,
    cited: LineSpan,
    bindings: &dyn Bindings,
) -> Option<String> {
    let claim = missing_claim(title)?;
    let places: Option<Vec<String>> = claim
        .names
        .iter()
        .map(|name| {
            let line = bindings.line_of(file, name, cited)?;
            Some(format!("`{name}` is there: line {line}"))
        })
        .collect();
    Some(places?.join("; "))
}
