//! Tests for values without a known format: random for a token, chosen for a password, and neither
//! code nor prose.

use super::names::ValueName;
use super::names::WordList;
use super::pem;
use super::placeholder;
use super::readability;
use serde::Deserialize;

/// How to decide in doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strictness {
    /// In doubt, it is not a secret.
    Strict,
    /// In doubt, it is a secret.
    Lenient,
}

/// A value that may be a secret, with its surroundings.
#[derive(Debug, Clone, Copy)]
pub(super) struct CandidateValue<'c> {
    pub(super) value: &'c str,
    /// The identifier that contains the keyword.
    pub(super) name: ValueName<'c>,
    /// The groups that matched, the whole match first.
    pub(super) groups: &'c [&'c str],
    /// Whether the value is quoted.
    pub(super) quoted: bool,
    pub(super) strictness: Strictness,
}

/// A test for values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ValueTest {
    /// The value looks random.
    Value,
    /// The value looks random, and the name is that of a secret.
    Assignment,
    /// The value looks like a chosen password, and the name is that of a password.
    Password,
    /// The value is the password in the URL of a real server.
    Url,
    /// The value is the password in a connection string of a real server.
    Connection,
    /// The value is a private key.
    Key,
}

impl ValueTest {
    /// Whether the value passes the test.
    pub(super) fn holds(self, candidate: &CandidateValue<'_>) -> bool {
        match self {
            Self::Value => looks_random(candidate.value, candidate.strictness),
            Self::Assignment => is_assigned_secret(candidate),
            Self::Password => is_assigned_password(candidate),
            Self::Url => is_url_password(candidate),
            Self::Connection => is_connection_password(candidate),
            Self::Key => pem::is_key(candidate.value),
        }
    }
}

/// Shannon entropy, in bits per byte.
pub(super) fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    value.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let length = value.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / length)
        .map(|share| -share * share.log2())
        .sum()
}

fn is_assigned_secret(candidate: &CandidateValue<'_>) -> bool {
    let CandidateValue { value, name, strictness, .. } = *candidate;
    if is_code(value) || is_uuid(value) || is_number(value) || is_short_hex(value) {
        return false;
    }
    if strictness == Strictness::Lenient {
        return !placeholder::is_placeholder(value) && looks_random(value, strictness);
    }
    !name.is_not_secret() && (!is_hash(value) || name.is_key()) && looks_random(value, strictness)
}

fn is_assigned_password(candidate: &CandidateValue<'_>) -> bool {
    let CandidateValue { value, name, quoted, strictness, .. } = *candidate;
    if is_code(value) || is_uuid(value) || is_number(value) {
        return false;
    }
    match strictness {
        Strictness::Strict => {
            !placeholder::is_weak_password(value)
                && !name.is_not_secret()
                && !is_hash(value)
                && (looks_chosen(value) || looks_random(value, strictness))
        }
        Strictness::Lenient if quoted => {
            is_one_word(value) && (CharacterCounts::of(value).n_digits > 0 || !is_wordy(value))
        }
        Strictness::Lenient => looks_chosen(value) || looks_random(value, strictness),
    }
}

fn is_url_password(candidate: &CandidateValue<'_>) -> bool {
    let [_, user, password, host] = *candidate.groups else { return false };
    if placeholder::is_template(password) || placeholder::is_template(user) {
        return false;
    }
    if candidate.strictness == Strictness::Lenient {
        return password.len() >= 4;
    }
    !is_local(host)
        && !placeholder::is_weak_password(password)
        && !placeholder::is_placeholder(user)
        && !user.eq_ignore_ascii_case(password)
        && (looks_chosen(password) || looks_random(password, Strictness::Lenient))
}

fn is_connection_password(candidate: &CandidateValue<'_>) -> bool {
    let local =
        candidate.groups.len() > 2 && candidate.groups.get(1).is_some_and(|host| is_local(host));
    if placeholder::is_template(candidate.value) {
        return false;
    }
    match candidate.strictness {
        Strictness::Lenient => true,
        Strictness::Strict => {
            !local
                && !placeholder::is_weak_password(candidate.value)
                && (looks_chosen(candidate.value)
                    || looks_random(candidate.value, Strictness::Lenient))
        }
    }
}

/// Whether the value consists of letters that form no words, in mixed case or with digits.
fn looks_random(value: &str, strictness: Strictness) -> bool {
    let (min_length, min_entropy, max_score) = match strictness {
        Strictness::Strict => (16, 3.2, 5.3),
        Strictness::Lenient => (12, 2.8, 5.7),
    };
    if value.len() < min_length || entropy(value) < min_entropy || !is_one_word(value) {
        return false;
    }
    let kinds = CharacterCounts::of(value);
    let (score, n_pairs) = readability::score(value);
    let mixed = kinds.n_digits > 0 || (kinds.n_upper > 0 && kinds.n_lower > 0);
    let unreadable = n_pairs < 4 || score < max_score || is_hex(value);
    // Letters of a single case need a lower score.
    let surely = n_pairs >= 16 && score < 4.6;
    kinds.n_upper + kinds.n_lower >= 3 && unreadable && (mixed || surely) && !is_wordy(value)
}

/// Whether the value looks like a password that a person chose: several kinds of characters.
fn looks_chosen(value: &str) -> bool {
    let kinds = CharacterCounts::of(value);
    let n_kinds = [kinds.n_upper, kinds.n_lower, kinds.n_digits, kinds.n_signs]
        .iter()
        .filter(|count| **count > 0)
        .count();
    value.len() >= 8
        && value.len() <= 64
        && is_one_word(value)
        && (kinds.n_digits > 0 || kinds.n_signs >= 2)
        && (n_kinds >= 3 && (kinds.n_signs > 0 || n_digits_inside(value) > 0)
            || n_kinds >= 2 && n_digits_inside(value) >= 3)
        && (!is_wordy(value) || n_kinds == 4 && value.len() <= 20 && has_policy_sign(value))
}

/// Whether the value contains a sign that password policies require.
fn has_policy_sign(value: &str) -> bool {
    value.contains(['!', '@', '#', '$', '%', '^', '&', '*', '?'])
}

/// Whether most of the value consists of words: an identifier, a path, a slug.
fn is_wordy(value: &str) -> bool {
    let mut n_word_letters = 0;
    let mut n_counted = 0;
    for part in value.split(|character: char| !character.is_ascii_alphabetic()) {
        n_counted += part.len();
        let (score, n_pairs) = readability::score(part);
        if n_pairs >= 3 && score >= 5.6 && is_cased_like_a_word(part) {
            n_word_letters += part.len();
        }
    }
    n_word_letters * 2 > n_counted && n_word_letters * 5 >= value.len() * 2
}

/// Whether the case is that of `word`, `Word`, `WORD` or `camelCase`.
fn is_cased_like_a_word(part: &str) -> bool {
    let bytes = part.as_bytes();
    let n_switches = bytes
        .windows(2)
        .filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
        .count();
    n_switches * 4 <= bytes.len()
}

/// The number of digits between two letters.
fn n_digits_inside(value: &str) -> usize {
    let is_cut = |three: &&[u8]| {
        three[0].is_ascii_alphabetic()
            && three[1].is_ascii_digit()
            && three[2].is_ascii_alphabetic()
    };
    value.as_bytes().windows(3).filter(is_cut).count()
}

fn is_one_word(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Whether the value is code, a URL, a password hash, a path, a regular expression or a template.
fn is_code(value: &str) -> bool {
    placeholder::is_template(value)
        || value.contains("://")
        || value.starts_with('^') && value.ends_with('$')
        || value.starts_with('/') && readability::score(value).0 >= 5.0
        || value.contains("[a-z")
        || value.contains("[A-Z")
        || value.contains("[0-9")
        || value.starts_with("data:")
        || value.starts_with("urn:")
        || value.starts_with("sha") && value.contains(['-', ':'])
        || value.starts_with("0x") && value.len() == 42
        || value.starts_with('$') && value.split('$').count() > 3
        || FILE_ENDINGS.words().any(|ending| value.ends_with(ending))
}

const FILE_ENDINGS: WordList = WordList(
    "
    .json .pem .key .txt .py .js .ts .go .rs .yaml .yml .html .php .com .crt .xml
",
);

fn is_uuid(value: &str) -> bool {
    let value = value.trim_matches(['/', '{', '}']);
    value.len() == 36
        && value.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Whether the value is a number, a version, a date or a time.
fn is_number(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_digit() || b"-+.,:/_TZ".contains(&byte))
}

/// Whether the value is hex but too short for a key.
fn is_short_hex(value: &str) -> bool {
    value.len() < 24 && is_hex(value)
}

/// Whether the value is hex with the length of a hash.
fn is_hash(value: &str) -> bool {
    matches!(value.len(), 32 | 40 | 48 | 56 | 64 | 96 | 128) && is_hex(value)
}

fn is_hex(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

fn is_local(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let name = host.split([':', ',']).next().unwrap_or(&host);
    !name.contains('.') && !host.starts_with('[')
        || name.starts_with("127.")
        || name.starts_with("0.0.0.0")
        || [".local", ".localhost", ".test", ".example", ".invalid", "example.com", "example.org"]
            .iter()
            .chain(&["example.net", "domain.com", "yourdomain.com", "host.com", "server.com"])
            .any(|ending| name.ends_with(ending))
}

/// The number of characters of each kind.
struct CharacterCounts {
    n_upper: usize,
    n_lower: usize,
    n_digits: usize,
    n_signs: usize,
}

impl CharacterCounts {
    fn of(value: &str) -> Self {
        let count = |is: fn(&u8) -> bool| value.as_bytes().iter().filter(|byte| is(byte)).count();
        Self {
            n_upper: count(u8::is_ascii_uppercase),
            n_lower: count(u8::is_ascii_lowercase),
            n_digits: count(u8::is_ascii_digit),
            n_signs: count(u8::is_ascii_punctuation),
        }
    }
}
