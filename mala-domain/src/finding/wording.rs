//! Whether two claims about the same lines say the same. Different problems can meet on one line, so
//! that the place alone does not tell.

use std::collections::HashSet;

/// What one claim says.
#[derive(Debug, Clone, Copy)]
pub struct Wording<'c> {
    /// Its title.
    pub title: &'c str,
    /// Its explanation.
    pub body: &'c str,
}

/// So much of the shorter title stands in the longer one.
const TITLE_SHARE: f64 = 0.5;
/// So much of all words is common to both.
const WORDS_SHARE: f64 = 0.4;

/// Words that every claim has.
const COMMON: &[&str] = &[
    "and", "are", "but", "can", "does", "for", "from", "has", "have", "into", "its", "may", "not",
    "that", "the", "then", "there", "this", "was", "when", "where", "which", "will", "with",
];

impl Wording<'_> {
    /// Whether both mean the same problem, by the words that they use.
    pub fn means_the_same(self, other: Wording<'_>) -> bool {
        let (own, others) = (words(self.title), words(other.title));
        let shorter = own.len().min(others.len());
        if shorter == 0 {
            return self.title.trim() == other.title.trim();
        }
        if share(own.intersection(&others).count(), shorter) >= TITLE_SHARE {
            return true;
        }
        let all = |it: Wording<'_>| {
            let mut all = words(it.title);
            all.extend(words(it.body));
            all
        };
        let (own, others) = (all(self), all(other));
        let both = own.intersection(&others).count();
        share(both, own.len() + others.len() - both) >= WORDS_SHARE
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of words are small")]
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn words(text: &str) -> HashSet<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .map(str::to_lowercase)
        .filter(|word| word.chars().nth(2).is_some() && !COMMON.contains(&word.as_str()))
        .take(400)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_tell_problems_apart() {
        let said = |title: &'static str, body: &'static str| Wording { title, body };
        let zero = said("[P1] Division by zero", "When n is 0, half raises an error.");
        for (other, same) in [
            (said("[P2] Possible division by zero in half", "n may be 0."), true),
            (said("[P1] half divides by zero", "When n is 0, half raises an error."), true),
            (said("[P1] SQL injection", "The name goes into the query as it is."), false),
            (said("[P1] The result is not rounded", "Callers expect whole numbers."), false),
        ] {
            assert_eq!(zero.means_the_same(other), same, "{other:?}");
            assert_eq!(other.means_the_same(zero), same, "{other:?}");
        }
        assert!(said("[P1]", "").means_the_same(said("[P1] ", "x")));
        assert!(!said("[P1]", "x").means_the_same(said("[P2]", "x")));
    }
}
