//! Limits, the merge queue, stops, and runs that are resumed.

use super::*;
use crate::run::report::build;
use proptest::prelude::*;

fn issues(n: usize) -> Vec<TrackerIssue> {
    (0..n).map(|n| issue(&format!("i{n}"), None, &[])).collect()
}

#[test]
fn at_most_max_agents_work_at_a_time() {
    let mut run = simulation("", &issues(7));
    run.start(false);
    while run.turn() {
        let active = run.state.works.values().filter(|work| work.is_active()).count();
        assert!(active <= 2, "{active}");
    }
    assert_eq!(run.state.counts(), (7, 0));
}

#[test]
fn merges_are_serial() {
    let mut run = simulation("", &issues(5));
    run.rules.max_agents = 5;
    run.start(false);
    while run.turn() {
        let merging =
            |work: &WorkProgress| matches!(work.step, WorkStep::Rebase | WorkStep::Advance { .. });
        assert!(run.state.works.values().filter(|work| merging(work)).count() <= 1);
    }
    assert_eq!(run.tip, 5, "each issue is merged once");
}

#[test]
fn dependencies_are_done_first() {
    let all = [issue("a", None, &["b"]), issue("b", None, &["c"]), issue("c", None, &[])];
    let run = simulation("", &all).run();
    let merged: Vec<&String> = run.story.iter().filter(|line| line.ends_with(" merged")).collect();
    assert_eq!(merged, ["c merged", "b merged", "a merged"]);
}

#[test]
fn a_conflict_goes_back_to_the_coder_once() {
    let conflict = || WorkEvent::Conflict { files: vec!["a.rs".to_owned()], onto: "c9".to_owned() };
    let run = simulation("", &issues(1)).script("i0 rebase", [conflict()]).run();
    assert_eq!(run.outcome("i0"), &Some(WorkOutcome::Succeeded));
    assert_eq!(run.count("i0 coder_ended"), 2);
    let run = simulation("", &issues(1)).script("i0 rebase", [conflict(), conflict()]).run();
    assert_eq!(run.failure("i0"), "conflicts with the target branch: a.rs");
}

#[test]
fn a_moved_target_is_validated_again() {
    let config = "commands: {t: x}\nvalidation_triggers: {session_end: {failure_mode: remediate, commands: [{ref: t}]}}";
    let run = simulation(config, &issues(2)).run();
    assert_eq!((run.count("i0 commands_ended"), run.count("i1 commands_ended")), (1, 2));
    let moved = simulation("", &issues(1)).script("i0 advance", [WorkEvent::TargetMoved]).run();
    assert_eq!((moved.count("i0 rebased"), moved.count("i0 merged")), (2, 1));
}

#[test]
fn an_idle_coder_is_resumed_and_a_hung_one_fails() {
    let idle = || coder(CoderEnd::Idle, "h1", "c0", "bd-i0: x");
    let run = simulation("", &issues(1)).script("i0 code", [idle()]).run();
    assert_eq!(run.outcome("i0"), &Some(WorkOutcome::Succeeded));
    let run = simulation("", &issues(1)).script("i0 code", [idle(), idle()]).run();
    assert_eq!(run.failure("i0"), "the coder hung");
}

#[test]
fn a_lost_claim_is_skipped() {
    let taken = TrackerIssue {
        status: IssueStatus::InProgress,
        assignee: Some("other".to_owned()),
        ..issue("i0", None, &[])
    };
    let run = simulation("", &issues(2)).script("i0 claim", [WorkEvent::Claimed(taken)]).run();
    assert!(matches!(run.outcome("i0"), Some(WorkOutcome::Skipped(_))));
    assert_eq!((run.count("i0 released"), run.count("i0 coder_ended")), (0, 0));
    assert_eq!(run.state.counts(), (1, 0));
}

#[test]
fn limits_start_no_further_issue() {
    let mut run = simulation("", &issues(4));
    run.rules.max_cost_usd = Some(1.0);
    let run = run.run();
    assert_eq!(run.state.counts(), (2, 0), "two cost a dollar");
    let report = build(&run.state, &run.rules, "", 0);
    assert_eq!(report.conclusion, RunConclusion::Failed, "work is left");
    let said: Vec<&str> = report.next_steps.iter().map(|step| step.reason.as_str()).collect();
    assert_eq!(said, ["the limit of $1.00 is spent: not started: i2, i3"]);
    let review =
        "validation_triggers: {session_end: {code_review: {enabled: true, finding_threshold: P1}}}";
    let mut run = simulation(review, &issues(1)).script("i0 review", [found(Priority::P0)]);
    run.rules.max_cost_usd = Some(0.5);
    let run = run.run();
    assert_eq!(run.failure("i0"), "the limit of $0.50 is spent");
    assert_eq!(run.count("i0 coder_ended"), 1, "no fix is paid");
    let mut run = simulation("", &issues(9));
    run.rules.max_issues = Some(4);
    assert_eq!(run.run().state.counts(), (4, 0));
    let mut run = simulation("", &issues(30));
    run.rules.max_minutes = Some(1);
    let n = run.run().state.counts().0;
    assert!((2..30).contains(&n), "{n}");
    let mut run = simulation("", &issues(1));
    run.rules.issue_cost_usd = Some(0.1);
    assert!(run.run().failure("i0").starts_with("its cost is over the limit"));
}

#[test]
fn after_a_stop_running_work_is_finished_and_nothing_new_starts() {
    let config = "validation_triggers: {run_end: {fire_on: both}}";
    let mut run = simulation(config, &issues(5));
    run.start(false);
    for _ in 0..4 {
        run.turn();
    }
    run.emit(RunEvent::StopRequested);
    while run.turn() {}
    assert_eq!(run.state.counts(), (2, 0), "003-036");
    assert!(!run.story.iter().any(|line| line.starts_with("run_end")), "003-036");
    assert_eq!(conclusion(&run.state), RunConclusion::Interrupted);
}

/// Work whose session saw a foreign move of the target is merged only after a person has seen the report.
#[test]
fn a_target_that_others_move_during_a_session_holds_the_merge() {
    let mut moved = coder(CoderEnd::Finished, "h1", "c0", "bd-i0: x");
    if let WorkEvent::CoderEnded { foreign_moves, .. } = &mut moved {
        foreign_moves.push(TargetMove { from: "c0".to_owned(), to: "c9".to_owned() });
    }
    let mut run = simulation("", &issues(3)).script("i0 code", [moved]).run();
    assert_eq!((run.state.counts(), run.count("i0 rebased")), ((2, 0), 0));
    assert_eq!(conclusion(&run.state), RunConclusion::Failed);
    run.start(true);
    while run.turn() {}
    assert_eq!((run.state.counts(), run.count("i0 coder_ended")), ((3, 0), 1));
}

#[test]
fn a_finished_run_tries_failures_again() {
    let end = CoderEnd::Failed(String::new());
    let mut run = simulation("validation_triggers: {run_end: {}}", &issues(2))
        .script("i0 code", [coder(end, "h9", "c0", "x")])
        .run();
    assert_eq!(run.state.counts(), (1, 1));
    run.start(true);
    while run.turn() {}
    assert_eq!(run.state.counts(), (2, 0));
    assert!(run.state.works.keys().any(|key| key.trigger() == TriggerKind::RunEnd), "003-087");
}

#[test]
fn names_of_workspaces_are_harmless() {
    for hostile in ["../../etc", "-x", "a b", "é", "a/b", "x.lock", ".."] {
        let name = WorkKey::Issue(IssueId::new(hostile)).workspace_name();
        let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        assert!(name.chars().all(safe) && !name.starts_with(['-', '.']), "{hostile}: {name}");
        assert!(!name.contains("..") && !name.ends_with(".lock"), "{hostile}: {name}");
    }
    let fire = |epic: Option<&str>| {
        let (kind, epic) = (TriggerKind::EpicCompletion, epic.map(IssueId::new));
        WorkKey::Trigger(TriggerFire { kind, epic, number: 1 })
    };
    let issue = |id: &str| WorkKey::Issue(IssueId::new(id));
    for (one, other) in [
        (issue("epic_completion-1"), fire(None)),
        (issue("trigger.epic_completion-1"), fire(None)),
        (issue("trigger.epic_completion-a b"), fire(Some("a b"))),
        (issue(&issue("a b").workspace_name()), issue("a b")),
    ] {
        assert_ne!(one.workspace_name(), other.workspace_name(), "{one}, {other}");
    }
    let plain = WorkKey::Issue(IssueId::new("bd-a1.2"));
    assert_eq!(plain.workspace_name(), "bd-a1.2");
}

proptest! {
    /// A run that is killed after any event goes on to the same end, and merges nothing twice.
    #[test]
    fn a_killed_run_goes_on_where_it_was(n_turns in 0usize..80) {
        let config = "commands: {t: x}\nvalidation_triggers: {session_end: {commands: [{ref: t}], code_review: {enabled: true}}, \
                      epic_completion: {code_review: {enabled: true}}, run_end: {code_review: {enabled: true}}}";
        let mut all = issues(4);
        all.push(epic("e", None));
        for issue in &mut all[..2] {
            issue.parent = Some(IssueId::new("e"));
        }
        let mut run = simulation(config, &all);
        run.start(false);
        for _ in 0..n_turns {
            if !run.turn() {
                break;
            }
        }
        prop_assume!(!run.state.finished);
        let text: Vec<String> =
            run.log.iter().map(|logged| serde_json::to_string(logged).unwrap()).collect();
        let read: Vec<LoggedEvent> =
            text.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let rebuilt = rebuild(&run.rules, &read);
        prop_assert_eq!(&rebuilt.works, &run.state.works);
        let issues = run.state.issues.clone();
        run.effects.clear();
        run.state = rebuilt;
        run.state.issues = issues;
        run.start(true);
        while run.turn() {}
        prop_assert_eq!(run.state.counts(), (4, 0));
        for id in ["i0", "i1", "i2", "i3"] {
            prop_assert_eq!(run.count(&format!("{id} merged")), 1);
        }
        prop_assert_eq!(run.count("epic_completion-e on_review_passed"), 1);
        let ended = run.story.iter().filter(|line| line.starts_with("run_end") && line.ends_with("on_review_passed"));
        prop_assert_eq!(ended.count(), 1);
    }
}
