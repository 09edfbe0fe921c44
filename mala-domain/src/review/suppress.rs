//! Inline suppressions: a comment `mala: ignore[rule] reason` on the finding's first line, or alone
//! on the line above, suppresses the finding. Suppressed findings are counted and shown. A comment
//! without a reason suppresses nothing.

mod warnings;

pub use warnings::suppression_warnings;

use crate::change::FilePath;
use crate::finding::Finding;
use crate::review::FileTexts;
use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::LazyLock;

/// A finding that a comment in the code sets aside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuppressedFinding {
    /// The suppressed finding.
    pub finding: Finding,
    /// The comment's line at head.
    pub line: u32,
    /// The reason in the comment.
    pub reason: String,
}

/// The findings after suppression.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SuppressionResult {
    /// The findings that are not suppressed.
    pub findings: Vec<Finding>,
    /// The suppressed findings.
    pub suppressed: Vec<SuppressedFinding>,
    /// Warnings about comments that name a finding's rule without a reason.
    pub warnings: Vec<String>,
}

/// Which comments count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SuppressionPolicy {
    /// All comments at head.
    #[default]
    All,
    /// Only comments that were there before the change: a change cannot excuse itself.
    Trusted,
    /// None.
    Off,
}

#[expect(clippy::expect_used, reason = "a constant pattern, compiled by every test")]
static COMMENT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?:#|//|--|/\*|<!--|;)\s*mala:\s*ignore\[([\w/:*.,@ -]+)\]\s*(.*?)\s*(?:\*/|-->)?\s*$",
    )
    .expect("the pattern is valid")
});

/// Suppresses the findings that a comment at head names. `is_added` says whether the change added a
/// line.
pub fn apply_suppressions(
    findings: Vec<Finding>,
    texts: &FileTexts,
    policy: SuppressionPolicy,
    is_added: &dyn Fn(&Finding, u32) -> bool,
) -> SuppressionResult {
    let mut remaining = SuppressionResult::default();
    let mut lines: HashMap<FilePath, Vec<&str>> = HashMap::new();
    for finding in findings {
        // A file is split once, however many findings it has.
        if !lines.contains_key(&finding.file) {
            let text = texts.at_head(&finding.file).unwrap_or_default();
            lines.insert(finding.file.clone(), text.lines().collect());
        }
        let of_file = lines.get(&finding.file).map(Vec::as_slice).unwrap_or_default();
        match suppression_comment(&finding, of_file, policy, is_added) {
            Some(SuppressionComment { line, reason }) if !reason.is_empty() => {
                remaining.suppressed.push(SuppressedFinding { finding, line, reason });
            }
            Some(SuppressionComment { line, .. }) => {
                remaining.warnings.push(format!(
                    "{}:{line}: 'mala: ignore' gives no reason, so nothing is ignored",
                    finding.file
                ));
                remaining.findings.push(finding);
            }
            None => remaining.findings.push(finding),
        }
    }
    remaining
}

struct SuppressionComment {
    line: u32,
    reason: String,
}

fn suppression_comment(
    finding: &Finding,
    lines: &[&str],
    policy: SuppressionPolicy,
    is_added: &dyn Fn(&Finding, u32) -> bool,
) -> Option<SuppressionComment> {
    let rule = finding.rule.as_deref()?;
    if policy == SuppressionPolicy::Off {
        return None;
    }
    let line_at = |number: u32| {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        lines.get(index).map(|line| (number, *line))
    };
    let own = line_at(finding.line_start);
    let above = finding.line_start.checked_sub(1).and_then(line_at);
    let above = above.filter(|(_, line)| is_comment_only(line));
    [own, above]
        .into_iter()
        .flatten()
        .filter(|(line, _)| policy == SuppressionPolicy::All || !is_added(finding, *line))
        .find_map(|(line, text)| {
            let found = COMMENT.captures(text)?;
            let names = found.get(1)?.as_str();
            let reason = found.get(2).map_or("", |reason| reason.as_str()).to_owned();
            names
                .split(',')
                .any(|name| name.trim() == rule)
                .then_some(SuppressionComment { line, reason })
        })
}

fn is_comment_only(line: &str) -> bool {
    let line = line.trim_start();
    ["#", "//", "--", "/*", "<!--", ";", "{/*"].iter().any(|start| line.starts_with(start))
}
