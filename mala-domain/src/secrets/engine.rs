//! The search: one pass of Aho-Corasick finds the keywords, and only around a hit does the rule's
//! expression run, on a window of bounded size. Cost is linear in the text, whatever is in it.

use super::checksum::Proof;
use super::names::{self, Name};
use super::path::PathKind;
use super::placeholder;
use super::rule::{Family, Files, SecretRule, rules};
use super::value::{self, Claim, Strictness};
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

/// What the search is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lens {
    /// To report: a doubtful match is none.
    Report(PathKind),
    /// To hide: a doubtful match is one.
    Hide,
}

/// A match, before overlaps are settled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) rule: &'static SecretRule,
    pub(super) start: usize,
    pub(super) end: usize,
    /// Its checksum is right.
    pub(super) verified: bool,
}

/// Every match in `text`, overlapping ones included, by where their keywords end.
pub(super) fn candidates(text: &str, lens: Lens) -> Vec<Candidate> {
    let Some(index) = INDEX.as_ref() else { return Vec::new() };
    let mut found = Vec::new();
    let mut done_to = vec![0; rules().len()];
    for hit in index.automaton.find_overlapping_iter(text) {
        for keyword in &index.keywords[hit.pattern().as_usize()] {
            let rule = keyword.rule;
            if hit.start() < done_to[keyword.rule_number]
                || !keyword.fits(&text[hit.range()])
                || !applies(rule, lens)
            {
                continue;
            }
            if let Some(candidate) = attempt(rule, text, hit.start(), lens) {
                done_to[keyword.rule_number] = candidate.end;
                found.push(candidate);
            }
        }
    }
    found
}

/// The keywords of all rules in one automaton.
struct Index {
    automaton: AhoCorasick,
    /// For every pattern of the automaton, who wants to know.
    keywords: Vec<Vec<Keyword>>,
}

struct Keyword {
    word: &'static str,
    rule: &'static SecretRule,
    rule_number: usize,
    exact: bool,
}

impl Keyword {
    fn fits(&self, found: &str) -> bool {
        !self.exact || found == self.word
    }
}

static INDEX: LazyLock<Option<Index>> = LazyLock::new(build_index);

fn build_index() -> Option<Index> {
    let mut by_word: BTreeMap<String, Vec<Keyword>> = BTreeMap::new();
    for (rule_number, rule) in rules().iter().enumerate() {
        for word in &rule.keywords {
            let exact = word.bytes().any(|byte| byte.is_ascii_uppercase());
            let keyword = Keyword { word, rule, rule_number, exact };
            by_word.entry(word.to_ascii_lowercase()).or_default().push(keyword);
        }
    }
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(by_word.keys())
        .ok()?;
    Some(Index { automaton, keywords: by_word.into_values().collect() })
}

fn applies(rule: &SecretRule, lens: Lens) -> bool {
    let Lens::Report(kind) = lens else { return rule.redacts() };
    rule.reports()
        && match kind {
            PathKind::Source => rule.files == Files::All,
            PathKind::Config => true,
            PathKind::Test => rule.family != Family::Generic,
            PathKind::Generated => rule.family == Family::Token && rule.confidence >= 0.9,
        }
}

fn attempt(rule: &'static SecretRule, text: &str, hit: usize, lens: Lens) -> Option<Candidate> {
    let window_start = rule.match_start(text.as_bytes(), hit);
    // Asked before the expression runs: in a long run of one letter every byte is a hit.
    if rule.is_whole_word() && !starts_fresh(text, window_start) {
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
    let context = Context { text, hit, groups: &groups };
    match lens {
        Lens::Report(_) => report(rule, start..end, &context),
        Lens::Hide => hide(rule, start..end, &context),
    }
}

struct Context<'t> {
    text: &'t str,
    hit: usize,
    /// The groups that took part, the whole match first.
    groups: &'t [&'t str],
}

impl Context<'_> {
    fn claim<'c>(
        &'c self,
        rule: &SecretRule,
        secret: &'c str,
        strictness: Strictness,
    ) -> Claim<'c> {
        Claim {
            value: secret,
            name: Name::around(self.text, self.hit),
            groups: self.groups,
            quoted: rule.files == Files::All,
            strictness,
        }
    }
}

fn report(
    rule: &'static SecretRule,
    range: Range<usize>,
    context: &Context<'_>,
) -> Option<Candidate> {
    let secret = context.text.get(range.clone())?;
    if rule.family == Family::Token && !stands_alone(rule, context.text, &range) {
        return None;
    }
    if rule.family == Family::Context && continues(context.text, range.end) {
        return None;
    }
    if rule.family == Family::Generic && is_machine_made(context.text, range.start) {
        return None;
    }
    let proof = rule.checksum.map_or(Proof::Absent, |checksum| checksum.prove(secret));
    let plausible = proof != Proof::Failed
        && value::entropy(secret) >= rule.min_entropy
        && !rule.allows(secret)
        && !is_shown_as_example(rule, context.text, range.start)
        && (rule.family == Family::Key || !placeholder::is_placeholder(secret))
        && rule
            .test
            .is_none_or(|test| test.holds(&context.claim(rule, secret, Strictness::Strict)));
    plausible.then_some(Candidate {
        rule,
        start: range.start,
        end: range.end,
        verified: proof == Proof::Verified,
    })
}

fn hide(
    rule: &'static SecretRule,
    range: Range<usize>,
    context: &Context<'_>,
) -> Option<Candidate> {
    let secret = context.text.get(range.clone())?;
    let is_token = rule.family == Family::Token;
    if rule.is_whole_word() && !starts_fresh(context.text, range.start) {
        return None;
    }
    let lenient = || {
        rule.test.is_none_or(|test| test.holds(&context.claim(rule, secret, Strictness::Lenient)))
    };
    if !is_token && !lenient() {
        return None;
    }
    let end = if is_token { run_end(context.text, range.end) } else { range.end };
    Some(Candidate { rule, start: range.start, end, verified: false })
}

/// The words right before the value say so: a form's hint, "for example", or a name with "test"
/// in it, which does not count against a format that names itself.
fn is_shown_as_example(rule: &SecretRule, text: &str, at: usize) -> bool {
    let start = text.ceil_char_boundary(at.saturating_sub(48));
    let before = text[start..at].rsplit('\n').next().unwrap_or_default();
    let words = names::words(before);
    let has = |listed: &[&str]| words.iter().any(|word| listed.contains(&word.as_str()));
    has(&["placeholder", "example", "sample", "instance"])
        || rule.family == Family::Generic && has(&["test", "tests", "fake", "dummy", "mock"])
}

/// No line of this length was written by hand: minified code, or data.
fn is_machine_made(text: &str, at: usize) -> bool {
    const LONG: usize = 1000;
    let (before, after) = text.as_bytes().split_at(at);
    let has_end = |bytes: &[u8]| bytes.contains(&b'\n');
    let left = &before[before.len().saturating_sub(LONG)..];
    let right = &after[..after.len().min(LONG)];
    !has_end(left) && !has_end(right) && left.len() + right.len() > LONG
}

/// Nothing that could belong to a longer word touches the match.
fn stands_alone(rule: &SecretRule, text: &str, range: &Range<usize>) -> bool {
    (!rule.is_whole_word() || starts_fresh(text, range.start)) && !continues(text, range.end)
}

fn continues(text: &str, end: usize) -> bool {
    text.as_bytes().get(end).is_some_and(|byte| is_word(*byte))
}

/// A letter before a match may end an escape (`\n`, `%3D`, a terminal colour) and not a word.
fn starts_fresh(text: &str, start: usize) -> bool {
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

/// The end of the word that goes on at `end`, so that no tail of a secret stays behind.
fn run_end(text: &str, end: usize) -> usize {
    let rest = &text.as_bytes()[end..];
    end + rest.iter().take_while(|byte| is_word(**byte) || **byte == b'-').count()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
