//! The tables of the ledger and their versions. Plain SQL, so that another database can have the same.

use super::{BUSY_TIMEOUT, OpenError, storage};
use mala_domain::ports::LedgerError;
use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use std::path::Path;
use std::time::{Duration, Instant};

/// One entry per version; the version of a file is the number of entries that were applied.
const MIGRATIONS: [&str; 4] = [
    "
CREATE TABLE finding (
    id TEXT PRIMARY KEY,
    key TEXT NOT NULL,
    file TEXT NOT NULL,
    rule TEXT,
    reviewer TEXT NOT NULL,
    state TEXT NOT NULL,
    subject TEXT NOT NULL,
    first_seen TEXT NOT NULL,
    first_seen_at TEXT NOT NULL,
    last_seen_at TEXT NOT NULL,
    n_occurrences INTEGER NOT NULL,
    waiver TEXT,
    finding TEXT NOT NULL,
    standing TEXT NOT NULL
);
CREATE INDEX finding_file ON finding (file);
CREATE INDEX finding_last_seen ON finding (last_seen_at DESC, id);
CREATE INDEX finding_state ON finding (state, last_seen_at DESC, id);
CREATE TABLE occurrence (
    seq INTEGER PRIMARY KEY,
    finding TEXT NOT NULL REFERENCES finding (id),
    review_id TEXT NOT NULL,
    reviewer TEXT NOT NULL,
    round INTEGER NOT NULL,
    line_start INTEGER NOT NULL,
    line_end INTEGER NOT NULL,
    commit_id TEXT,
    at TEXT NOT NULL,
    matched TEXT NOT NULL,
    subject TEXT NOT NULL
);
CREATE INDEX occurrence_finding ON occurrence (finding);
CREATE INDEX occurrence_subject ON occurrence (subject, finding);
CREATE TABLE state_change (
    seq INTEGER PRIMARY KEY,
    finding TEXT NOT NULL REFERENCES finding (id),
    state TEXT NOT NULL,
    changed_by TEXT NOT NULL,
    at TEXT NOT NULL,
    reason TEXT NOT NULL
);
CREATE INDEX state_change_finding ON state_change (finding);
CREATE TABLE review (
    seq INTEGER PRIMARY KEY,
    review_id TEXT NOT NULL,
    subject TEXT NOT NULL,
    round INTEGER NOT NULL,
    at TEXT NOT NULL,
    base TEXT,
    head TEXT,
    diff_hash TEXT NOT NULL,
    is_complete INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    reviewers TEXT NOT NULL,
    cost_usd REAL,
    summary TEXT NOT NULL,
    lines TEXT NOT NULL,
    panel TEXT NOT NULL,
    next_step TEXT NOT NULL
);
CREATE INDEX review_subject ON review (subject, seq);
",
    crate::trackers::TASK_TABLES,
    "
CREATE TABLE change_standing (
    finding TEXT NOT NULL REFERENCES finding (id),
    subject TEXT NOT NULL,
    standing TEXT NOT NULL,
    PRIMARY KEY (finding, subject)
);
CREATE INDEX change_standing_subject ON change_standing (subject, finding);
INSERT INTO change_standing (finding, subject, standing)
    SELECT DISTINCT occurrence.finding, occurrence.subject,
        CASE WHEN finding.state = 'fixed' AND finding.subject = occurrence.subject THEN 'fixed'
             WHEN finding.subject = occurrence.subject THEN finding.standing
             ELSE 'still_open' END
    FROM occurrence JOIN finding ON finding.id = occurrence.finding;
ALTER TABLE finding DROP COLUMN standing;
",
    "
ALTER TABLE change_standing ADD COLUMN file TEXT;
ALTER TABLE change_standing ADD COLUMN code TEXT;
CREATE TABLE finding_path (
    file TEXT NOT NULL,
    finding TEXT NOT NULL REFERENCES finding (id),
    PRIMARY KEY (file, finding)
);
CREATE INDEX finding_path_finding ON finding_path (finding, file);
INSERT INTO finding_path (file, finding) SELECT file, id FROM finding;
DROP INDEX finding_file;
ALTER TABLE finding DROP COLUMN file;
",
];

/// Switches to the write-ahead log. SQLite does not wait for other processes that do the same, whatever the
/// timeout of the connection.
fn use_write_ahead_log(connection: &Connection) -> rusqlite::Result<()> {
    let started = Instant::now();
    loop {
        let switched = connection.execute_batch("PRAGMA journal_mode = WAL;");
        let is_busy = matches!(
            &switched,
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
        );
        if !is_busy || started.elapsed() >= BUSY_TIMEOUT {
            return switched;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sets the connection up and brings the tables to the newest version. A newer file is refused.
pub(super) fn prepare(connection: &mut Connection, path: &Path) -> Result<(), OpenError> {
    let failed = |error| OpenError::of(path, error);
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    let version = |connection: &Connection| {
        connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))
    };
    let found = version(connection).map_err(failed)?;
    if found > known {
        let path = path.display().to_string();
        return Err(OpenError::Other(LedgerError::TooNew { path, found, known }));
    }
    use_write_ahead_log(connection).map_err(failed)?;
    connection
        .execute_batch("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;")
        .map_err(failed)?;
    if found == known {
        return Ok(());
    }
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    // Another process may have migrated the file in the meantime.
    let found = version(&transaction).map_err(failed)?;
    let done = usize::try_from(found)
        .map_err(|_| OpenError::Other(storage(path, "its version is negative")))?;
    for migration in MIGRATIONS.iter().skip(done) {
        transaction.execute_batch(migration).map_err(failed)?;
    }
    transaction.pragma_update(None, "user_version", known).map_err(failed)?;
    transaction.commit().map_err(failed)
}
