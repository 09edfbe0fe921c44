//! Runs one review: scope, settings, review, stored files, outputs.

use super::outputs::{self, ReportSink};
use super::{ReviewArgs, dry_run, show};
use crate::cli::exit::Exit;
use crate::cli::exit::report;
use crate::cli::interrupt::until_interrupted;
use crate::cli::rules::catalogue_ids;
use crate::cli::target::{TargetRequest, requested};
use crate::console;
use crate::environment::Environment;
use crate::failure::{Failure, FailureKind};
use crate::progress::ReviewProgress;
use crate::settings::{Settings, UserSettings};
use crate::wiring::changes::Changes;
use crate::wiring::reviewers::{ModelAccess, Recording, ReviewerOptions};
use crate::wiring::{changes, read_following_links, reviewers, rules, trusted_settings};
use mala_domain::config::{BudgetSettings, Config, ReviewSettings, ReviewerType};
use mala_domain::ports::RunStore;
use mala_domain::review::ReviewPlan;
use mala_pipeline::agent::Transcript;
use mala_pipeline::review::{Published, ReviewOutput, ReviewPorts, StartTime, publish, review};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

/// The size limit of a stored file of a lane.
const MAX_LANE_BYTES: u64 = 32 << 20;

/// The size limit of a file about the task.
const MAX_CONTEXT_BYTES: u64 = 1 << 20;

pub(super) fn run(args: &ReviewArgs, here: &Environment) -> anyhow::Result<Exit> {
    let sinks = outputs::sinks(&formats(args), &args.output)?;
    let request = requested(&args.what)?;
    until_interrupted(one_review(args, here, &request, &sinks))
}

fn formats(args: &ReviewArgs) -> Vec<String> {
    if args.json { vec!["json".to_owned()] } else { args.format.clone() }
}

async fn one_review(
    args: &ReviewArgs,
    here: &Environment,
    request: &TargetRequest,
    sinks: &[ReportSink],
) -> anyhow::Result<Exit> {
    let started = started();
    let progress = Arc::new(ReviewProgress::start());
    let changes = Changes::open(here).await;
    let user = UserSettings::load(here)?;
    let (target, scoped) = request.scope(&user, &changes).await?;
    let settings = trusted_settings::of_change(&user, &scoped, flags(args)).await?;
    let mut notices = settings.notices();
    let rules = rules::project_rules(&scoped, &target, &mut notices).await?;
    let tasks = tasks(args, here)?;
    let transcript = args.debug.then(Transcript::default);
    let options = ReviewerOptions {
        target,
        transcript: transcript.clone(),
        ..options(args, here, &settings, progress.clone())
    };
    let own: Vec<String> = rules.rules.iter().map(|rule| rule.id.clone()).collect();
    let (is_empty, reports) = (scoped.change.is_empty(), args.json && !args.dry_run);
    let chosen = match reviewers::choose(&settings.policy, here, rules, options).await {
        // An empty change needs no reviewer, and a JSON report has the reason.
        Err(error)
            if Failure::kind_of(&error) == FailureKind::NoReviewers && (is_empty || reports) =>
        {
            if !is_empty {
                report(&error);
            }
            reviewers::absent(&settings.policy, error.to_string())
        }
        chosen => chosen?,
    };
    let unfinished = UnfinishedRecording(chosen.recording.clone());
    if args.reviewer.len() < 2 {
        notices.extend(unused(args, chosen.kind));
    }
    let plan = ReviewPlan {
        rule_ids: Box::new(move || catalogue_ids(&own)),
        ..chosen.plan(&settings.policy, tasks, notices)?
    };
    if args.dry_run {
        return dry_run::show(args, &plan, &chosen, scoped).await;
    }
    let store = changes.store().filter(|_| !args.no_save);
    let kept_in = store.as_ref().map(|store| (store as &dyn RunStore, &started));
    let ports = ReviewPorts { store: kept_in, ..chosen.ports() };
    let reviewed = review(&plan, scoped, &ports, &|event| progress.show(&event)).await;
    progress.end();
    let reviewed = reviewed.map_err(changes::failure)?;
    unfinished.finish();
    if let Some(why) = chosen.recording.as_ref().and_then(|recording| recording.problem()) {
        console::say(&format!("warning: the recording is incomplete: {why}"));
    }
    if let Some(store) = &store {
        let more = kept(transcript).into_iter().chain(lane_files(chosen.lane_logs.as_deref()));
        keep(&reviewed, &started, store, &more.collect::<Vec<_>>());
    }
    show::show(&reviewed, sinks, &settings.policy, args, here)?;
    if changes.store().is_none() && !args.no_save {
        console::say("note: not in a repository: the review is not saved");
    }
    Ok(Exit::from(reviewed.report.outcome))
}

/// Warnings about flags that have no effect with this reviewer.
fn unused(args: &ReviewArgs, kind: ReviewerType) -> Vec<String> {
    if !matches!(kind, ReviewerType::Builtin | ReviewerType::Cerberus) {
        return Vec::new();
    }
    let flags = [
        ("--model", args.model.is_some()),
        ("--profile", args.profile.is_some()),
        ("--record", args.record.is_some()),
        ("--replay", args.replay.is_some()),
    ];
    let given = flags.into_iter().filter(|(_, given)| *given);
    given.map(|(flag, _)| format!("{flag} has no effect: {kind} uses no model of mala")).collect()
}

/// Deletes a recording whose review does not finish, as on Ctrl-C: it could not be replayed.
struct UnfinishedRecording(Option<Arc<Recording>>);

impl UnfinishedRecording {
    fn finish(mut self) {
        self.0 = None;
    }
}

impl Drop for UnfinishedRecording {
    fn drop(&mut self) {
        if let Some(recording) = &self.0 {
            recording.discard();
        }
    }
}

/// Stores the files of a review. A folder that cannot be written is a warning.
fn keep(
    reviewed: &ReviewOutput,
    started: &StartTime,
    store: &dyn RunStore,
    more: &[(String, String)],
) {
    if let Published::Failed(error) = publish(reviewed, started, store, more) {
        console::say(&format!("warning: cannot save the review: {error}"));
    }
}

/// The prompts and answers of lanes, as files of the review.
fn lane_files(logs: Option<&Path>) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut folders: Vec<PathBuf> = logs.iter().map(|logs| logs.join("lanes")).collect();
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let below = logs.and_then(|logs| path.strip_prefix(logs.join("lanes")).ok());
            let name = below.map(|below| below.display().to_string().replace('/', "-"));
            let text = read_following_links(&path, MAX_LANE_BYTES).ok();
            if let (Some(name), Some(text)) = (name, text) {
                let text = String::from_utf8_lossy(&text).into_owned();
                files.push((format!("lane-{name}"), text));
            }
        }
    }
    files.sort();
    files
}

fn kept(transcript: Option<Transcript>) -> Vec<(String, String)> {
    transcript
        .map(|all| all.lock().unwrap_or_else(PoisonError::into_inner).clone())
        .unwrap_or_default()
}

/// The options of the command line.
fn options(
    args: &ReviewArgs,
    here: &Environment,
    settings: &Settings,
    progress: Arc<ReviewProgress>,
) -> ReviewerOptions {
    let folder = |folder: &PathBuf| here.folder.join(folder);
    ReviewerOptions {
        named: args.reviewer.clone(),
        gate: settings.gate.clone(),
        record: args.record.as_ref().map(folder),
        replay: args.replay.as_ref().map(folder),
        events: Arc::new(move |event| progress.show(&event)),
        model_access: if args.dry_run { ModelAccess::DryRun } else { ModelAccess::Call },
        ..ReviewerOptions::new(settings.models.clone())
    }
}

/// The texts about the task. Those of a pull request are claims of its author.
fn tasks(args: &ReviewArgs, here: &Environment) -> Result<Vec<(String, String)>, Failure> {
    let read = |file: &Option<PathBuf>| {
        file.as_ref().map(|file| task(&here.folder.join(file))).transpose()
    };
    let named = |name: &str, text: Option<String>| text.map(|text| (name.to_owned(), text));
    let texts = [
        named("context file", read(&args.context_file)?),
        named("title of the pull request, a claim", args.pr_title.clone()),
        named("text of the pull request, a claim", read(&args.pr_text)?),
    ];
    Ok(texts.into_iter().flatten().collect())
}

fn task(file: &Path) -> Result<String, Failure> {
    let unreadable = |why: String| Failure::usage(format!("{}: {why}", file.display()));
    let bytes = read_following_links(file, MAX_CONTEXT_BYTES)
        .map_err(|error| unreadable(error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn started() -> StartTime {
    let now = jiff::Timestamp::now();
    StartTime { stamp: now.strftime("%Y%m%dT%H%M%S%.3fZ").to_string(), at: now.to_string() }
}

/// The options of the command line as configuration keys.
fn flags(args: &ReviewArgs) -> Config {
    Config {
        reviewer_type: args.reviewer.first().copied(),
        agent_sdk_reviewer_model: args.model.clone(),
        review: ReviewSettings {
            fail_on: args.fail_on,
            timeout: args.timeout,
            budget: BudgetSettings { profile: args.profile, ..BudgetSettings::default() },
            ..ReviewSettings::default()
        },
        ..Config::default()
    }
}
