//! A place in a file that a rule matches, and the finding it claims.

use super::rule::Rule;
use super::template::{self, Captures};
use mala_domain::change::{FilePath, LineSpan};
use mala_domain::finding::{ReviewClaim, Verification};
use std::ops::Range;
use std::sync::Arc;

/// Longer matches are reported by their first lines.
const MAX_LINES: u32 = 5;

/// The reviewer that rules speak as.
const REVIEWER: &str = "builtin";

/// A place that a rule matches.
#[derive(Clone)]
pub struct RuleMatch {
    /// The rule.
    pub rule: Arc<Rule>,
    /// The reported lines.
    pub span: LineSpan,
    /// The matched text.
    pub bytes: Range<usize>,
    /// The texts that the metavariables matched.
    pub captures: Captures,
    /// The failure, with names filled in.
    pub message: String,
    /// How to fix it, with names filled in.
    pub suggestion: String,
}

/// A place that a rule matches, before its texts are made.
pub(super) struct MatchedPlace<'r> {
    pub(super) rule: &'r Arc<Rule>,
    pub(super) bytes: Range<usize>,
    pub(super) because: Option<Range<usize>>,
    pub(super) captures: Captures,
}

impl MatchedPlace<'_> {
    /// Whether the match, or its cause, is on one of these lines.
    pub(super) fn meets(&self, spans: &[LineSpan], lines: &LineStarts) -> bool {
        let meets = |bytes| {
            let reported = lines.reported(bytes);
            spans.iter().any(|span| span.overlaps(reported))
        };
        meets(&self.bytes) || self.because.as_ref().is_some_and(meets)
    }
}

impl RuleMatch {
    pub(super) fn new(place: MatchedPlace<'_>, lines: &LineStarts) -> Self {
        let rule = Arc::clone(place.rule);
        Self {
            span: lines.reported(&place.bytes),
            message: template::fill(&rule.message, &place.captures),
            suggestion: template::fill(&rule.suggestion, &place.captures),
            rule,
            bytes: place.bytes,
            captures: place.captures,
        }
    }

    pub(super) fn order(&self) -> (usize, usize, &str) {
        (self.bytes.start, self.bytes.end, &self.rule.id)
    }

    pub(super) fn says_the_same_as(&self, other: &Self) -> bool {
        self.rule.id == other.rule.id && self.span == other.span && self.message == other.message
    }

    /// The finding it claims in this file.
    pub fn candidate(&self, file: &FilePath) -> ReviewClaim {
        let rule = &self.rule;
        ReviewClaim {
            file: file.clone(),
            span: self.span,
            priority: Some(rule.priority),
            category: rule.category,
            title: rule.title.clone(),
            body: self.message.clone(),
            suggestion: (!self.suggestion.is_empty()).then(|| self.suggestion.clone()),
            evidence: None,
            confidence: rule.confidence,
            reviewer: REVIEWER.to_owned(),
            rule: Some(rule.id.clone()),
            verification: Verification::verified(format!("syntax rule {}", rule.id)),
        }
    }
}

/// The offsets of the lines of a text.
pub(super) struct LineStarts(Vec<usize>);

impl LineStarts {
    pub(super) fn of(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect())
    }

    /// The lines to report for a byte range: the first few of them.
    fn reported(&self, bytes: &Range<usize>) -> LineSpan {
        let first = self.line_of(bytes.start);
        let last = self.line_of(bytes.end.saturating_sub(1).max(bytes.start));
        LineSpan::between(first, last.min(first.saturating_add(MAX_LINES - 1)))
    }

    fn line_of(&self, byte: usize) -> u32 {
        u32::try_from(self.0.partition_point(|start| *start <= byte)).unwrap_or(u32::MAX)
    }
}
