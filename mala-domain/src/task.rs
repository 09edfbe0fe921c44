//! Tasks: the record that the built-in tracker stores. An issue of `mala run` and a task of `mala task` are the
//! same record.

pub mod advice;
pub mod conclusion;
pub mod context;
pub mod json;
pub mod own_work;
pub mod plan;
pub mod review;
pub mod slash;
pub mod transitions;

use crate::run::issue::{IssueId, IssueKind, IssueStatus, MAX_LABEL, TrackerIssue};
use review::{ActiveReview, TaskReview};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The longest id.
const MAX_ID: usize = 64;

/// The longest title, in characters.
const MAX_TITLE: usize = 500;

/// The characters of ids that mala makes.
const ID_ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// The length of ids that mala makes, as long as they are free.
const ID_LENGTH: usize = 5;

/// A task or an issue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "Task of mala")]
pub struct TaskRecord {
    /// Its id.
    #[schemars(with = "String")]
    pub id: IssueId,
    /// One line.
    pub title: String,
    /// The work to do, as Markdown.
    #[serde(default)]
    pub scope: String,
    /// When it is done, as Markdown.
    #[serde(default)]
    pub acceptance: String,
    /// Notes that were added later.
    #[serde(default)]
    pub notes: String,
    /// The status.
    pub status: TaskStatus,
    /// Whether it is work or a group of work.
    #[schemars(with = "String")]
    pub kind: IssueKind,
    /// 0 is the most urgent.
    pub priority: u8,
    /// Its labels.
    #[serde(default)]
    pub labels: Vec<String>,
    /// The epic that it is in.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub parent: Option<IssueId>,
    /// The tasks that must be complete before it.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub blocked_by: Vec<IssueId>,
    /// The person or agent that works on it.
    #[serde(default)]
    pub claimed_by: Option<String>,
    /// The number of reviews that requested a revision.
    #[serde(default)]
    pub revision_count: u32,
    /// Why it was closed.
    #[serde(default)]
    pub close_reason: Option<String>,
    /// The commit at which the work on it started.
    #[serde(default)]
    pub start_commit: Option<String>,
    /// When the work on it started (RFC 3339).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// The work tree in which the work on it started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_tree: Option<String>,
    /// Its reviews, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reviews: Vec<TaskReview>,
    /// How many of its reviews are from before it was reopened.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub earlier_reviews: usize,
    /// The review that runs, or that was left open by a process that died.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_review: Option<ActiveReview>,
    /// When it was created (RFC 3339); empty until it is stored.
    #[serde(default)]
    pub created_at: String,
    /// When it was last changed (RFC 3339); empty until it is stored.
    #[serde(default)]
    pub updated_at: String,
}

/// The status of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum TaskStatus {
    /// Not started.
    Pending,
    /// Being worked on.
    InProgress,
    /// Done, and its review has not approved it yet.
    AwaitingReview,
    /// Done, or closed as not to be done.
    Complete,
    /// Set aside for a person.
    Blocked,
}

impl TaskStatus {
    /// All statuses.
    pub const ALL: [Self; 5] =
        [Self::Pending, Self::InProgress, Self::AwaitingReview, Self::Complete, Self::Blocked];

    /// The name that users see.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pending => "PENDING",
            Self::InProgress => "IN_PROGRESS",
            Self::AwaitingReview => "AWAITING_REVIEW",
            Self::Complete => "COMPLETE",
            Self::Blocked => "BLOCKED",
        }
    }

    /// The status as `mala run` sees it.
    pub fn issue_status(self) -> IssueStatus {
        match self {
            Self::Pending => IssueStatus::Open,
            Self::InProgress | Self::AwaitingReview => IssueStatus::InProgress,
            Self::Blocked => IssueStatus::Blocked,
            Self::Complete => IssueStatus::Closed,
        }
    }
}

/// The JSON Schema of a task.
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(TaskRecord)
}

impl TaskRecord {
    /// A pending task with this title. Its texts are made harmless for every place that they go to.
    pub fn new(id: IssueId, title: &str) -> Self {
        Self {
            id,
            title: one_line(title),
            scope: String::new(),
            acceptance: String::new(),
            notes: String::new(),
            status: TaskStatus::Pending,
            kind: IssueKind::Work,
            priority: 2,
            labels: Vec::new(),
            parent: None,
            blocked_by: Vec::new(),
            claimed_by: None,
            revision_count: 0,
            close_reason: None,
            start_commit: None,
            started_at: None,
            work_tree: None,
            reviews: Vec::new(),
            earlier_reviews: 0,
            active_review: None,
            created_at: String::new(),
            updated_at: String::new(),
        }
    }

    /// The issue that `mala run` sees.
    pub fn to_issue(&self) -> TrackerIssue {
        let mut body = self.scope.clone();
        if !self.acceptance.is_empty() {
            let gap = if body.is_empty() { "" } else { "\n\n" };
            body += &format!("{gap}## Acceptance criteria\n\n{}", self.acceptance);
        }
        TrackerIssue {
            id: self.id.clone(),
            title: self.title.clone(),
            body,
            notes: self.notes.clone(),
            status: self.status.issue_status(),
            kind: self.kind,
            priority: self.priority,
            labels: self.labels.clone(),
            parent: self.parent.clone(),
            blocked_by: self.blocked_by.clone(),
            assignee: self.claimed_by.clone(),
        }
    }

    /// Adds a note.
    pub fn add_note(&mut self, note: &str) {
        let gap = if self.notes.is_empty() { "" } else { "\n\n" };
        self.notes = clean_text(&format!("{}{gap}{note}", self.notes));
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// Whether a text can be an id: it names commits, folders and branches too.
pub fn is_id(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=MAX_ID).contains(&text.len())
        && text.chars().all(is_plain)
        && !text.starts_with(['-', '.'])
        && !text.ends_with('.')
        && !text.contains("..")
}

/// An id for a task with this title: the same title has the same id, as long as it is free.
pub fn make_id(title: &str, is_taken: impl Fn(&IssueId) -> bool) -> IssueId {
    let mut salt = 0_u32;
    loop {
        let digest = Sha256::digest(format!("{salt}\n{title}").as_bytes());
        let letters = digest.iter().map(|byte| {
            let index = usize::from(byte % 32);
            char::from(ID_ALPHABET.get(index).copied().unwrap_or(b'a'))
        });
        let id = IssueId(letters.take(ID_LENGTH).collect());
        if !is_taken(&id) {
            return id;
        }
        salt += 1;
    }
}

/// A title: one line without control characters.
pub fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    let line: String = line.chars().filter(|c| !c.is_control()).take(MAX_TITLE).collect();
    line.trim().to_owned()
}

/// A text of several lines: no control characters but tabs, no spaces at the ends of lines, no empty lines
/// around it.
pub fn clean_text(text: &str) -> String {
    let is_kept = |c: &char| *c == '\t' || *c == '\n' || !c.is_control();
    let text: String = text.replace("\r\n", "\n").chars().filter(is_kept).collect();
    let lines: Vec<&str> = text.split('\n').map(str::trim_end).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

/// A label that every tracker accepts; `None` if no valid character is left.
pub fn clean_label(label: &str) -> Option<String> {
    let is_kept = |c: &char| !c.is_control() && !c.is_whitespace() && *c != ',';
    let label: String = label.chars().filter(is_kept).take(MAX_LABEL).collect();
    (!label.is_empty()).then_some(label)
}

#[cfg(test)]
mod tests;
