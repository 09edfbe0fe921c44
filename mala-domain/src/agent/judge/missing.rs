//! Claims that something is missing, and whether it is. Reviewers that see a part of a file invent
//! missing imports and definitions more than anything else; a look at the whole file settles it.

use regex::Regex;
use std::sync::LazyLock;

/// A claim that names are not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingClaim {
    /// The names that are said to be missing.
    pub names: Vec<String>,
}

#[expect(clippy::expect_used, reason = "constant patterns, compiled by every test")]
static SAYS_MISSING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:missing (?:import|definition|declaration|include)|(?:is |are |was |were )?(?:never|not) (?:imported|defined|declared)|undefined (?:name|variable|function|symbol|class|reference|identifier)|is undefined|without (?:importing|an import|defining)|unresolved (?:name|import|reference|symbol)|no (?:import|definition) (?:of|for))\b",
    )
    .expect("the pattern is valid")
});

#[expect(clippy::expect_used, reason = "constant patterns, compiled by every test")]
static QUOTED_NAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"[`'"]([A-Za-z_$][A-Za-z0-9_$]{0,80})(?:\(\))?[`'"]"#)
        .expect("the pattern is valid")
});

#[expect(clippy::expect_used, reason = "constant patterns, compiled by every test")]
static DEFINES: LazyLock<Regex> = LazyLock::new(|| {
    // At the start of a line: what stands deeper may hold in another scope only.
    Regex::new(
        r"^(?:(?:pub(?:\([a-z]+\))?|export|default|async|static|abstract|final|public|private|protected|internal|unsafe|const|declare) )*(?:import|from|use|using|require|include|#include|def|class|fn|func|function|const|let|var|struct|enum|trait|type|interface|mod|macro_rules!|module|namespace)\b",
    )
    .expect("the pattern is valid")
});

/// The names that a claim says are missing; `None` when it says nothing of the kind.
pub fn missing_claim(title: &str, body: &str) -> Option<MissingClaim> {
    // The title says what the claim is; a body may mention in passing what is not there.
    let said = if SAYS_MISSING.is_match(title) { title } else { return None };
    let names_in = |text: &str| -> Vec<String> {
        let mut names: Vec<String> = QUOTED_NAME
            .captures_iter(text)
            .filter_map(|it| Some(it.get(1)?.as_str().to_owned()))
            .collect();
        names.dedup();
        names
    };
    let names = Some(names_in(said)).filter(|names| !names.is_empty());
    let names = names.unwrap_or_else(|| names_in(body).into_iter().take(1).collect());
    (!names.is_empty()).then_some(MissingClaim { names })
}

/// Why the claim is wrong: each name is imported or defined at the top of the file. `None` when one
/// of them is not.
pub fn refuted_by_definition(claim: &MissingClaim, text: &str) -> Option<String> {
    let places: Option<Vec<String>> = claim
        .names
        .iter()
        .map(|name| {
            let line = definition(name, text)?;
            Some(format!("`{name}` is there: line {line}"))
        })
        .collect();
    Some(places?.join("; "))
}

fn definition(name: &str, text: &str) -> Option<usize> {
    let mut lines = text.lines().enumerate();
    let found = lines.find(|(_, line)| has_word(line, name) && DEFINES.is_match(line));
    found.map(|(index, _)| index + 1)
}

fn has_word(line: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    line.match_indices(name).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let after = line.get(at + name.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}
