//! Recognizes values that are not secrets: examples, templates, defaults and filler.

use super::names::WordList;

/// Whether `value` is a placeholder.
pub(super) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    PLACEHOLDERS.words().any(|word| lower.contains(word)) || is_filler(value)
}

/// Whether `password` is a common default or example.
pub(super) fn is_weak_password(password: &str) -> bool {
    let lower = password.to_ascii_lowercase();
    let letters: String = lower.chars().filter(char::is_ascii_alphabetic).collect();
    let plain: String = lower.chars().map(unleet).filter(char::is_ascii_alphabetic).collect();
    is_placeholder(password)
        || is_template(password)
        || [&letters, &plain].iter().any(|word| word.is_empty() || WEAK.has(word))
        || WEAK_PARTS.words().any(|part| plain.contains(part))
}

/// Whether `value` is computed: a variable, a template, a format string or a call.
pub(super) fn is_template(value: &str) -> bool {
    TEMPLATE_MARKS.iter().any(|mark| value.contains(mark))
        || BRACKETS.iter().any(|(open, close)| value.starts_with(*open) && value.ends_with(*close))
        || is_variable(value)
        || is_call(value)
        || has_format_mark(value)
}

/// Whether `value` is `$NAME`, `%NAME%`, `&name` or `@name`.
fn is_variable(value: &str) -> bool {
    let is_name =
        |name: &str| name.chars().all(|part| part.is_ascii_alphanumeric() || "_.-%".contains(part));
    value.strip_prefix(['$', '%', '&', '@']).is_some_and(is_name)
}

/// Whether `value` contains `%s` or `%d`, or two other format specifiers, as in `%Y-%m`.
fn has_format_mark(value: &str) -> bool {
    let marks = value.split('%').skip(1).filter_map(|after| {
        let mut characters = after.chars();
        let mark = characters.next().filter(char::is_ascii_alphabetic)?;
        let ends = !characters.next().is_some_and(|next| next.is_ascii_alphanumeric());
        ends.then_some(mark)
    });
    let weight = |mark| if matches!(mark, 's' | 'd' | 'v') { 2 } else { 1 };
    marks.map(weight).sum::<usize>() >= 2
}

/// Whether `value` is `name(...)`, with or without a path before the name.
fn is_call(value: &str) -> bool {
    let is_name = |name: &str| {
        name.len() >= 2
            && name.chars().all(|part| part.is_ascii_alphanumeric() || "_.:$".contains(part))
    };
    value.contains(')') && value.split_once('(').is_some_and(|(name, _)| is_name(name))
}

/// Whether `value` consists of one repeated character, a sequence, or a repeated short text.
fn is_filler(value: &str) -> bool {
    let bytes = value.as_bytes();
    // Long tokens encode structures that contain consecutive zero bytes.
    bytes.len() < 100 && longest_run(bytes, |a, b| a == b) >= 6
        || longest_run(bytes, |a, b| a.wrapping_add(1) == b) >= 8
        || bytes.len() >= 12 && n_distinct(bytes) <= 4
        || is_repetition(bytes)
}

fn longest_run(bytes: &[u8], follows: impl Fn(u8, u8) -> bool) -> usize {
    let mut longest = 0;
    let mut current = 1;
    for pair in bytes.windows(2) {
        current = if follows(pair[0], pair[1]) { current + 1 } else { 1 };
        longest = longest.max(current);
    }
    longest
}

fn n_distinct(bytes: &[u8]) -> usize {
    let mut seen = [false; 256];
    bytes.iter().for_each(|byte| seen[usize::from(*byte)] = true);
    seen.iter().filter(|seen| **seen).count()
}

/// Whether a value of 16 or more bytes repeats with a period of up to half its length.
fn is_repetition(bytes: &[u8]) -> bool {
    bytes.len() >= 16
        && (1..=bytes.len() / 2)
            .take(16)
            .any(|period| bytes.iter().zip(&bytes[period..]).all(|(first, later)| first == later))
}

fn unleet(character: char) -> char {
    match character {
        '0' => 'o',
        '1' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        other => other,
    }
}

const BRACKETS: &[(char, char)] = &[('<', '>'), ('{', '}'), ('[', ']'), ('*', '*'), ('%', '%')];

const TEMPLATE_MARKS: &[&str] =
    &["${", "{{", "}}", "#{", "<%", "%>", "%(", "$(", "{}", "::", "->", "\\(", "@@"];

/// Texts that random values practically never contain.
const PLACEHOLDERS: WordList = WordList(
    "
    example placeholder changeme change_me change-me changeit replace insert redacted your_
    your- yourkey yourtoken yoursecret yourpass yourapi xxxx dummy sample notreal not-real
    not_real notasecret not-a-real fake lorem todo fixme deadbeef foobar abcdef 123456789
    987654321 qwerty asdf testtest insecure donotuse my_secret my-secret mysecret
",
);

/// Default passwords, after digits and signs are mapped to letters.
const WEAK: WordList = WordList(
    "
    pass pw pwd admin administrator root user username guest postgres postgresql mysql mongo
    mongodb redis rabbitmq rabbit minio minioadmin test tests testing tester demo default docker
    dev local login token key apikey none null true false empty letmein welcome
",
);

const WEAK_PARTS: WordList = WordList(
    "
    password passwd passwort secret hunter test geheim string value
",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_recognized() {
        for value in [
            "AKIAIOSFODNN7EXAMPLE",
            "xxxxxxxxxxxxxxxx",
            "your_api_key_here",
            "0000000000000000",
            "abcdefghijklmnop",
            "1234567890123456",
            "a1b2a1b2a1b2a1b2",
            "CHANGEME-now-please",
        ] {
            assert!(is_placeholder(value), "{value}");
        }
    }

    #[test]
    fn random_values_are_not_placeholders() {
        for value in ["kZ8vQ2mXw4nR7tYp", "9f86d081884c7d65", "Tr0ub4dor&3x", ""] {
            assert!(!is_placeholder(value), "{value}");
        }
    }

    #[test]
    fn defaults_are_weak_even_when_written_in_leet() {
        for value in ["P@ssw0rd", "postgres", "admin123", "S3cret!", "guest", "test1234", "${PW}"] {
            assert!(is_weak_password(value), "{value}");
        }
        for value in ["kV9#mQ2x", "vT7pLq0zWn", "Blaubeere-77-Zug"] {
            assert!(!is_weak_password(value), "{value}");
        }
    }
}
