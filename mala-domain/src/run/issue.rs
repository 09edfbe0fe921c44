//! Issues of a tracker, in one shape for all trackers.

use serde::{Deserialize, Serialize};

/// The id of an issue, as its tracker writes it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IssueId(pub String);

impl IssueId {
    /// The id with these characters.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// The characters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for IssueId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// An issue of a tracker. Its texts are untrusted data and decide nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrackerIssue {
    /// Its id.
    pub id: IssueId,
    /// One line.
    pub title: String,
    /// The description, with design and acceptance criteria, as Markdown.
    #[serde(default)]
    pub body: String,
    /// Notes that were added later.
    #[serde(default)]
    pub notes: String,
    /// The status.
    pub status: IssueStatus,
    /// Whether it is work or a group of work.
    pub kind: IssueKind,
    /// 0 is the most urgent.
    pub priority: u8,
    /// Its labels.
    #[serde(default)]
    pub labels: Vec<String>,
    /// The epic that it is in.
    #[serde(default)]
    pub parent: Option<IssueId>,
    /// The issues that must be closed before it: edges that block, never those that only relate.
    #[serde(default)]
    pub blocked_by: Vec<IssueId>,
    /// The assignee.
    #[serde(default)]
    pub assignee: Option<String>,
}

/// The status of an issue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IssueStatus {
    /// Not started.
    Open,
    /// Claimed.
    InProgress,
    /// Set aside by a person: blocked, deferred or a status that mala does not know.
    Blocked,
    /// Resolved, or closed as not to be done.
    Closed,
}

impl IssueStatus {
    /// The name in JSON and lists.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::InProgress => "in_progress",
            Self::Blocked => "blocked",
            Self::Closed => "closed",
        }
    }
}

/// Whether an issue is work or a group of work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IssueKind {
    /// A task, a bug, a feature or a chore.
    #[default]
    Work,
    /// A group of issues; no coder works on it.
    Epic,
}

/// An issue to be created.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssueDraft {
    /// One line.
    pub title: String,
    /// The description, as Markdown.
    pub body: String,
    /// The origin of the issue, one fact per line; a tracker without notes appends them to the
    /// body.
    pub notes: String,
    /// 0 to 3.
    pub priority: u8,
    /// At most `MAX_LABEL` characters each.
    pub labels: Vec<String>,
    /// Whether it is work or a group of work.
    #[serde(default)]
    pub kind: IssueKind,
    /// The epic that it is in.
    #[serde(default)]
    pub parent: Option<IssueId>,
    /// The issues that must be closed before it.
    #[serde(default)]
    pub blocked_by: Vec<IssueId>,
    /// The issue that it was found in. The link does not block, and is not a parent: the issue is
    /// not made incomplete by it.
    pub related_to: Option<IssueId>,
}

/// The longest label that every tracker accepts, in characters.
pub const MAX_LABEL: usize = 50;
