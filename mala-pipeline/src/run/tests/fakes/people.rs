//! The tracker and the coder.

use super::*;
use mala_domain::ports::{CoderEnd, CoderOrder, CoderSession, TrackerError};
use mala_domain::run::issue::IssueDraft;

impl Tracker for World {
    fn name(&self) -> &str {
        "fake"
    }

    fn issues(&self) -> BoxFuture<'_, Result<Vec<TrackerIssue>, TrackerError>> {
        Box::pin(async {
            self.act("issues").await;
            Ok(self.inner().issues.clone())
        })
    }

    fn issue<'a>(&'a self, id: &'a IssueId) -> BoxFuture<'a, Result<TrackerIssue, TrackerError>> {
        let found = self.inner().issues.iter().find(|issue| issue.id == *id).cloned();
        Box::pin(async { found.ok_or_else(|| TrackerError::Unknown(id.clone())) })
    }

    fn claim<'a>(
        &'a self,
        id: &'a IssueId,
        owner: &'a str,
    ) -> BoxFuture<'a, Result<TrackerIssue, TrackerError>> {
        Box::pin(async move {
            self.act(format!("claim {id}")).await;
            let claimed = {
                let mut inner = self.inner();
                let issue = inner.issues.iter_mut().find(|issue| issue.id == *id).unwrap();
                issue.status = IssueStatus::InProgress;
                issue.assignee = Some(owner.to_owned());
                issue.clone()
            };
            self.act(format!("claimed {id}")).await;
            Ok(claimed)
        })
    }

    fn release<'a>(
        &'a self,
        id: &'a IssueId,
        _: &'a str,
    ) -> BoxFuture<'a, Result<(), TrackerError>> {
        Box::pin(async move {
            self.act(format!("release {id}")).await;
            let mut inner = self.inner();
            let issue = inner.issues.iter_mut().find(|issue| issue.id == *id).unwrap();
            issue.status = IssueStatus::Open;
            Ok(())
        })
    }

    fn close<'a>(&'a self, id: &'a IssueId, _: &'a str) -> BoxFuture<'a, Result<(), TrackerError>> {
        Box::pin(async move {
            self.act(format!("close {id}")).await;
            {
                let mut inner = self.inner();
                let issue = inner.issues.iter_mut().find(|issue| issue.id == *id).unwrap();
                issue.status = IssueStatus::Closed;
            }
            self.act(format!("closed {id}")).await;
            Ok(())
        })
    }

    fn create<'a>(&'a self, draft: &'a IssueDraft) -> BoxFuture<'a, Result<IssueId, TrackerError>> {
        Box::pin(async move {
            let id = {
                let id = format!("f{}", self.inner().issues.len());
                self.add_issue(&id);
                let mut inner = self.inner();
                let issue = inner.issues.last_mut().unwrap();
                issue.title.clone_from(&draft.title);
                issue.notes.clone_from(&draft.notes);
                issue.labels.clone_from(&draft.labels);
                IssueId::new(id)
            };
            self.act(format!("create {}", draft.title)).await;
            Ok(id)
        })
    }
}

impl Coder for World {
    fn name(&self) -> &str {
        "fake"
    }

    fn confinement(&self) -> &str {
        "memory"
    }

    fn work<'a>(&'a self, order: CoderOrder<'a>) -> BoxFuture<'a, CoderSession> {
        Box::pin(async move {
            {
                let mut inner = self.inner();
                let metadata = inner.metadata.clone();
                inner.first_metadata.get_or_insert_with(|| metadata.unwrap());
                let start = match order.resume {
                    Some(session) => format!("resume {session}\n"),
                    None => "start\n".to_owned(),
                };
                inner.prompts.push(start + order.prompt);
            }
            self.act(format!("session {}", order.issue)).await;
            {
                let mut inner = self.inner();
                let (_, after) = order.prompt.split_once("starts with `").unwrap();
                let (prefix, _) = after.split_once('`').unwrap();
                let what = if order.prompt.contains("Review Failed") { "fix" } else { "work" };
                let head = inner.workspaces[&order.workspace.name].clone();
                let file = format!("{} {}", order.issue, inner.prompts.len());
                let head = inner.commit(&head, &file, &format!("{prefix}{what}"));
                inner.workspaces.insert(order.workspace.name.clone(), head);
            }
            self.act(format!("committed {}", order.issue)).await;
            let session = Some(format!("s-{}", order.issue));
            let (end, message) = (CoderEnd::Finished, "done".to_owned());
            CoderSession { session, end, message, cost_usd: None }
        })
    }
}
