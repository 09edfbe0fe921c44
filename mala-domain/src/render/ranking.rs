//! Orders findings: worst first, and by file.

use crate::change::FilePath;
use crate::finding::{Finding, Priority};
use crate::report::Report;
use crate::verdict;

/// The findings of one file, worst first.
#[derive(Debug)]
pub(super) struct FileFindings<'r> {
    pub(super) file: &'r FilePath,
    pub(super) findings: Vec<&'r Finding>,
}

/// All findings, worst first; those of one priority in the order of the report.
pub(super) fn worst_first(report: &Report) -> Vec<&Finding> {
    let mut findings: Vec<&Finding> = report.issues.iter().collect();
    findings.sort_by_key(|finding| (!verdict::counts(finding), finding.effective_priority()));
    findings
}

/// Groups findings by file, the file with the worst finding first.
pub(super) fn by_file<'r>(worst_first: &[&'r Finding]) -> Vec<FileFindings<'r>> {
    let mut files: Vec<FileFindings<'r>> = Vec::new();
    let mut indices = std::collections::HashMap::new();
    for finding in worst_first {
        let index = *indices.entry(&finding.file).or_insert_with(|| {
            files.push(FileFindings { file: &finding.file, findings: Vec::new() });
            files.len() - 1
        });
        if let Some(group) = files.get_mut(index) {
            group.findings.push(finding);
        }
    }
    files
}

/// The three levels that most formats have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FindingLevel {
    /// P0 and P1.
    Error,
    /// P2.
    Warning,
    /// P3, and refuted findings.
    Note,
}

impl FindingLevel {
    /// The level of a finding.
    pub(super) fn of(finding: &Finding) -> Self {
        if !verdict::counts(finding) {
            return Self::Note;
        }
        Self::of_priority(finding.effective_priority())
    }

    /// The level of a priority.
    pub(super) fn of_priority(priority: Priority) -> Self {
        match priority {
            Priority::P0 | Priority::P1 => Self::Error,
            Priority::P2 => Self::Warning,
            Priority::P3 => Self::Note,
        }
    }
}
