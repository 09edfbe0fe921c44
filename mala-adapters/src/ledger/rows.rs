//! Rows of the ledger's tables, to and from the domain's values.

use mala_domain::change::FilePath;
use mala_domain::finding::{Finding, FindingState};
use mala_domain::ledger::convergence::RoundSummary;
use mala_domain::ledger::delta::ReviewedLines;
use mala_domain::ledger::stats::FindingCount;
use mala_domain::ledger::waiver::Waiver;
use mala_domain::ledger::{
    ChangeStanding, FindingId, LedgerFinding, Occurrence, ReviewRecord, Standing, StateChange,
};
use mala_domain::ports::{FindingFilter, FindingHistory};
use rusqlite::types::{Type, Value};
use rusqlite::{Connection, Error, Result, Row, params, params_from_iter};
use serde::Serialize;
use serde::de::DeserializeOwned;

const FINDING: &str = "finding.id, finding.finding, state, finding.subject, first_seen, first_seen_at, last_seen_at, n_occurrences, waiver";

/// The columns of a finding in one change: its standing there, its file and its code.
const IN_CHANGE: &str = "change_standing.standing, CASE WHEN change_standing.file IS NULL THEN '[]' ELSE json_array(change_standing.file) END, change_standing.code";

/// The columns of a finding without a change: its paths in all changes.
const IN_ALL_CHANGES: &str = "NULL, (SELECT json_group_array(file) FROM (SELECT file FROM finding_path WHERE finding_path.finding = finding.id ORDER BY file)), NULL";

pub(super) fn findings(
    connection: &Connection,
    filter: &FindingFilter,
) -> Result<Vec<LedgerFinding>> {
    let mut conditions = vec!["1 = 1".to_owned()];
    let mut values: Vec<Value> = Vec::new();
    let mut one_of = |column: &str, wanted: Vec<String>| {
        if !wanted.is_empty() {
            let marks = vec!["?"; wanted.len()].join(", ");
            conditions.push(format!("{column} IN ({marks})"));
            values.extend(wanted.into_iter().map(Value::Text));
        }
    };
    one_of("state", filter.states.iter().map(|it| it.name().to_owned()).collect());
    one_of("rule", filter.rule.iter().cloned().collect());
    one_of("reviewer", filter.reviewer.iter().cloned().collect());
    if !filter.files.is_empty() {
        // A change may have more files than a statement may have variables.
        let files =
            "SELECT finding FROM finding_path WHERE file IN (SELECT value FROM json_each(?))";
        conditions.push(format!("finding.id IN ({files})"));
        values.push(Value::Text(text(&filter.files)?));
    }
    let (of_change, join) = match &filter.subject {
        Some(subject) => {
            conditions.push("change_standing.subject = ?".to_owned());
            values.push(Value::Text(subject.clone()));
            (IN_CHANGE, "JOIN change_standing ON change_standing.finding = finding.id")
        }
        None => (IN_ALL_CHANGES, ""),
    };
    if let Some(since) = &filter.since {
        conditions.push("last_seen_at >= ?".to_owned());
        values.push(Value::Text(since.clone()));
    }
    let limit = match filter.limit {
        0 => String::new(),
        limit => format!(" LIMIT {limit}"),
    };
    let sql = format!(
        "SELECT {FINDING}, {of_change} FROM finding {join} WHERE {} ORDER BY last_seen_at DESC, id{limit}",
        conditions.join(" AND ")
    );
    let mut statement = connection.prepare(&sql)?;
    statement.query_map(params_from_iter(values), finding_of)?.collect()
}

/// The numbers of findings by rule, reviewer, category and state.
pub(super) fn counts(connection: &Connection) -> Result<Vec<FindingCount>> {
    let mut statement = connection.prepare(
        "SELECT rule, reviewer, json_extract(finding, '$.category'), state, count(*)
         FROM finding GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4",
    )?;
    let counts = statement.query_map([], |row| {
        let n: i64 = row.get(4)?;
        Ok(FindingCount {
            rule: row.get(0)?,
            reviewer: row.get(1)?,
            category: row.get(2)?,
            state: word(row, 3)?,
            n: usize::try_from(n).unwrap_or_default(),
        })
    })?;
    counts.collect()
}

pub(super) fn by_prefix(connection: &Connection, prefix: &str) -> Result<Vec<FindingHistory>> {
    let sql = format!(
        "SELECT {FINDING}, {IN_ALL_CHANGES} FROM finding WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT 10"
    );
    let mut statement = connection.prepare(&sql)?;
    let end = format!("{prefix}{}", char::MAX);
    let found: Vec<LedgerFinding> =
        statement.query_map([prefix, &end], finding_of)?.collect::<Result<_>>()?;
    found.into_iter().map(|finding| history(connection, finding)).collect()
}

/// The shortest start of an id, of 8 digits or more, that no other id has.
pub(super) fn short_id(connection: &Connection, id: &FindingId) -> Result<String> {
    let neighbour = |sql: &str| -> Result<Option<String>> {
        connection.prepare_cached(sql)?.query_row([&id.0], |row| row.get(0))
    };
    let before = neighbour("SELECT max(id) FROM finding WHERE id < ?")?;
    let after = neighbour("SELECT min(id) FROM finding WHERE id > ?")?;
    let shared = |other: &String| {
        other.bytes().zip(id.0.bytes()).take_while(|(one, other)| one == other).count()
    };
    let longest = before.iter().chain(&after).map(shared).max().unwrap_or_default();
    Ok(id.0.get(..(longest + 1).max(MIN_ID)).unwrap_or(&id.0).to_owned())
}

/// The fewest digits of an id that are shown.
const MIN_ID: usize = 8;

fn history(connection: &Connection, finding: LedgerFinding) -> Result<FindingHistory> {
    let mut statement = connection.prepare(
        "SELECT review_id, reviewer, round, line_start, line_end, commit_id, at, matched, subject
         FROM occurrence WHERE finding = ? ORDER BY seq",
    )?;
    let occurrences = statement.query_map([&finding.id.0], |row| {
        Ok(Occurrence {
            review_id: row.get(0)?,
            reviewer: row.get(1)?,
            round: row.get(2)?,
            line_start: row.get(3)?,
            line_end: row.get(4)?,
            commit: row.get(5)?,
            at: row.get(6)?,
            matched: row.get(7)?,
            subject: row.get(8)?,
        })
    })?;
    let occurrences = occurrences.collect::<Result<_>>()?;
    let mut statement = connection.prepare(
        "SELECT state, changed_by, at, reason FROM state_change WHERE finding = ? ORDER BY seq",
    )?;
    let state_changes = statement.query_map([&finding.id.0], |row| {
        Ok(StateChange {
            state: word(row, 0)?,
            by: row.get(1)?,
            at: row.get(2)?,
            reason: row.get(3)?,
        })
    })?;
    let state_changes = state_changes.collect::<Result<_>>()?;
    let mut statement = connection.prepare(
        "SELECT subject, standing, file, code FROM change_standing WHERE finding = ? ORDER BY subject",
    )?;
    let standings = statement.query_map([&finding.id.0], |row| {
        let file: Option<String> = row.get(2)?;
        Ok(ChangeStanding {
            subject: row.get(0)?,
            standing: word(row, 1)?,
            file: file.as_deref().map(FilePath::parse),
            code: optional_json(row, 3)?,
        })
    })?;
    let standings = standings.collect::<Result<_>>()?;
    Ok(FindingHistory { finding, occurrences, state_changes, standings })
}

fn finding_of(row: &Row<'_>) -> Result<LedgerFinding> {
    Ok(LedgerFinding {
        id: FindingId(row.get(0)?),
        finding: json::<Finding>(&row.get::<_, String>(1)?, 1)?,
        state: word(row, 2)?,
        subject: row.get(3)?,
        standing: optional_word(row, 9)?,
        first_seen: row.get(4)?,
        first_seen_at: row.get(5)?,
        last_seen_at: row.get(6)?,
        n_occurrences: row.get(7)?,
        waiver: optional_json(row, 8)?,
        paths: json(&row.get::<_, String>(10)?, 10)?,
        code: optional_json(row, 11)?,
    })
}

pub(super) fn upsert_finding(connection: &Connection, it: &LedgerFinding) -> Result<()> {
    let waiver = it.waiver.as_ref().map(text).transpose()?;
    connection
        .prepare_cached(
            "INSERT INTO finding (id, key, rule, reviewer, state, subject, first_seen, first_seen_at,
                 last_seen_at, n_occurrences, waiver, finding)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT (id) DO UPDATE SET key = excluded.key, rule = excluded.rule, subject = excluded.subject,
                 last_seen_at = max(finding.last_seen_at, excluded.last_seen_at),
                 n_occurrences = finding.n_occurrences + 1, finding = excluded.finding",
        )?
        .execute(params![
            it.id.0,
            it.finding.dedupe_key.as_str(),
            it.finding.rule,
            it.finding.reviewer,
            it.state.name(),
            it.subject,
            it.first_seen,
            it.first_seen_at,
            it.last_seen_at,
            it.n_occurrences,
            waiver,
            text(&it.finding)?,
        ])?;
    let mut path = connection
        .prepare_cached("INSERT OR IGNORE INTO finding_path (file, finding) VALUES (?, ?)")?;
    for file in std::iter::once(&it.finding.file).chain(&it.paths) {
        path.execute([&file.to_string(), &it.id.0])?;
    }
    Ok(())
}

/// Stores how the last review of a change left a finding. Its file and code stay when they are not given.
pub(super) fn set_standing(
    connection: &Connection,
    id: &FindingId,
    it: &ChangeStanding,
) -> Result<()> {
    let (file, code) = (it.file.as_ref().map(ToString::to_string), it.code.as_ref());
    connection
        .prepare_cached(
            "INSERT INTO change_standing (finding, subject, standing, file, code) VALUES (?, ?, ?, ?, ?)
             ON CONFLICT (finding, subject) DO UPDATE SET standing = excluded.standing,
                 file = coalesce(excluded.file, file), code = coalesce(excluded.code, code)",
        )?
        .execute(params![
            id.0,
            it.subject,
            it.standing.name(),
            file,
            code.map(text).transpose()?
        ])?;
    Ok(())
}

pub(super) fn insert_occurrence(
    connection: &Connection,
    id: &FindingId,
    it: &Occurrence,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO occurrence (finding, review_id, reviewer, round, line_start, line_end, commit_id, at,
                 matched, subject)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            id.0,
            it.review_id,
            it.reviewer,
            it.round,
            it.line_start,
            it.line_end,
            it.commit,
            it.at,
            it.matched,
            it.subject,
        ])?;
    Ok(())
}

pub(super) fn change_state(
    connection: &Connection,
    id: &FindingId,
    change: &StateChange,
    waiver: Option<&Waiver>,
    subject: Option<&str>,
) -> Result<()> {
    let waiver = waiver.map(text).transpose()?;
    let changed = connection.execute(
        "UPDATE finding SET state = ?, waiver = ?, subject = coalesce(?, subject) WHERE id = ?",
        params![change.state.name(), waiver, subject, id.0],
    )?;
    if changed == 0 {
        return Err(Error::QueryReturnedNoRows);
    }
    match (change.state, subject) {
        (FindingState::Fixed, Some(subject)) => {
            let subject = subject.to_owned();
            let fixed =
                ChangeStanding { subject, standing: Standing::Fixed, file: None, code: None };
            set_standing(connection, id, &fixed)?;
        }
        // A reopened finding counts again, also in changes where it was fixed.
        (FindingState::Open, None) => {
            connection.execute(
                "UPDATE change_standing SET standing = ? WHERE finding = ? AND standing = ?",
                params![Standing::StillOpen.name(), id.0, Standing::Fixed.name()],
            )?;
        }
        _ => {}
    }
    insert_state_change(connection, id, change)
}

fn insert_state_change(
    connection: &Connection,
    id: &FindingId,
    change: &StateChange,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO state_change (finding, state, changed_by, at, reason) VALUES (?, ?, ?, ?, ?)",
        )?
        .execute(params![id.0, change.state.name(), change.by, change.at, change.reason])?;
    Ok(())
}

/// Stores a finding with its whole history, and replaces the finding with the same id.
pub(super) fn replace(connection: &Connection, it: &FindingHistory) -> Result<()> {
    let id = &it.finding.id;
    for table in ["occurrence", "state_change", "change_standing", "finding_path"] {
        connection.execute(&format!("DELETE FROM {table} WHERE finding = ?"), [&id.0])?;
    }
    connection.execute("DELETE FROM finding WHERE id = ?", [&id.0])?;
    upsert_finding(connection, &it.finding)?;
    for occurrence in &it.occurrences {
        insert_occurrence(connection, id, occurrence)?;
    }
    for change in &it.state_changes {
        insert_state_change(connection, id, change)?;
    }
    // An export of an earlier version has the standing in the last change only.
    let last = ChangeStanding {
        subject: it.finding.subject.clone(),
        standing: it.finding.standing.unwrap_or(Standing::StillOpen),
        file: None,
        code: None,
    };
    let standings = if it.standings.is_empty() { &vec![last] } else { &it.standings };
    for standing in standings {
        set_standing(connection, id, standing)?;
    }
    Ok(())
}

pub(super) fn insert_review(connection: &Connection, it: &ReviewRecord) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO review (review_id, subject, round, at, base, head, diff_hash, is_complete, outcome,
                 reviewers, cost_usd, summary, lines, panel, next_step)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            it.review_id,
            it.subject,
            it.round,
            it.at,
            it.base,
            it.head,
            it.diff_hash,
            it.is_complete,
            it.outcome,
            text(&it.reviewers)?,
            it.cost_usd,
            text(&it.summary)?,
            text(&it.lines)?,
            it.panel,
            text(&it.next_step)?,
        ])?;
    Ok(())
}

/// The reviews of a change with their lines; without a change, all reviews without their lines.
pub(super) fn reviews(connection: &Connection, subject: Option<&str>) -> Result<Vec<ReviewRecord>> {
    let (lines, condition) = match subject {
        Some(_) => ("lines", "subject = ?1"),
        None => ("'{}'", "?1 IS NULL"),
    };
    let sql = format!(
        "SELECT review_id, subject, round, at, base, head, diff_hash, is_complete, outcome, reviewers, cost_usd,
             summary, {lines}, panel, next_step
         FROM review WHERE {condition} ORDER BY seq"
    );
    let mut statement = connection.prepare(&sql)?;
    let rows = statement.query_map([subject], |row| {
        Ok(ReviewRecord {
            review_id: row.get(0)?,
            subject: row.get(1)?,
            round: row.get(2)?,
            at: row.get(3)?,
            base: row.get(4)?,
            head: row.get(5)?,
            diff_hash: row.get(6)?,
            is_complete: row.get(7)?,
            outcome: row.get(8)?,
            reviewers: json(&row.get::<_, String>(9)?, 9)?,
            cost_usd: row.get(10)?,
            summary: json::<RoundSummary>(&row.get::<_, String>(11)?, 11)?,
            lines: json::<ReviewedLines>(&row.get::<_, String>(12)?, 12)?,
            panel: row.get(13)?,
            next_step: json(&row.get::<_, String>(14)?, 14)?,
        })
    })?;
    rows.collect()
}

/// A value that serializes as a string: a state, a standing, an identity.
pub(super) fn word<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<T> {
    let name: String = row.get(column)?;
    json(&format!("\"{name}\""), column)
}

fn optional_word<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<Option<T>> {
    let name: Option<String> = row.get(column)?;
    name.map(|name| json(&format!("\"{name}\""), column)).transpose()
}

fn optional_json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<Option<T>> {
    let value: Option<String> = row.get(column)?;
    value.map(|text| json(&text, column)).transpose()
}

fn json<T: DeserializeOwned>(text: &str, column: usize) -> Result<T> {
    serde_json::from_str(text)
        .map_err(|error| Error::FromSqlConversionFailure(column, Type::Text, Box::new(error)))
}

fn text<T: Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::ToSqlConversionFailure(Box::new(error)))
}
