//! The queue of deliveries in SQLite. A delivery is stored once, by its id and by its content: the id is not signed,
//! so that a repeated content under another id is a repetition too.

use mala_domain::forge::{ForgeService, PullRequestRef, RepositoryName};
use rusqlite::{Connection, OptionalExtension, Row, params};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use thiserror::Error;

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS delivery (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    content TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    repo TEXT NOT NULL,
    number INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'queued',
    attempts INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS delivery_state ON delivery (state, seq);
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
";

/// Columns that later versions added: the forge, the account whose comment requested the review (if
/// any), and the time of the next attempt, in seconds since 1970.
const COLUMNS: [(&str, &str); 3] = [
    ("service", "TEXT NOT NULL DEFAULT 'github'"),
    ("asked_by", "TEXT"),
    ("due", "INTEGER NOT NULL DEFAULT 0"),
];

/// How long finished deliveries are known, in seconds. GitHub and GitLab send a delivery again for a few days.
const KNOWN_FOR: i64 = 30 * 24 * 60 * 60;

/// Why the queue cannot be used.
#[derive(Debug, Error)]
#[error("the queue of webhooks: {0}")]
pub struct WebhookQueueError(String);

impl From<rusqlite::Error> for WebhookQueueError {
    fn from(error: rusqlite::Error) -> Self {
        Self(error.to_string())
    }
}

/// A delivery to store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    id: String,
    content: String,
    at: PullRequestRef,
    asked_by: Option<String>,
}

impl Delivery {
    /// A delivery with this id (which may be empty) and body, about this pull request. The review
    /// is done only if the account `asked_by` has write access to the repository.
    pub fn new(id: &str, body: &[u8], at: &PullRequestRef, asked_by: Option<&str>) -> Self {
        let content: String =
            Sha256::digest(body).iter().map(|byte| format!("{byte:02x}")).collect();
        let id = if id.is_empty() { content.clone() } else { id.to_owned() };
        Self { id, content, at: at.clone(), asked_by: asked_by.map(str::to_owned) }
    }
}

/// A review that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedReview {
    /// The pull request.
    pub at: PullRequestRef,
    /// The last delivery that it answers: it answers all earlier ones about the same pull request too.
    pub last: i64,
    /// The accounts of which one must be able to write to the repository; empty when the pull request changed.
    pub asked_by: Vec<String>,
    /// The number of this attempt, from 1.
    pub n_attempts: u32,
}

/// How an attempt to review ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptEnd {
    /// With a result.
    Done,
    /// Without one: it is due again after this time.
    Again(Duration),
    /// Without one, for good, unless the delivery is sent again.
    Failed,
}

/// The queue.
pub struct WebhookQueue {
    connection: Arc<Mutex<Connection>>,
}

impl WebhookQueue {
    /// Opens the queue, or creates it. Reviews that a process left unfinished are due again; old deliveries are forgotten.
    pub fn open(path: &Path, now: i64) -> Result<Self, WebhookQueueError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .map_err(|error| WebhookQueueError(error.to_string()))?;
        }
        let connection = Connection::open(path)?;
        connection.busy_timeout(Duration::from_secs(10))?;
        connection.execute_batch(SCHEMA)?;
        for (name, kind) in COLUMNS {
            let known = "SELECT 1 FROM pragma_table_info('delivery') WHERE name = ?";
            if !connection.prepare(known)?.exists([name])? {
                connection
                    .execute(&format!("ALTER TABLE delivery ADD COLUMN {name} {kind}"), [])?;
            }
        }
        connection.execute("UPDATE delivery SET state = 'queued' WHERE state = 'running'", [])?;
        let old = "DELETE FROM delivery WHERE state IN ('done', 'failed') AND due < ?";
        connection.execute(old, [now - KNOWN_FOR])?;
        Ok(Self { connection: Arc::new(Mutex::new(connection)) })
    }

    /// Stores a delivery; `false` when it is known. A known one that has no result yet, and is sent again, is due now.
    pub async fn store(&self, it: Delivery) -> Result<bool, WebhookQueueError> {
        self.run(move |connection| {
            let (service, owner, repo, number) = names(&it.at);
            let stored = connection.execute(
                "INSERT OR IGNORE INTO delivery (id, content, service, owner, repo, number, asked_by)
                 VALUES (?, ?, ?, ?, ?, ?, ?)",
                params![it.id, it.content, service, owner, repo, number, it.asked_by],
            )?;
            if stored > 0 {
                return Ok(true);
            }
            let again = connection.execute(
                "UPDATE delivery SET state = 'queued', attempts = 0, due = 0
                 WHERE content = ? AND (state = 'failed' OR (state = 'queued' AND due > 0))",
                [it.content],
            )?;
            Ok(again > 0)
        })
        .await
    }

    /// Takes the oldest review that is due now and whose pull request is not being reviewed.
    pub async fn take(&self, now: i64) -> Result<Option<QueuedReview>, WebhookQueueError> {
        self.run(move |connection| {
            let transaction = connection.transaction()?;
            let found = transaction
                .query_row(
                    "SELECT service, owner, repo, number, max(seq),
                         CASE WHEN count(*) = count(asked_by)
                         THEN group_concat(DISTINCT asked_by) ELSE '' END,
                         min(attempts) + 1
                     FROM delivery AS it
                     WHERE state = 'queued' AND NOT EXISTS (
                         SELECT 1 FROM delivery AS other WHERE other.state = 'running'
                         AND other.service = it.service AND other.owner = it.owner
                         AND other.repo = it.repo AND other.number = it.number)
                     GROUP BY service, owner, repo, number HAVING min(due) <= ?
                     ORDER BY min(seq) LIMIT 1",
                    [now],
                    queued_review,
                )
                .optional()?;
            let Some(found) = found else { return Ok(None) };
            let (service, owner, repo, number) = names(&found.at);
            transaction.execute(
                "UPDATE delivery SET state = 'running', attempts = attempts + 1
                 WHERE state = 'queued' AND service = ? AND owner = ? AND repo = ? AND number = ?
                     AND seq <= ?",
                params![service, owner, repo, number, found.last],
            )?;
            transaction.commit()?;
            Ok(Some(found))
        })
        .await
    }

    /// Ends an attempt.
    pub async fn end(
        &self,
        it: QueuedReview,
        end: AttemptEnd,
        now: i64,
    ) -> Result<(), WebhookQueueError> {
        let (state, wait) = match end {
            AttemptEnd::Done => ("done", Duration::ZERO),
            AttemptEnd::Again(wait) => ("queued", wait),
            AttemptEnd::Failed => ("failed", Duration::ZERO),
        };
        let due = now.saturating_add_unsigned(wait.as_secs());
        self.run(move |connection| {
            let (service, owner, repo, number) = names(&it.at);
            connection.execute(
                "UPDATE delivery SET state = ?, due = ?
                 WHERE state = 'running' AND service = ? AND owner = ? AND repo = ?
                     AND number = ? AND seq <= ?",
                params![state, due, service, owner, repo, number, it.last],
            )?;
            Ok(())
        })
        .await
    }

    /// Runs a query on a thread that may wait.
    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, WebhookQueueError> {
        let connection = Arc::clone(&self.connection);
        let done = tokio::task::spawn_blocking(move || {
            work(&mut connection.lock().unwrap_or_else(PoisonError::into_inner))
        });
        Ok(done.await.map_err(|error| WebhookQueueError(error.to_string()))??)
    }
}

/// A pull request as the columns name it.
fn names(at: &PullRequestRef) -> (&'static str, &str, &str, i64) {
    let service = match at.service {
        ForgeService::GitHub => "github",
        ForgeService::GitLab => GITLAB,
    };
    let RepositoryName { owner, repo } = &at.repository;
    (service, owner, repo, i64::try_from(at.number).unwrap_or(i64::MAX))
}

const GITLAB: &str = "gitlab";

fn queued_review(row: &Row<'_>) -> rusqlite::Result<QueuedReview> {
    let service = match row.get::<_, String>(0)? == GITLAB {
        true => ForgeService::GitLab,
        false => ForgeService::GitHub,
    };
    let repository = RepositoryName { owner: row.get(1)?, repo: row.get(2)? };
    let number = u64::try_from(row.get::<_, i64>(3)?).unwrap_or_default();
    let asked_by: String = row.get(5)?;
    let asked_by = asked_by.split(',').filter(|login| !login.is_empty()).map(str::to_owned);
    Ok(QueuedReview {
        at: PullRequestRef { service, repository, number },
        last: row.get(4)?,
        asked_by: asked_by.collect(),
        n_attempts: row.get(6)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivery(id: &str, body: &str, at: &str) -> Delivery {
        let at = PullRequestRef::parse(at, "").unwrap();
        Delivery::new(id, body.as_bytes(), &at, None)
    }

    #[tokio::test]
    async fn deliveries_are_stored_once_and_reviewed_one_at_a_time_per_pull_request() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("queue.db");
        let queue = WebhookQueue::open(&path, 0).unwrap();
        assert!(queue.store(delivery("1", "a", "o/r#7")).await.unwrap());
        assert!(!queue.store(delivery("1", "b", "o/r#7")).await.unwrap(), "the same id");
        assert!(!queue.store(delivery("2", "a", "o/r#7")).await.unwrap(), "the same content");
        assert!(!queue.store(delivery("", "a", "o/r#7")).await.unwrap(), "without an id");
        assert!(queue.store(delivery("3", "c", "o/r#7")).await.unwrap());
        assert!(queue.store(delivery("4", "d", "o/r!7")).await.unwrap());
        let first = queue.take(0).await.unwrap().unwrap();
        assert_eq!(first.at.to_string(), "o/r#7", "both deliveries at once");
        assert!(queue.store(delivery("5", "e", "o/r#7")).await.unwrap());
        let second = queue.take(0).await.unwrap().unwrap();
        assert_eq!(second.at.to_string(), "o/r!7", "on another forge");
        assert_eq!(queue.take(0).await.unwrap(), None, "7 is being reviewed");
        queue.end(first, AttemptEnd::Done, 0).await.unwrap();
        drop(queue);
        let queue = WebhookQueue::open(&path, 0).unwrap();
        let again: Vec<String> = [queue.take(0).await, queue.take(0).await]
            .map(|it| it.unwrap().unwrap().at.to_string())
            .into();
        assert_eq!(again, ["o/r!7", "o/r#7"], "what a killed process left, and what came later");
    }

    #[tokio::test]
    async fn a_review_that_fails_is_tried_again_later() {
        let folder = tempfile::tempdir().unwrap();
        let queue = WebhookQueue::open(&folder.path().join("queue.db"), 0).unwrap();
        queue.store(delivery("1", "a", "o/r#7")).await.unwrap();
        let again = AttemptEnd::Again(Duration::from_secs(60));
        for attempt in 1..=2 {
            let now = 1000 + i64::from(attempt) * 60;
            let taken = queue.take(now).await.unwrap().unwrap();
            assert_eq!(taken.n_attempts, attempt);
            queue.end(taken, again, now).await.unwrap();
            assert_eq!(queue.take(now + 59).await.unwrap(), None, "{attempt}");
        }
        assert!(!queue.store(delivery("1", "b", "o/r#7")).await.unwrap(), "another content");
        assert_eq!(queue.take(1120).await.unwrap(), None);
        assert!(queue.store(delivery("1", "a", "o/r#7")).await.unwrap(), "sent again");
        let taken = queue.take(0).await.unwrap().unwrap();
        assert_eq!(taken.n_attempts, 1);
        assert!(!queue.store(delivery("1", "a", "o/r#7")).await.unwrap(), "it is running");
        queue.end(taken, AttemptEnd::Failed, 0).await.unwrap();
        assert_eq!(queue.take(i64::MAX).await.unwrap(), None, "given up");
        assert!(queue.store(delivery("1", "a", "o/r#7")).await.unwrap(), "sent again");
        let taken = queue.take(0).await.unwrap().unwrap();
        queue.end(taken, AttemptEnd::Done, 0).await.unwrap();
        assert!(!queue.store(delivery("1", "a", "o/r#7")).await.unwrap(), "it has a result");
    }

    #[tokio::test]
    async fn finished_deliveries_are_forgotten_after_a_month() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("queue.db");
        for (now, is_new) in [(0, true), (KNOWN_FOR, false), (KNOWN_FOR + 1, true)] {
            let queue = WebhookQueue::open(&path, now).unwrap();
            assert_eq!(queue.store(delivery("1", "a", "o/r#7")).await.unwrap(), is_new, "{now}");
            if let Some(taken) = queue.take(0).await.unwrap() {
                queue.end(taken, AttemptEnd::Done, 0).await.unwrap();
            }
        }
    }

    #[tokio::test]
    async fn a_change_is_reviewed_without_asking_for_the_account() {
        let folder = tempfile::tempdir().unwrap();
        let queue = WebhookQueue::open(&folder.path().join("queue.db"), 0).unwrap();
        let at = PullRequestRef::parse("o/r#7", "").unwrap();
        for (number, (asked_by, expected)) in [
            (&[Some("ada"), Some("eve"), Some("ada")][..], &["ada", "eve"][..]),
            (&[Some("ada"), None], &[]),
        ]
        .into_iter()
        .enumerate()
        {
            for (index, login) in asked_by.iter().enumerate() {
                let body = format!("{number} {index}");
                queue.store(Delivery::new("", body.as_bytes(), &at, *login)).await.unwrap();
            }
            let taken = queue.take(0).await.unwrap().unwrap();
            assert_eq!(taken.asked_by, expected);
            queue.end(taken, AttemptEnd::Done, 0).await.unwrap();
        }
    }

    #[tokio::test]
    async fn the_queue_of_an_earlier_version_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("queue.db");
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch(SCHEMA).unwrap();
        let stored = "INSERT INTO delivery (id, content, owner, repo, number)
            VALUES ('1', 'a', 'o', 'r', 7)";
        connection.execute(stored, []).unwrap();
        drop(connection);
        let queue = WebhookQueue::open(&path, 0).unwrap();
        let taken = queue.take(0).await.unwrap().unwrap();
        assert_eq!((taken.at.to_string(), taken.asked_by), ("o/r#7".to_owned(), Vec::new()));
    }
}
