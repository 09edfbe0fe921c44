//! The built-in tracker: tasks and their events in the ledger's database. Every change is one transaction, and a
//! change of status is in the log of events.

use crate::ledger::SqliteLedger;
use mala_domain::ports::{
    BoxFuture, ImportCount, LedgerError, TaskEvent, TaskStore, Tracker, TrackerError,
};
use mala_domain::run::issue::{IssueDraft, IssueId, TrackerIssue};
use mala_domain::task::{TaskRecord, TaskStatus, clean_label, clean_text, make_id};
use rusqlite::types::Type;
use rusqlite::{
    Connection, Error, OptionalExtension, Result, Row, Transaction, TransactionBehavior,
};
use serde_json::json;

/// The tables of tasks and events.
pub(crate) const TASK_TABLES: &str = "
CREATE TABLE task (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    task TEXT NOT NULL
);
CREATE TABLE task_event (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    event TEXT NOT NULL
);
";

/// Tasks in the ledger's database.
#[derive(Clone)]
pub struct BuiltinTracker {
    ledger: SqliteLedger,
}

impl BuiltinTracker {
    /// The tasks in this ledger.
    pub fn new(ledger: SqliteLedger) -> Self {
        Self { ledger }
    }

    /// Runs one transaction.
    fn change<'a, T: Send + 'static>(
        &'a self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> BoxFuture<'a, std::result::Result<T, TrackerError>> {
        let done = self.ledger.run(move |connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        });
        Box::pin(async move { done.await.map_err(failed) })
    }

    /// Changes a task that must exist.
    fn update<'a>(
        &'a self,
        id: &'a IssueId,
        edit: impl FnOnce(&mut TaskRecord) + Send + 'static,
    ) -> BoxFuture<'a, std::result::Result<TaskRecord, TrackerError>> {
        let wanted = id.clone();
        let updated = self.change(move |transaction| {
            let Some(old) = find(transaction, &wanted)? else { return Ok(None) };
            let mut new = old.clone();
            edit(&mut new);
            store(transaction, Some(&old), new).map(Some)
        });
        Box::pin(async move { updated.await?.ok_or_else(|| TrackerError::Unknown(id.clone())) })
    }
}

impl Tracker for BuiltinTracker {
    fn name(&self) -> &str {
        "builtin"
    }

    fn issues(&self) -> BoxFuture<'_, std::result::Result<Vec<TrackerIssue>, TrackerError>> {
        // Row by row: the reviews of a task, which no issue has, can be long.
        let issues = self.ledger.run(|connection| {
            let mut statement = connection.prepare("SELECT task FROM task ORDER BY seq")?;
            let rows = statement.query_map([], |row| Ok(read(row)?.to_issue()))?;
            rows.collect()
        });
        Box::pin(async move { issues.await.map_err(failed) })
    }

    fn issue<'a>(
        &'a self,
        id: &'a IssueId,
    ) -> BoxFuture<'a, std::result::Result<TrackerIssue, TrackerError>> {
        let wanted = id.clone();
        let found = self.change(move |transaction| find(transaction, &wanted));
        Box::pin(async move {
            let found = found.await?.ok_or_else(|| TrackerError::Unknown(id.clone()))?;
            Ok(found.to_issue())
        })
    }

    fn claim<'a>(
        &'a self,
        id: &'a IssueId,
        owner: &'a str,
    ) -> BoxFuture<'a, std::result::Result<TrackerIssue, TrackerError>> {
        let owner = owner.to_owned();
        let claimed = self.update(id, move |task| {
            if task.status == TaskStatus::Pending {
                task.status = TaskStatus::InProgress;
                task.claimed_by = Some(owner);
            }
        });
        Box::pin(async move { Ok(claimed.await?.to_issue()) })
    }

    fn release<'a>(
        &'a self,
        id: &'a IssueId,
        reason: &'a str,
    ) -> BoxFuture<'a, std::result::Result<(), TrackerError>> {
        let reason = reason.to_owned();
        let released = self.update(id, move |task| {
            task.status = TaskStatus::Pending;
            task.claimed_by = None;
            task.add_note(&reason);
        });
        Box::pin(async move { released.await.map(drop) })
    }

    fn close<'a>(
        &'a self,
        id: &'a IssueId,
        reason: &'a str,
    ) -> BoxFuture<'a, std::result::Result<(), TrackerError>> {
        let reason = clean_text(reason);
        let closed = self.update(id, move |task| {
            if task.status != TaskStatus::Complete {
                task.status = TaskStatus::Complete;
                task.close_reason = Some(reason);
            }
        });
        Box::pin(async move { closed.await.map(drop) })
    }

    fn create<'a>(
        &'a self,
        draft: &'a IssueDraft,
    ) -> BoxFuture<'a, std::result::Result<IssueId, TrackerError>> {
        let task = TaskRecord {
            scope: clean_text(&draft.body),
            notes: clean_text(&draft.notes),
            priority: draft.priority,
            labels: draft.labels.iter().filter_map(|label| clean_label(label)).collect(),
            kind: draft.kind,
            parent: draft.parent.clone(),
            blocked_by: draft.blocked_by.clone(),
            ..TaskRecord::new(IssueId::new(""), &draft.title)
        };
        let created = self.change(move |transaction| insert(transaction, task));
        Box::pin(async move { Ok(created.await?.id) })
    }
}

impl TaskStore for BuiltinTracker {
    fn tasks(&self) -> BoxFuture<'_, std::result::Result<Vec<TaskRecord>, TrackerError>> {
        let tasks = self.ledger.run(|connection| {
            let mut statement = connection.prepare("SELECT task FROM task ORDER BY seq")?;
            statement.query_map([], read)?.collect()
        });
        Box::pin(async move { tasks.await.map_err(failed) })
    }

    fn task<'a>(
        &'a self,
        id: &'a str,
    ) -> BoxFuture<'a, std::result::Result<TaskRecord, TrackerError>> {
        let wanted = IssueId::new(id);
        let found = self.ledger.run(move |connection| match find(connection, &wanted)? {
            Some(task) => Ok(vec![task]),
            None => find_by_prefix(connection, &wanted),
        });
        Box::pin(async move {
            let mut found = found.await.map_err(failed)?;
            match (found.len(), found.pop()) {
                (1, Some(task)) => Ok(task),
                (_, None) => Err(TrackerError::Unknown(IssueId::new(id))),
                (_, Some(last)) => {
                    let ids: Vec<&str> =
                        found.iter().chain([&last]).map(|task| task.id.as_str()).collect();
                    Err(TrackerError::Ambiguous { id: id.to_owned(), found: ids.join(", ") })
                }
            }
        })
    }

    fn add<'a>(
        &'a self,
        task: &'a TaskRecord,
    ) -> BoxFuture<'a, std::result::Result<TaskRecord, TrackerError>> {
        let task = task.clone();
        self.change(move |transaction| insert(transaction, task))
    }

    fn replace<'a>(
        &'a self,
        old: &'a TaskRecord,
        new: &'a TaskRecord,
        events: &'a [String],
    ) -> BoxFuture<'a, std::result::Result<bool, TrackerError>> {
        let (old, new, events) = (old.clone(), new.clone(), events.to_vec());
        self.change(move |transaction| {
            if find(transaction, &old.id)?.as_ref() != Some(&old) {
                return Ok(false);
            }
            store(transaction, Some(&old), new)?;
            events.iter().try_for_each(|event| insert_event(transaction, event))?;
            Ok(true)
        })
    }

    fn import<'a>(
        &'a self,
        tasks: &'a [TaskRecord],
    ) -> BoxFuture<'a, std::result::Result<ImportCount, TrackerError>> {
        let tasks = tasks.to_vec();
        self.change(move |transaction| {
            let mut count = ImportCount::default();
            for task in tasks {
                let Some(old) = find(transaction, &task.id)? else {
                    store(transaction, None, task)?;
                    count.added += 1;
                    continue;
                };
                let new = TaskRecord {
                    status: old.status,
                    claimed_by: old.claimed_by.clone(),
                    revision_count: old.revision_count,
                    close_reason: old.close_reason.clone(),
                    start_commit: old.start_commit.clone(),
                    started_at: old.started_at.clone(),
                    work_tree: old.work_tree.clone(),
                    earlier_reviews: old.earlier_reviews,
                    reviews: old.reviews.clone(),
                    active_review: old.active_review.clone(),
                    created_at: old.created_at.clone(),
                    updated_at: old.updated_at.clone(),
                    ..task
                };
                if new != old {
                    store(transaction, Some(&old), new)?;
                    count.updated += 1;
                }
            }
            Ok(count)
        })
    }

    fn add_event<'a>(
        &'a self,
        event: &'a str,
    ) -> BoxFuture<'a, std::result::Result<(), TrackerError>> {
        let event = event.to_owned();
        self.change(move |transaction| insert_event(transaction, &event))
    }

    fn events_after(
        &self,
        number: i64,
    ) -> BoxFuture<'_, std::result::Result<Vec<TaskEvent>, TrackerError>> {
        let events = self.ledger.run(move |connection| {
            let sql = "SELECT seq, at, event FROM task_event WHERE seq > ? ORDER BY seq";
            let mut statement = connection.prepare(sql)?;
            let rows = statement.query_map([number], |row| {
                Ok(TaskEvent { number: row.get(0)?, at: row.get(1)?, event: row.get(2)? })
            })?;
            rows.collect()
        });
        Box::pin(async move { events.await.map_err(failed) })
    }
}

fn find(connection: &Connection, id: &IssueId) -> Result<Option<TaskRecord>> {
    let sql = "SELECT task FROM task WHERE id = ?";
    connection.query_row(sql, [id.as_str()], read).optional()
}

/// The tasks whose ids start with this text; none if it is empty.
fn find_by_prefix(connection: &Connection, start: &IssueId) -> Result<Vec<TaskRecord>> {
    let sql =
        "SELECT task FROM task WHERE ?1 <> '' AND substr(id, 1, length(?1)) = ?1 ORDER BY seq";
    let mut statement = connection.prepare(sql)?;
    statement.query_map([start.as_str()], read)?.collect()
}

/// Adds a task; creates an id if it has none.
fn insert(connection: &Connection, mut task: TaskRecord) -> Result<TaskRecord> {
    if task.id.as_str().is_empty() {
        let mut statement = connection.prepare("SELECT id FROM task")?;
        let ids = statement.query_map([], |row| row.get::<_, String>(0))?;
        let ids: std::collections::HashSet<String> = ids.collect::<Result<_>>()?;
        task.id = make_id(&task.title, |id| ids.contains(id.as_str()));
    }
    store(connection, None, task)
}

/// Writes a task, and an event if its status changes.
fn store(
    connection: &Connection,
    old: Option<&TaskRecord>,
    mut task: TaskRecord,
) -> Result<TaskRecord> {
    let now = jiff::Timestamp::now().to_string();
    if task.created_at.is_empty() {
        task.created_at.clone_from(&now);
    }
    task.updated_at = now;
    let text = serde_json::to_string(&task)
        .map_err(|error| Error::ToSqlConversionFailure(Box::new(error)))?;
    let sql = match old {
        Some(_) => "UPDATE task SET task = ?2 WHERE id = ?1",
        None => "INSERT INTO task (id, task) VALUES (?1, ?2)",
    };
    connection.prepare_cached(sql)?.execute([task.id.as_str(), &text])?;
    let from = old.map(|old| old.status);
    if from != Some(task.status) {
        let event = json!({
            "event": "StatusChanged",
            "task_id": task.id,
            "from": from.map(TaskStatus::name),
            "to": task.status.name(),
        });
        insert_event(connection, &event.to_string())?;
    }
    Ok(task)
}

fn insert_event(connection: &Connection, event: &str) -> Result<()> {
    let now = jiff::Timestamp::now().to_string();
    let sql = "INSERT INTO task_event (at, event) VALUES (?, ?)";
    connection.prepare_cached(sql)?.execute([now.as_str(), event])?;
    Ok(())
}

/// The task in the first column of a row.
fn read(row: &Row<'_>) -> Result<TaskRecord> {
    serde_json::from_str(row.get_ref(0)?.as_str()?)
        .map_err(|error| Error::FromSqlConversionFailure(0, Type::Text, Box::new(error)))
}

fn failed(error: LedgerError) -> TrackerError {
    TrackerError::Failed(error.to_string())
}
