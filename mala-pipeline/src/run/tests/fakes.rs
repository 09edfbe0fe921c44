//! A tracker, a coder, a repository, a reviewer and a log in memory. Each of them counts its actions,
//! so that a test can end a run between any two.

mod people;
mod repository;

use super::*;
use mala_domain::config::Config;
use mala_domain::run::issue::{IssueId, IssueKind, IssueStatus, TrackerIssue};
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
    obstacle: Option<String>,
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

    /// A checkout of the target is in the way of every merge; `None` when it is not any more.
    pub(super) fn obstruct(&self, why: Option<&str>) {
        self.inner().obstacle = why.map(str::to_owned);
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
            configs: self,
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

impl ConfigValidator for World {
    fn problem<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Option<String>> {
        Box::pin(async { None })
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
