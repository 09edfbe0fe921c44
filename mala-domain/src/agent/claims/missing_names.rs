//! Refutes claims that a name is not imported or defined. Models that see only part of a file often
//! report missing imports; the whole file shows whether the name exists. A claim is refuted only if the
//! name certainly exists, because a wrong refutation hides a real problem.

use crate::change::{FilePath, LineSpan};
use regex::Regex;
use std::sync::LazyLock;

/// A claim that names are missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingNames {
    /// The names.
    pub names: Vec<String>,
}

/// Finds the definitions of names in the files at head.
pub trait NameBindings {
    /// The line on which the file defines or imports exactly this name, in a scope that the cited
    /// lines can certainly see. Never one of the cited lines.
    fn line_of(&self, file: &FilePath, name: &str, cited: LineSpan) -> Option<u32>;
}

/// Matches a title that only says that names are missing, at most with "in this file". Any other
/// text may be a condition under which the name is missing even though it exists.
#[expect(clippy::expect_used, reason = "constant patterns, compiled by every test")]
static SAYS_MISSING: LazyLock<Regex> = LazyLock::new(|| {
    let name = r#"[`'"][A-Za-z_$][A-Za-z0-9_$]{0,80}(?:\(\))?[`'"]"#;
    let names = format!(r"{name}(?:(?:,\s*(?:and\s+)?|\s+and\s+){name})*");
    let kind = r"(?:name|function|method|symbol|class|module|reference|identifier)s?";
    let missing = r"(?:missing|no)\s+(?:import|definition|declaration|include)s?";
    Regex::new(&format!(
        r"(?ix)^\s*(?:\[P[0-3]\]\s*)?(?:
            (?:(?:the\s+)?{kind}\s+)?{names}\s+(?:(?:is|are)\s+used\s+but\s+)?
                (?:(?:is|are|was|were)\s+)?(?:not|never)\s+(?:imported|defined|declared)
          | {missing}(?:\s+(?:of|for)|:)?\s+(?:{kind}\s+)?{names}
          | (?:undefined|unresolved)\s+(?:{kind}|imports?)(?:\s+to|:)?\s+{names}
          | uses\s+{names}\s+without\s+(?:importing|defining)\s+(?:it|them)
        )(?:\s+in\s+(?:this|the)\s+(?:source\s+)?(?:file|module))?\s*\.?\s*$"
    ))
    .expect("the pattern is valid")
});

#[expect(clippy::expect_used, reason = "constant patterns, compiled by every test")]
static QUOTED_NAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"[`'"]([A-Za-z_$][A-Za-z0-9_$]{0,80})(?:\(\))?[`'"]"#)
        .expect("the pattern is valid")
});

/// The names that a claim calls missing; `None` if its title says anything else. Only the title
/// counts, because the body mentions other names too.
pub fn missing_names(title: &str) -> Option<MissingNames> {
    if !SAYS_MISSING.is_match(title) {
        return None;
    }
    let found = QUOTED_NAME.captures_iter(title);
    let mut names: Vec<String> =
        found.filter_map(|it| Some(it.get(1)?.as_str().to_owned())).collect();
    names.dedup();
    (!names.is_empty()).then_some(MissingNames { names })
}

/// The reason why a claim about missing names is wrong: the file defines or imports all of them.
/// `None` if it is not such a claim, or if one of the names is missing.
pub fn refuted_by_definition(
    title: &str,
    file: &FilePath,
    cited: LineSpan,
    bindings: &dyn NameBindings,
) -> Option<String> {
    let claim = missing_names(title)?;
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
