//! How findings were checked: the reviewer that found each, the one that checked it, and the
//! outcome.

use crate::finding::{Finding, VerificationOutcome};
use crate::report::Report;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a finding was checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateCheckJson {
    /// The key of the finding.
    pub finding: String,
    /// Its file and first line.
    pub location: String,
    /// The reviewers that found it.
    pub found_by: Vec<String>,
    /// The reviewer that checked it; null if mala checked it or if it was not checked.
    pub checked_by: Option<String>,
    /// The outcome.
    pub outcome: VerificationOutcome,
    /// Why.
    pub how: Option<String>,
}

/// Describes who found a finding, who checked it, and the outcome.
pub fn check_words(check: &GateCheckJson) -> String {
    let found = format!("found by {}", check.found_by.join(", "));
    let how = check.how.as_deref().map(|how| format!(": {how}")).unwrap_or_default();
    match (check.outcome, &check.checked_by) {
        (VerificationOutcome::Verified, Some(by)) => format!("{found}, confirmed by {by}"),
        (VerificationOutcome::Verified, None) => format!("{found}, confirmed{how}"),
        (VerificationOutcome::Corrected, Some(by)) => {
            format!("{found}, confirmed with another consequence by {by}")
        }
        (VerificationOutcome::Corrected, None) => {
            format!("{found}, confirmed with another consequence{how}")
        }
        (VerificationOutcome::Refuted, Some(by)) => format!("{found}, refuted by {by}"),
        (VerificationOutcome::Refuted, None) => format!("{found}, refuted{how}"),
        (_, Some(by)) => format!("{found}, checked by {by} without a result"),
        (_, None) => format!("{found}, not checked{how}"),
    }
}

/// How a finding was checked, by one of these reviewers.
pub(super) fn check(finding: &Finding, names: &[&str]) -> GateCheckJson {
    GateCheckJson {
        finding: finding.dedupe_key.to_string(),
        location: format!("{}:{}", finding.file, finding.line_start),
        found_by: finding.reporters().map(str::to_owned).collect(),
        checked_by: checked_by(finding, names).map(str::to_owned),
        outcome: finding.verification.outcome,
        how: finding.verification.how.clone(),
    }
}

/// The reviewer that checked a finding: its check starts with its name.
pub(super) fn checked_by<'n>(finding: &Finding, names: &[&'n str]) -> Option<&'n str> {
    let (name, _) = finding.verification.how.as_deref()?.split_once(':')?;
    names.iter().copied().find(|known| *known == name || name.starts_with(&format!("{known} ")))
}

/// Everything that can have checked a finding.
pub(super) fn checkers(report: &Report) -> Vec<&str> {
    let agent = report.checker.iter().map(|checker| checker.reviewer.as_str());
    report.reviewers.iter().map(|it| it.reviewer.as_str()).chain(agent).collect()
}
