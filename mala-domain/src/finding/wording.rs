//! Compares the wording of two claims about the same lines, to decide whether they describe the
//! same problem. Words that also occur in the code do not count, since all claims quote it.
//! Different problems on one line often differ only in the identifiers they mention.

use std::collections::BTreeSet;

/// The text of a claim.
#[derive(Debug, Clone, Copy)]
pub struct ClaimWording<'c> {
    /// The title.
    pub title: &'c str,
    /// The explanation.
    pub body: &'c str,
    /// The quoted lines.
    pub evidence: &'c str,
}

/// Words without information about a problem.
const STOP_WORDS: &str = "the and for that this with from not are was has have can may will when then \
    which its into but all any here there where what does line code function value should would could \
    must been also only because";

/// Keywords of programming languages that also occur in prose; they are not identifiers.
const KEYWORDS: &str = "as assert async at await break by case class const continue def default do else \
    false func if import in is let new nil none null of on or raise return self static struct throw to \
    true try type undefined var void while yield";

/// Titles with a higher share of equal words (of the shorter title) mean the same.
const TITLE: f64 = 0.5;
/// Minimum share of equal words in title and body, and their minimum number.
const WHOLE: f64 = 0.4;
const MIN_WORDS: usize = 3;

/// Minimum share of equal words in title and body of claims that may be about different lines.
const ANYWHERE: f64 = 0.3;
/// The same, of claims about the same code.
const SAME_CODE: f64 = 0.25;
/// Claims of at least this many words with no word in common are about different problems.
const ENOUGH_WORDS: usize = 4;

/// Number of characters that are compared: `inject`, `injected` and `injection` are equal.
const STEM: usize = 6;

impl ClaimWording<'_> {
    /// Whether both describe the same problem. Similar titles that mention different identifiers do
    /// not.
    pub fn means_the_same(self, other: ClaimWording<'_>) -> bool {
        let quoted: BTreeSet<String> = words(self.evidence).chain(words(other.evidence)).collect();
        let titles = without_quoted(&quoted, words(self.title), words(other.title));
        if is_same(self.title, other.title) || common_share(&titles) > TITLE {
            let (own, others) = self.names_in(other, self.title, other.title);
            return own.is_subset(&others) || others.is_subset(&own);
        }
        let whole = |it: ClaimWording<'_>| -> Vec<String> {
            words(it.title).chain(words(it.body)).collect()
        };
        let all = without_quoted(&quoted, whole(self).into_iter(), whole(other).into_iter());
        all.0.intersection(&all.1).count() >= MIN_WORDS && common_share(&all) >= WHOLE
    }

    /// Whether the titles share most of their words.
    pub fn is_titled_like(self, other: ClaimWording<'_>) -> bool {
        let titles = (words(self.title).collect(), words(other.title).collect());
        is_same(self.title, other.title) || common_share(&titles) > TITLE
    }

    /// Whether both describe the same problem when they may be about different lines: similar titles are
    /// not enough, since many problems are called alike.
    pub fn describes_the_same(self, other: ClaimWording<'_>) -> bool {
        self.means_the_same(other) && common_share(&self.all_words(other)) >= ANYWHERE
    }

    /// Whether both describe the same problem when they are about the same code.
    pub fn is_like(self, other: ClaimWording<'_>) -> bool {
        let all = self.all_words(other);
        all.0.intersection(&all.1).count() >= MIN_WORDS && common_share(&all) >= SAME_CODE
    }

    /// Whether both have enough words to be compared, and no word in common.
    pub fn is_unlike(self, other: ClaimWording<'_>) -> bool {
        let all = self.all_words(other);
        all.0.len().min(all.1.len()) >= ENOUGH_WORDS && all.0.is_disjoint(&all.1)
    }

    /// The words of title and body of both.
    fn all_words(self, other: ClaimWording<'_>) -> (BTreeSet<String>, BTreeSet<String>) {
        let all = |it: ClaimWording<'_>| words(it.title).chain(words(it.body)).collect();
        (all(self), all(other))
    }

    /// Whether both mention the same identifiers, if they mention any: in the title, and in the
    /// `When:` line of the body.
    pub fn names_the_same(self, other: ClaimWording<'_>) -> bool {
        let (own, others) = self.names_in(other, self.title, other.title);
        let (at, others_at) = self.names_in(other, when(self.body), when(other.body));
        (own.is_empty() || others.is_empty() || own == others)
            && (at.is_subset(&others_at) || others_at.is_subset(&at))
    }

    /// The identifiers of the code that two texts mention.
    fn names_in(self, other: ClaimWording<'_>, one: &str, two: &str) -> (NameSet, NameSet) {
        let code: NameSet = names(self.evidence).chain(names(other.evidence)).collect();
        let known = |text: &str| names(text).filter(|name| code.contains(name)).collect();
        (known(one), known(two))
    }
}

type NameSet = BTreeSet<String>;

fn is_same(one: &str, other: &str) -> bool {
    !one.trim().is_empty() && one.trim() == other.trim()
}

/// The `When:` line of a body.
fn when(body: &str) -> &str {
    body.lines().rev().find_map(|line| line.strip_prefix("When: ")).unwrap_or_default()
}

/// The words of both without the quoted ones; all words if one of them would have none left.
fn without_quoted(
    quoted: &BTreeSet<String>,
    one: impl Iterator<Item = String>,
    other: impl Iterator<Item = String>,
) -> (BTreeSet<String>, BTreeSet<String>) {
    let (one, other): (BTreeSet<String>, BTreeSet<String>) = (one.collect(), other.collect());
    let (new, also) = (&one - quoted, &other - quoted);
    if new.is_empty() || also.is_empty() { (one, other) } else { (new, also) }
}

fn common_share((one, other): &(BTreeSet<String>, BTreeSet<String>)) -> f64 {
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
        .filter(|word| !is_among(STOP_WORDS, word))
        .map(|word| match word.as_str() {
            "none" | "null" | "nil" | "undefined" | "nullptr" => "null".to_owned(),
            word => word.chars().take(STEM).collect(),
        })
}

/// The words of a text that can be identifiers, including single letters.
fn names(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$')
        .filter(|word| word.starts_with(|c: char| !c.is_numeric()))
        .map(str::to_lowercase)
        .filter(|word| !is_among(STOP_WORDS, word) && !is_among(KEYWORDS, word))
}

fn is_among(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|listed| listed == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUERY: &str = "rows = db.execute(query + user.name)";
    const PAY: &str = "total = a / b * rate / (a - b)";

    #[test]
    fn rewordings_match_and_other_problems_do_not() {
        for (evidence, one, other, expected) in [
            (QUERY, ("[P1] SQL injection", "x"), ("[P0] SQL is injected here", "y"), true),
            (QUERY, ("breaks on None", "when x is None it fails"), ("breaks on None", "z"), true),
            (
                QUERY,
                ("Unescaped user input", "An attacker injects SQL through the name."),
                (
                    "Query built by concatenation",
                    "The name is unescaped: SQL injection by an attacker.",
                ),
                true,
            ),
            (
                QUERY,
                ("SQL injection", "the name is not escaped"),
                ("the connection leaks", "never closed"),
                false,
            ),
            (
                QUERY,
                ("user.name may be null", "it crashes"),
                ("user.name is logged", "privacy"),
                false,
            ),
            (QUERY, ("rows is never used", "dead"), ("execute blocks the loop", "slow"), false),
            (QUERY, ("", ""), ("", ""), false),
            (QUERY, ("[P1]", ""), ("[P1] ", "x"), true),
            (QUERY, ("[P1]", "x"), ("[P2]", "x"), false),
            (PAY, ("Missing validation of a", "x"), ("Missing validation of b", "x"), false),
            (PAY, ("Missing validation of rate", "x"), ("Missing validation of b", "x"), false),
            (PAY, ("Missing validation", "x"), ("Missing validation of b", "x"), true),
            (
                "return 1 / n",
                ("[P1] Division by zero", "When n is 0, half raises an error."),
                ("[P1] half divides by zero", "When n is 0, half raises an error."),
                true,
            ),
        ] {
            let wording = |(title, body)| ClaimWording { title, body, evidence };
            let (a, b) = (wording(one), wording(other));
            assert_eq!(a.means_the_same(b), expected, "{one:?} {other:?}");
            assert_eq!(b.means_the_same(a), expected, "{other:?} {one:?}");
        }
    }

    #[test]
    fn the_closer_the_code_the_less_wording_has_to_agree() {
        let injection = (
            "SQL injection",
            "The input is concatenated into the text of a statement, and an attacker reads the database.",
        );
        for (other, expected) in [
            (injection, [true, true, false]),
            (
                ("Unsafe input", "An attacker can read all of the database with crafted input."),
                [true, true, false],
            ),
            (
                ("Unsafe header", "An attacker reads tables of the database by a crafted request."),
                [false, true, false],
            ),
            (("Slow loop", "The table has no index for the second column."), [false, false, true]),
            (
                ("SQL injection", "Names are written to a log that all users can open."),
                [false, false, false],
            ),
            (("Bad", ""), [false, false, false]),
        ] {
            let wording = |(title, body)| ClaimWording { title, body, evidence: "x = 1" };
            let (a, b) = (wording(injection), wording(other));
            let found = [a.describes_the_same(b), a.is_like(b), a.is_unlike(b)];
            assert_eq!(found, expected, "{other:?}");
        }
    }

    #[test]
    fn names_distinguish_problems_on_one_line() {
        for (one, other, expected) in [
            (("Zero when b is 0", ""), ("Zero when a equals b", ""), false),
            (("Zero when b is 0", ""), ("Possible zero when b is zero", ""), true),
            (("Division by zero", ""), ("Zero when a equals b", ""), true),
            (("Zero", "When: b is 0\nThen: x"), ("Zero", "When: rate is 0\nThen: x"), false),
            (("Zero", "When: b is 0\nThen: x"), ("Zero", "When: a equals b\nThen: x"), true),
        ] {
            let wording = |(title, body)| ClaimWording { title, body, evidence: PAY };
            let found = wording(one).names_the_same(wording(other));
            assert_eq!(found, expected, "{one:?} {other:?}");
        }
    }
}
