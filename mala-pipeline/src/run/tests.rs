//! Whole runs over ports in memory: what is done in which order, and what survives a kill.

mod fakes;

use super::*;
use fakes::{Answer, World};
use mala_domain::run::lifecycle::RunConclusion;
use mala_domain::run::metadata::RunMetadata;
use std::collections::BTreeSet;

const REVIEWED: &str = "
commands: {t: cargo test}
validation_triggers:
  session_end: {commands: [{ref: t}], code_review: {enabled: true, finding_threshold: P1, max_retries: 1}}
  epic_completion: {code_review: {enabled: true, baseline: since_last_review}}
  run_end: {code_review: {enabled: true, baseline: since_run_start, finding_threshold: P1, max_retries: 1}}
";

#[tokio::test]
async fn issues_are_merged_closed_and_reviewed() {
    let world = World::new(REVIEWED, &["a", "b"]);
    let result = world.run().await.unwrap();
    assert_eq!(result.conclusion, RunConclusion::Succeeded);
    assert_eq!(result.report.succeeded, 2);
    let mut subjects = world.subjects();
    subjects.sort();
    assert_eq!(subjects, ["bd-a: work", "bd-b: work"], "each issue is merged once");
    assert_eq!(world.open_issues(), [""; 0]);
    let reviews = world.reviews();
    assert_eq!(reviews.len(), 3, "003-004, 003-126");
    assert_eq!((reviews[0].base.as_str(), reviews[0].trigger), ("c0", TriggerKind::SessionEnd));
    let end = &reviews[2];
    assert_eq!((end.base.as_str(), end.trigger), ("c0", TriggerKind::RunEnd), "003-086");
    assert_eq!(end.head, world.tip(), "003-090");
    let commits = &end.tasks.last().unwrap().1;
    assert_eq!(commits.lines().count(), 2, "003-119: {commits}");
    let texts: BTreeSet<&str> =
        reviews[..2].iter().map(|it| it.tasks[0].1.lines().next().unwrap()).collect();
    assert_eq!(texts, BTreeSet::from(["Title of a", "Title of b"]), "000-014, 001-102, 001-103");
    assert!(world.workspaces_left().is_empty(), "no worktree is left behind");
}

/// Rows 003-037, 003-070, 003-072, 003-074, 003-094, 003-100, 001-126 and 001-142.
#[tokio::test]
async fn metadata_is_true_before_and_after() {
    let world = World::new(REVIEWED, &["a"]);
    world.run().await.unwrap();
    let first: RunMetadata = serde_json::from_str(&world.metadata_at_first_session()).unwrap();
    assert_eq!(first.run_start_commit.as_deref(), Some("c0"), "003-037, 003-070");
    let metadata = world.metadata();
    assert_eq!(metadata.run_id, "run-1", "003-100");
    let keys: Vec<&String> = metadata.last_cumulative_review_commits.keys().collect();
    assert_eq!(keys, ["run_end"], "003-072, 003-074");
    assert_eq!(metadata.last_cumulative_review_commits["run_end"], world.tip(), "003-094, 003-107");
    assert!(metadata.review_enabled, "001-126");
    assert!(world.log_lines()[0].contains("\"review_enabled\":true"), "001-142");
}

#[tokio::test]
async fn findings_are_filed_before_the_baseline_advances() {
    let world = World::new(REVIEWED, &["a"]);
    world.answer([Answer::Clean, Answer::Finding("x", 3)]);
    world.run().await.unwrap();
    let order: Vec<String> = world
        .actions()
        .into_iter()
        .filter(|it| it.starts_with("create") || it.starts_with("baseline"))
        .collect();
    assert_eq!(
        order,
        ["create Review findings of run run-1", "create x", "baseline"],
        "003-014, 003-148"
    );
    let filed = world.issue_titled("x");
    assert_eq!(filed.labels, ["review-finding", "cumulative-review", "trigger:run_end"], "003-140");
}

#[tokio::test]
async fn findings_are_fixed_in_the_session_and_filed_once() {
    let world = World::new(REVIEWED, &["a"]);
    world.answer([Answer::Finding("x", 1), Answer::Clean, Answer::Finding("x", 1), Answer::Clean]);
    let result = world.run().await.unwrap();
    assert_eq!(result.conclusion, RunConclusion::Succeeded);
    let prompts = world.prompts();
    assert!(prompts[1].starts_with("resume s-a\n## External Review Failed"), "003-181, 001-090");
    assert!(prompts[2].starts_with("start\n## External Review Failed"), "003-182");
    let created = world.actions().iter().filter(|it| *it == "create x").count();
    assert_eq!(created, 1, "003-133, 003-134");
    assert_eq!(result.report.issues[0].fixed, 1);
}

#[tokio::test]
async fn a_repeated_review_of_a_fire_starts_where_the_first_did() {
    let config = REVIEWED.replace("baseline: since_run_start", "baseline: since_last_review");
    let world = World::new(&config, &["a"]);
    world.answer([Answer::Clean, Answer::Finding("x", 1), Answer::Finding("x", 1)]);
    let result = world.run().await.unwrap();
    let bases: Vec<String> = world.reviews().into_iter().map(|it| it.base).collect();
    assert_eq!(bases, ["c0", "c0", "c0"], "003-186");
    assert_eq!(result.conclusion, RunConclusion::Failed, "003-186, 003-188");
}

#[tokio::test]
async fn skipped_and_broken_reviews_do_not_advance_the_baseline() {
    let world = World::new(REVIEWED, &[]);
    let result = world.run().await.unwrap();
    assert_eq!(world.reviews().len(), 0, "003-121");
    assert_eq!(result.report.triggers[0].skip_reason, Some("empty_diff"), "003-033, 003-221");
    assert_eq!(world.metadata().last_cumulative_review_commits.len(), 0, "003-110");
    let world = World::new(REVIEWED, &["a"]);
    world.answer([Answer::Clean, Answer::Broken]);
    let result = world.run().await.unwrap();
    assert_eq!(world.metadata().last_cumulative_review_commits.len(), 0, "003-109");
    let end = &result.report.triggers[0];
    assert_eq!((end.review, end.skip_reason), (Some("failed"), None), "003-219, 003-221");
    assert_eq!(end.new_baseline, None, "003-220");
}

/// Rows 003-087, 003-091, 003-099 and 003-104.
#[tokio::test]
async fn a_resumed_run_keeps_its_id_and_baselines() {
    let config = REVIEWED.replace("baseline: since_run_start", "baseline: since_last_review");
    let world = World::new(&config, &["a"]);
    world.run().await.unwrap();
    let reviewed = world.tip();
    world.add_issue("b");
    world.run().await.unwrap();
    let metadata = world.metadata();
    assert_eq!((metadata.run_id.as_str(), world.n_runs()), ("run-1", 2), "003-104");
    assert_eq!(metadata.run_start_commit.as_deref(), Some("c0"), "003-091");
    let last = world.reviews().pop().unwrap();
    assert_eq!((last.trigger, last.base), (TriggerKind::RunEnd, reviewed), "003-087, 003-099");
}

#[tokio::test]
async fn a_late_capture_is_warned_of() {
    let world = World::new(REVIEWED, &["a"]);
    world.run().await.unwrap();
    world.edit_metadata(|metadata| metadata.run_start_commit = None);
    world.run().await.unwrap();
    assert_eq!(world.metadata().run_start_commit, Some(world.tip()), "003-117");
    assert!(world.warnings().iter().any(|it| it.contains("late capture")), "003-117");
}

#[tokio::test]
async fn an_unknown_last_review_is_dropped() {
    let config = REVIEWED.replace("baseline: since_run_start", "baseline: since_last_review");
    let world = World::new(&config, &["a"]);
    world.run().await.unwrap();
    world.edit_metadata(|metadata| {
        metadata.last_cumulative_review_commits.insert("run_end".to_owned(), "gone".to_owned());
    });
    world.add_issue("b");
    world.run().await.unwrap();
    assert_eq!(world.reviews().pop().unwrap().base, "c0", "003-114, 003-010");
    world.edit_metadata(|metadata| {
        metadata.run_start_commit = Some("gone".to_owned());
        metadata.last_cumulative_review_commits.clear();
    });
    world.add_issue("c");
    let result = world.run().await.unwrap();
    let end = result.report.triggers.last().unwrap();
    assert_eq!(end.skip_reason, Some("baseline_not_found"), "003-112, 003-113, 003-227");
    assert_eq!(result.conclusion, RunConclusion::Succeeded, "003-113");
}

#[tokio::test]
async fn nothing_to_resume_is_an_error() {
    let mut world = World::new(REVIEWED, &["a"]);
    world.plan.start = StartRequest::Resume;
    assert!(matches!(world.run().await, Err(RunError::NothingToResume)));
    world.plan.start = StartRequest::Detect;
    world.run().await.unwrap();
    let n_reviews = world.reviews().len();
    world.run().await.unwrap();
    assert_eq!(world.reviews().len(), n_reviews, "a finished run is not reviewed again");
    world.plan.start = StartRequest::Resume;
    assert!(matches!(world.run().await, Err(RunError::AlreadyFinished(_))));
    world.add_issue("b");
    assert_eq!(world.run().await.unwrap().report.succeeded, 2);
}

#[tokio::test]
async fn finished_work_waits_until_it_can_be_merged() {
    let world = World::new(REVIEWED, &["a"]);
    world.obstruct(Some("`main` is checked out with changes"));
    let result = world.run().await.unwrap();
    assert_eq!(result.conclusion, RunConclusion::Failed);
    assert_eq!(result.report.issues[0].status, "unfinished");
    assert_eq!(result.report.next_steps[0].command, "mala run --resume");
    assert!(world.warnings()[0].contains("`main` is checked out"), "{:?}", world.warnings());
    assert_eq!((world.workspaces_left(), world.tip()), (vec!["a".to_owned()], "c0".to_owned()));
    world.obstruct(None);
    let result = world.run().await.unwrap();
    assert_eq!(result.conclusion, RunConclusion::Succeeded);
    assert_eq!((world.subjects(), world.prompts().len()), (vec!["bd-a: work".to_owned()], 1));
    assert_eq!(world.reviews().len(), 2, "its own, and that of the run");
}

/// The loop is dropped after any number of polls, as by `kill -9`, and resumed.
#[tokio::test]
async fn a_killed_run_loses_and_repeats_nothing() {
    for n_actions in 1..60 {
        let world = World::new(REVIEWED, &["a", "b", "c"]);
        world.answer([Answer::Finding("x", 1)]);
        world.kill_after(n_actions);
        let killed = world.run_until_killed().await;
        let result = world.run().await.unwrap();
        assert_eq!(
            result.conclusion,
            RunConclusion::Succeeded,
            "{n_actions}: {:?}",
            world.actions()
        );
        let mut subjects = world.subjects();
        subjects.sort();
        subjects.dedup();
        assert_eq!(subjects.iter().filter(|it| it.ends_with(": work")).count(), 3, "{n_actions}");
        let created = world.actions().iter().filter(|it| *it == "create x").count();
        assert!(created <= 1, "{n_actions}");
        assert!(world.open_issues().is_empty(), "{n_actions}: the finding is fixed and closed");
        assert!(world.workspaces_left().is_empty(), "{n_actions}");
        if !killed {
            break;
        }
    }
}

#[tokio::test]
async fn a_full_disk_stops_the_run_and_nothing_is_lost() {
    for n_lines in 0..30 {
        let world = World::new(REVIEWED, &["a", "b"]);
        world.fill_disk(Some(n_lines));
        let Err(error) = world.run().await else { break };
        assert!(error.to_string().contains("events.jsonl"), "{n_lines}: {error}");
        world.fill_disk(None);
        let result = world.run().await.unwrap();
        assert_eq!((result.report.succeeded, world.open_issues().len()), (2, 0), "{n_lines}");
        let mut subjects = world.subjects();
        subjects.sort();
        // A session whose end could not be logged is repeated, and commits again.
        subjects.dedup();
        assert_eq!(subjects, ["bd-a: work", "bd-b: work"], "{n_lines}");
    }
}

#[tokio::test]
async fn a_run_that_watches_takes_up_issues_that_come_later() {
    let mut world = World::new(REVIEWED, &["a"]);
    world.plan.rules.watches = true;
    world.stop_at("session b", 1);
    let later = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        world.add_issue("b");
        std::future::pending::<()>().await
    };
    let result = tokio::select! {
        result = world.run() => result.unwrap(),
        () = later => unreachable!(),
    };
    assert_eq!((result.conclusion, result.report.succeeded), (RunConclusion::Interrupted, 2));
}

#[tokio::test]
async fn the_first_stop_finishes_running_work_and_the_second_stops_it() {
    let world = World::new(REVIEWED, &["a", "b", "c"]);
    world.stop_at("session a", 1);
    let result = world.run().await.unwrap();
    assert_eq!(result.conclusion, RunConclusion::Interrupted, "003-036");
    assert_eq!(result.report.issues.iter().filter(|it| it.status == "succeeded").count(), 2);
    assert!(result.report.triggers.is_empty(), "003-036");
    let world = World::new(REVIEWED, &["a", "b", "c"]);
    world.stop_at("review a", 2);
    let result = world.run().await.unwrap();
    assert_eq!(result.conclusion, RunConclusion::Interrupted, "003-222");
    assert_eq!(result.report.succeeded, 0, "003-222");
    assert!(!world.actions().iter().any(|it| it.starts_with("create")), "003-222");
    let result = world.run().await.unwrap();
    assert_eq!(result.report.succeeded, 3, "003-222: the state is kept");
}
