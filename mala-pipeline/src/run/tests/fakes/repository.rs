//! The workspaces and the target branch.

use super::*;
use mala_domain::ports::{
    AdvanceResult, CommandRun, CommandRunEnd, CommitReach, OutsideItem, RangeSummary, RebaseResult,
    WorkCommit, Workspace, WorkspaceState,
};

impl Workspaces for World {
    fn open<'a>(
        &'a self,
        name: &'a str,
        base: &'a str,
    ) -> BoxFuture<'a, Result<Workspace, WorkspaceError>> {
        Box::pin(async move {
            self.act(format!("open {name}")).await;
            let (name, base) = (name.to_owned(), base.to_owned());
            self.inner().workspaces.entry(name.clone()).or_insert_with(|| base.clone());
            Ok(Workspace { root: format!("/{name}"), name, base })
        })
    }

    fn state<'a>(
        &'a self,
        workspace: &'a Workspace,
    ) -> BoxFuture<'a, Result<WorkspaceState, WorkspaceError>> {
        let inner = self.inner();
        let head = inner.workspaces[&workspace.name].clone();
        let commit = |id: &String| WorkCommit {
            id: id.clone(),
            parent: inner.commits[id].parent.clone(),
            at: 1000,
            subject: inner.commits[id].subject.clone(),
        };
        let mut commits: Vec<WorkCommit> =
            inner.path(&head, &workspace.base).iter().map(commit).collect();
        commits.reverse();
        let is_rewritten = !inner.ancestors(&head).contains(&workspace.base);
        let state = WorkspaceState { head, commits, is_rewritten, uncommitted: Vec::new() };
        Box::pin(async { Ok(state) })
    }

    fn check_out<'a>(
        &'a self,
        workspace: &'a Workspace,
        _: &'a str,
    ) -> BoxFuture<'a, Result<Workspace, WorkspaceError>> {
        Box::pin(async { Ok(workspace.clone()) })
    }

    fn run<'a>(
        &'a self,
        workspace: &'a Workspace,
        command: &'a str,
        _: Duration,
    ) -> BoxFuture<'a, Result<CommandRun, WorkspaceError>> {
        Box::pin(async move {
            self.act(format!("{command} in {}", workspace.name)).await;
            Ok(CommandRun { end: CommandRunEnd::Exit(0), output: String::new() })
        })
    }

    fn rebase<'a>(
        &'a self,
        workspace: &'a Workspace,
        head: &'a str,
        onto: &'a str,
    ) -> BoxFuture<'a, Result<RebaseResult, WorkspaceError>> {
        Box::pin(async move {
            self.act(format!("rebase {}", workspace.name)).await;
            let mut inner = self.inner();
            let mut new = onto.to_owned();
            let mut commits = inner.path(head, onto);
            commits.reverse();
            let is_moved = !inner.ancestors(head).contains(&new);
            for id in commits {
                let FakeCommit { parent, files, subject } = inner.commits[&id].clone();
                let old = inner.commits[&parent.unwrap()].files.clone();
                let file = files.difference(&old).next().unwrap().clone();
                new = if is_moved { inner.commit(&new, &file, &subject) } else { id };
            }
            inner.workspaces.insert(workspace.name.clone(), new.clone());
            let workspace = Workspace { base: onto.to_owned(), ..workspace.clone() };
            Ok(RebaseResult::Done { workspace, head: new })
        })
    }

    fn remove<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxFuture<'a, Result<Option<String>, WorkspaceError>> {
        Box::pin(async move {
            self.act(format!("remove {name}")).await;
            self.inner().workspaces.remove(name);
            Ok(None)
        })
    }

    fn sweep<'a>(
        &'a self,
        keep: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<String>, WorkspaceError>> {
        self.inner().workspaces.retain(|name, _| keep.contains(name));
        Box::pin(async { Ok(Vec::new()) })
    }
}

impl MainLine for World {
    fn tip(&self) -> BoxFuture<'_, Result<String, WorkspaceError>> {
        let tip = self.inner().tip.clone();
        Box::pin(async { Ok(tip) })
    }

    fn advance<'a>(
        &'a self,
        from: &'a str,
        to: &'a str,
    ) -> BoxFuture<'a, Result<AdvanceResult, WorkspaceError>> {
        Box::pin(async move {
            self.act(format!("advance {from} {to}")).await;
            if let Some(why) = self.inner().obstacle.clone() {
                return Ok(AdvanceResult::Waits(why));
            }
            if self.inner().tip != from {
                return Ok(AdvanceResult::Moved);
            }
            self.inner().tip = to.to_owned();
            self.act("advanced").await;
            Ok(AdvanceResult::Done)
        })
    }

    fn obstacle(&self) -> BoxFuture<'_, Result<Option<String>, WorkspaceError>> {
        let obstacle = self.inner().obstacle.clone();
        Box::pin(async { Ok(obstacle) })
    }

    fn surroundings(&self) -> BoxFuture<'_, Result<BTreeMap<OutsideItem, String>, WorkspaceError>> {
        Box::pin(async { Ok(BTreeMap::new()) })
    }

    fn reach<'a>(
        &'a self,
        commit: &'a str,
        head: &'a str,
    ) -> BoxFuture<'a, Result<CommitReach, WorkspaceError>> {
        let inner = self.inner();
        let reach = match inner.commits.contains_key(commit) {
            false => CommitReach::Missing,
            true if inner.ancestors(head).iter().any(|id| id == commit) => CommitReach::Ancestor,
            true => CommitReach::NotAncestor,
        };
        Box::pin(async move { Ok(reach) })
    }

    fn range<'a>(
        &'a self,
        base: &'a str,
        head: &'a str,
    ) -> BoxFuture<'a, Result<RangeSummary, WorkspaceError>> {
        let inner = self.inner();
        let (old, new) = (&inner.commits[base].files, &inner.commits[head].files);
        let lines = old.symmetric_difference(new).count() as u64;
        let path = inner.path(head, base);
        let commits = path.iter().map(|id| format!("{id} {}", inner.commits[id].subject)).collect();
        let summary = RangeSummary { lines, is_empty: lines == 0, commits };
        Box::pin(async { Ok(summary) })
    }
}
