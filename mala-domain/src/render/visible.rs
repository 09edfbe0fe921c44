//! Escapes untrusted text: control and invisible characters, which could move the cursor, start an
//! escape sequence, reverse the text or hide it, are shown as `<U+001B>`.

use std::borrow::Cow;

/// Escapes all control and invisible characters except line feeds and tabs.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| is_hidden(c) && !matches!(c, '\n' | '\t')) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' if rest.peek() == Some(&'\n') => {}
            '\n' | '\t' => out.push(c),
            c if is_hidden(c) => out.push_str(&spelled(c)),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Escapes the text and joins its lines; runs of white space become one space.
pub fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in visible(text).split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// The first characters of a text, with `…` if it is longer.
pub fn at_most(text: &str, n_chars: usize) -> Cow<'_, str> {
    match text.char_indices().nth(n_chars) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

/// The first characters of a text on one line.
pub fn short_line(text: &str, n_chars: usize) -> String {
    at_most(&one_line(at_most(text, n_chars.saturating_mul(8)).as_ref()), n_chars).into_owned()
}

fn spelled(c: char) -> String {
    format!("<U+{:04X}>", u32::from(c))
}

fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' // marks, zero width space
            | '\u{2028}' | '\u{2029}' // separators that some terminals take for line ends
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' // direction, invisible operators
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
            | '\u{e0000}'..='\u{e007f}') // tags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_and_invisible_characters_are_escaped() {
        let rows = [
            ("plain text, caf\u{e9} \u{1f980}", "plain text, caf\u{e9} \u{1f980}"),
            ("\x1b[31mred\x1b[0m", "<U+001B>[31mred<U+001B>[0m"),
            ("\u{9b}31m", "<U+009B>31m"),
            ("a\u{202e}b\u{2066}c", "a<U+202E>b<U+2066>c"),
            ("over\rwrite\u{8}", "over<U+000D>write<U+0008>"),
            ("line\r\nline\tend\n", "line\nline\tend\n"),
            ("zero\u{200b}width \u{e0041}", "zero<U+200B>width <U+E0041>"),
        ];
        for (text, expected) in rows {
            assert_eq!(visible(text), expected);
        }
    }

    #[test]
    fn one_line_is_one_line() {
        assert_eq!(one_line("  a\n\tb \r\n c  "), "a b c");
        assert_eq!(one_line("\u{2028}x"), "<U+2028>x");
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        assert_eq!(at_most("\u{1f980}\u{1f980}\u{1f980}", 2), "\u{1f980}\u{1f980}…");
        assert_eq!(at_most("ab", 2), "ab");
    }
}
