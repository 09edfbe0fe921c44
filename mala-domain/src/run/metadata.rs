//! `run_metadata.json`: identifies a run and stores where its reviews start. Older formats can be
//! read.

use super::issue::IssueId;
use super::readiness::IssueSelection;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The metadata of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunMetadata {
    /// The version of this shape.
    #[serde(default)]
    pub version: u32,
    /// A UUID.
    pub run_id: String,
    /// The selected issues.
    #[serde(default)]
    pub selection: IssueSelection,
    /// The commit where the run started.
    #[serde(default)]
    pub run_start_commit: Option<String>,
    /// The commit that each trigger reviewed last, by `baseline_key`.
    #[serde(default)]
    pub last_cumulative_review_commits: BTreeMap<String, String>,
    /// Whether reviews are enabled.
    #[serde(default, alias = "codex_review", alias = "codex_review_enabled")]
    pub review_enabled: bool,
    /// The status of each issue.
    #[serde(default)]
    pub issues: BTreeMap<IssueId, IssueEntry>,
}

/// The status of an issue.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssueEntry {
    /// `succeeded`, `failed` or `in_progress`.
    #[serde(default)]
    pub status: String,
    /// The folder of its last review.
    #[serde(default, alias = "codex_review_log_path", skip_serializing_if = "Option::is_none")]
    pub review_log_path: Option<String>,
}

/// The version of the metadata.
pub const METADATA_VERSION: u32 = 1;

/// How a run starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStart {
    /// With a new id and no baselines.
    Fresh,
    /// With the id and the baselines of the stored run.
    Resumed,
}

/// The requested kind of start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StartRequest {
    /// Neither `--resume` nor `--fresh`.
    #[default]
    Detect,
    /// `--resume`.
    Resume,
    /// `--fresh`.
    Fresh,
}

/// How to start a run; `None` if there is nothing to resume. By default, a run with the same
/// selection of issues is resumed.
pub fn start(
    stored: Option<&RunMetadata>,
    selection: &IssueSelection,
    request: StartRequest,
) -> Option<RunStart> {
    match (request, stored) {
        (StartRequest::Fresh, _) | (StartRequest::Detect, None) => Some(RunStart::Fresh),
        (StartRequest::Resume, None) => None,
        (StartRequest::Resume, Some(_)) => Some(RunStart::Resumed),
        (StartRequest::Detect, Some(stored)) => match stored.selection == *selection {
            true => Some(RunStart::Resumed),
            false => Some(RunStart::Fresh),
        },
    }
}

/// The issues to work on. `--resume` without a selection uses the selection of the stored run.
pub fn resumed_selection(
    stored: Option<&RunMetadata>,
    selection: IssueSelection,
    request: StartRequest,
) -> IssueSelection {
    let is_given = selection != IssueSelection::default();
    match stored.filter(|_| request == StartRequest::Resume && !is_given) {
        Some(stored) => stored.selection.clone(),
        None => selection,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(ids: &[&str]) -> IssueSelection {
        let issues = ids.iter().map(|id| IssueId::new(*id)).collect();
        IssueSelection { issues, epic: None }
    }

    /// Rows 003-102 to 003-106.
    #[test]
    fn the_same_selection_is_resumed() {
        let stored = RunMetadata { selection: selection(&["A", "B"]), ..RunMetadata::default() };
        for (row, stored, asked, request, expected) in [
            ("003-102", None, &["A"][..], StartRequest::Detect, Some(RunStart::Fresh)),
            ("003-103", Some(&stored), &["A", "B"], StartRequest::Fresh, Some(RunStart::Fresh)),
            ("003-104", Some(&stored), &["A", "B"], StartRequest::Detect, Some(RunStart::Resumed)),
            ("003-105", Some(&stored), &["B"], StartRequest::Detect, Some(RunStart::Fresh)),
            // Another folder has no metadata.
            ("003-106", None, &["A", "B"], StartRequest::Detect, Some(RunStart::Fresh)),
            ("resume", Some(&stored), &["B"], StartRequest::Resume, Some(RunStart::Resumed)),
            ("nothing to resume", None, &[], StartRequest::Resume, None),
        ] {
            assert_eq!(start(stored, &selection(asked), request), expected, "{row}");
        }
    }

    #[test]
    fn a_resumed_run_goes_on_with_the_issues_that_were_asked_for() {
        let stored = RunMetadata { selection: selection(&["A"]), ..RunMetadata::default() };
        for (request, asked, expected) in [
            (StartRequest::Resume, &[][..], &["A"][..]),
            (StartRequest::Resume, &["B"], &["B"]),
            (StartRequest::Detect, &[], &[]),
        ] {
            let chosen = resumed_selection(Some(&stored), selection(asked), request);
            assert_eq!(chosen, selection(expected), "{request:?} {asked:?}");
        }
        let none = resumed_selection(None, selection(&[]), StartRequest::Resume);
        assert_eq!(none, selection(&[]));
    }

    /// Rows 003-071, 003-075, 003-076, 003-077, 001-126, 001-127, 001-143 and 001-151.
    #[test]
    fn older_metadata_loads() {
        let text = r#"{"run_id": "r", "codex_review": true,
            "issues": {"x": {"status": "failed", "codex_review_log_path": "p"}}}"#;
        let read: RunMetadata = serde_json::from_str(text).unwrap();
        assert_eq!(read.run_start_commit, None, "003-075");
        assert!(read.last_cumulative_review_commits.is_empty(), "003-076");
        assert!(read.review_enabled, "003-077");
        let written = serde_json::to_value(&read).unwrap();
        assert_eq!(written["review_enabled"], true, "001-126");
        assert_eq!(written["issues"]["x"]["review_log_path"], "p", "001-143, 001-151");
        assert_eq!(written["last_cumulative_review_commits"], serde_json::json!({}), "003-071");
        assert!(!written.to_string().contains("codex"), "001-127");
    }
}
