//! One finding: priority and title, code frame, description, fix and notes.

use super::frame::frame;
use super::{TerminalOptions, TerminalPage, wrap};
use crate::finding::{Finding, FindingState, Priority, VerificationOutcome};
use crate::render::ranking::FindingLevel;
use crate::render::visible::{at_most, one_line, visible};
use crate::render::wording;

/// Findings of this reviewer are shown without its name.
const BUILTIN: &str = "builtin";
/// Maximum number of lines of prose per finding.
const MOST_LINES: usize = 40;

/// Adds one finding.
pub(super) fn write(finding: &Finding, source: Option<&str>, out: &mut TerminalPage) {
    title(finding, out);
    for line in frame(finding, source, &out.options) {
        out.line(&line);
    }
    prose("", &finding.body, out);
    if let Some(suggestion) = finding.suggestion.as_deref().filter(|text| !text.trim().is_empty()) {
        prose("fix: ", suggestion, out);
    }
    let notes = notes(finding, &out.options);
    if !notes.is_empty() {
        let styles = out.options.styles();
        out.wrapped(&one_line(&notes.join("; ")), 2, |line| styles.dim(line));
    }
}

fn title(finding: &Finding, out: &mut TerminalPage) {
    let styles = out.options.styles();
    let priority = finding.effective_priority();
    let badge = format!("{priority} {}", finding.severity.name());
    let rule = finding.rule.as_deref().map(one_line).filter(|rule| !rule.is_empty());
    let title = one_line(&at_most(&finding.title, 400));
    let text = match rule {
        Some(rule) => format!("{title} [{}]", at_most(&rule, 120)),
        None => title,
    };
    out.labelled(&styles.level(FindingLevel::of(finding), &badge), &badge, &text);
}

fn prose(label: &str, text: &str, out: &mut TerminalPage) {
    let text = format!("{label}{}", visible(text.trim()));
    let width = out.options.width.saturating_sub(2);
    let lines = wrap::wrap(&text, width);
    for line in lines.iter().take(MOST_LINES) {
        out.line(format!("  {line}").trim_end());
    }
    if lines.len() > MOST_LINES {
        let dots = out.options.ellipsis();
        out.line(&format!("  {dots} {} more lines", lines.len() - MOST_LINES));
    }
}

fn notes(finding: &Finding, options: &TerminalOptions) -> Vec<String> {
    let mut notes = Vec::new();
    if finding.reviewer != BUILTIN {
        notes.push(format!("by {}", finding.reviewer));
    }
    if !finding.also_reported_by.is_empty() {
        notes.push(format!("also reported by {}", finding.also_reported_by.join(", ")));
    }
    if !finding.also_at.is_empty() {
        notes.push(format!("also at {}", wording::places(&finding.also_at)));
    }
    let how = finding.verification.how.as_deref();
    match finding.verification.outcome {
        VerificationOutcome::Refuted => {
            let by = how.map(|how| format!(" by {how}")).unwrap_or_default();
            notes.push(format!("refuted{by}"));
        }
        VerificationOutcome::Verified if options.verbose => {
            notes.push(
                how.map_or_else(|| "verified".to_owned(), |how| format!("verified by {how}")),
            );
        }
        VerificationOutcome::Corrected if options.verbose => {
            notes.extend(how.map(|how| format!("corrected by {how}")));
        }
        VerificationOutcome::NotChecked if blocks_unchecked(finding) => {
            notes.extend(how.map(str::to_owned));
        }
        VerificationOutcome::Unsure if blocks_unchecked(finding) => {
            notes.extend(how.map(|how| format!("not verified: {how}")));
        }
        VerificationOutcome::Verified
        | VerificationOutcome::Corrected
        | VerificationOutcome::Unsure
        | VerificationOutcome::NotChecked
        | VerificationOutcome::Unverified => {}
    }
    if let Some(state) = state(finding.state) {
        notes.push(state.to_owned());
    }
    if !finding.on_changed_lines {
        notes.push("not on a changed line, but affected by the change".to_owned());
    }
    if options.verbose {
        notes.push(format!("{} {:.2}", finding.category, finding.confidence));
        notes.push(format!("id {}", finding.dedupe_key));
    }
    notes
}

/// Whether it is an urgent finding of a model that was not verified.
fn blocks_unchecked(finding: &Finding) -> bool {
    finding.reviewer != BUILTIN && finding.effective_priority() <= Priority::P1
}

fn state(state: FindingState) -> Option<&'static str> {
    match state {
        FindingState::Open => None,
        FindingState::Fixed => Some("fixed"),
        FindingState::Regressed => Some("regressed"),
        FindingState::Waived => Some("waived"),
        FindingState::Disputed => Some("disputed"),
        FindingState::Duplicate => Some("duplicate"),
    }
}
