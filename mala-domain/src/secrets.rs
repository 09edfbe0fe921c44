//! Detects secrets in text. [`scan`] reports the secrets that a change would leak and avoids false
//! alarms. [`redact`] hides secrets from prompts, logs and files and rather hides too much.

mod checksum;
mod names;
mod path;
mod pem;
mod placeholder;
mod readability;
mod redact;
mod rule;
mod search;
mod value;

#[cfg(test)]
mod tests;

pub use redact::redact;
pub use rule::{SecretFamily, SecretRule, rules};

use crate::finding::Priority;
use path::PathKind;
use search::{SearchPurpose, SecretCandidate};

/// A secret found in a text.
#[derive(Clone, Copy)]
pub struct SecretMatch<'t> {
    /// The rule that found it.
    pub rule: &'static SecretRule,
    /// Start of the secret, in bytes.
    pub start: usize,
    /// End of the secret, in bytes.
    pub end: usize,
    /// The probability that it is a secret, 0 to 1.
    pub confidence: f64,
    /// The priority, depending on the rule and the kind of file.
    pub priority: Priority,
    secret: &'t str,
}

impl<'t> SecretMatch<'t> {
    /// The secret itself. Use [`masked`] for output.
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

/// The secrets in `text`, in order and without overlaps. `path` determines the kind of file and may
/// be empty.
pub fn scan<'t>(path: &str, text: &'t str) -> Vec<SecretMatch<'t>> {
    let kind = PathKind::of(path);
    let mut found: Vec<SecretMatch<'t>> = Vec::new();
    let mut candidates = search::candidates(text, SearchPurpose::Report(kind));
    candidates.sort_by_key(|candidate| candidate.start);
    for candidate in candidates {
        let next = rate(candidate, kind, text);
        match found.last_mut() {
            Some(last) if next.start < last.end => {
                if is_better(&next, last) {
                    *last = next;
                }
            }
            _ => found.push(next),
        }
    }
    found
}

/// The form of a secret for output: its first four characters.
pub fn masked(secret: &str) -> String {
    let shown: String = secret.chars().take(4).collect();
    format!("{shown}…")
}

fn rate(candidate: SecretCandidate, kind: PathKind, text: &str) -> SecretMatch<'_> {
    let SecretCandidate { rule, start, end, verified } = candidate;
    let in_comment = rule.family == SecretFamily::Generic && is_commented(text, start);
    let doubtful = !verified && (kind == PathKind::Test || in_comment);
    // Keys of tests are mostly made for them.
    let made_for_test = kind == PathKind::Test && rule.family != SecretFamily::Token;
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

/// Whether the line at byte `at` is a comment in a common language.
fn is_commented(text: &str, at: usize) -> bool {
    let line = text[..at].rsplit('\n').next().unwrap_or_default().trim_start();
    ["#", "//", "*", "/*", "--", ";", "<!--"].iter().any(|mark| line.starts_with(mark))
}

fn is_better(candidate: &SecretMatch<'_>, current: &SecretMatch<'_>) -> bool {
    let length = |found: &SecretMatch<'_>| found.end - found.start;
    match candidate.confidence.total_cmp(&current.confidence) {
        std::cmp::Ordering::Equal => length(candidate) > length(current),
        order => order.is_gt(),
    }
}
