//! String literals of each language as text.

use mala_domain::language::Language;

use super::constant::Constant;
use super::{Loss, LostEscape};

/// The text of a string literal that stands at `at`; nothing if it is not one string.
pub(super) fn decode(language: Language, literal: &str, at: usize) -> Option<Constant> {
    let (skip, inner, raw) = match language {
        Language::Python => python_body(literal)?,
        Language::Rust => rust_body(literal)?,
        Language::Go if literal.starts_with('`') => (1, strip(literal, "`")?, true),
        Language::Java if literal.starts_with("\"\"\"") => (3, strip(literal, "\"\"\"")?, false),
        _ => {
            let quote = literal.get(..1)?;
            (1, strip(literal, quote)?, false)
        }
    };
    let mut constant = Constant::new(at..at + literal.len());
    if raw {
        constant.push_verbatim(inner, at + skip);
    } else {
        unescape(language, inner, at + skip, &mut constant);
    }
    Some(constant)
}

fn strip<'t>(literal: &'t str, quote: &str) -> Option<&'t str> {
    literal.strip_prefix(quote)?.strip_suffix(quote)
}

/// The length of what opens the literal, what is inside, and whether that is raw.
fn python_body(literal: &str) -> Option<(usize, &str, bool)> {
    let prefix = literal.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (letters, quoted) = literal.split_at_checked(prefix)?;
    let raw = letters.contains(['r', 'R']);
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|q| quoted.starts_with(q))?;
    Some((prefix + quote.len(), strip(quoted, quote)?, raw))
}

fn rust_body(literal: &str) -> Option<(usize, &str, bool)> {
    let prefix = literal.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (letters, quoted) = literal.split_at_checked(prefix)?;
    let hashes = quoted.bytes().take_while(|byte| *byte == b'#').count();
    let inner = quoted.get(hashes + 1..quoted.len().checked_sub(hashes + 1)?)?;
    Some((prefix + hashes + 1, inner, letters.contains('r')))
}

fn unescape(language: Language, inner: &str, at: usize, constant: &mut Constant) {
    let mut rest = inner;
    let offset = |rest: &str| at + (inner.len() - rest.len());
    while !rest.is_empty() {
        let plain = rest.find('\\').unwrap_or(rest.len());
        let (before, escape) = rest.split_at(plain);
        if !before.is_empty() {
            constant.push_verbatim(before, offset(rest));
        }
        rest = escape;
        if rest.is_empty() {
            break;
        }
        let source = offset(rest);
        let (meaning, length) = meaning(language, rest);
        let written = rest.get(..length).unwrap_or(rest);
        match meaning {
            Meaning::Char(decoded) => {
                if is_control_by_mistake(language, written, beside(&constant.text, rest, length)) {
                    let bytes = source..source + length;
                    constant.lost.push(LostEscape { bytes, loss: Loss::ControlCharacter });
                }
                constant.push_escape(decoded, source);
            }
            Meaning::Itself => constant.push_verbatim(written, source),
            Meaning::Bare(letter) => {
                let open = constant.ends_in_escape() || constant.ends_in_class();
                if matters_to_patterns(letter) && !open {
                    let bytes = source..source + length;
                    constant.lost.push(LostEscape { bytes, loss: Loss::Backslash });
                }
                constant.push_escape(letter, source);
            }
            Meaning::Nothing => {}
        }
        rest = rest.get(length..).unwrap_or_default();
    }
}

/// The characters on either side of an escape.
fn beside(before: &str, rest: &str, length: usize) -> [Option<char>; 2] {
    let after = rest.get(length..).unwrap_or_default();
    [before.chars().next_back(), after.chars().next()]
}

/// `"\b"` beside a word is a backspace where a boundary is meant. Go's `"\a"` is a bell where the
/// start of the text is meant.
fn is_control_by_mistake(language: Language, written: &str, beside: [Option<char>; 2]) -> bool {
    let word = beside.iter().flatten().any(|c| c.is_alphanumeric() || *c == '\\' || *c == '(');
    (written == "\\b" && word) || (language == Language::Go && written == "\\a")
}

/// Whether a pattern would give the escaped character a meaning of its own.
fn matters_to_patterns(letter: char) -> bool {
    matches!(letter, 'd' | 'D' | 'w' | 'W' | 's' | 'S' | 'B' | 'p' | 'P' | 'k')
        || ".*+?()[]{}|^$".contains(letter)
}

enum Meaning {
    Char(char),
    /// The literal keeps the backslash.
    Itself,
    /// The literal drops the backslash.
    Bare(char),
    /// A line that goes on.
    Nothing,
}

/// What the escape at the start of `text` means, and its length in bytes.
fn meaning(language: Language, text: &str) -> (Meaning, usize) {
    let Some(letter) = text.chars().nth(1) else { return (Meaning::Itself, text.len()) };
    let two = 1 + letter.len_utf8();
    let control = match letter {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        'f' => Some('\u{c}'),
        'b' => Some('\u{8}'),
        'v' if language != Language::Java => Some('\u{b}'),
        'a' if matches!(language, Language::Python | Language::Go) => Some('\u{7}'),
        '\\' | '\'' | '"' | '`' => Some(letter),
        _ => None,
    };
    if let Some(control) = control {
        return (Meaning::Char(control), two);
    }
    match letter {
        '\n' => (Meaning::Nothing, two),
        'x' => hexadecimal(text, 2),
        'u' => hexadecimal(text, 4),
        'U' => hexadecimal(text, 8),
        '0'..='7' => octal(text),
        _ if language == Language::Python => (Meaning::Itself, two),
        _ => (Meaning::Bare(letter), two),
    }
}

fn hexadecimal(text: &str, width: usize) -> (Meaning, usize) {
    let body = text.get(2..).unwrap_or_default();
    let (digits, length) = match body.strip_prefix('{').and_then(|b| b.split_once('}')) {
        Some((digits, _)) => (digits, digits.len() + 4),
        None => (body.get(..width).unwrap_or_default(), width + 2),
    };
    match u32::from_str_radix(digits, 16) {
        // Half a surrogate pair is no character of its own.
        Ok(point) => (Meaning::Char(char::from_u32(point).unwrap_or('\u{fffd}')), length),
        Err(_) => (Meaning::Itself, 2),
    }
}

fn octal(text: &str) -> (Meaning, usize) {
    let digits = text.bytes().skip(1).take(3).take_while(|b| (b'0'..b'8').contains(b)).count();
    let value = text.get(1..=digits).and_then(|octal| u32::from_str_radix(octal, 8).ok());
    let decoded = value.and_then(char::from_u32).unwrap_or('\u{fffd}');
    (Meaning::Char(decoded), digits + 1)
}
