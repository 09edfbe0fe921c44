//! Finds secrets in text. One detector serves two ends: [`scan`] reports what a change would leak
//! and prefers silence to a false alarm; [`redact`] hides what must not reach a prompt, a log or a
//! file and prefers to hide too much.

mod checksum;
mod engine;
mod names;
mod path;
mod pem;
mod placeholder;
mod readability;
mod redact;
mod rule;
mod value;
mod word_list;

#[cfg(test)]
mod tests;

pub use redact::redact;
pub use rule::{Family, SecretRule, rules};

use crate::finding::Priority;
use engine::{Candidate, Lens};
use path::PathKind;

/// A secret found in a text.
#[derive(Clone, Copy)]
pub struct SecretMatch<'t> {
    /// The rule that found it.
    pub rule: &'static SecretRule,
    /// Where the secret starts, in bytes.
    pub start: usize,
    /// Where it ends, in bytes.
    pub end: usize,
    /// How sure we are that it is a secret, 0 to 1.
    pub confidence: f64,
    /// How urgent it is, given where it stands.
    pub priority: Priority,
    secret: &'t str,
}

impl<'t> SecretMatch<'t> {
    /// The secret itself. Show [`masked`] instead.
    pub fn secret(&self) -> &'t str {
        self.secret
    }
}

impl std::fmt::Debug for SecretMatch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretMatch")
            .field("rule", &self.rule.id)
            .field("range", &(self.start..self.end))
            .field("confidence", &self.confidence)
            .field("priority", &self.priority)
            .field("secret", &masked(self.secret))
            .finish()
    }
}

/// The secrets in `text`, in order and without overlap. `path` says what kind of file it is, and
/// may be empty.
pub fn scan<'t>(path: &str, text: &'t str) -> Vec<SecretMatch<'t>> {
    let kind = PathKind::of(path);
    let mut found: Vec<SecretMatch<'t>> = Vec::new();
    let mut candidates = engine::candidates(text, Lens::Report(kind));
    candidates.sort_by_key(|candidate| candidate.start);
    for candidate in candidates {
        let next = judge(candidate, kind, text);
        match found.last_mut() {
            Some(last) if next.start < last.end => {
                if outranks(&next, last) {
                    *last = next;
                }
            }
            _ => found.push(next),
        }
    }
    found
}

/// A secret as evidence may show it: its first four characters.
pub fn masked(secret: &str) -> String {
    let shown: String = secret.chars().take(4).collect();
    format!("{shown}…")
}

fn judge(candidate: Candidate, kind: PathKind, text: &str) -> SecretMatch<'_> {
    let Candidate { rule, start, end, verified } = candidate;
    let in_comment = rule.family == Family::Generic && is_commented(text, start);
    let doubtful = !verified && (kind == PathKind::Test || in_comment);
    // Keys of tests are mostly made for them.
    let made_for_test = kind == PathKind::Test && rule.family != Family::Token;
    let priority = if doubtful { rule.priority.lowered() } else { rule.priority };
    let confidence = if verified { rule.confidence.max(0.99) } else { rule.confidence };
    SecretMatch {
        rule,
        start,
        end,
        confidence: if doubtful { confidence * 0.7 } else { confidence },
        priority: if made_for_test { priority.max(Priority::P2) } else { priority },
        secret: &text[start..end],
    }
}

/// Whether the line of the byte `at` is a comment in one of the usual languages.
fn is_commented(text: &str, at: usize) -> bool {
    let line = text[..at].rsplit('\n').next().unwrap_or_default().trim_start();
    ["#", "//", "*", "/*", "--", ";", "<!--"].iter().any(|mark| line.starts_with(mark))
}

fn outranks(challenger: &SecretMatch<'_>, holder: &SecretMatch<'_>) -> bool {
    let length = |found: &SecretMatch<'_>| found.end - found.start;
    match challenger.confidence.total_cmp(&holder.confidence) {
        std::cmp::Ordering::Equal => length(challenger) > length(holder),
        order => order.is_gt(),
    }
}
