//! When triggers fire, and what the configuration makes of them.

use super::super::tests::{closed, epic, issue};
use super::*;

fn plans(text: &str, flags: &ReviewFlags) -> TriggerPlans {
    plan(&Config::parse("mala.yaml", text).unwrap().0, flags).unwrap()
}

#[test]
fn run_end_looks_at_issue_results_only() {
    for (rows, fire_on, n_failed, fires) in [
        ("003-029, 003-033, 003-064", FireOn::Success, 0, true),
        ("003-029, 003-064", FireOn::Success, 1, false),
        ("003-030", FireOn::Failure, 0, false),
        ("003-030", FireOn::Failure, 1, true),
        ("003-031", FireOn::Both, 0, true),
        ("003-031", FireOn::Both, 3, true),
    ] {
        assert_eq!(fires_at_run_end(fire_on, n_failed), fires, "{rows}");
    }
}

#[test]
fn periodic_fires_after_every_few_issues() {
    let fires: Vec<u32> = (0..7).filter(|n| fires_periodically(2, *n)).collect();
    assert_eq!(fires, [2, 4, 6]);
    assert!(fires_periodically(1, 1), "003-069");
}

fn completed(text: &str, issues: &[TrackerIssue], done: &str, fired: &[&str]) -> Vec<String> {
    let plans = plans(
        &format!("validation_triggers: {{epic_completion: {{{text}}}}}"),
        &ReviewFlags::default(),
    );
    let fired = fired.iter().map(|id| IssueId::new(*id)).collect();
    let trigger = plans.epic_completion.unwrap();
    let epics = completed_epics(&trigger, issues, &IssueId::new(done), &fired);
    epics.iter().map(ToString::to_string).collect()
}

#[test]
fn an_epic_is_complete_when_its_last_issue_is_done() {
    let (a, b) = (issue("a", Some("e"), &[]), issue("b", Some("e"), &[]));
    let none: [&str; 0] = [];
    let half = [epic("e", None), closed(a.clone()), b.clone()];
    assert_eq!(completed("", &half, "a", &[]), none, "003-021, 003-023");
    // Closed as wontfix, or before the run: closed.
    let all = [epic("e", None), closed(a), closed(b)];
    assert_eq!(completed("", &all, "b", &[]), ["e"], "003-021, 003-022, 003-024, 003-062");
    assert_eq!(completed("fire_on: both", &all, "b", &[]), ["e"], "003-062");
    assert_eq!(completed("fire_on: failure", &all, "b", &[]), none, "003-063");
    assert_eq!(completed("", &all, "b", &["e"]), none, "003-191: once per epic");
}

#[test]
fn nested_epics_fire_by_depth() {
    let issues =
        [epic("outer", None), epic("inner", Some("outer")), closed(issue("a", Some("inner"), &[]))];
    assert_eq!(completed("epic_depth: top_level", &issues, "a", &[]), ["outer"], "003-061");
    assert_eq!(completed("epic_depth: all", &issues, "a", &[]), ["inner", "outer"], "003-061");
}

#[test]
fn only_enabled_reviews_are_planned() {
    for (rows, text, expected) in [
        ("003-239", "", None),
        ("003-012, 003-046", "session_end: {code_review: {reviewer_type: builtin}}", None),
        (
            "003-058",
            "session_end: {code_review: {enabled: true, reviewer_type: builtin}}",
            Some(ReviewerType::Builtin),
        ),
    ] {
        let text = format!("validation_triggers: {{{text}}}");
        let plans = plans(&text, &ReviewFlags::default());
        let reviewer = plans.session_end.review.map(|review| review.reviewer_type.unwrap());
        assert_eq!(reviewer, expected, "{rows}");
    }
}

#[test]
fn the_legacy_reviewer_type_is_the_session_review() {
    let legacy =
        |rest: &str| plans(&format!("reviewer_type: cerberus\n{rest}"), &ReviewFlags::default());
    let plan = legacy("").session_end;
    let review = plan.review.unwrap();
    assert_eq!(review.reviewer_type, Some(ReviewerType::Cerberus), "003-237");
    assert_eq!(review.finding_threshold, Threshold::P1, "003-242");
    assert!(plan.fails_closed, "003-242");
    let block = |inside: &str| {
        legacy(&format!("validation_triggers: {{session_end: {{code_review: {{{inside}}}}}}}"))
    };
    let plan = block("enabled: true, reviewer_type: builtin").session_end;
    assert_eq!(plan.review.unwrap().reviewer_type, Some(ReviewerType::Builtin), "003-235, 003-003");
    assert!(!plan.fails_closed);
    assert_eq!(block("enabled: false").session_end.review, None, "003-236");
    let other = legacy("validation_triggers: {run_end: {code_review: {enabled: true}}}");
    assert!(other.session_end.review.is_some(), "003-238");
    assert_eq!(other.run_end.unwrap().review.unwrap().reviewer_type, None, "003-200, 003-238");
}

#[test]
fn nothing_is_inherited_between_triggers() {
    let text = "validation_triggers: {session_end: {code_review: {enabled: true, max_retries: 1}}, \
                run_end: {code_review: {enabled: true}}}";
    let planned = plans(text, &ReviewFlags::default());
    assert_eq!(planned.session_end.review.unwrap().retries(), 1, "003-198");
    assert_eq!(planned.run_end.unwrap().review.unwrap().retries(), 3, "003-198");
}

#[test]
fn the_configuration_wins_over_deprecated_flags() {
    let flags = ReviewFlags {
        reviewer_type: Some(ReviewerType::Cerberus),
        max_retries: RetryCount::new(1),
        spawn_args: vec!["--verbose".to_owned()],
        env: BTreeMap::from([("DEBUG".to_owned(), "1".to_owned())]),
        ..ReviewFlags::default()
    };
    let session = |inside: &str| {
        let text = format!("validation_triggers: {{session_end: {{code_review: {{{inside}}}}}}}");
        plans(&text, &flags).session_end.review
    };
    let review = session("enabled: true").unwrap();
    assert_eq!(review.reviewer_type, Some(ReviewerType::Cerberus), "003-223");
    assert_eq!(review.retries(), 1, "003-224");
    let cerberus = review.cerberus.unwrap();
    assert_eq!((cerberus.spawn_args.len(), cerberus.env.len()), (1, 1), "003-225");
    let review = session("enabled: true, reviewer_type: builtin, max_retries: 5").unwrap();
    assert_eq!(review.reviewer_type, Some(ReviewerType::Builtin), "003-226");
    assert_eq!(review.retries(), 5, "003-226");
    assert_eq!(plans("", &flags).session_end.review, None, "003-240");
}

#[test]
fn disabled_reviews_are_not_planned() {
    let flags = ReviewFlags { disabled: true, ..ReviewFlags::default() };
    let text =
        "reviewer_type: builtin\nvalidation_triggers: {run_end: {code_review: {enabled: true}}}";
    let plans = plans(text, &flags);
    assert_eq!(plans.session_end.review, None, "000-093, 001-133");
    assert_eq!(plans.run_end.unwrap().review, None, "001-133");
}

#[test]
fn commands_come_from_the_project_or_are_inline() {
    let text = "commands: {test: {command: cargo test, timeout: 9}}\nvalidation_triggers: \
                {run_end: {commands: [{ref: test}, {command: make}, {ref: test, timeout: 3}]}}";
    let planned = plans(text, &ReviewFlags::default());
    let commands: Vec<String> = planned
        .run_end
        .unwrap()
        .commands
        .iter()
        .map(|it| format!("{} = {} ({} s)", it.name, it.text, it.timeout.as_secs()))
        .collect();
    assert_eq!(
        commands,
        ["test = cargo test (9 s)", "make = make (600 s)", "test = cargo test (3 s)"],
        "003-196"
    );
    let none = plans("validation_triggers: {run_end: {commands: []}}", &ReviewFlags::default());
    assert!(none.run_end.unwrap().commands.is_empty(), "003-197");
    let config =
        Config::parse("x", "validation_triggers: {run_end: {commands: [{ref: a}]}}").unwrap().0;
    let error = plan(&config, &ReviewFlags::default()).unwrap_err();
    assert_eq!((error.trigger, error.command.as_str()), ("run_end", "a"));
}
