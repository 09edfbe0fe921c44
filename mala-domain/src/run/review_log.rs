//! The log of cumulative reviews: event names, levels and fields. They are part of the contract, and
//! tools read them.

use super::baseline::{ReviewSkip, mode_name};
use super::triggers::TriggerKind;
use crate::config::Baseline;

/// The target of these events in the log.
pub const LOG_TARGET: &str = "cumulative_review";

/// The level of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogLevel {
    /// `ERROR`.
    Error,
    /// `WARN`.
    Warn,
    /// `INFO`.
    Info,
    /// `DEBUG`.
    Debug,
}

/// An event of a cumulative review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CumulativeEvent {
    /// A review starts.
    Started {
        /// The configured mode.
        mode: Baseline,
        /// The base.
        base: String,
        /// The head.
        head: String,
    },
    /// Nothing differs.
    EmptyDiff {
        /// The base.
        base: String,
        /// The head.
        head: String,
    },
    /// The diff is large.
    LargeDiff {
        /// Changed lines.
        lines: u64,
        /// The limit.
        threshold: u64,
        /// The base.
        base: String,
        /// The head.
        head: String,
    },
    /// No baseline.
    MissingBaseline {
        /// The configured mode.
        mode: Baseline,
    },
    /// A review ended.
    Completed {
        /// `success`, `skipped` or `failed`.
        status: &'static str,
        /// How many findings.
        findings: usize,
        /// How long it took.
        milliseconds: u64,
    },
    /// The baseline of a trigger advanced.
    BaselineAdvanced {
        /// From this commit.
        old: String,
        /// To this one.
        new: String,
    },
    /// A review could not be done.
    ReviewerError {
        /// The kind.
        kind: &'static str,
        /// The message.
        message: String,
    },
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// The level.
    pub level: LogLevel,
    /// The name of the event.
    pub message: &'static str,
    /// Names and values, in the order of the contract.
    pub fields: Vec<(&'static str, String)>,
}

impl CumulativeEvent {
    /// The line of the log.
    pub fn line(&self, trigger: TriggerKind) -> LogLine {
        let trigger_type = ("trigger_type", trigger.name().to_owned());
        let (level, message, fields): (_, _, Vec<(&'static str, String)>) = match self {
            Self::Started { mode, base, head } => (
                LogLevel::Info,
                "Review started",
                vec![
                    ("baseline_mode", mode_name(*mode).to_owned()),
                    ("baseline_sha", base.clone()),
                    ("head_sha", head.clone()),
                ],
            ),
            Self::EmptyDiff { base, head } => (
                LogLevel::Info,
                super::baseline::EMPTY_DIFF_TEXT,
                vec![
                    ("baseline_sha", base.clone()),
                    ("head_sha", head.clone()),
                    ("skip_reason", ReviewSkip::EmptyDiff.name().to_owned()),
                ],
            ),
            Self::LargeDiff { lines, threshold, base, head } => (
                LogLevel::Warn,
                "Large diff warning",
                vec![
                    ("diff_lines", lines.to_string()),
                    ("threshold", threshold.to_string()),
                    ("baseline_sha", base.clone()),
                    ("head_sha", head.clone()),
                ],
            ),
            Self::MissingBaseline { mode } => (
                LogLevel::Warn,
                "Missing baseline",
                vec![
                    ("baseline_mode", mode_name(*mode).to_owned()),
                    ("skip_reason", ReviewSkip::BaselineNotFound.name().to_owned()),
                ],
            ),
            Self::Completed { status, findings, milliseconds } => (
                LogLevel::Info,
                "Review completed",
                vec![
                    ("status", (*status).to_owned()),
                    ("finding_count", findings.to_string()),
                    ("duration_ms", milliseconds.to_string()),
                ],
            ),
            Self::BaselineAdvanced { old, new } => (
                LogLevel::Debug,
                "Baseline advanced",
                vec![("old_baseline", old.clone()), ("new_baseline", new.clone())],
            ),
            Self::ReviewerError { kind, message } => (
                LogLevel::Error,
                "Reviewer error",
                vec![("error_type", (*kind).to_owned()), ("error_message", message.clone())],
            ),
        };
        LogLine { level, message, fields: [vec![trigger_type], fields].concat() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(event: &CumulativeEvent) -> String {
        let line = event.line(TriggerKind::EpicCompletion);
        let fields: Vec<String> =
            line.fields.iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{:?} {LOG_TARGET}: {} {}", line.level, line.message, fields.join(" "))
    }

    /// Rows 003-209 to 003-218.
    #[test]
    fn events_have_their_level_and_fields() {
        let (base, head) = ("abc123".to_owned(), "def456".to_owned());
        let mode = Baseline::SinceLastReview;
        for (row, event, expected) in [
            (
                "003-209, 003-217, 003-218",
                CumulativeEvent::Started { mode, base: base.clone(), head: head.clone() },
                "Info cumulative_review: Review started trigger_type=epic_completion baseline_mode=since_last_review baseline_sha=abc123 head_sha=def456",
            ),
            (
                "003-210, 003-121",
                CumulativeEvent::EmptyDiff { base: base.clone(), head: head.clone() },
                "Info cumulative_review: No changes since baseline, skipping review trigger_type=epic_completion baseline_sha=abc123 head_sha=def456 skip_reason=empty_diff",
            ),
            (
                "003-211, 003-217",
                CumulativeEvent::LargeDiff {
                    lines: 7500,
                    threshold: 5000,
                    base: base.clone(),
                    head: head.clone(),
                },
                "Warn cumulative_review: Large diff warning trigger_type=epic_completion diff_lines=7500 threshold=5000 baseline_sha=abc123 head_sha=def456",
            ),
            (
                "003-212",
                CumulativeEvent::MissingBaseline { mode: Baseline::SinceRunStart },
                "Warn cumulative_review: Missing baseline trigger_type=epic_completion baseline_mode=since_run_start skip_reason=baseline_not_found",
            ),
            (
                "003-213, 003-217",
                CumulativeEvent::Completed { status: "success", findings: 3, milliseconds: 45000 },
                "Info cumulative_review: Review completed trigger_type=epic_completion status=success finding_count=3 duration_ms=45000",
            ),
            (
                "003-214, 003-217",
                CumulativeEvent::BaselineAdvanced { old: base, new: head },
                "Debug cumulative_review: Baseline advanced trigger_type=epic_completion old_baseline=abc123 new_baseline=def456",
            ),
            (
                "003-216",
                CumulativeEvent::ReviewerError { kind: "timeout", message: "timeout".to_owned() },
                "Error cumulative_review: Reviewer error trigger_type=epic_completion error_type=timeout error_message=timeout",
            ),
        ] {
            assert_eq!(text(&event), expected, "{row}");
        }
    }
}
