//! Hidden marks in comments: by them a later run finds its comments again. Marks count only in comments
//! that mala wrote.

use serde::{Deserialize, Serialize};

const SUMMARY: &str = "<!-- code-review-agent:review_id=";
const STATE: &str = "<!-- mala:state ";
const FINDING: &str = "<!-- mala:finding=";
const END: &str = " -->";

/// What a summary comment remembers for the next run.
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

/// The last line of a comment about a finding.
pub fn finding_marker(id: &str) -> String {
    format!("{FINDING}{id}{END}\n")
}

/// The finding that a comment is about.
pub fn finding_id(body: &str) -> Option<&str> {
    body.trim_end().lines().next_back()?.strip_prefix(FINDING)?.strip_suffix(END)
}
