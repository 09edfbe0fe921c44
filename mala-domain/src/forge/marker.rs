//! Hidden marks in comments: by them a later run finds its comments again. Marks count only in comments
//! that mala wrote.

use crate::change::FilePath;
use crate::finding::{Category, DedupeKey, Finding, FindingState, Priority, Verification};
use crate::render::at_most;
use crate::report::Report;
use crate::secrets::redact;
use serde::{Deserialize, Serialize};

const SUMMARY: &str = "<!-- code-review-agent:review_id=";
const STATE: &str = "<!-- mala:state ";
const FINDING: &str = "<!-- mala:finding=";
const ANSWER: &str = "<!-- mala:answer=";
const END: &str = " -->";

/// The state that a summary comment stores for the next run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryState {
    /// The reviewed commit.
    pub head: String,
    /// When the review started, in a form that sorts by time.
    pub started: String,
    /// The hash of the text without times and cost.
    pub digest: String,
    /// The findings whose lines the forge refused.
    #[serde(default)]
    pub rejected: Vec<String>,
    /// The threads that mala resolved.
    #[serde(default)]
    pub resolved: Vec<u64>,
    /// The last comment with `/mala review` that a review answered.
    #[serde(default)]
    pub answered: u64,
}

/// The first two lines of a summary comment.
pub fn summary_marker(review_id: &str, state: &SummaryState) -> String {
    // A struct of strings and numbers always serializes.
    let json = serde_json::to_string(state).unwrap_or_default();
    // A comment ends at the first `--` and `>`.
    let json = json.replace('>', "\\u003e");
    format!("{SUMMARY}{review_id}{END}\n{STATE}{json}{END}\n")
}

/// The state of a summary comment; `None` for other comments. Without a readable state it is empty.
pub fn read_summary(body: &str) -> Option<SummaryState> {
    let mut lines = body.lines();
    let id = lines.next()?.trim_end().strip_prefix(SUMMARY)?.strip_suffix(END)?;
    if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let state =
        lines.next().and_then(|line| line.trim_end().strip_prefix(STATE)?.strip_suffix(END));
    Some(state.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default())
}

/// The data that a comment stores about its finding: enough to recognise it without a ledger, for
/// example on a fresh CI machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CommentedFinding {
    /// The review that reported it first.
    pub review: String,
    /// The identity at that time.
    pub key: DedupeKey,
    /// The file.
    pub file: FilePath,
    /// The first and the last line.
    pub lines: (u32, u32),
    /// The priority.
    pub priority: Option<Priority>,
    /// The kind of problem.
    pub category: Category,
    /// The summary in one line.
    pub title: String,
    /// The enclosing function or class.
    pub symbol: Option<String>,
    /// The lines that support it.
    pub evidence: String,
    /// The rule that reported it.
    pub rule: Option<String>,
    /// The reviewer that reported it.
    pub reviewer: String,
}

/// The longest evidence that a comment remembers, in bytes.
const MAX_EVIDENCE: usize = 2000;

impl CommentedFinding {
    /// The data to store about a finding; `None` if its evidence is too long.
    pub fn of(finding: &Finding, review: &str) -> Option<Self> {
        (finding.evidence_snippet.len() <= MAX_EVIDENCE).then(|| Self {
            review: finding.first_seen.clone().unwrap_or_else(|| review.to_owned()),
            key: finding.dedupe_key.clone(),
            file: finding.file.clone(),
            lines: (finding.line_start, finding.line_end),
            priority: finding.priority,
            category: finding.category,
            title: at_most(&finding.title, 300).into_owned(),
            symbol: finding.symbol.clone(),
            evidence: redact(&finding.evidence_snippet).into_owned(),
            rule: finding.rule.clone(),
            reviewer: finding.reviewer.clone(),
        })
    }

    /// The finding, with its title for its text.
    pub fn finding(&self) -> Finding {
        Finding {
            file: self.file.clone(),
            line_start: self.lines.0,
            line_end: self.lines.1,
            priority: self.priority,
            severity: self.priority.unwrap_or(Priority::P2).severity(),
            category: self.category,
            title: self.title.clone(),
            body: self.title.clone(),
            suggestion: None,
            evidence_snippet: self.evidence.clone(),
            confidence: 1.0,
            language: None,
            reviewer: self.reviewer.clone(),
            rule: self.rule.clone(),
            dedupe_key: self.key.clone(),
            symbol: self.symbol.clone(),
            verification: Verification::default(),
            state: FindingState::Open,
            first_seen: Some(self.review.clone()),
            also_reported_by: Vec::new(),
            also_at: Vec::new(),
            is_note: false,
            on_changed_lines: true,
        }
    }
}

/// An id in a report that mala did not create. The report may come from another job, and markers
/// contain the ids.
pub fn invalid_id(report: &Report) -> Option<&str> {
    let tracking = report.tracking.iter();
    let tracked = tracking.flat_map(|it| {
        let aside = it.set_aside.iter().chain(&it.unknown).map(|it| &it.id);
        it.issues.iter().map(|it| &it.id).chain(aside)
    });
    let findings = report.issues.iter().chain(&report.notes).map(|it| it.dedupe_key.as_str());
    let ids = std::iter::once(report.review_id.as_str()).chain(findings);
    let is_valid =
        |id: &str| (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    ids.chain(tracked.map(|id| id.0.as_str())).find(|id| !is_valid(id))
}

/// The last line of a comment about a finding.
pub fn finding_marker(id: &str, remembered: Option<&CommentedFinding>) -> String {
    let json = remembered.and_then(|finding| serde_json::to_string(finding).ok());
    // Neither the start nor the end of a comment.
    let json = json.map(|json| json.replace('<', "\\u003c").replace('>', "\\u003e"));
    let json = json.map(|json| format!(" {json}")).unwrap_or_default();
    format!("{FINDING}{id}{json}{END}\n")
}

/// The id of the finding that a comment is about.
pub fn finding_id(body: &str) -> Option<&str> {
    let marked = marked_finding(body)?;
    Some(marked.split_once(' ').map_or(marked, |(id, _)| id))
}

/// The data that a comment stores about its finding.
pub fn commented_finding(body: &str) -> Option<CommentedFinding> {
    let (_, json) = marked_finding(body)?.split_once(' ')?;
    serde_json::from_str(json).ok()
}

fn marked_finding(body: &str) -> Option<&str> {
    last_marked(body, FINDING)
}

/// The last mark of this kind: a person may have added text after it.
fn last_marked<'b>(body: &'b str, kind: &str) -> Option<&'b str> {
    body.lines().rev().find_map(|line| line.trim_end().strip_prefix(kind)?.strip_suffix(END))
}

/// The last line of an answer to a command.
pub fn answer_marker(command: u64) -> String {
    format!("{ANSWER}{command}{END}\n")
}

/// The comment that an answer is for.
pub fn answered_command(body: &str) -> Option<u64> {
    last_marked(body, ANSWER)?.parse().ok()
}
