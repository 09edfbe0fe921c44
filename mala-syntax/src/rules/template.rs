//! Texts of a rule, with `{{NAME}}` for the match of a metavariable.

use std::collections::BTreeMap;

/// Longer captures are cut in messages: a finding is read in one glance.
const MAX_SHOWN_CHARS: usize = 60;

/// Captures that are phrases of a check, not code: they are short, and never cut.
const WORDS: [&str; 2] = ["EFFECT", "WHY"];

/// The matches of metavariables, by name.
pub type Captures = BTreeMap<String, String>;

/// The names that a text interpolates.
pub(super) fn names(text: &str) -> Vec<&str> {
    pieces(text).filter_map(|piece| piece.name).collect()
}

/// The text with its names replaced; an unknown name shows as an ellipsis.
pub(super) fn fill(text: &str, captures: &Captures) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in pieces(text) {
        out.push_str(piece.literal);
        if let Some(name) = piece.name {
            let shown = captures.get(name).map_or_else(
                || "…".to_owned(),
                |text| if WORDS.contains(&name) { text.clone() } else { shorten(text) },
            );
            out.push_str(&shown);
        }
    }
    out
}

struct TemplatePiece<'a> {
    literal: &'a str,
    name: Option<&'a str>,
}

fn pieces(text: &str) -> impl Iterator<Item = TemplatePiece<'_>> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let current = rest.take()?;
        let Some((literal, (name, tail))) = current
            .split_once("{{")
            .and_then(|(literal, tail)| Some((literal, tail.split_once("}}")?)))
        else {
            return Some(TemplatePiece { literal: current, name: None });
        };
        rest = Some(tail);
        Some(TemplatePiece { literal, name: Some(name.trim()) })
    })
}

fn shorten(text: &str) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match one_line.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", one_line.get(..end).unwrap_or_default().trim_end()),
        None => one_line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_filled_and_long_ones_cut() {
        let captures = Captures::from([
            ("A".to_owned(), "x\n  + y".to_owned()),
            ("LONG".to_owned(), "é".repeat(100)),
        ]);
        for (text, expected) in [
            ("`{{A}}` is", "`x + y` is".to_owned()),
            ("{{ A }}{{B}}", "x + y…".to_owned()),
            ("no {{ end", "no {{ end".to_owned()),
            ("{{LONG}}", format!("{}…", "é".repeat(60))),
        ] {
            assert_eq!(fill(text, &captures), expected);
        }
        assert_eq!(names("{{A}} and {{B}}"), ["A", "B"]);
    }
}
