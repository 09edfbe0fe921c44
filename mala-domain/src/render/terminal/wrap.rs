//! Wraps text to columns as a terminal counts them: wide characters take two, combining characters
//! none.

use unicode_width::UnicodeWidthChar;

/// The width of a text in columns.
pub(super) fn columns(text: &str) -> usize {
    text.chars().map(char_columns).sum()
}

/// The width of a character in columns.
pub(super) fn char_columns(c: char) -> usize {
    c.width().unwrap_or(1)
}

/// Wraps a text between words; a word wider than `width` is split. Consecutive blank lines become
/// one.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(8);
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.lines() {
        let before = lines.len();
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            place(word, width, &mut line, &mut lines);
        }
        if !line.is_empty() {
            lines.push(line);
        }
        let is_blank = lines.len() == before;
        if is_blank && lines.last().is_some_and(|last| !last.is_empty()) {
            lines.push(String::new());
        }
    }
    if lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Splits a text after a number of columns.
pub(super) fn split_at_columns(text: &str, width: usize) -> (&str, &str) {
    let mut used = 0;
    for (index, c) in text.char_indices() {
        used += char_columns(c);
        if used > width {
            return text.split_at(index);
        }
    }
    (text, "")
}

fn place(word: &str, width: usize, line: &mut String, lines: &mut Vec<String>) {
    if !line.is_empty() && columns(line) + 1 + columns(word) <= width {
        line.push(' ');
        line.push_str(word);
        return;
    }
    if !line.is_empty() {
        lines.push(std::mem::take(line));
    }
    let mut rest = word;
    while columns(rest) > width {
        let (head, tail) = split_at_columns(rest, width);
        lines.push(head.to_owned());
        rest = tail;
    }
    line.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_stay_whole_where_they_fit() {
        let rows: &[(&str, usize, &[&str])] = &[
            ("a b c", 8, &["a b c"]),
            ("alpha beta gamma", 11, &["alpha beta", "gamma"]),
            ("one\n\n\ntwo\n", 20, &["one", "", "two"]),
            ("abcdefghijkl x", 8, &["abcdefgh", "ijkl x"]),
            (
                "\u{6f22}\u{5b57}\u{6f22}\u{5b57}\u{6f22}",
                8,
                &["\u{6f22}\u{5b57}\u{6f22}\u{5b57}", "\u{6f22}"],
            ),
            ("", 10, &[]),
        ];
        for (text, width, expected) in rows {
            assert_eq!(wrap(text, *width), *expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_line_is_too_wide_and_no_word_is_lost(text in "\\PC{0,200}", width in 8usize..60) {
            let lines = wrap(&text, width);
            for line in &lines {
                prop_assert!(columns(line) <= width, "{:?}", line);
            }
            let squeezed = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(squeezed(&lines.concat()), squeezed(&text));
        }
    }
}
