//! A tracker, a coder, a repository, a reviewer and a log in memory. Each of them counts its actions,
//! so that a test can end a run between any two.

use super::*;
use mala_domain::config::Config;
use mala_domain::ports::{
    AdvanceResult, CoderEnd, CoderOrder, CoderSession, CommandRun, CommandRunEnd, CommitReach,
    RangeSummary, RebaseResult, TrackerError, WorkCommit, Workspace, WorkspaceState,
};
use mala_domain::run::issue::{IssueDraft, IssueId, IssueKind, IssueStatus, TrackerIssue};
use mala_domain::run::readiness::IssueSelection;
use mala_domain::run::triggers::{ReviewFlags, plan};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard};
use tokio::sync::Notify;

/// What the reviewer answers.
#[derive(Debug, Clone, Copy)]
pub(super) enum Answer {
    Clean,
    Finding(&'static str, u8),
    Broken,
}

#[derive(Clone)]
struct FakeCommit {
    parent: Option<String>,
    files: BTreeSet<String>,
    subject: String,
}

#[derive(Default)]
struct Inner {
    issues: Vec<TrackerIssue>,
    commits: BTreeMap<String, FakeCommit>,
    tip: String,
    workspaces: BTreeMap<String, String>,
    metadata: Option<String>,
    first_metadata: Option<String>,
    lines: Vec<String>,
    actions: Vec<String>,
    prompts: Vec<String>,
    reviews: Vec<TriggerReviewRequest>,
    answers: VecDeque<Answer>,
    warnings: Vec<String>,
    n_runs: u32,
    kill_after: Option<usize>,
    full_after: Option<usize>,
    stop_at: Option<(String, u32)>,
}

pub(super) struct World {
    pub(super) plan: OrchestratorPlan,
    inner: Mutex<Inner>,
    killed: Notify,
    stop: watch::Sender<u32>,
}

impl World {
    pub(super) fn new(config: &str, issues: &[&str]) -> Self {
        let config = Config::parse("mala.yaml", config).unwrap().0;
        let rules = RunRules {
            triggers: plan(&config, &ReviewFlags::default()).unwrap(),
            selection: IssueSelection::default(),
            owner: "mala".to_owned(),
            max_agents: 2,
            max_issues: None,
            max_cost_usd: None,
            max_minutes: None,
            issue_cost_usd: None,
            commit_prefix: "bd-{id}: ".to_owned(),
            idle_resumes: 1,
            work_on_findings: false,
            watches: false,
        };
        let plan = OrchestratorPlan {
            rules,
            start: StartRequest::Detect,
            new_run_id: "run-1".to_owned(),
            setup: None,
            max_session: Duration::from_secs(60),
            max_idle: Duration::from_secs(60),
            group_findings: false,
            review_enabled: true,
            project_rules: Vec::new(),
        };
        let root = FakeCommit { parent: None, files: BTreeSet::new(), subject: "root".to_owned() };
        let inner = Inner {
            commits: BTreeMap::from([("c0".to_owned(), root)]),
            tip: "c0".to_owned(),
            ..Inner::default()
        };
        let stop = watch::Sender::new(0);
        let world = Self { plan, inner: Mutex::new(inner), killed: Notify::new(), stop };
        issues.iter().for_each(|id| world.add_issue(id));
        world
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }

    pub(super) fn add_issue(&self, id: &str) {
        self.inner().issues.push(TrackerIssue {
            id: IssueId::new(id),
            title: format!("Title of {id}"),
            body: String::new(),
            notes: String::new(),
            status: IssueStatus::Open,
            kind: IssueKind::Work,
            priority: 2,
            labels: Vec::new(),
            parent: None,
            blocked_by: Vec::new(),
            assignee: None,
        });
    }

    pub(super) fn answer(&self, answers: impl IntoIterator<Item = Answer>) {
        self.inner().answers.extend(answers);
    }

    pub(super) fn kill_after(&self, n_actions: usize) {
        self.inner().kill_after = Some(n_actions);
    }

    /// The disk is full when the log has this many lines; `None` when there is space again.
    pub(super) fn fill_disk(&self, after: Option<usize>) {
        self.inner().full_after = after;
    }

    pub(super) fn stop_at(&self, action: &str, level: u32) {
        self.inner().stop_at = Some((action.to_owned(), level));
    }

    pub(super) async fn run(&self) -> Result<RunResult, RunError> {
        self.inner().n_runs += 1;
        let clock = || 1000;
        let notices = |notice: RunNotice| {
            if let RunNotice::Warning(text) = notice {
                self.inner().warnings.push(text);
            }
        };
        let ports = RunPorts {
            tracker: self,
            coder: self,
            workspaces: self,
            main_line: self,
            log: self,
            reviews: self,
            clock: &clock,
            notices: &notices,
        };
        super::run(&self.plan, &ports, self.stop.subscribe()).await
    }

    /// Runs until the kill; false when the run ended before it.
    pub(super) async fn run_until_killed(&self) -> bool {
        let killed = tokio::select! {
            () = self.killed.notified() => true,
            result = self.run() => { result.unwrap(); false }
        };
        self.inner().kill_after = None;
        killed
    }

    /// Counts an action, and never returns from the one at which the run is killed.
    async fn act(&self, action: impl Into<String>) {
        let action = action.into();
        let is_killed = {
            let mut inner = self.inner();
            if inner.stop_at.as_ref().is_some_and(|(at, _)| *at == action) {
                let level = inner.stop_at.take().map_or(0, |(_, level)| level);
                self.stop.send_replace(level);
            }
            inner.actions.push(action);
            inner.kill_after.is_some_and(|limit| inner.actions.len() >= limit)
        };
        tokio::task::yield_now().await;
        if is_killed {
            self.killed.notify_one();
            std::future::pending::<()>().await;
        }
    }

    pub(super) fn subjects(&self) -> Vec<String> {
        let inner = self.inner();
        let mut subjects: Vec<String> = inner
            .path(&inner.tip, "c0")
            .iter()
            .map(|id| inner.commits[id].subject.clone())
            .collect();
        subjects.reverse();
        subjects
    }

    pub(super) fn open_issues(&self) -> Vec<String> {
        let inner = self.inner();
        let open = inner.issues.iter().filter(|issue| issue.status != IssueStatus::Closed);
        open.map(|issue| issue.id.to_string()).collect()
    }

    pub(super) fn issue_titled(&self, title: &str) -> TrackerIssue {
        self.inner().issues.iter().find(|issue| issue.title == title).unwrap().clone()
    }

    pub(super) fn tip(&self) -> String {
        self.inner().tip.clone()
    }

    pub(super) fn reviews(&self) -> Vec<TriggerReviewRequest> {
        self.inner().reviews.clone()
    }

    pub(super) fn prompts(&self) -> Vec<String> {
        self.inner().prompts.clone()
    }

    pub(super) fn actions(&self) -> Vec<String> {
        self.inner().actions.clone()
    }

    pub(super) fn warnings(&self) -> Vec<String> {
        self.inner().warnings.clone()
    }

    pub(super) fn log_lines(&self) -> Vec<String> {
        self.inner().lines.clone()
    }

    pub(super) fn workspaces_left(&self) -> Vec<String> {
        self.inner().workspaces.keys().cloned().collect()
    }

    pub(super) fn n_runs(&self) -> u32 {
        self.inner().n_runs
    }

    pub(super) fn metadata(&self) -> RunMetadata {
        serde_json::from_str(self.inner().metadata.as_deref().unwrap()).unwrap()
    }

    pub(super) fn metadata_at_first_session(&self) -> String {
        self.inner().first_metadata.clone().unwrap()
    }

    pub(super) fn edit_metadata(&self, edit: impl FnOnce(&mut RunMetadata)) {
        let mut metadata = self.metadata();
        edit(&mut metadata);
        self.inner().metadata = Some(serde_json::to_string(&metadata).unwrap());
    }
}

impl Inner {
    fn ancestors(&self, id: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut next = Some(id.to_owned());
        while let Some(id) = next {
            next = self.commits[&id].parent.clone();
            found.push(id);
        }
        found
    }

    /// The commits of `head` that `base` does not have, the newest first.
    fn path(&self, head: &str, base: &str) -> Vec<String> {
        let old = self.ancestors(base);
        self.ancestors(head).into_iter().filter(|id| !old.contains(id)).collect()
    }

    fn commit(&mut self, parent: &str, file: &str, subject: &str) -> String {
        let id = format!("c{}", self.commits.len());
        let mut files = self.commits[parent].files.clone();
        files.insert(file.to_owned());
        let parent = Some(parent.to_owned());
        self.commits.insert(id.clone(), FakeCommit { parent, files, subject: subject.to_owned() });
        id
    }
}

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
        onto: &'a str,
    ) -> BoxFuture<'a, Result<RebaseResult, WorkspaceError>> {
        Box::pin(async move {
            self.act(format!("rebase {}", workspace.name)).await;
            let mut inner = self.inner();
            let head = inner.workspaces[&workspace.name].clone();
            let mut new = onto.to_owned();
            let mut commits = inner.path(&head, onto);
            commits.reverse();
            let is_moved = !inner.ancestors(&head).contains(&new);
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
            if self.inner().tip != from {
                return Ok(AdvanceResult::Moved);
            }
            self.inner().tip = to.to_owned();
            self.act("advanced").await;
            Ok(AdvanceResult::Done)
        })
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

impl RunLog for World {
    fn append(&self, line: &str) -> Result<(), RunLogError> {
        let mut inner = self.inner();
        if inner.full_after.is_some_and(|lines| inner.lines.len() >= lines) {
            let source = std::io::ErrorKind::StorageFull.into();
            return Err(RunLogError::Io { what: "events.jsonl".to_owned(), source });
        }
        inner.lines.push(line.to_owned());
        Ok(())
    }

    fn lines(&self) -> Result<Vec<String>, RunLogError> {
        Ok(self.log_lines())
    }

    fn start(&self, _: &str) -> Result<(), RunLogError> {
        self.inner().lines.clear();
        Ok(())
    }

    fn metadata(&self) -> Result<Option<String>, RunLogError> {
        Ok(self.inner().metadata.clone())
    }

    fn save_metadata(&self, text: &str) -> Result<(), RunLogError> {
        let advanced = |text: &str| text.contains("\"run_end\"");
        let mut inner = self.inner();
        if advanced(text) && !inner.metadata.as_deref().is_some_and(advanced) {
            inner.actions.push("baseline".to_owned());
        }
        inner.metadata = Some(text.to_owned());
        Ok(())
    }

    fn save_report(&self, name: &str, _: &str) -> Result<String, RunLogError> {
        Ok(name.to_owned())
    }
}

impl TriggerReviews for World {
    fn review<'a>(
        &'a self,
        request: &'a TriggerReviewRequest,
    ) -> BoxFuture<'a, Result<Report, ScopeError>> {
        Box::pin(async move {
            let title = request.tasks.first().map_or("", |(name, _)| name);
            self.act(format!("review {}", title.trim_start_matches("issue "))).await;
            let answer = self.inner().answers.pop_front().unwrap_or(Answer::Clean);
            self.inner().reviews.push(request.clone());
            Ok(report(answer))
        })
    }
}

fn report(answer: Answer) -> Report {
    let (outcome, issues) = match answer {
        Answer::Clean => (serde_json::json!("passed"), serde_json::json!([])),
        Answer::Broken => {
            (serde_json::json!({"could_not_review": "timed_out"}), serde_json::json!([]))
        }
        Answer::Finding(title, priority) => (
            serde_json::json!("blocked"),
            serde_json::json!([{
                "file": "src/a.rs", "line_start": 1, "line_end": 1, "priority": priority,
                "severity": "high", "category": "bug", "title": title, "body": "b",
                "evidence_snippet": "e", "confidence": 1.0, "reviewer": "r", "dedupe_key": title,
            }]),
        ),
    };
    serde_json::from_value(serde_json::json!({
        "review_id": "r", "passed": true, "verdict": null, "outcome": outcome, "status": "ok",
        "issues": issues, "summary": "s", "fail_on": "P1", "reviewers": [],
        "coverage": {"hunks_given": 1, "hunks_accounted": 1, "files": [], "skipped": []},
        "scope": {"target": "t", "base": null, "head": "index", "diff_hash": "h", "files": 1,
            "hunks": 1, "lines": {"added": 1, "removed": 0}},
        "stats": {"tokens_used": null, "cost_usd": null, "latency_seconds_e2e": 0.0,
            "latency_seconds_llm": 0.0, "llm_calls": 0, "tool_calls": 0, "cache_read_tokens": null},
    }))
    .unwrap()
}
