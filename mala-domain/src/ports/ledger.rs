//! The storage of findings and reviews, so that later reviews know them.

use super::BoxFuture;
use crate::change::FilePath;
use crate::finding::FindingState;
use crate::ledger::stats::FindingCount;
use crate::ledger::waiver::Waiver;
use crate::ledger::{
    ChangeStanding, FindingId, LedgerFinding, Occurrence, ReviewRecord, StateChange,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use thiserror::Error;

/// A filter for findings; empty fields do not restrict.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FindingFilter {
    /// In any of these states.
    pub states: Vec<FindingState>,
    /// Reported in any of these files, including findings whose file was renamed since.
    pub files: Vec<FilePath>,
    /// Found by this rule.
    pub rule: Option<String>,
    /// Reported first by this reviewer.
    pub reviewer: Option<String>,
    /// Reported last on or after this day (`YYYY-MM-DD`).
    pub since: Option<String>,
    /// Reported in a review of this change; the findings then have their standing in it.
    pub subject: Option<String>,
    /// The maximum number; 0 for all.
    pub limit: usize,
}

/// A review with everything that is stored with it, in one transaction.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredReview {
    /// The review.
    pub review: ReviewRecord,
    /// Findings that are stored for the first time, or with a newer occurrence and standing.
    pub findings: Vec<(LedgerFinding, Occurrence)>,
    /// Changes of state; a fix applies to the change under review.
    pub state_changes: Vec<(FindingId, StateChange)>,
}

/// A change of the state of a finding, with the waiver that comes with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateUpdate {
    /// The finding.
    pub id: FindingId,
    /// The change.
    pub change: StateChange,
    /// The waiver.
    pub waiver: Option<Waiver>,
}

/// A finding with its history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FindingHistory {
    /// The finding.
    pub finding: LedgerFinding,
    /// Its occurrences, the oldest first.
    pub occurrences: Vec<Occurrence>,
    /// Its changes of state, the oldest first.
    pub state_changes: Vec<StateChange>,
    /// Its standing in each change.
    #[serde(default)]
    pub standings: Vec<ChangeStanding>,
}

/// Stores findings and reviews.
pub trait Ledger: Send + Sync {
    /// The reviews of a change, the oldest first.
    fn reviews<'a>(
        &'a self,
        subject: &'a str,
    ) -> BoxFuture<'a, Result<Vec<ReviewRecord>, LedgerError>>;

    /// All reviews, the oldest first, without their lines.
    fn all_reviews(&self) -> BoxFuture<'_, Result<Vec<ReviewRecord>, LedgerError>>;

    /// Findings, those reported last first.
    fn findings<'a>(
        &'a self,
        filter: &'a FindingFilter,
    ) -> BoxFuture<'a, Result<Vec<LedgerFinding>, LedgerError>>;

    /// The numbers of findings by rule, reviewer, category and state.
    fn counts(&self) -> BoxFuture<'_, Result<Vec<FindingCount>, LedgerError>>;

    /// The finding whose id starts with this prefix.
    fn finding<'a>(&'a self, prefix: &'a str)
    -> BoxFuture<'a, Result<FindingHistory, LedgerError>>;

    /// Stores a review in one transaction.
    fn record<'a>(&'a self, review: &'a StoredReview) -> BoxFuture<'a, Result<(), LedgerError>>;

    /// Changes states in one transaction.
    fn change_states<'a>(
        &'a self,
        updates: &'a [StateUpdate],
    ) -> BoxFuture<'a, Result<(), LedgerError>>;

    /// The shortest starts of these ids that are unique.
    fn short_ids<'a>(
        &'a self,
        ids: &'a [FindingId],
    ) -> BoxFuture<'a, Result<Vec<String>, LedgerError>>;

    /// Adds findings with their history, such as those of an export; known ids are replaced.
    fn import<'a>(
        &'a self,
        findings: &'a [FindingHistory],
    ) -> BoxFuture<'a, Result<usize, LedgerError>>;
}

/// The commits that a review compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReviewedCommits<'c> {
    /// The base.
    pub base: Option<&'c str>,
    /// The head; `None` for a working tree.
    pub head: Option<&'c str>,
}

/// How the commits of a change moved between two reviews.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistoryMoves {
    /// Whether the earlier head is no longer part of the history.
    pub is_rewritten: bool,
    /// Files that differ between the two bases.
    pub base_files: BTreeSet<FilePath>,
}

/// Compares the commits of two reviews of a change.
pub trait ChangeHistory: Send + Sync {
    /// Compares the commits of an earlier review with the current ones.
    fn moves<'a>(
        &'a self,
        earlier: ReviewedCommits<'a>,
        current: ReviewedCommits<'a>,
    ) -> BoxFuture<'a, Result<HistoryMoves, LedgerError>>;
}

/// Why the ledger cannot be used.
#[derive(Debug, Error)]
pub enum LedgerError {
    /// A newer version of mala wrote it.
    #[error("{path} has format {found}, and this version of mala reads up to {known}")]
    TooNew {
        /// The file.
        path: String,
        /// Its version.
        found: i64,
        /// The newest version that can be read.
        known: i64,
    },
    /// No finding has an id with this prefix.
    #[error("no finding `{0}` in the ledger")]
    Unknown(String),
    /// Several findings do.
    #[error("`{prefix}` is ambiguous: it could be {}", candidates.join(", "))]
    Ambiguous {
        /// The prefix.
        prefix: String,
        /// The ids.
        candidates: Vec<String>,
    },
    /// It cannot be read or written.
    #[error("{what}")]
    Storage {
        /// What could not be done, and why.
        what: String,
    },
}
