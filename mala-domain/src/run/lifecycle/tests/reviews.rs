//! Commands, reviews and fix cycles.

use super::super::super::report::build;
use super::*;
use crate::finding::Finding;

const SESSION: &str = "validation_triggers: {session_end: {code_review: {enabled: true, finding_threshold: P1, max_retries: 2}}}";

fn one(config: &str) -> Simulation {
    simulation(config, &[issue("a", None, &[])])
}

#[test]
fn an_issue_goes_from_claim_to_close() {
    let run = one(SESSION).run();
    assert_eq!(
        run.events_of("a"),
        [
            "claimed",
            "workspace_opened",
            "coder_ended",
            "on_review_started",
            "on_review_passed",
            "rebased",
            "merged",
            "closed",
            "workspace_removed"
        ],
        "003-015, 003-018, 000-012, 000-015, 001-139, 001-140"
    );
    assert_eq!(conclusion(&run.state), RunConclusion::Succeeded);
}

/// Rows 000-016, 000-106, 001-125, 001-141, 003-180, 003-181 and 003-185.
#[test]
fn findings_go_back_to_the_same_session() {
    let mut run = one(SESSION).script("a review", [found(Priority::P1)]);
    run.start(false);
    let mut resumed = None;
    while run.turn() {
        let work = run.state.works.values().next().map(|work| &**work);
        if let Some(WorkProgress { step: WorkStep::Code(order), session, .. }) = work
            && order.prompt == PromptKind::Findings
        {
            resumed = Some((order.resume, session.clone(), order.since.clone()));
        }
    }
    assert_eq!(resumed, Some((true, Some("s".to_owned()), Some("h1".to_owned()))), "003-181");
    let reviews: Vec<&str> = run
        .events_of("a")
        .into_iter()
        .filter(|name| name.starts_with("on_review") || *name == "findings_filed")
        .collect();
    assert_eq!(
        reviews,
        [
            "on_review_started",
            "on_review_retry",
            "findings_filed",
            "on_review_started",
            "on_review_passed"
        ],
        "000-106, 003-180, 003-185"
    );
    assert_eq!(run.outcome("a"), &Some(WorkOutcome::Succeeded), "000-016, 003-189");
    let work = run.state.works.values().next().unwrap();
    assert_eq!((work.n_fixed, work.n_reviews), (1, 2));
}

#[test]
fn fix_cycles_are_limited() {
    let findings = [Priority::P1; 5].map(found);
    let run = one(SESSION).script("a review", findings).run();
    assert_eq!(run.count("a coder_ended"), 3, "003-183: one session and 2 fixes");
    assert_eq!(run.count("a on_review_started"), 3, "003-185");
    assert_eq!(run.failure("a"), "1 finding at or above P1 after 2 fix attempts", "003-188");
    assert_eq!((run.count("a merged"), run.count("a released")), (0, 1), "003-188");
    assert_eq!(conclusion(&run.state), RunConclusion::Failed, "003-168");
}

/// Rows 001-124 and 001-009.
#[test]
fn an_unparsable_answer_repeats_the_review_without_the_coder() {
    let run = one(SESSION).script("a review", [broken(ReviewErrorKind::UnparsableAnswer)]).run();
    assert_eq!((run.count("a coder_ended"), run.count("a on_review_started")), (1, 2), "001-124");
    assert_eq!(run.outcome("a"), &Some(WorkOutcome::Succeeded));
}

#[test]
fn a_fix_that_changes_nothing_is_no_progress() {
    let mut idle = coder(CoderEnd::Finished, "h1", "c0", "bd-a: x");
    if let WorkEvent::CoderEnded { is_changed, .. } = &mut idle {
        *is_changed = false;
    }
    let first = coder(CoderEnd::Finished, "h1", "c0", "bd-a: x");
    let run = one(SESSION)
        .script("a review", [found(Priority::P1)])
        .script("a code", [first, idle])
        .run();
    assert_eq!(run.failure("a"), "no progress: the coder changed nothing", "003-187, 001-123");
    assert_eq!(run.count("a on_review_started"), 1, "003-187, 003-248");
}

#[test]
fn a_failed_session_fires_nothing() {
    for end in [CoderEnd::Failed("exit code 1".to_owned()), CoderEnd::TimedOut] {
        let config = "commands: {t: x}\nvalidation_triggers: {session_end: {commands: [{ref: t}], code_review: {enabled: true}}}";
        let run = one(config).script("a code", [coder(end, "h1", "c0", "bd-a: x")]).run();
        assert_eq!(run.count("a commands_ended") + run.count("a on_review_started"), 0, "003-016");
        assert!(run.failure("a").starts_with("the coder"), "003-016");
    }
}

#[test]
fn commands_run_before_the_review() {
    let config = "commands: {t: x}\nvalidation_triggers: {session_end: {commands: [{ref: t}], code_review: {enabled: true}}}";
    let run = one(config).run();
    let at = |name: &str| run.events_of("a").iter().position(|it| *it == name).unwrap();
    assert!(at("commands_ended") < at("on_review_started"), "003-017, 003-008");
    assert!(at("on_review_passed") < at("merged"), "003-018");
}

/// Rows 003-151 and 003-232 to 003-234.
#[test]
fn failed_commands_and_failed_reviews_follow_their_own_modes() {
    let modes = ["abort", "continue", "remediate"];
    for commands in modes {
        for review in modes {
            let config = format!(
                "commands: {{t: x}}\nvalidation_triggers: {{session_end: {{failure_mode: {commands}, max_retries: 1, commands: [{{ref: t}}], \
                 code_review: {{enabled: true, failure_mode: {review}, max_retries: 2}}}}}}"
            );
            let failing = std::iter::repeat_n(failed_command(), 5);
            let run = one(&config).script("a commands", failing).run();
            let reviews = run.count("a on_review_started");
            let (expected, merged) = match commands {
                "abort" => (0, 0),
                "continue" => (1, 1),
                _ => (1, 0),
            };
            let rows = "003-151, 003-232, 003-233, 003-234";
            assert_eq!((reviews, run.count("a merged")), (expected, merged), "{rows} {config}");
            let broken = std::iter::repeat_n(broken(ReviewErrorKind::Crash), 5);
            let run = one(&config).script("a review", broken).run();
            let expected = if review == "remediate" { 3 } else { 1 };
            assert_eq!(run.count("a on_review_started"), expected, "003-151, 003-152 {config}");
            let merged = usize::from(review != "abort");
            assert_eq!(run.count("a merged"), merged, "003-151, 003-164 {config}");
        }
    }
}

#[test]
fn failed_commands_are_fixed_in_the_session() {
    let config = "commands: {t: x}\nvalidation_triggers: {session_end: {failure_mode: remediate, commands: [{ref: t}]}}";
    let run = one(config).script("a commands", [failed_command()]).run();
    assert_eq!((run.count("a coder_ended"), run.count("a commands_ended")), (2, 2));
    assert_eq!(run.outcome("a"), &Some(WorkOutcome::Succeeded));
}

/// Rows 003-163, 003-164 and 003-032.
#[test]
fn work_that_could_not_be_reviewed_is_never_called_reviewed() {
    let config = "validation_triggers: {session_end: {code_review: {enabled: true}}}";
    let run = one(config).script("a review", [broken(ReviewErrorKind::Crash)]).run();
    assert_eq!(run.outcome("a"), &Some(WorkOutcome::Succeeded), "003-164");
    assert_eq!(run.count("a on_review_passed"), 0, "003-163");
    let work = run.state.works.values().next().unwrap();
    let reason = work.not_reviewed.as_deref();
    assert_eq!(reason, Some("the review could not be done: it broke"), "003-164");
}

#[test]
fn a_review_that_cannot_be_done_aborts_the_run() {
    let config = "validation_triggers: {session_end: {code_review: {enabled: true, failure_mode: abort}}, run_end: {fire_on: both}}";
    let issues = ["a", "b", "c"].map(|id| issue(id, None, &[]));
    let run =
        simulation(config, &issues).script("a review", [broken(ReviewErrorKind::Timeout)]).run();
    assert_eq!(conclusion(&run.state), RunConclusion::NotReviewed, "003-162");
    assert_eq!(run.count("c claimed"), 0, "003-162: no further issue is started");
    assert!(!run.story.iter().any(|line| line.starts_with("run_end")), "003-035");
    assert_eq!(run.count("a released"), 1);
}

#[test]
fn without_a_review_no_review_starts() {
    let run = one("validation_triggers: {session_end: {code_review: {enabled: false}}}").run();
    assert_eq!(run.count("a on_review_started"), 0, "003-012, 003-239");
    assert_eq!(run.outcome("a"), &Some(WorkOutcome::Succeeded));
}

#[test]
fn an_issue_without_commits_is_not_done() {
    let mut empty = coder(CoderEnd::Finished, "c0", "c0", "");
    if let WorkEvent::CoderEnded { state: Some(state), .. } = &mut empty {
        state.commits.clear();
    }
    let run = one(SESSION).script("a code", [empty]).run();
    assert_eq!(run.failure("a"), "no commits for the issue", "003-084, 003-085");
    assert_eq!(run.count("a on_review_started"), 0, "003-084");
}

#[test]
fn a_commit_without_prefix_is_corrected_once() {
    let wrong = || coder(CoderEnd::Finished, "h1", "c0", "fix it");
    let run = one("").script("a code", [wrong()]).run();
    assert_eq!(run.outcome("a"), &Some(WorkOutcome::Succeeded));
    assert_eq!(run.count("a coder_ended"), 2);
    let run = one("").script("a code", [wrong(), wrong()]).run();
    assert_eq!(run.failure("a"), "commit h1 does not start with `bd-a: `");
}

/// The configuration of a later run does not change what was done before.
#[test]
fn a_review_stays_done_when_reviews_are_turned_off() {
    let config = "validation_triggers: {session_end: {code_review: {enabled: true}}}";
    let run = simulation(config, &[issue("a", None, &[])]).run();
    let works = rebuild(&rules(""), &run.log).works;
    let work = works.values().next().unwrap();
    assert!(work.reviewed.is_some() && work.outcome == Some(WorkOutcome::Succeeded), "{work:?}");
}

/// The memory of a run does not grow with what coders and reviewers wrote about finished issues.
#[test]
fn finished_work_keeps_no_texts_of_its_sessions_and_findings() {
    let long = "x".repeat(10_000);
    let mut session = coder(CoderEnd::Finished, "h1", "c0", "bd-a: x");
    if let WorkEvent::CoderEnded { message, .. } = &mut session {
        message.clone_from(&long);
    }
    let minor = Finding { body: long, ..finding("Minor", Some(Priority::P3)) };
    let run = simulation(SESSION, &[issue("a", None, &[])])
        .script("a code", [session])
        .script("a review", [reviewed(TriggerReview::Completed(vec![minor]))])
        .run();
    let work = &run.state.works[&WorkKey::Issue(IssueId::new("a"))];
    assert_eq!(work.outcome, Some(WorkOutcome::Succeeded));
    assert!(format!("{work:?}").len() < 2_000, "{work:?}");
    let report = build(&run.state, &run.rules, "", run.now);
    let entry = &report.issues[0];
    assert_eq!((entry.findings, entry.review), (1, Some("success")));
    assert_eq!(rebuild(&run.rules, &run.log), run.state);
}
