//! Epics, the end of a run, and fixers.

use super::*;

const ALL: &str = "commands: {t: x}
validation_triggers:
  session_end: {commands: [{ref: t}], code_review: {enabled: true}}
  epic_completion: {code_review: {enabled: true, baseline: since_last_review, finding_threshold: P1, max_retries: 1}}
  run_end: {code_review: {enabled: true, baseline: since_run_start, finding_threshold: P1, max_retries: 1}}
";

fn in_epic() -> Vec<TrackerIssue> {
    vec![epic("e", None), issue("a", Some("e"), &[]), issue("b", Some("e"), &[])]
}

fn of_kind(run: &Simulation, kind: TriggerKind) -> Vec<String> {
    run.state
        .works
        .keys()
        .filter(|key| key.trigger() == kind && !matches!(key, WorkKey::Issue(_)))
        .map(ToString::to_string)
        .collect()
}

fn run_end(run: &Simulation) -> String {
    of_kind(run, TriggerKind::RunEnd).pop().unwrap()
}

#[test]
fn cumulative_reviews_supplement_those_of_issues() {
    let run = simulation(ALL, &in_epic()).run();
    let reviews: Vec<&String> =
        run.story.iter().filter(|line| line.ends_with("on_review_started")).collect();
    assert_eq!(
        reviews,
        [
            "a on_review_started",
            "b on_review_started",
            "epic_completion-e on_review_started",
            "run_end-2 on_review_started"
        ],
        "003-004, 003-021, 003-026, 003-027"
    );
    assert_eq!(conclusion(&run.state), RunConclusion::Succeeded);
}

#[test]
fn an_epic_with_a_failed_issue_does_not_fire() {
    let config = ALL.replace("epic_completion: {", "epic_completion: {fire_on: both, ");
    let end = CoderEnd::Failed("exit code 1".to_owned());
    let run =
        simulation(&config, &in_epic()).script("b code", [coder(end, "h9", "c0", "bd-b: x")]).run();
    assert!(of_kind(&run, TriggerKind::EpicCompletion).is_empty(), "003-023");
    assert!(of_kind(&run, TriggerKind::RunEnd).is_empty(), "003-029: fire_on success");
    assert_eq!(run.state.counts(), (1, 1), "003-034");
}

#[test]
fn children_that_were_done_before_count() {
    let mut issues = in_epic();
    issues[1] = closed(issues[1].clone());
    let run = simulation(ALL, &issues).run();
    assert_eq!(of_kind(&run, TriggerKind::EpicCompletion), ["epic_completion-e"], "003-024");
}

#[test]
fn run_end_fires_by_the_results_of_issues() {
    for (rows, fire_on, fails, fires) in [
        ("003-029", "success", false, true),
        ("003-029", "success", true, false),
        ("003-030", "failure", false, false),
        ("003-030", "failure", true, true),
        ("003-031", "both", false, true),
        ("003-031, 003-229", "both", true, true),
    ] {
        let config = format!("validation_triggers: {{run_end: {{fire_on: {fire_on}}}}}");
        let mut run = simulation(&config, &["a", "b", "c"].map(|id| issue(id, None, &[])));
        if fails {
            let end = CoderEnd::Failed(String::new());
            run = run.script("b code", [coder(end, "h9", "c0", "bd-b: x")]);
        }
        let run = run.run();
        assert_eq!(!of_kind(&run, TriggerKind::RunEnd).is_empty(), fires, "{rows}");
    }
}

#[test]
fn a_run_without_issues_ends_with_success() {
    let run = simulation("validation_triggers: {run_end: {code_review: {enabled: true}}}", &[])
        .script("run_end-1 review", [reviewed(TriggerReview::Skipped(ReviewSkip::EmptyDiff))])
        .run();
    assert_eq!(run.count("run_end-1 on_review_started"), 1, "003-033");
    assert_eq!(conclusion(&run.state), RunConclusion::Succeeded, "003-033, 003-230");
}

/// Rows 003-182, 003-190 to 003-193 and 003-028.
#[test]
fn findings_of_a_cumulative_review_are_fixed_in_a_session_of_their_own() {
    let mut run = simulation(ALL, &in_epic()).script("run_end-2 review", [found(Priority::P1)]);
    run.start(false);
    let mut orders = Vec::new();
    while run.turn() {
        for (key, work) in &run.state.works {
            if let (WorkKey::Trigger(_), WorkStep::Code(order)) = (key, &work.step) {
                orders.push((order.prompt.clone(), order.resume));
            }
        }
    }
    orders.dedup();
    assert_eq!(orders, [(PromptKind::Findings, false)], "003-182: start, not resume");
    assert_eq!(
        run.events_of("run_end-2"),
        [
            "workspace_opened",
            "on_review_started",
            "on_review_retry",
            "findings_filed",
            "coder_ended",
            "commands_ended",
            "rebased",
            "merged",
            "on_review_started",
            "on_review_passed",
            "workspace_removed"
        ],
        "003-190, 003-192, 003-193"
    );
    assert_eq!(of_kind(&run, TriggerKind::EpicCompletion).len(), 1, "003-191");
    assert_eq!(of_kind(&run, TriggerKind::RunEnd).len(), 1, "003-190");
    assert_eq!(conclusion(&run.state), RunConclusion::Succeeded);
}

/// Rows 003-153, 003-183, 003-188 and 003-194.
#[test]
fn retries_are_counted_per_fire() {
    let issues =
        [epic("e", None), epic("f", None), issue("a", Some("e"), &[]), issue("b", Some("f"), &[])];
    let findings = || [Priority::P1; 3].map(found);
    let run = simulation(ALL, &issues)
        .script("epic_completion-e review", findings())
        .script("epic_completion-f review", findings())
        .run();
    for fire in ["epic_completion-e", "epic_completion-f"] {
        assert_eq!(run.count(&format!("{fire} coder_ended")), 1, "003-183, 003-194");
        assert_eq!(run.count(&format!("{fire} on_review_started")), 2, "003-185");
        assert_eq!(run.failure(fire), "1 finding at or above P1 after 1 fix attempt", "003-188");
    }
    assert_eq!(conclusion(&run.state), RunConclusion::Failed, "003-188");
    let config = "validation_triggers: {epic_completion: {code_review: {enabled: true, failure_mode: remediate, max_retries: 2}}}";
    let broken = || std::iter::repeat_n(broken(ReviewErrorKind::Crash), 9);
    let run = simulation(config, &issues)
        .script("epic_completion-e review", broken())
        .script("epic_completion-f review", broken())
        .run();
    let n = |fire: &str| run.count(&format!("{fire} on_review_started"));
    assert_eq!(n("epic_completion-e") + n("epic_completion-f"), 6, "003-153");
}

#[test]
fn the_result_of_run_end_counts() {
    let run =
        simulation(ALL, &in_epic()).script("run_end-2 review", [Priority::P1; 2].map(found)).run();
    assert_eq!(run.state.counts(), (2, 0));
    assert_eq!(conclusion(&run.state), RunConclusion::Failed, "003-028");
}

/// Row 003-032: a failed review of an epic is no failed issue.
#[test]
fn a_failed_epic_review_does_not_keep_run_end_from_firing() {
    let run = simulation(ALL, &in_epic())
        .script("epic_completion-e review", [broken(ReviewErrorKind::Crash)])
        .run();
    assert_eq!(run_end(&run), "run_end-2", "003-032");
}

#[test]
fn failed_commands_abort_without_a_review() {
    let config = "commands: {t: x}\nvalidation_triggers: {run_end: {failure_mode: abort, commands: [{ref: t}], code_review: {enabled: true}}}";
    let run = simulation(config, &[]).script("run_end-1 commands", [failed_command()]).run();
    assert_eq!(run.count("run_end-1 on_review_started"), 0, "003-232");
    assert_eq!(conclusion(&run.state), RunConclusion::Failed, "003-232");
    let config = config.replace("failure_mode: abort", "failure_mode: continue");
    let run = simulation(&config, &[]).script("run_end-1 commands", [failed_command()]).run();
    assert_eq!(run.count("run_end-1 on_review_started"), 1, "003-233, 003-150");
    assert_eq!(conclusion(&run.state), RunConclusion::Succeeded, "003-150");
}

#[test]
fn a_trigger_with_commands_only_has_no_review() {
    let config = "commands: {t: x}\nvalidation_triggers: {run_end: {commands: [{ref: t}]}}";
    let run = simulation(config, &[]).run();
    assert_eq!(
        run.events_of("run_end-1"),
        ["workspace_opened", "commands_ended", "workspace_removed"],
        "003-009"
    );
}

#[test]
fn commands_of_an_epic_run_before_its_review() {
    let config = ALL.replace("epic_completion: {", "epic_completion: {commands: [{ref: t}], ");
    let run = simulation(&config, &in_epic()).run();
    let events = run.events_of("epic_completion-e");
    let at = |name: &str| events.iter().position(|it| *it == name).unwrap();
    assert!(at("commands_ended") < at("on_review_started"), "003-025");
}

#[test]
fn epics_that_complete_together_fire_both() {
    let issues =
        [epic("e", None), epic("f", None), issue("a", Some("e"), &[]), issue("b", Some("f"), &[])];
    let run = simulation(ALL, &issues).run();
    let fires = of_kind(&run, TriggerKind::EpicCompletion);
    assert_eq!(fires, ["epic_completion-e", "epic_completion-f"], "003-231");
}

#[test]
fn periodic_reviews_fire_by_number() {
    let config = "validation_triggers: {periodic: {interval: 1, code_review: {enabled: true, baseline: since_last_review}}}";
    let run = simulation(config, &["a", "b"].map(|id| issue(id, None, &[]))).run();
    assert_eq!(of_kind(&run, TriggerKind::Periodic).len(), 2, "003-069");
}

/// An issue that was closed and is opened again is worked on again, and its epic can be complete again.
#[test]
fn a_reopened_issue_is_worked_on_again() {
    let mut run = simulation(
        "validation_triggers: {epic_completion: {commands: [{command: x}]}}",
        &[epic("e", None), issue("a", Some("e"), &[])],
    )
    .run();
    assert!(run.state.fired_epics.contains(&IssueId::new("e")));
    for issue in &mut run.state.issues {
        issue.status = IssueStatus::Open;
    }
    run.story.clear();
    run.start(true);
    while run.turn() {}
    assert!(run.story.contains(&"a closed".to_owned()), "{:?}", run.story);
    assert!(run.story.iter().any(|line| line.starts_with("epic_completion-e")), "{:?}", run.story);
}

/// The run is reviewed again only when something was merged since.
#[test]
fn a_finished_run_is_over_until_there_is_work() {
    let mut run = simulation(ALL, &[issue("a", None, &[])]).run();
    assert_eq!(of_kind(&run, TriggerKind::RunEnd), ["run_end-1"]);
    assert!(run.is_over());
    run.start(true);
    while run.turn() {}
    assert_eq!(of_kind(&run, TriggerKind::RunEnd), ["run_end-1"], "not again");
    run.state.issues.push(issue("b", None, &[]));
    assert!(!run.is_over());
    run.start(true);
    while run.turn() {}
    assert_eq!(of_kind(&run, TriggerKind::RunEnd), ["run_end-1", "run_end-2"]);
    let failed = [Priority::P1; 2].map(found);
    let mut run =
        simulation(ALL, &[issue("a", None, &[])]).script("run_end-1 review", failed).run();
    assert!(!run.is_over(), "its review failed");
    run.start(true);
    while run.turn() {}
    assert_eq!(of_kind(&run, TriggerKind::RunEnd), ["run_end-2"]);
}

/// Work that cannot be merged at the moment is kept, and a resumed run only merges it.
#[test]
fn work_that_cannot_be_merged_waits() {
    let waits = WorkEvent::MergeWaits("`main` is checked out with changes".to_owned());
    let mut run = simulation(ALL, &["a", "b"].map(|id| issue(id, None, &[])))
        .script("a advance", [waits.clone(), waits])
        .run();
    assert_eq!(run.outcome("b"), &Some(WorkOutcome::Succeeded), "others go on");
    assert_eq!(run.outcome("a"), &None);
    assert_eq!(run.count("a merge_waits"), 2, "it is tried again at the end");
    assert!(of_kind(&run, TriggerKind::RunEnd).is_empty(), "the run is not at its end");
    assert_eq!(conclusion(&run.state), RunConclusion::Failed);
    assert!(!run.is_over());
    run.story.clear();
    run.start(true);
    while run.turn() {}
    assert_eq!(run.outcome("a"), &Some(WorkOutcome::Succeeded));
    assert_eq!((run.count("a coder_ended"), run.count("a merged")), (0, 1));
    assert_eq!(conclusion(&run.state), RunConclusion::Succeeded);
}

#[test]
fn withdrawn_issues_are_not_merged() {
    for (status, assignee, expected) in [
        (IssueStatus::InProgress, Some("mala"), None),
        (IssueStatus::InProgress, None, None),
        (IssueStatus::InProgress, Some("eve"), Some("given to eve meanwhile")),
        (IssueStatus::Closed, Some("mala"), Some("closed meanwhile")),
        (IssueStatus::Blocked, Some("mala"), Some("set aside meanwhile")),
        (IssueStatus::Open, None, Some("released meanwhile")),
    ] {
        let assignee = assignee.map(str::to_owned);
        let issue = TrackerIssue { status, assignee, ..issue("a", None, &[]) };
        assert_eq!(withdrawal(&issue, "mala").as_deref(), expected, "{issue:?}");
    }
    let why = "closed meanwhile".to_owned();
    let run = simulation(ALL, &[issue("a", None, &[])])
        .script("a advance", [WorkEvent::Withdrawn(why.clone())])
        .run();
    assert_eq!(run.outcome("a"), &Some(WorkOutcome::Skipped(why)));
    assert_eq!((run.count("a released"), run.count("a merged")), (0, 0), "its status stays");
    assert_eq!(run.count("a workspace_removed"), 1);
}

#[test]
fn an_invalid_configuration_goes_back_to_the_coder() {
    let invalid = || {
        let mut coded = coder(CoderEnd::Finished, "h9", "c0", "bd-a: x");
        if let WorkEvent::CoderEnded { config_problem, .. } = &mut coded {
            *config_problem = Some("unknown key `x`".to_owned());
        }
        coded
    };
    let run = simulation("", &[issue("a", None, &[])]).script("a code", [invalid()]).run();
    assert_eq!(run.outcome("a"), &Some(WorkOutcome::Succeeded));
    let twice = simulation("", &[issue("a", None, &[])]).script("a code", [invalid(), invalid()]);
    assert_eq!(twice.run().failure("a"), "mala.yaml is invalid: unknown key `x`");
}

#[test]
fn an_issue_that_was_merged_and_not_closed_is_closed_later() {
    let failed = WorkEvent::Failed("the tracker hangs".to_owned());
    let mut run = simulation("", &[issue("a", None, &[])]).script("a close", [failed]).run();
    for issue in &mut run.state.issues {
        issue.status = IssueStatus::InProgress;
        issue.assignee = Some("mala".to_owned());
    }
    run.story.clear();
    run.start(true);
    while run.turn() {}
    assert_eq!(run.story, ["a closed", "a workspace_removed"]);
}
