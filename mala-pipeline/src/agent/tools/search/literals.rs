//! Texts of which a line must have one, or an expression cannot match it.

use super::MAX_NESTING;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

/// More texts than these are slower to look for than every line.
const MAX_TEXTS: usize = 16;

/// The texts; empty when every line may match.
pub(super) fn of(pattern: &str) -> Vec<String> {
    let parsed = ParserBuilder::new().nest_limit(MAX_NESTING).build().parse(pattern);
    parsed.ok().and_then(|hir| required(&hir)).unwrap_or_default()
}

/// The nesting of an expression is bounded, and so is this.
fn required(hir: &Hir) -> Option<Vec<String>> {
    match hir.kind() {
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).ok()?;
            (!text.is_empty()).then(|| vec![text.to_owned()])
        }
        HirKind::Capture(capture) => required(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => required(&repetition.sub),
        HirKind::Concat(parts) => {
            parts.iter().filter_map(required).max_by_key(|texts| shortest(texts))
        }
        HirKind::Alternation(parts) => {
            let mut all = Vec::new();
            for part in parts {
                all.extend(required(part)?);
            }
            (all.len() <= MAX_TEXTS).then_some(all)
        }
        _ => None,
    }
}

fn shortest(texts: &[String]) -> usize {
    texts.iter().map(String::len).min().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex::Regex;

    #[test]
    fn the_longest_literal_that_must_be_there_is_found() {
        let every_line: &[&str] = &[];
        for (pattern, expected) in [
            (r"foo\(.*\)", &["foo("][..]),
            (r"\w+\.unwrap\(\)", &[".unwrap()"]),
            ("(get|set)_value", &["_value"]),
            ("colou?r", &["colo"]),
            ("cat|dog", &["cat", "dog"]),
            ("cat|.", every_line),
            ("(ab)*", every_line),
            ("(ab)+", &["ab"]),
            ("(?i)select", every_line),
            ("[", every_line),
            ("", every_line),
        ] {
            assert_eq!(of(pattern), expected, "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn what_matches_has_one_of_the_texts(
            pattern in r"[abc(|)*+?.\\w]{0,12}",
            line in "[abcw.]{0,12}",
        ) {
            if let Ok(regex) = Regex::new(&pattern) && regex.is_match(&line) {
                let texts = of(&pattern);
                let has_one = texts.is_empty() || texts.iter().any(|text| line.contains(text));
                prop_assert!(has_one, "{} {:?}", line, texts);
            }
        }
    }
}
