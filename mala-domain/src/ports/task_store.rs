//! The storage of tasks.

use super::{BoxFuture, TrackerError};
use crate::task::TaskRecord;

/// Stores tasks and a log of events. Every change is one transaction; a change of status adds its
/// event to the log.
pub trait TaskStore: Send + Sync {
    /// All tasks, the oldest first.
    fn tasks(&self) -> BoxFuture<'_, Result<Vec<TaskRecord>, TrackerError>>;

    /// The task with this id, or the only one whose id starts with it.
    fn task<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<TaskRecord, TrackerError>>;

    /// Adds a task and returns it as it is stored. One with an empty id gets one.
    fn add<'a>(&'a self, task: &'a TaskRecord) -> BoxFuture<'a, Result<TaskRecord, TrackerError>>;

    /// Replaces a task, with these events, if it is still as it was read. Returns whether it was.
    fn replace<'a>(
        &'a self,
        old: &'a TaskRecord,
        new: &'a TaskRecord,
        events: &'a [String],
    ) -> BoxFuture<'a, Result<bool, TrackerError>>;

    /// Adds tasks. One that exists keeps its status, its owner and its revisions.
    fn import<'a>(
        &'a self,
        tasks: &'a [TaskRecord],
    ) -> BoxFuture<'a, Result<ImportCount, TrackerError>>;

    /// Adds an event to the log.
    fn add_event<'a>(&'a self, event: &'a str) -> BoxFuture<'a, Result<(), TrackerError>>;

    /// The events after this number, the oldest first.
    fn events_after(&self, number: i64) -> BoxFuture<'_, Result<Vec<TaskEvent>, TrackerError>>;
}

/// The result of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportCount {
    /// Tasks that were not there before.
    pub added: usize,
    /// Tasks whose texts or links changed.
    pub updated: usize,
}

/// An event of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskEvent {
    /// Its number; later events have higher ones.
    pub number: i64,
    /// When it was added (RFC 3339).
    pub at: String,
    /// The event, as a JSON object.
    pub event: String,
}
