//! Escapes untrusted text for Markdown. The text opens no tag, link, image, heading or table,
//! mentions no user, refers to no issue, and starts no quick action.

use crate::render::visible::{one_line, visible};

/// An invisible break inside a word. Forges detect mentions and links after rendering Markdown, so
/// a backslash is not enough.
const BREAK: &str = "&#8203;";

/// Escapes text on one line. Text between single backticks becomes code.
pub fn inline(text: &str) -> String {
    line(&one_line(text))
}

/// Escapes text, keeping lines and paragraphs.
pub fn prose(text: &str) -> String {
    let mut out = String::new();
    for raw in visible(text.trim()).lines() {
        let text = line(raw.trim());
        if text.is_empty() && out.ends_with("\n\n") {
            continue;
        }
        out.push_str(&text);
        out.push('\n');
    }
    out
}

/// A code span on one line.
pub fn code(text: &str) -> String {
    let text = one_line(text);
    if text.is_empty() {
        return "(empty)".to_owned();
    }
    let ticks = "`".repeat(longest_run(&text, '`') + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// A fenced code block. The fence is longer than any in the text.
pub fn fence(text: &str, language: &str) -> String {
    let text = visible(text);
    let ticks = "`".repeat(longest_run(&text, '`').max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{ticks}{language}\n{text}{end}{ticks}\n")
}

/// Escapes text on one line for an HTML element, where Markdown is not parsed.
pub(super) fn html(text: &str) -> String {
    let text = one_line(text);
    let pieces = pieces(&text).into_iter().map(|piece| match piece {
        MarkdownPiece::Words(words) => html_words(words),
        MarkdownPiece::Code(code) => format!("<code>{}</code>", html_words(code)),
    });
    pieces.collect()
}

fn html_words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Some renderers parse Markdown inside HTML.
            '`' | '[' | ']' | '*' | '\\' | '|' | '~' => {
                out.push_str(&format!("&#{};", u32::from(c)));
            }
            c => out.push(c),
        }
        if is_trigger(c, rest.peek().copied()) {
            out.push_str(BREAK);
        }
    }
    without_links(&out)
}

/// A part of a line.
enum MarkdownPiece<'t> {
    Words(&'t str),
    Code(&'t str),
}

/// Splits a line at single backticks, if they are paired.
fn pieces(text: &str) -> Vec<MarkdownPiece<'_>> {
    let parts: Vec<&str> = text.split('`').collect();
    let is_paired = parts.len() % 2 == 1;
    let is_code = |index: usize| index % 2 == 1;
    let mut coded = parts.iter().enumerate().filter(|(index, _)| is_code(*index));
    if !is_paired || coded.any(|(_, part)| part.trim().is_empty()) {
        return vec![MarkdownPiece::Words(text)];
    }
    let pieces = parts.iter().enumerate().map(|(index, part)| {
        if is_code(index) { MarkdownPiece::Code(part) } else { MarkdownPiece::Words(part) }
    });
    pieces.collect()
}

fn line(text: &str) -> String {
    let mut out = String::new();
    for piece in pieces(text) {
        match piece {
            MarkdownPiece::Code(part) => out.push_str(&code(part)),
            MarkdownPiece::Words(part) if out.is_empty() => out.push_str(&words(part)),
            // Some characters are special only at the start of a line.
            MarkdownPiece::Words(part) => {
                out.push_str(words(&format!(" {part}")).strip_prefix(' ').unwrap_or_default())
            }
        }
    }
    out
}

fn words(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let mut before = ' ';
    let mut rest = text.char_indices().peekable();
    while let Some((index, c)) = rest.next() {
        let next = rest.peek().map(|(_, c)| *c);
        let is_inside_word = before.is_alphanumeric() && next.is_some_and(char::is_alphanumeric);
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '_' if is_inside_word => out.push('_'),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '$' => out.extend(['\\', c]),
            '-' | '+' | '=' | '/' | ':' if index == 0 => out.extend(['\\', c]),
            '.' | ')' if index == digits && digits > 0 => out.extend(['\\', c]),
            c => out.push(c),
        }
        if is_trigger(c, next) {
            out.push_str(BREAK);
        }
        before = c;
    }
    without_links(&out)
}

/// Whether a forge would create a reference here.
fn is_trigger(c: char, next: Option<char>) -> bool {
    match c {
        '@' => true,
        '#' | '!' => next.is_some_and(|next| next.is_ascii_digit()),
        _ => false,
    }
}

fn without_links(text: &str) -> String {
    let text = text.replace("://", &format!(":{BREAK}//"));
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = find_www(rest) {
        let (head, tail) = rest.split_at(at + "www".len());
        out.push_str(head);
        out.push_str(BREAK);
        rest = tail;
    }
    out.push_str(rest);
    out
}

fn find_www(text: &str) -> Option<usize> {
    text.as_bytes().windows(4).position(|window| window.eq_ignore_ascii_case(b"www."))
}

fn longest_run(text: &str, wanted: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == wanted { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_is_escaped() {
        let rows = [
            ("plain words, snake_case.", "plain words, snake_case."),
            ("<img src=x onerror=y>", "&lt;img src=x onerror=y&gt;"),
            ("![x](http://e.vil)", "!\\[x\\](http:&#8203;//e.vil)"),
            ("ask @octocat", "ask @&#8203;octocat"),
            ("see #12 and o/r#3", "see \\#&#8203;12 and o/r\\#&#8203;3"),
            ("# head", "\\# head"),
            ("- item", "\\- item"),
            ("12. item", "12\\. item"),
            ("/merge", "\\/merge"),
            ("a | b ~~c~~ *e* _f_", "a \\| b \\~\\~c\\~\\~ \\*e\\* \\_f\\_"),
            ("call `f(*x)` on @y", "call `f(*x)` on @&#8203;y"),
            ("an odd ` tick", "an odd \\` tick"),
            ("``two`` ticks", "\\`\\`two\\`\\` ticks"),
            ("`` @x", "\\`\\` @&#8203;x"),
            ("&copy; WWW.x.y", "&amp;copy; WWW&#8203;.x.y"),
            ("\x1b[2J", "&lt;U+001B&gt;\\[2J"),
        ];
        for (text, expected) in rows {
            assert_eq!(inline(text), expected, "{text:?}");
        }
    }

    #[test]
    fn fences_and_code_spans_are_longer_than_their_content() {
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(fence("x", "rust"), "```rust\nx\n```\n");
        assert_eq!(fence("````\n</details>\n", ""), "`````\n````\n</details>\n`````\n");
    }

    #[test]
    fn paragraphs_stay_and_every_line_is_escaped() {
        assert_eq!(prose("a\n\n\n\n  - b\n/close\n"), "a\n\n\\- b\n\\/close\n");
    }

    #[test]
    fn a_summary_contains_no_tags() {
        assert_eq!(html("</summary><b>\"@x\""), "&lt;/summary&gt;&lt;b&gt;&quot;@&#8203;x&quot;");
        assert_eq!(html("`<i>` is"), "<code>&lt;i&gt;</code> is");
    }
}
