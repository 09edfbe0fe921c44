//! Whether two texts about the same lines mean the same problem: by the words that they share, beside
//! those of the code itself, which everybody quotes.

use super::Finding;
use std::collections::BTreeSet;

/// Words that say nothing about a problem.
const EMPTY: &str = "the and for that this with from not are was has have can may will when then \
    which its into but all any here there where what does line code function value should would could \
    must been also only because";

/// How many of the fewer words of two titles must be the same.
const TITLE: f64 = 0.5;
/// How many of the fewer words of all that is said, and how many at least.
const WHOLE: f64 = 0.4;
const MIN_WORDS: usize = 3;

/// How much of a word counts: `inject`, `injected` and `injection` are the same.
const STEM: usize = 6;

/// Whether two findings on the same lines mean the same.
pub fn alike(a: &Finding, b: &Finding) -> bool {
    let quoted: BTreeSet<String> =
        words(&a.evidence_snippet).chain(words(&b.evidence_snippet)).collect();
    let (one, other) = beside(&quoted, words(&a.title), words(&b.title));
    if share(&one, &other) > TITLE {
        return true;
    }
    let whole = |finding: &Finding| -> Vec<String> {
        words(&finding.title).chain(words(&finding.body)).collect()
    };
    let (one, other) = beside(&quoted, whole(a).into_iter(), whole(b).into_iter());
    one.intersection(&other).count() >= MIN_WORDS && share(&one, &other) >= WHOLE
}

/// The words of both that are not quoted; all of them where one has no others.
fn beside(
    quoted: &BTreeSet<String>,
    one: impl Iterator<Item = String>,
    other: impl Iterator<Item = String>,
) -> (BTreeSet<String>, BTreeSet<String>) {
    let (one, other): (BTreeSet<String>, BTreeSet<String>) = (one.collect(), other.collect());
    let (new, also) = (&one - quoted, &other - quoted);
    if new.is_empty() || also.is_empty() { (one, other) } else { (new, also) }
}

fn share(one: &BTreeSet<String>, other: &BTreeSet<String>) -> f64 {
    let fewer = one.len().min(other.len());
    let same = u32::try_from(one.intersection(other).count()).unwrap_or(u32::MAX);
    match u32::try_from(fewer) {
        Ok(fewer) if fewer > 0 => f64::from(same) / f64::from(fewer),
        _ => 0.0,
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().nth(2).is_some())
        .map(str::to_lowercase)
        .filter(|word| !EMPTY.split_whitespace().any(|empty| empty == word))
        .map(|word| match word.as_str() {
            "none" | "null" | "nil" | "undefined" | "nullptr" => "null".to_owned(),
            word => word.chars().take(STEM).collect(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::Change;
    use crate::finding::{Candidate, Category, Priority, Verification};
    use crate::review::Texts;
    use crate::review::admit::{SymbolIndex, admit};

    struct NoSymbols;

    impl SymbolIndex for NoSymbols {
        fn symbol_at(&self, _: &crate::change::FilePath, _: u32) -> Option<String> {
            None
        }
    }

    fn finding(title: &str, body: &str) -> Finding {
        let claim = Candidate {
            file: "a.py".into(),
            span: crate::change::LineSpan::line(1),
            priority: Some(Priority::P1),
            category: Category::Bug,
            title: title.to_owned(),
            body: body.to_owned(),
            suggestion: None,
            evidence: None,
            confidence: 1.0,
            reviewer: "one".to_owned(),
            rule: None,
            verification: Verification::default(),
        };
        let text = crate::ports::Blob::Text("rows = db.execute(query + user.name)\n".to_owned());
        let texts = Texts { head: [("a.py".into(), text)].into(), ..Texts::default() };
        admit(vec![claim], &Change::default(), &texts, &NoSymbols).findings.remove(0)
    }

    #[test]
    fn the_same_problem_in_other_words_is_the_same_and_another_one_is_not() {
        for (one, other, expected) in [
            (("[P1] SQL injection", "x"), ("[P0] SQL is injected here", "y"), true),
            (("breaks on None", "when x is None it fails"), ("breaks on None", "z"), true),
            (
                ("Unescaped user input", "An attacker injects SQL through the name."),
                (
                    "Query built by concatenation",
                    "The name is unescaped: SQL injection by an attacker.",
                ),
                true,
            ),
            (
                ("SQL injection", "the name is not escaped"),
                ("the connection leaks", "never closed"),
                false,
            ),
            (("user.name may be null", "it crashes"), ("user.name is logged", "privacy"), false),
            (("rows is never used", "dead"), ("execute blocks the loop", "slow"), false),
            (("", ""), ("", ""), false),
        ] {
            let (a, b) = (finding(one.0, one.1), finding(other.0, other.1));
            assert_eq!(alike(&a, &b), expected, "{one:?} {other:?}");
            assert_eq!(alike(&b, &a), expected, "{other:?} {one:?}");
        }
    }
}
