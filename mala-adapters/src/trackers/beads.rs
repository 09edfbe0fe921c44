//! Issues of a `bd` program. Several programs have this name, with different options and answers:
//! `dialect` handles the options, and `mala_domain::task::json` parses the answers. After a write,
//! the issue is read again, because answers are not reliable.

mod call;
mod dialect;

use crate::process::ProcessEnvironment;
use call::BeadsProgram;
use dialect::BeadsDialect;
use futures_util::{StreamExt, TryStreamExt, stream};
use mala_domain::ports::{BoxFuture, Tracker, TrackerError};
use mala_domain::run::issue::{IssueDraft, IssueId, IssueStatus, TrackerIssue};
use mala_domain::task::json::{add_edges, issues_in, task_of};
use mala_domain::task::{TaskRecord, clean_label, one_line};
use serde_json::Value;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How many issues are read at a time.
const PARALLEL: usize = 8;

/// The longest text of an issue that is created, in bytes: it is one argument of a program.
const MAX_TEXT: usize = 60 << 10;

/// A `bd` program in a repository.
pub struct BeadsTracker {
    program: BeadsProgram,
    dialect: BeadsDialect,
    /// Closed issues with their entry in the list, so that each is read only once.
    closed: Mutex<HashMap<String, (String, TaskRecord)>>,
}

type TrackerAnswer<T> = Result<T, TrackerError>;

impl BeadsTracker {
    /// The tracker of the repository in this folder. Fails if there is no `bd`.
    pub async fn open(dir: PathBuf, variables: &ProcessEnvironment) -> TrackerAnswer<Self> {
        let program = BeadsProgram::new(dir, variables);
        let help = program.text(&["--help"]).await?;
        let dialect = BeadsDialect::of_help(&help);
        Ok(Self { program, dialect, closed: Mutex::default() })
    }

    /// Limits the time of every call.
    #[must_use]
    pub fn within(mut self, limit: Duration) -> Self {
        self.program.limit = limit;
        self
    }

    async fn read_all(&self) -> TrackerAnswer<Vec<TrackerIssue>> {
        let listed = self.json(self.dialect.list()).await?;
        let rows = issues_in(&listed).ok_or_else(|| unreadable("list", &listed))?;
        let rows: Vec<Value> = rows.into_iter().cloned().collect();
        let read = stream::iter(rows.into_iter().map(|row| self.read_row(row)));
        let tasks: Vec<Option<TaskRecord>> = read.buffered(PARALLEL).try_collect().await?;
        Ok(tasks.iter().flatten().map(TaskRecord::to_issue).collect())
    }

    /// The whole issue of a row in a list; `None` if it is gone.
    async fn read_row(&self, row: Value) -> TrackerAnswer<Option<TaskRecord>> {
        let Some(listed) = task_of(&row) else { return Err(unreadable("list", &row)) };
        let (id, text) = (listed.id.to_string(), row.to_string());
        let is_closed = listed.status.issue_status() == IssueStatus::Closed;
        let known = self.closed().get(&id).filter(|(seen, _)| is_closed && *seen == text).cloned();
        if let Some((_, task)) = known {
            return Ok(Some(task));
        }
        match self.read(&listed.id).await {
            Ok(task) => {
                if is_closed {
                    self.closed().insert(id, (text, task.clone()));
                }
                Ok(Some(task))
            }
            Err(TrackerError::Unknown(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn closed(&self) -> std::sync::MutexGuard<'_, HashMap<String, (String, TaskRecord)>> {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One issue with its edges.
    async fn read(&self, id: &IssueId) -> TrackerAnswer<TaskRecord> {
        Ok(self.read_answer(id).await?.1)
    }

    async fn read_answer(&self, id: &IssueId) -> TrackerAnswer<(Value, TaskRecord)> {
        let answer = self.of_issue(id, self.dialect.show(id)).await?;
        let items = issues_in(&answer).ok_or_else(|| unreadable("show", &answer))?;
        let item = items.into_iter().find(|item| item["id"] == id.as_str());
        let Some(item) = item.cloned() else { return Err(TrackerError::Unknown(id.clone())) };
        let mut task = task_of(&item).ok_or_else(|| unreadable("show", &item))?;
        if let Some(arguments) = self.dialect.edges(id) {
            add_edges(&mut task, &self.of_issue(id, arguments).await?);
        }
        Ok((item, task))
    }

    async fn json(&self, arguments: Vec<String>) -> TrackerAnswer<Value> {
        self.program.json(&self.dialect.with_json(arguments)).await
    }

    /// A call about an issue: that it does not exist has an error of its own.
    async fn of_issue(&self, id: &IssueId, arguments: Vec<String>) -> TrackerAnswer<Value> {
        if id.as_str().starts_with('-') || id.as_str().is_empty() {
            return Err(TrackerError::Unknown(id.clone()));
        }
        self.json(arguments).await.map_err(|error| match error {
            TrackerError::Failed(why) if is_unknown(&why) => TrackerError::Unknown(id.clone()),
            other => other,
        })
    }

    /// Claims an open issue and reads it again. The owner is reported as the assignee
    /// when the claim that is stored is the one that was just made.
    async fn claim_for(&self, id: &IssueId, owner: &str) -> TrackerAnswer<TrackerIssue> {
        let before = self.read(id).await?.to_issue();
        if before.status != IssueStatus::Open {
            return Ok(before);
        }
        let claimed = self.of_issue(id, self.dialect.claim(id, owner)).await?;
        let (item, task) = self.read_answer(id).await?;
        let mut issue = task.to_issue();
        if self.dialect.is_own_claim(&claimed, &item) {
            issue.assignee = Some(owner.to_owned());
        }
        Ok(issue)
    }

    async fn close_issue(&self, id: &IssueId, reason: &str) -> TrackerAnswer<()> {
        let closed = self.of_issue(id, self.dialect.close(id, &argument(reason))).await;
        match closed {
            Ok(_) => Ok(()),
            Err(error @ TrackerError::Unknown(_)) => Err(error),
            // Some programs refuse to close a closed issue.
            Err(error) => match self.read(id).await?.to_issue().status {
                IssueStatus::Closed => Ok(()),
                _ => Err(error),
            },
        }
    }

    async fn release_issue(&self, id: &IssueId, reason: &str) -> TrackerAnswer<()> {
        for arguments in self.dialect.release(id, &argument(reason)) {
            self.of_issue(id, arguments).await?;
        }
        match self.read(id).await?.to_issue().status {
            IssueStatus::Open => Ok(()),
            status => {
                let what = format!("bd: `{id}` was opened again and is {status:?}");
                Err(TrackerError::Failed(what))
            }
        }
    }

    async fn create_issue(&self, draft: &IssueDraft) -> TrackerAnswer<IssueId> {
        let labels: Vec<String> =
            draft.labels.iter().filter_map(|label| clean_label(label)).collect();
        let gap = if draft.notes.is_empty() { "" } else { "\n\n" };
        let draft = IssueDraft {
            title: one_line(&draft.title),
            body: argument(&format!("{}{gap}{}", draft.body, draft.notes)),
            labels,
            ..draft.clone()
        };
        let created = self.json(self.dialect.create(&draft)).await?;
        let items = issues_in(&created).unwrap_or_default();
        let id = items.first().and_then(|item| item["id"].as_str()).map(IssueId::new);
        let id = id.ok_or_else(|| unreadable("create", &created))?;
        for blocker in &draft.blocked_by {
            self.json(self.dialect.block(&id, blocker)).await?;
        }
        let related = draft.related_to.as_ref().map(|other| self.dialect.relate(&id, other));
        if let Some(arguments) = related
            && let Err(error) = self.json(arguments).await
        {
            // The text names the other issue too.
            tracing::debug!(%error, "an issue is not linked");
        }
        Ok(id)
    }
}

impl Tracker for BeadsTracker {
    fn name(&self) -> &str {
        "beads"
    }

    fn issues(&self) -> BoxFuture<'_, TrackerAnswer<Vec<TrackerIssue>>> {
        Box::pin(self.read_all())
    }

    fn issue<'a>(&'a self, id: &'a IssueId) -> BoxFuture<'a, TrackerAnswer<TrackerIssue>> {
        Box::pin(async move {
            let issue = self.read(id).await?.to_issue();
            let assignee = issue.assignee.clone().filter(|_| self.dialect.knows_owners());
            Ok(TrackerIssue { assignee, ..issue })
        })
    }

    fn claim<'a>(
        &'a self,
        id: &'a IssueId,
        owner: &'a str,
    ) -> BoxFuture<'a, TrackerAnswer<TrackerIssue>> {
        Box::pin(self.claim_for(id, owner))
    }

    fn release<'a>(&'a self, id: &'a IssueId, reason: &'a str) -> BoxFuture<'a, TrackerAnswer<()>> {
        Box::pin(self.release_issue(id, reason))
    }

    fn close<'a>(&'a self, id: &'a IssueId, reason: &'a str) -> BoxFuture<'a, TrackerAnswer<()>> {
        Box::pin(self.close_issue(id, reason))
    }

    fn create<'a>(&'a self, draft: &'a IssueDraft) -> BoxFuture<'a, TrackerAnswer<IssueId>> {
        Box::pin(self.create_issue(draft))
    }
}

/// A text that can be an argument.
fn argument(text: &str) -> String {
    let text: String = text.chars().filter(|c| *c != '\0').collect();
    let end = text.floor_char_boundary(MAX_TEXT);
    text.get(..end).unwrap_or_default().to_owned()
}

fn is_unknown(message: &str) -> bool {
    let message = message.to_lowercase();
    ["not_found", "not found", "no such issue", "does not exist", "failed for field id"]
        .iter()
        .any(|sign| message.contains(sign))
}

fn unreadable(command: &str, answer: &Value) -> TrackerError {
    let text: String = answer.to_string().chars().take(200).collect();
    TrackerError::Failed(format!("bd {command}: cannot read its answer: {text}"))
}
