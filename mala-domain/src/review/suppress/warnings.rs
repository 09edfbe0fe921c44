//! Warnings about comments that look like suppressions and have no effect: an unknown rule, a glob, or
//! no rule in brackets.

use super::COMMENT;
use crate::change::{Change, FilePath};
use crate::config::{is_of_linter, nearest_or};
use crate::finding::Finding;
use crate::review::FileTexts;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

/// How many comments are named.
const MAX_WARNINGS: usize = 20;
/// How much of a name is quoted.
const MAX_NAME: usize = 80;
const LISTED: &str = "'mala rules list' lists them";

#[expect(clippy::expect_used, reason = "a constant pattern, compiled by every test")]
static ATTEMPT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:#|//|--|/\*|<!--|;)\s*mala:\s*ignore\b\s*(\S*)").expect("the pattern is valid")
});

/// Warnings about invalid suppressions that the change adds or that are next to findings. `known`
/// returns the ids of all rules; it is called only if there is a suppression to check.
pub fn suppression_warnings(
    change: &Change,
    texts: &FileTexts,
    findings: &[Finding],
    known: &dyn Fn() -> Vec<String>,
) -> Vec<String> {
    let comments = comments(change, texts, findings);
    if comments.is_empty() {
        return Vec::new();
    }
    let known = known();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let mut warnings: Vec<String> = comments
        .iter()
        .filter_map(|((file, line), text)| {
            problem_with_comment(text, &known).map(|what| format!("{file}:{line}: {what}"))
        })
        .collect();
    let n_more = warnings.len().saturating_sub(MAX_WARNINGS);
    warnings.truncate(MAX_WARNINGS);
    if n_more > 0 {
        warnings.push(format!("{n_more} more comments suppress nothing"));
    }
    warnings
}

type Comments<'t> = BTreeMap<(&'t FilePath, u32), &'t str>;

fn comments<'t>(change: &'t Change, texts: &'t FileTexts, findings: &'t [Finding]) -> Comments<'t> {
    let is_one = |text: &str| text.contains("mala:") && ATTEMPT.is_match(text);
    let mut found = Comments::new();
    for file in change.files.iter().filter(|file| file.is_reviewable()) {
        let lines = file.added_lines().filter(|(_, text)| is_one(text));
        found.extend(lines.map(|(line, text)| ((&file.path, line), text)));
    }
    let mut beside: HashMap<&FilePath, BTreeSet<u32>> = HashMap::new();
    for finding in findings {
        let lines = [finding.line_start, finding.line_start.saturating_sub(1)];
        beside.entry(&finding.file).or_default().extend(lines);
    }
    for (file, wanted) in beside {
        let lines = texts.at_head(file).unwrap_or_default().lines();
        let numbered =
            (1..).zip(lines).filter(|(line, text)| wanted.contains(line) && is_one(text));
        found.extend(numbered.map(|(line, text)| ((file, line), text)));
    }
    found
}

/// Why a comment suppresses nothing, or less than it names; `None` if it is valid.
fn problem_with_comment(text: &str, known: &[&str]) -> Option<String> {
    let Some(found) = COMMENT.captures(text) else {
        let tried = ATTEMPT.captures(text)?;
        let word = tried.get(1).map_or("", |word| word.as_str());
        let word = word.trim_matches(|c: char| "[](){}:,".contains(c));
        return Some(format!(
            "'mala: ignore' without a rule in brackets suppresses nothing: write \
             mala: ignore[{}] and a reason",
            near(word, known).unwrap_or("rule")
        ));
    };
    let names = found.get(1)?.as_str().split(',').map(str::trim);
    let wrong: Vec<String> = names.filter_map(|name| problem_with_name(name, known)).collect();
    (!wrong.is_empty()).then(|| wrong.join("; "))
}

fn problem_with_name(name: &str, known: &[&str]) -> Option<String> {
    let shown: String = name.chars().take(MAX_NAME).collect();
    if known.contains(&name) {
        None
    } else if name.is_empty() {
        Some("'mala: ignore' has a comma with no rule beside it".to_owned())
    } else if name.contains('*') {
        Some(format!("`{shown}` suppresses nothing: a comment names each rule; {LISTED}"))
    } else if is_of_linter(name) {
        None
    } else {
        let near = nearest_or(name, known, LISTED);
        Some(format!("no rule is named `{shown}`, so nothing is suppressed by it: {near}"))
    }
}

/// The rule that a misspelled name most likely refers to.
fn near<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let alike = |name: &&str| strsim::normalized_damerau_levenshtein(word, name);
    let best = known.iter().copied().max_by(|a, b| alike(a).total_cmp(&alike(b)))?;
    (alike(&best) >= 0.6).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_that_suppresses_nothing_says_why() {
        let known = ["python/mutable-default", "python/bare-except-pass"];
        let wrong = |text: &str| problem_with_comment(text, &known).unwrap_or_default();
        for right in [
            "x  # mala: ignore[python/mutable-default] legacy",
            "x  # mala: ignore[python/mutable-default, python/bare-except-pass] legacy",
            "x  # mala: ignore[ruff/E501] legacy",
            "the animal: ignore it",
        ] {
            assert_eq!(wrong(right), "", "{right}");
        }
        for (text, what) in [
            (
                "x  # mala: ignore[python/mutable-defalt] typo",
                "no rule is named `python/mutable-defalt`, so nothing is suppressed by it: \
                 did you mean `python/mutable-default`?",
            ),
            (
                "x  # mala: ignore[python/mutable-default, nope] two",
                "no rule is named `nope`, so nothing is suppressed by it: \
                 'mala rules list' lists them",
            ),
            (
                "// mala: ignore[python/*] all",
                "`python/*` suppresses nothing: a comment names each rule; \
                 'mala rules list' lists them",
            ),
            (
                "x  # mala: ignore python/mutable-defaults because",
                "'mala: ignore' without a rule in brackets suppresses nothing: write \
                 mala: ignore[python/mutable-default] and a reason",
            ),
            (
                "x  # mala:ignore",
                "'mala: ignore' without a rule in brackets suppresses nothing: write \
                 mala: ignore[rule] and a reason",
            ),
            (
                "x  # mala: ignore[python/mutable-default legacy",
                "'mala: ignore' without a rule in brackets suppresses nothing: write \
                 mala: ignore[python/mutable-default] and a reason",
            ),
        ] {
            assert_eq!(wrong(text), what, "{text}");
        }
    }
}
