//! The queue of deliveries in SQLite. A delivery is stored once, by its id and by its content: the id is not signed,
//! so that a repeated content under another id is a repetition too.

use mala_domain::forge::{PullRequestRef, RepositoryName};
use rusqlite::{Connection, OptionalExtension, params};
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

/// How often a review is tried.
const MAX_ATTEMPTS: u32 = 3;

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
}

impl Delivery {
    /// A delivery with this id and body, about this pull request.
    pub fn new(id: &str, body: &[u8], at: &PullRequestRef) -> Self {
        let content = Sha256::digest(body).iter().map(|byte| format!("{byte:02x}")).collect();
        Self { id: id.to_owned(), content, at: at.clone() }
    }
}

/// A review that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedReview {
    /// The pull request.
    pub at: PullRequestRef,
    /// The last delivery that it answers: it answers all earlier ones about the same pull request too.
    pub last: i64,
}

/// The queue.
pub struct WebhookQueue {
    connection: Arc<Mutex<Connection>>,
}

impl WebhookQueue {
    /// Opens the queue, or creates it. Reviews that a process left unfinished are due again.
    pub fn open(path: &Path) -> Result<Self, WebhookQueueError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .map_err(|error| WebhookQueueError(error.to_string()))?;
        }
        let connection = Connection::open(path)?;
        connection.busy_timeout(Duration::from_secs(10))?;
        connection.execute_batch(SCHEMA)?;
        connection.execute("UPDATE delivery SET state = 'queued' WHERE state = 'running'", [])?;
        Ok(Self { connection: Arc::new(Mutex::new(connection)) })
    }

    /// Stores a delivery; `false` when it is known.
    pub async fn store(&self, it: Delivery) -> Result<bool, WebhookQueueError> {
        self.run(move |connection| {
            let RepositoryName { owner, repo } = &it.at.repository;
            let number = i64::try_from(it.at.number).unwrap_or(i64::MAX);
            let stored = connection.execute(
                "INSERT OR IGNORE INTO delivery (id, content, owner, repo, number)
                 VALUES (?, ?, ?, ?, ?)",
                params![it.id, it.content, owner, repo, number],
            )?;
            Ok(stored > 0)
        })
        .await
    }

    /// Takes the oldest review that is due and whose pull request is not being reviewed.
    pub async fn take(&self) -> Result<Option<QueuedReview>, WebhookQueueError> {
        self.run(|connection| {
            let transaction = connection.transaction()?;
            let found = transaction
                .query_row(
                    "SELECT owner, repo, number, max(seq) FROM delivery AS it
                     WHERE state = 'queued' AND NOT EXISTS (
                         SELECT 1 FROM delivery AS other WHERE other.state = 'running'
                         AND other.owner = it.owner AND other.repo = it.repo
                         AND other.number = it.number)
                     GROUP BY owner, repo, number ORDER BY min(seq) LIMIT 1",
                    [],
                    |row| {
                        let (owner, repo): (String, String) = (row.get(0)?, row.get(1)?);
                        Ok((owner, repo, row.get::<_, i64>(2)?, row.get::<_, i64>(3)?))
                    },
                )
                .optional()?;
            let Some((owner, repo, number, last)) = found else { return Ok(None) };
            transaction.execute(
                "UPDATE delivery SET state = 'running', attempts = attempts + 1
                 WHERE state = 'queued' AND owner = ? AND repo = ? AND number = ? AND seq <= ?",
                params![owner, repo, number, last],
            )?;
            transaction.commit()?;
            let repository = RepositoryName { owner, repo };
            let number = u64::try_from(number).unwrap_or_default();
            Ok(Some(QueuedReview { at: PullRequestRef { repository, number }, last }))
        })
        .await
    }

    /// Ends a review. A review that failed is due again, a few times.
    pub async fn end(&self, it: QueuedReview, is_done: bool) -> Result<(), WebhookQueueError> {
        self.run(move |connection| {
            let RepositoryName { owner, repo } = &it.at.repository;
            let number = i64::try_from(it.at.number).unwrap_or(i64::MAX);
            connection.execute(
                "UPDATE delivery SET state =
                     CASE WHEN ?5 OR attempts >= ?6 THEN 'done' ELSE 'queued' END
                 WHERE state = 'running' AND owner = ?1 AND repo = ?2 AND number = ?3 AND seq <= ?4",
                params![owner, repo, number, it.last, is_done, MAX_ATTEMPTS],
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

#[cfg(test)]
mod tests {
    use super::*;

    fn delivery(id: &str, body: &str, number: u64) -> Delivery {
        let repository = RepositoryName { owner: "o".to_owned(), repo: "r".to_owned() };
        Delivery::new(id, body.as_bytes(), &PullRequestRef { repository, number })
    }

    #[tokio::test]
    async fn deliveries_are_stored_once_and_reviewed_one_at_a_time_per_pull_request() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("queue.db");
        let queue = WebhookQueue::open(&path).unwrap();
        assert!(queue.store(delivery("1", "a", 7)).await.unwrap());
        assert!(!queue.store(delivery("1", "b", 7)).await.unwrap(), "the same id");
        assert!(!queue.store(delivery("2", "a", 7)).await.unwrap(), "the same content");
        assert!(queue.store(delivery("3", "c", 7)).await.unwrap());
        assert!(queue.store(delivery("4", "d", 8)).await.unwrap());
        let first = queue.take().await.unwrap().unwrap();
        assert_eq!(first.at.to_string(), "o/r#7", "both deliveries at once");
        assert!(queue.store(delivery("5", "e", 7)).await.unwrap());
        let second = queue.take().await.unwrap().unwrap();
        assert_eq!(second.at.to_string(), "o/r#8");
        assert_eq!(queue.take().await.unwrap(), None, "7 is being reviewed");
        queue.end(first, true).await.unwrap();
        drop(queue);
        let queue = WebhookQueue::open(&path).unwrap();
        let again: Vec<String> = [queue.take().await, queue.take().await]
            .map(|it| it.unwrap().unwrap().at.to_string())
            .into();
        assert_eq!(again, ["o/r#8", "o/r#7"], "what a killed process left, and what came later");
    }

    #[tokio::test]
    async fn a_review_that_fails_is_tried_three_times() {
        let folder = tempfile::tempdir().unwrap();
        let queue = WebhookQueue::open(&folder.path().join("queue.db")).unwrap();
        queue.store(delivery("1", "a", 7)).await.unwrap();
        for _ in 0..3 {
            let taken = queue.take().await.unwrap().unwrap();
            queue.end(taken, false).await.unwrap();
        }
        assert_eq!(queue.take().await.unwrap(), None);
    }
}
