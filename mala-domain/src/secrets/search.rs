//! Finds candidates: an Aho-Corasick automaton finds the keywords of all rules, and the regular
//! expression of a rule runs only on a window of bounded size around a keyword. The cost is linear
//! in the text.

use super::checksum::ChecksumResult;
use super::names::{self, ValueName};
use super::path::PathKind;
use super::placeholder;
use super::rule::{RuleFiles, SecretFamily, SecretRule, rules};
use super::value::{self, CandidateValue, Strictness};
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

/// The purpose of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchPurpose {
    /// Report secrets: reject doubtful matches.
    Report(PathKind),
    /// Hide secrets: accept doubtful matches.
    Hide,
}

/// A match of a rule; matches may overlap.
#[derive(Debug, Clone, Copy)]
pub(super) struct SecretCandidate {
    pub(super) rule: &'static SecretRule,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether the checksum is correct.
    pub(super) verified: bool,
}

/// All matches in `text`, including overlapping ones, ordered by the end of their keywords.
pub(super) fn candidates(text: &str, purpose: SearchPurpose) -> Vec<SecretCandidate> {
    let Some(index) = INDEX.as_ref() else { return Vec::new() };
    let mut found = Vec::new();
    let mut done_to = vec![0; rules().len()];
    for hit in index.automaton.find_overlapping_iter(text) {
        for keyword in &index.keywords[hit.pattern().as_usize()] {
            let rule = keyword.rule;
            if hit.start() < done_to[keyword.rule_number]
                || !keyword.fits(&text[hit.range()])
                || !applies(rule, purpose)
            {
                continue;
            }
            if let Some(candidate) = attempt(rule, text, hit.start(), purpose) {
                done_to[keyword.rule_number] = candidate.end;
                found.push(candidate);
            }
        }
    }
    found
}

/// The keywords of all rules in one automaton.
struct KeywordIndex {
    automaton: AhoCorasick,
    /// For every pattern of the automaton, the rules with this keyword.
    keywords: Vec<Vec<RuleKeyword>>,
}

struct RuleKeyword {
    word: &'static str,
    rule: &'static SecretRule,
    rule_number: usize,
    exact: bool,
}

impl RuleKeyword {
    fn fits(&self, found: &str) -> bool {
        !self.exact || found == self.word
    }
}

static INDEX: LazyLock<Option<KeywordIndex>> = LazyLock::new(build_index);

fn build_index() -> Option<KeywordIndex> {
    let mut by_word: BTreeMap<String, Vec<RuleKeyword>> = BTreeMap::new();
    for (rule_number, rule) in rules().iter().enumerate() {
        for word in &rule.keywords {
            let exact = word.bytes().any(|byte| byte.is_ascii_uppercase());
            let keyword = RuleKeyword { word, rule, rule_number, exact };
            by_word.entry(word.to_ascii_lowercase()).or_default().push(keyword);
        }
    }
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(by_word.keys())
        .ok()?;
    Some(KeywordIndex { automaton, keywords: by_word.into_values().collect() })
}

fn applies(rule: &SecretRule, purpose: SearchPurpose) -> bool {
    let SearchPurpose::Report(kind) = purpose else { return rule.redacts() };
    rule.reports()
        && match kind {
            PathKind::Source => rule.files == RuleFiles::All,
            PathKind::Config => true,
            PathKind::Test => rule.family != SecretFamily::Generic,
            PathKind::Generated => rule.family == SecretFamily::Token && rule.confidence >= 0.9,
        }
}

fn attempt(
    rule: &'static SecretRule,
    text: &str,
    hit: usize,
    purpose: SearchPurpose,
) -> Option<SecretCandidate> {
    let window_start = rule.match_start(text.as_bytes(), hit);
    // Check this before the regular expression runs: in a long run of one letter, every byte is a
    // hit.
    if rule.is_whole_word() && !starts_word(text, window_start) {
        return None;
    }
    let window_end = text.floor_char_boundary(hit.saturating_add(rule.after));
    let window = text.get(window_start..window_end)?;
    let captures = rule.matcher()?.captures(window.as_bytes())?;
    let whole = captures.get(0)?;
    if window_start + whole.end() <= hit {
        return None;
    }
    let group = (rule.group..captures.len()).find_map(|number| captures.get(number))?;
    let start = text.floor_char_boundary(window_start + group.start());
    let end = text.ceil_char_boundary(window_start + group.end());
    let groups: Vec<&str> = captures
        .iter()
        .flatten()
        .filter_map(|group| text.get(window_start + group.start()..window_start + group.end()))
        .collect();
    let context = MatchContext { text, hit, groups: &groups };
    match purpose {
        SearchPurpose::Report(_) => report(rule, start..end, &context),
        SearchPurpose::Hide => hide(rule, start..end, &context),
    }
}

struct MatchContext<'t> {
    text: &'t str,
    hit: usize,
    /// The groups that matched, the whole match first.
    groups: &'t [&'t str],
}

impl MatchContext<'_> {
    fn value<'c>(
        &'c self,
        rule: &SecretRule,
        secret: &'c str,
        strictness: Strictness,
    ) -> CandidateValue<'c> {
        CandidateValue {
            value: secret,
            name: ValueName::around(self.text, self.hit),
            groups: self.groups,
            quoted: rule.files == RuleFiles::All,
            strictness,
        }
    }
}

fn report(
    rule: &'static SecretRule,
    range: Range<usize>,
    context: &MatchContext<'_>,
) -> Option<SecretCandidate> {
    let secret = context.text.get(range.clone())?;
    if rule.family == SecretFamily::Token && !stands_alone(rule, context.text, &range) {
        return None;
    }
    if rule.family == SecretFamily::Context && continues(context.text, range.end) {
        return None;
    }
    if rule.family == SecretFamily::Generic && is_machine_made(context.text, range.start) {
        return None;
    }
    let checksum_result =
        rule.checksum.map_or(ChecksumResult::Absent, |checksum| checksum.verify(secret));
    let plausible = checksum_result != ChecksumResult::Failed
        && value::entropy(secret) >= rule.min_entropy
        && !rule.allows(secret)
        && !is_shown_as_example(rule, context.text, range.start)
        && (rule.family == SecretFamily::Key || !placeholder::is_placeholder(secret))
        && rule
            .test
            .is_none_or(|test| test.holds(&context.value(rule, secret, Strictness::Strict)));
    plausible.then_some(SecretCandidate {
        rule,
        start: range.start,
        end: range.end,
        verified: checksum_result == ChecksumResult::Verified,
    })
}

fn hide(
    rule: &'static SecretRule,
    range: Range<usize>,
    context: &MatchContext<'_>,
) -> Option<SecretCandidate> {
    let secret = context.text.get(range.clone())?;
    let secret = if rule.files == RuleFiles::Config { before_command(secret) } else { secret };
    let range = range.start..range.start + secret.len();
    let is_token = rule.family == SecretFamily::Token;
    if rule.is_whole_word() && !starts_word(context.text, range.start) {
        return None;
    }
    let lenient = || {
        rule.test.is_none_or(|test| test.holds(&context.value(rule, secret, Strictness::Lenient)))
    };
    if !is_token && !lenient() {
        return None;
    }
    let end = if is_token { run_end(context.text, range.end) } else { range.end };
    Some(SecretCandidate { rule, start: range.start, end, verified: false })
}

/// The part of an unquoted value before a shell operator that starts another command. A redaction must
/// not hide that command: `DB_PASSWORD=x&&/opt/run.sh`.
fn before_command(value: &str) -> &str {
    let starts_command = |at: &usize| {
        let rest = &value[*at..];
        let is_before_path = rest.get(1..).is_some_and(|next| next.starts_with(['/', '.', '~']));
        ["&&", "||", "$("].iter().any(|operator| rest.starts_with(operator))
            || rest.starts_with(['&', '|']) && is_before_path
    };
    let end = value.char_indices().map(|(at, _)| at).find(starts_command);
    &value[..end.unwrap_or(value.len())]
}

/// Whether the words before the value mark it as an example: a placeholder, "example", or, for
/// generic rules, a name that contains "test".
fn is_shown_as_example(rule: &SecretRule, text: &str, at: usize) -> bool {
    let start = text.ceil_char_boundary(at.saturating_sub(48));
    let before = text[start..at].rsplit('\n').next().unwrap_or_default();
    let words = names::words(before);
    let has = |listed: &[&str]| words.iter().any(|word| listed.contains(&word.as_str()));
    has(&["placeholder", "example", "sample", "instance"])
        || rule.family == SecretFamily::Generic && has(&["test", "tests", "fake", "dummy", "mock"])
}

/// Whether the line is so long that it must be minified code or data.
fn is_machine_made(text: &str, at: usize) -> bool {
    const LONG: usize = 1000;
    let (before, after) = text.as_bytes().split_at(at);
    let has_end = |bytes: &[u8]| bytes.contains(&b'\n');
    let left = &before[before.len().saturating_sub(LONG)..];
    let right = &after[..after.len().min(LONG)];
    !has_end(left) && !has_end(right) && left.len() + right.len() > LONG
}

/// Whether the match is a whole word.
fn stands_alone(rule: &SecretRule, text: &str, range: &Range<usize>) -> bool {
    (!rule.is_whole_word() || starts_word(text, range.start)) && !continues(text, range.end)
}

fn continues(text: &str, end: usize) -> bool {
    text.as_bytes().get(end).is_some_and(|byte| is_word(*byte))
}

/// Whether no word runs into the match. A letter before it may end an escape (`\n`, `%3D`, a
/// terminal colour).
fn starts_word(text: &str, start: usize) -> bool {
    let before = &text.as_bytes()[..start];
    match before {
        [.., b'\\', b'n' | b't' | b'r'] => true,
        [.., b'%', high, low] => high.is_ascii_hexdigit() && low.is_ascii_hexdigit(),
        [.., b'm'] => ends_terminal_colour(before),
        [.., byte] => !is_word(*byte),
        [] => true,
    }
}

fn ends_terminal_colour(before: &[u8]) -> bool {
    let tail = &before[before.len().saturating_sub(12)..];
    tail.iter().rposition(|byte| *byte == b'[').is_some_and(|bracket| {
        tail[bracket + 1..tail.len() - 1].iter().all(|byte| byte.is_ascii_digit() || *byte == b';')
    })
}

/// The end of the word that continues at `end`, so that redaction leaves no rest of a secret.
fn run_end(text: &str, end: usize) -> usize {
    let rest = &text.as_bytes()[end..];
    end + rest.iter().take_while(|byte| is_word(**byte) || **byte == b'-').count()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
