//! Whole runs, with every effect answered by a script.

mod endings;
mod reviews;
mod scheduling;

use super::super::baseline::ReviewSkip;
use super::super::outcome::{ReviewErrorKind, TriggerReview};
use super::super::tests::{closed, epic, finding, issue};
use super::super::triggers::{ReviewFlags, plan};
use super::*;
use crate::config::Config;
use crate::finding::Priority;
use crate::ports::WorkCommit;
use std::collections::{BTreeMap, VecDeque};

/// Answers effects one after the other, and keeps what happened.
struct Simulation {
    rules: RunRules,
    state: RunState,
    effects: VecDeque<Effect>,
    log: Vec<LoggedEvent>,
    /// What happened, a line per event of a work.
    story: Vec<String>,
    /// Answers that differ from success, by `work step`.
    script: BTreeMap<String, VecDeque<WorkEvent>>,
    tip: u32,
    heads: u32,
    now: i64,
}

fn rules(config: &str) -> RunRules {
    let config = Config::parse("mala.yaml", config).unwrap().0;
    RunRules {
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
    }
}

fn simulation(config: &str, issues: &[TrackerIssue]) -> Simulation {
    let mut run = Simulation {
        rules: rules(config),
        state: RunState::default(),
        effects: VecDeque::new(),
        log: Vec::new(),
        story: Vec::new(),
        script: BTreeMap::new(),
        tip: 0,
        heads: 0,
        now: 1000,
    };
    run.state.issues = issues.to_vec();
    run
}

impl Simulation {
    /// The next answers for a step of a work, such as `a code`.
    fn script(mut self, at: &str, answers: impl IntoIterator<Item = WorkEvent>) -> Self {
        self.script.entry(at.to_owned()).or_default().extend(answers);
        self
    }

    fn emit(&mut self, event: RunEvent) {
        self.now += 1;
        let effects = step(&mut self.state, &self.rules, self.now, &event);
        let name = event_name(&self.state, &event).to_owned();
        if let RunEvent::Work { key, .. } = &event {
            self.story.push(format!("{key} {name}"));
        }
        self.log.push(LoggedEvent { at: self.now, name, event });
        for effect in effects {
            if let Effect::StopOthers(key) = &effect {
                self.effects.retain(|it| matches!(it, Effect::Perform(other) if other == key));
            } else {
                self.effects.push_back(effect);
            }
        }
    }

    fn start(&mut self, is_resumed: bool) {
        let (run_id, start_commit) = ("r".to_owned(), "c0".to_owned());
        let review_enabled = true;
        let issues = self.state.issues.clone();
        let tip = self.target();
        self.emit(RunEvent::Started { run_id, start_commit, tip, is_resumed, review_enabled });
        self.state.issues = issues;
    }

    /// The head that was merged last.
    fn target(&self) -> String {
        let merged = Some(self.state.tip.clone()).filter(|tip| !tip.is_empty());
        merged.unwrap_or_else(|| "c0".to_owned())
    }

    fn is_over(&self) -> bool {
        is_over(&self.state, &self.rules, &self.state.issues, &self.target())
    }

    /// Performs one effect; false at the end.
    fn turn(&mut self) -> bool {
        match self.effects.pop_front() {
            None => false,
            Some(Effect::Finish) => {
                self.emit(RunEvent::Finished);
                false
            }
            Some(Effect::ReadTracker) => {
                self.emit(RunEvent::TrackerRead(self.state.issues.clone()));
                true
            }
            Some(Effect::Watch) => false,
            Some(Effect::StopOthers(_)) => true,
            Some(Effect::Perform(key)) => {
                if self.state.works[&key].step == WorkStep::Review {
                    let event = Box::new(WorkEvent::ReviewStarted);
                    self.emit(RunEvent::Work { key: key.clone(), event });
                }
                let event = Box::new(self.answer(&key));
                self.emit(RunEvent::Work { key, event });
                true
            }
        }
    }

    fn run(mut self) -> Self {
        self.start(false);
        while self.turn() {}
        self
    }

    fn answer(&mut self, key: &WorkKey) -> WorkEvent {
        let step = self.state.works[key].step.clone();
        let name = match &step {
            WorkStep::Code(_) => "code",
            WorkStep::Commands(_) => "commands",
            WorkStep::Review => "review",
            WorkStep::Rebase => "rebase",
            WorkStep::Advance { .. } => "advance",
            WorkStep::Claim => "claim",
            WorkStep::Close => "close",
            _ => "",
        };
        let scripted = self.script.get_mut(&format!("{key} {name}")).and_then(VecDeque::pop_front);
        if let Some(event) = scripted {
            return event;
        }
        let workspace = |base: &str| Workspace {
            name: key.workspace_name(),
            root: String::new(),
            base: base.to_owned(),
        };
        let tip = format!("c{}", self.tip);
        match step {
            WorkStep::Claim => WorkEvent::Claimed(TrackerIssue {
                status: IssueStatus::InProgress,
                assignee: Some("mala".to_owned()),
                ..issue(&key.to_string(), None, &[])
            }),
            WorkStep::Open => WorkEvent::Opened(workspace(&tip)),
            WorkStep::Code(_) => self.coded(key),
            WorkStep::Commands(_) => WorkEvent::CommandsEnded(Vec::new()),
            WorkStep::Review => {
                let mut event = reviewed(TriggerReview::Completed(Vec::new()));
                if let WorkEvent::ReviewEnded(range) = &mut event {
                    range.head = self.target();
                }
                event
            }
            WorkStep::File(_) => {
                WorkEvent::Filed { issues: Vec::new(), summary: None, closed: Vec::new() }
            }
            WorkStep::Rebase => {
                let old = self.state.works[key].workspace.as_ref().unwrap().base.clone();
                let head = self.state.works[key].range.clone().unwrap().1;
                WorkEvent::Rebased { is_moved: old != tip, workspace: workspace(&tip), head }
            }
            WorkStep::Advance { .. } => {
                self.tip += 1;
                WorkEvent::Merged
            }
            WorkStep::Close => WorkEvent::Closed,
            WorkStep::Release => WorkEvent::Released,
            WorkStep::Remove => WorkEvent::Removed(None),
            WorkStep::Queued(_) | WorkStep::Done => panic!("{key} is not performed"),
        }
    }

    /// A session that commits something with the prefix of its issue.
    fn coded(&mut self, key: &WorkKey) -> WorkEvent {
        self.heads += 1;
        let id = self.state.linked_issue(key).unwrap_or_else(|| IssueId::new("run"));
        let base = self.state.works[key].workspace.as_ref().unwrap().base.clone();
        coder(CoderEnd::Finished, &format!("h{}", self.heads), &base, &format!("bd-{id}: x"))
    }

    fn outcome(&self, key: &str) -> &Option<WorkOutcome> {
        let work = self.state.works.iter().find(|(it, _)| it.to_string() == key);
        &work.unwrap_or_else(|| panic!("no work {key}: {:?}", self.state.works.keys())).1.outcome
    }

    fn failure(&self, key: &str) -> &str {
        match self.outcome(key) {
            Some(WorkOutcome::Failed(reason)) => reason,
            other => panic!("{key}: {other:?}"),
        }
    }

    /// The events of one work, without its name.
    fn events_of(&self, key: &str) -> Vec<&str> {
        let start = format!("{key} ");
        self.story.iter().filter_map(|line| line.strip_prefix(&start)).collect()
    }

    fn count(&self, line: &str) -> usize {
        self.story.iter().filter(|it| *it == line).count()
    }
}

fn coder(end: CoderEnd, head: &str, base: &str, subject: &str) -> WorkEvent {
    let commit = WorkCommit {
        id: head.to_owned(),
        parent: Some(base.to_owned()),
        at: i64::MAX,
        subject: subject.to_owned(),
    };
    let state = WorkspaceState {
        head: head.to_owned(),
        commits: vec![commit],
        is_rewritten: false,
        uncommitted: Vec::new(),
    };
    WorkEvent::CoderEnded {
        session: Some("s".to_owned()),
        end,
        message: "done".to_owned(),
        cost_usd: Some(0.5),
        state: Some(state),
        is_changed: true,
        config_problem: None,
        outside: Vec::new(),
        foreign_moves: Vec::new(),
    }
}

fn reviewed(review: TriggerReview) -> WorkEvent {
    WorkEvent::ReviewEnded(Box::new(ReviewedRange::new(review, "c0", "h1")))
}

fn found(priority: Priority) -> WorkEvent {
    reviewed(TriggerReview::Completed(vec![finding("x", Some(priority))]))
}

fn broken(kind: ReviewErrorKind) -> WorkEvent {
    reviewed(TriggerReview::ExecutionError { kind, message: "it broke".to_owned() })
}

fn failed_command() -> WorkEvent {
    WorkEvent::CommandsEnded(vec![FailedCommand {
        name: "test".to_owned(),
        reason: "exit code 1".to_owned(),
        output: "1 failed".to_owned(),
    }])
}
