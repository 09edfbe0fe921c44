//! The ledger in SQLite: one database per repository, shared by its worktrees, in WAL mode. Writers wait for
//! each other; every write is one transaction. A file that is no database is moved aside, never replaced.

mod rows;
mod schema;

use mala_domain::finding::DedupeKey;
use mala_domain::ledger::stats::FindingCount;
use mala_domain::ledger::{ChangeStanding, FindingId, LedgerFinding, ReviewRecord};
use mala_domain::ports::{
    BoxFuture, FindingFilter, FindingHistory, Ledger, LedgerError, StateUpdate, StoredReview,
};
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long a writer waits for another one.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// The name of the database in the repository's git directory.
const FILE: &str = "mala/ledger.db";

/// A ledger in an SQLite file.
#[derive(Clone)]
pub struct SqliteLedger {
    connection: Arc<Mutex<Connection>>,
    path: PathBuf,
    /// The new path of a damaged file, if there was one when this ledger was opened.
    moved_aside: Option<PathBuf>,
}

impl SqliteLedger {
    /// The place of the ledger in a repository, from its common git directory.
    pub fn path_in(git_dir: &Path) -> PathBuf {
        git_dir.join(FILE)
    }

    /// Opens the ledger, and creates it when there is none. A damaged file is moved aside.
    pub fn open(path: &Path) -> Result<Self, LedgerError> {
        match Self::connect(path) {
            Err(OpenError::Damaged(_)) => {
                let aside = move_aside(path)?;
                let mut ledger = Self::connect(path).map_err(OpenError::into_ledger_error)?;
                ledger.moved_aside = Some(aside);
                Ok(ledger)
            }
            other => other.map_err(OpenError::into_ledger_error),
        }
    }

    /// The new path of a damaged file, if there was one when this ledger was opened.
    pub fn moved_aside(&self) -> Option<&Path> {
        self.moved_aside.as_deref()
    }

    /// The last damaged file that was moved aside from this path and is still there.
    pub fn damaged_copy(path: &Path) -> Option<PathBuf> {
        (1..1000).map(|number| aside(path, number)).take_while(|copy| copy.exists()).last()
    }

    /// Checks a whole file. Returns the problems.
    pub fn check(path: &Path) -> Result<Vec<String>, LedgerError> {
        let ledger = match Self::connect(path) {
            Err(OpenError::Damaged(why)) => return Ok(vec![why]),
            other => other.map_err(OpenError::into_ledger_error)?,
        };
        let messages = ledger.query(|connection| {
            let mut statement = connection.prepare("PRAGMA integrity_check")?;
            let rows = statement.query_map([], |row| row.get::<_, String>(0))?;
            let messages: Vec<String> = rows.collect::<Result<_, _>>()?;
            Ok(messages.into_iter().filter(|message| message != "ok").collect())
        });
        match messages {
            Err(OpenError::Damaged(why)) => Ok(vec![why]),
            other => other.map_err(OpenError::into_ledger_error),
        }
    }

    /// The identities of all findings.
    pub fn keys(&self) -> Result<BTreeSet<DedupeKey>, LedgerError> {
        self.with(|connection| {
            let mut statement = connection.prepare("SELECT key FROM finding")?;
            let keys = statement.query_map([], |row| rows::word(row, 0))?;
            keys.collect()
        })
    }

    fn connect(path: &Path) -> Result<Self, OpenError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| {
                OpenError::Other(storage(path, &format!("cannot create its folder: {error}")))
            })?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let mut connection =
            Connection::open_with_flags(path, flags).map_err(|error| OpenError::of(path, error))?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(|error| OpenError::of(path, error))?;
        schema::prepare(&mut connection, path)?;
        let connection = Arc::new(Mutex::new(connection));
        Ok(Self { connection, path: path.to_owned(), moved_aside: None })
    }

    /// Runs a query on this thread. A file that turns out to be damaged is moved aside.
    fn with<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, LedgerError> {
        self.query(work).map_err(|error| match error {
            OpenError::Damaged(why) => self.damaged(&why),
            OpenError::Other(error) => error,
        })
    }

    fn query<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, OpenError> {
        // A panic inside a transaction rolls it back: the connection stays usable.
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut connection).map_err(|error| OpenError::of(&self.path, error))
    }

    /// Moves the damaged file aside, unless another process did and there is a sound one in its place.
    fn damaged(&self, why: &str) -> LedgerError {
        let is_sound = Self::check(&self.path).is_ok_and(|problems| problems.is_empty());
        let moved = match is_sound {
            true => Ok(format!("{why}: it was moved, and there is a new one")),
            false => move_aside(&self.path)
                .map(|aside| format!("{why}: it was moved to {}", aside.display())),
        };
        moved.map_or_else(|error| error, |what| storage(&self.path, &what))
    }

    /// Runs a query on a thread that may wait for other writers.
    pub(crate) fn run<'a, T: Send + 'static>(
        &'a self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> BoxFuture<'a, Result<T, LedgerError>> {
        let ledger = self.clone();
        Box::pin(async move {
            let path = ledger.path.clone();
            tokio::task::spawn_blocking(move || ledger.with(work))
                .await
                .unwrap_or_else(|error| Err(storage(&path, &error.to_string())))
        })
    }
}

impl Ledger for SqliteLedger {
    fn reviews<'a>(
        &'a self,
        subject: &'a str,
    ) -> BoxFuture<'a, Result<Vec<ReviewRecord>, LedgerError>> {
        let subject = subject.to_owned();
        self.run(move |connection| rows::reviews(connection, Some(&subject)))
    }

    fn all_reviews(&self) -> BoxFuture<'_, Result<Vec<ReviewRecord>, LedgerError>> {
        self.run(|connection| rows::reviews(connection, None))
    }

    fn findings<'a>(
        &'a self,
        filter: &'a FindingFilter,
    ) -> BoxFuture<'a, Result<Vec<LedgerFinding>, LedgerError>> {
        let filter = filter.clone();
        self.run(move |connection| rows::findings(connection, &filter))
    }

    fn counts(&self) -> BoxFuture<'_, Result<Vec<FindingCount>, LedgerError>> {
        self.run(|connection| rows::counts(connection))
    }

    fn finding<'a>(
        &'a self,
        prefix: &'a str,
    ) -> BoxFuture<'a, Result<FindingHistory, LedgerError>> {
        // An empty id would be the start of every id.
        let owned = if prefix.is_empty() { "-".to_owned() } else { prefix.to_lowercase() };
        let found = self.run(move |connection| rows::by_prefix(connection, &owned));
        Box::pin(async move {
            let mut found = found.await?;
            match (found.len(), found.pop()) {
                (1, Some(history)) => Ok(history),
                (_, None) => Err(LedgerError::Unknown(prefix.to_owned())),
                (_, Some(last)) => {
                    let ids = found.iter().chain([&last]).map(|it| it.finding.id.to_string());
                    let candidates = ids.collect();
                    Err(LedgerError::Ambiguous { prefix: prefix.to_owned(), candidates })
                }
            }
        })
    }

    fn record<'a>(&'a self, review: &'a StoredReview) -> BoxFuture<'a, Result<(), LedgerError>> {
        let review = review.clone();
        self.run(move |connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            rows::insert_review(&transaction, &review.review)?;
            for (finding, occurrence) in &review.findings {
                rows::upsert_finding(&transaction, finding)?;
                rows::insert_occurrence(&transaction, &finding.id, occurrence)?;
                if let Some(standing) = finding.standing {
                    let standing = ChangeStanding {
                        subject: finding.subject.clone(),
                        standing,
                        file: Some(finding.finding.file.clone()),
                        code: finding.code.clone(),
                    };
                    rows::set_standing(&transaction, &finding.id, &standing)?;
                }
            }
            for (id, change) in &review.state_changes {
                let subject = Some(review.review.subject.as_str());
                rows::change_state(&transaction, id, change, None, subject)?;
            }
            transaction.commit()
        })
    }

    fn change_states<'a>(
        &'a self,
        updates: &'a [StateUpdate],
    ) -> BoxFuture<'a, Result<(), LedgerError>> {
        let updates = updates.to_vec();
        self.run(move |connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for StateUpdate { id, change, waiver } in &updates {
                rows::change_state(&transaction, id, change, waiver.as_ref(), None)?;
            }
            transaction.commit()
        })
    }

    fn short_ids<'a>(
        &'a self,
        ids: &'a [FindingId],
    ) -> BoxFuture<'a, Result<Vec<String>, LedgerError>> {
        let ids = ids.to_vec();
        self.run(move |connection| ids.iter().map(|id| rows::short_id(connection, id)).collect())
    }

    fn import<'a>(
        &'a self,
        findings: &'a [FindingHistory],
    ) -> BoxFuture<'a, Result<usize, LedgerError>> {
        let findings = findings.to_vec();
        self.run(move |connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for history in &findings {
                rows::replace(&transaction, history)?;
            }
            transaction.commit()?;
            Ok(findings.len())
        })
    }
}

/// Why a file could not be opened.
enum OpenError {
    /// It is no database, or a damaged one.
    Damaged(String),
    Other(LedgerError),
}

impl OpenError {
    fn of(path: &Path, error: rusqlite::Error) -> Self {
        let is_damaged = matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt)
        );
        let text = match &error {
            // Without the statement, which may be long.
            rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
            other => other.to_string(),
        };
        if is_damaged { Self::Damaged(text) } else { Self::Other(storage(path, &text)) }
    }

    fn into_ledger_error(self) -> LedgerError {
        match self {
            Self::Damaged(what) => LedgerError::Storage { what },
            Self::Other(error) => error,
        }
    }
}

/// Moves a damaged file, with its WAL, to a free name beside it.
fn move_aside(path: &Path) -> Result<PathBuf, LedgerError> {
    let number = (1..1000).find(|number| !aside(path, *number).exists()).unwrap_or(1000);
    let target = aside(path, number);
    std::fs::rename(path, &target)
        .map_err(|error| storage(path, &format!("it is damaged and cannot be moved: {error}")))?;
    for suffix in ["-wal", "-shm"] {
        let extra = |file: &Path| PathBuf::from(format!("{}{suffix}", file.display()));
        if extra(path).exists() {
            std::fs::rename(extra(path), extra(&target)).map_err(|error| {
                storage(path, &format!("it is damaged and cannot be moved: {error}"))
            })?;
        }
    }
    Ok(target)
}

fn aside(path: &Path, number: u32) -> PathBuf {
    PathBuf::from(format!("{}.damaged-{number}", path.display()))
}

fn storage(path: &Path, why: &str) -> LedgerError {
    LedgerError::Storage { what: format!("ledger {}: {why}", path.display()) }
}
