//! Issues as JSON. Tools named `bd` print several dialects: arrays, or objects around them, and different names
//! for the same fields. All are read here into one record. JSON Lines are written with the field names that most
//! of these tools use.

use super::{TaskRecord, TaskStatus, clean_label, clean_text, is_id, make_id, one_line};
use crate::run::issue::{IssueId, IssueKind};
use serde_json::{Value, json};

/// The imported tasks, and warnings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportedTasks {
    /// The records, in the order of the file.
    pub tasks: Vec<TaskRecord>,
    /// The skipped entries, with their lines.
    pub warnings: Vec<String>,
}

/// The issues in an answer: an array or one issue, at the top level or inside `data` or `issues`.
pub fn issues_in(answer: &Value) -> Option<Vec<&Value>> {
    match answer {
        Value::Array(items) => Some(items.iter().collect()),
        Value::Object(fields) if fields.get("id").is_some_and(Value::is_string) => {
            Some(vec![answer])
        }
        Value::Object(fields) => {
            ["data", "issues"].iter().find_map(|name| issues_in(fields.get(*name)?))
        }
        _ => None,
    }
}

/// The record that a JSON object describes; `None` without an id or a title.
pub fn task_of(value: &Value) -> Option<TaskRecord> {
    let id = IssueId::new(value.get("id")?.as_str()?);
    let mut task = TaskRecord::new(id, text(value, &["title"])?);
    let design = text(value, &["design"]).map(|design| format!("\n\n## Design\n\n{design}"));
    let scope = text(value, &["description", "scope", "body"]).unwrap_or_default();
    task.scope = clean_text(&format!("{scope}{}", design.unwrap_or_default()));
    let acceptance = text(value, &["acceptance_criteria", "acceptance"]);
    task.acceptance = clean_text(acceptance.unwrap_or_default());
    task.notes = notes_of(value);
    task.status = status_of(text(value, &["status"]).unwrap_or("open"));
    let kind = text(value, &["issue_type", "type", "kind"]);
    task.kind = if kind == Some("epic") { IssueKind::Epic } else { IssueKind::Work };
    task.priority = priority_of(value.get("priority"));
    task.labels = labels_of(value);
    task.claimed_by = text(value, &["assignee", "claimed_by"]).map(one_line);
    task.close_reason = text(value, &["close_reason", "closed_reason"]).map(str::to_owned);
    task.start_commit = text(value, &["start_commit"]).map(str::to_owned);
    let revisions = value.get("revision_count").and_then(Value::as_u64);
    task.revision_count = revisions.and_then(|it| u32::try_from(it).ok()).unwrap_or_default();
    task.created_at = text(value, &["created_at"]).map(one_line).unwrap_or_default();
    task.updated_at = text(value, &["updated_at"]).map(one_line).unwrap_or_default();
    task.parent = text(value, &["parent", "parent_id"]).map(IssueId::new);
    add_edges(&mut task, value);
    Some(task)
}

/// Adds the dependencies of a task. Edges that only relate tasks are ignored.
pub fn add_edges(task: &mut TaskRecord, value: &Value) {
    let lists = ["dependencies", "deps_outgoing", "depends_on", "blocked_by"];
    let edges = lists.iter().filter_map(|name| value.get(*name)?.as_array()).flatten();
    for edge in edges.chain(value.as_array().into_iter().flatten()) {
        let from = text(edge, &["issue_id", "from"]);
        let is_gone = edge.get("deleted_at").is_some_and(|at| !at.is_null());
        if is_gone || from.is_some_and(|from| from != task.id.as_str()) {
            continue;
        }
        let target = edge.as_str().or_else(|| text(edge, &["depends_on_id", "to", "id"]));
        let Some(target) = target.map(IssueId::new).filter(|it| *it != task.id) else { continue };
        let kind = text(edge, &["dependency_type", "type", "kind"]).unwrap_or("blocks");
        match kind.replace('_', "-").as_str() {
            "parent" | "parent-child" => {
                task.parent.get_or_insert(target);
            }
            "blocks" | "conditional-blocks" | "waits-for" if !task.blocked_by.contains(&target) => {
                task.blocked_by.push(target);
            }
            _ => {}
        }
    }
}

/// The first of these fields that is a non-empty text.
fn text<'v>(value: &'v Value, names: &[&str]) -> Option<&'v str> {
    let texts = names.iter().filter_map(|name| value.get(*name)?.as_str());
    texts.into_iter().find(|text| !text.trim().is_empty())
}

/// Notes are a text, or a list of texts with their authors.
fn notes_of(value: &Value) -> String {
    let notes = match value.get("notes") {
        Some(Value::String(text)) => vec![text.as_str()],
        Some(Value::Array(items)) => items
            .iter()
            .filter_map(|item| item.as_str().or_else(|| text(item, &["content", "text", "body"])))
            .collect(),
        _ => Vec::new(),
    };
    clean_text(&notes.join("\n\n"))
}

fn labels_of(value: &Value) -> Vec<String> {
    let items = value.get("labels").and_then(Value::as_array).into_iter().flatten();
    let names = items.filter_map(|item| item.as_str().or_else(|| text(item, &["name", "label"])));
    let mut labels: Vec<String> = Vec::new();
    for label in names.filter_map(clean_label) {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    labels
}

/// A status in any dialect. What is not known is for a person.
fn status_of(word: &str) -> TaskStatus {
    match word.to_ascii_lowercase().replace([' ', '-'], "_").as_str() {
        "open" | "pending" | "todo" | "ready" => TaskStatus::Pending,
        "in_progress" | "claimed" | "hooked" | "working" => TaskStatus::InProgress,
        "awaiting_review" | "in_review" => TaskStatus::AwaitingReview,
        "closed" | "complete" | "completed" | "done" | "resolved" | "wontfix" | "wont_fix"
        | "tombstone" | "deleted" => TaskStatus::Complete,
        _ => TaskStatus::Blocked,
    }
}

/// A number, or a text such as `P1`.
fn priority_of(value: Option<&Value>) -> u8 {
    let number = match value {
        Some(Value::Number(number)) => number.as_u64(),
        Some(Value::String(word)) => word.trim_start_matches(['p', 'P']).parse().ok(),
        _ => None,
    };
    number.map_or(2, |number| u8::try_from(number.min(4)).unwrap_or(4))
}

/// The name of a status in JSON Lines.
fn status_word(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::Pending => "open",
        TaskStatus::InProgress => "in_progress",
        TaskStatus::AwaitingReview => "awaiting_review",
        TaskStatus::Complete => "closed",
        TaskStatus::Blocked => "blocked",
    }
}

/// Records as JSON Lines.
pub fn print_lines(tasks: &[TaskRecord]) -> String {
    tasks.iter().map(|task| format!("{}\n", object_of(task))).collect()
}

fn object_of(task: &TaskRecord) -> Value {
    let edge =
        |to: &IssueId, kind: &str| json!({"issue_id": task.id, "depends_on_id": to, "type": kind});
    let blocks = task.blocked_by.iter().map(|to| edge(to, "blocks"));
    let parent = task.parent.iter().map(|to| edge(to, "parent-child"));
    json!({
        "schema_version": 1,
        "id": task.id,
        "title": task.title,
        "description": task.scope,
        "acceptance_criteria": task.acceptance,
        "notes": task.notes,
        "status": status_word(task.status),
        "issue_type": if task.kind == IssueKind::Epic { "epic" } else { "task" },
        "priority": task.priority,
        "labels": task.labels,
        "parent": task.parent,
        "dependencies": parent.chain(blocks).collect::<Vec<_>>(),
        "assignee": task.claimed_by,
        "revision_count": task.revision_count,
        "close_reason": task.close_reason,
        "start_commit": task.start_commit,
        "created_at": task.created_at,
        "updated_at": task.updated_at,
    })
}

/// Reads JSON Lines. A line that is no issue is left out with a warning.
pub fn parse_lines(text: &str) -> ImportedTasks {
    let mut imported = ImportedTasks::default();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let number = number + 1;
        let value = match serde_json::from_str::<Value>(line) {
            Ok(value) => value,
            Err(error) => {
                imported.warnings.push(format!("line {number}: not JSON: {error}"));
                continue;
            }
        };
        match task_of(&value) {
            Some(task) if task.title.is_empty() => {
                imported.warnings.push(format!("line {number}: the title is empty"));
            }
            Some(task) => imported.add(task, number),
            None => imported.warnings.push(format!("line {number}: no `id` or `title`")),
        }
    }
    imported
}

impl ImportedTasks {
    /// Adds a task. An invalid id is replaced; a task with a known id is skipped.
    pub(super) fn add(&mut self, mut task: TaskRecord, line: usize) {
        let is_taken = |id: &IssueId| self.tasks.iter().any(|other| other.id == *id);
        if is_taken(&task.id) {
            self.warnings.push(format!("line {line}: `{}` is there already", task.id));
            return;
        }
        if !is_id(task.id.as_str()) {
            let id = make_id(&task.title, is_taken);
            self.warnings.push(format!("line {line}: the id cannot be used; `{id}` replaces it"));
            task.id = id;
        }
        task.parent = task.parent.filter(|id| is_id(id.as_str()));
        task.blocked_by.retain(|id| is_id(id.as_str()));
        self.tasks.push(task);
    }
}
