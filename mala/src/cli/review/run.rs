//! One review from the command line: scope, settings, review, files, outputs.

use super::outputs::{self, Sink};
use super::{ReviewArgs, dry_run, show};
use crate::cli::exit::Exit;
use crate::cli::failure::{Failure, exit_of, report};
use crate::cli::interrupt::until_interrupted;
use crate::cli::rules::catalogue_ids;
use crate::cli::target::{Asked, asked};
use crate::console;
use crate::progress::Progress;
use crate::settings::{self, RepositoryFile, Settings};
use crate::surroundings::Surroundings;
use crate::wiring::changes::Changes;
use crate::wiring::ledger::{ReviewLedger, TrackingRequest};
use crate::wiring::reviewers::{ModelAccess, ReviewerOptions};
use crate::wiring::{changes, reviewers, rules};
use anyhow::Context;
use mala_adapters::bounded_read::read_following_links;
use mala_adapters::models::recording::Recording;
use mala_domain::change::FilePath;
use mala_domain::config::{BudgetSettings, Config, FILE_NAME, ReviewSettings, ReviewerType};
use mala_domain::ports::{ReviewScope, RunStore, Side};
use mala_domain::review::ReviewPlan;
use mala_domain::scope::ReviewTarget;
use mala_pipeline::agent::Transcript;
use mala_pipeline::review::{Published, ReviewPorts, Reviewed, StartTime, publish, review};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

/// No file of a lane that is kept is longer.
const MAX_LANE_FILE: u64 = 32 << 20;

/// A file about a task is something that people read.
const MAX_CONTEXT_BYTES: u64 = 1 << 20;

pub(super) fn run(args: &ReviewArgs, here: &Surroundings) -> anyhow::Result<Exit> {
    let sinks = outputs::sinks(&formats(args), &args.output)?;
    let asked = asked(&args.what)?;
    until_interrupted(one_review(args, here, &asked, &sinks))
}

fn formats(args: &ReviewArgs) -> Vec<String> {
    if args.json { vec!["json".to_owned()] } else { args.format.clone() }
}

async fn one_review(
    args: &ReviewArgs,
    here: &Surroundings,
    asked: &Asked,
    sinks: &[Sink],
) -> anyhow::Result<Exit> {
    let started = started();
    let progress = Arc::new(Progress::start());
    let changes = Changes::open(here).await;
    let (target, scoped) = asked.scope(here, &changes).await?;
    let mut notices = Vec::new();
    let settings = settings(args, here, &target, &scoped, &mut notices).await?;
    let rules = rules::project_rules(&scoped, &target, &mut notices).await?;
    let tasks = tasks(args, here)?;
    let transcript = args.debug.then(Transcript::default);
    let gate = settings.gate.clone();
    let options = ReviewerOptions {
        target: target.clone(),
        gate,
        ..options(args, here, transcript.clone(), progress.clone())
    };
    let own: Vec<String> = rules.rules.iter().map(|rule| rule.id.clone()).collect();
    let (is_empty, reports) = (scoped.change.is_empty(), args.json && !args.dry_run);
    let chosen = match reviewers::choose(&settings.policy, here, rules, options).await {
        // Nothing needs no reviewer, and a report says why there is none.
        Err(error) if exit_of(&error) == Exit::NoReviewers && (is_empty || reports) => {
            if !is_empty {
                report(&error);
            }
            reviewers::absent(&settings.policy, error.to_string())
        }
        chosen => chosen?,
    };
    let unfinished = Unfinished(chosen.recording.clone());
    if args.reviewer.len() < 2 {
        notices.extend(unused(args, chosen.kind));
    }
    let names: Vec<&str> = chosen.reviewers.iter().map(|reviewer| reviewer.name()).collect();
    let request = TrackingRequest {
        target: &target,
        scope: &scoped,
        reviewers: &names,
        policy: settings.policy.rounds(args.full || args.record.is_some() || args.replay.is_some()),
        at: started.at.clone(),
        stores: !args.no_save,
    };
    let ledger = match changes.git().filter(|_| !args.dry_run && !is_empty) {
        Some(git) => ReviewLedger::open(git, request, &mut notices).await,
        None => None,
    };
    let plan = ReviewPlan {
        rule_ids: Box::new(move || catalogue_ids(&own)),
        ..chosen.plan(&settings.policy, tasks, notices)?
    };
    if args.dry_run {
        return dry_run::show(args, &plan, &chosen, scoped).await;
    }
    let store = changes.store().filter(|_| !args.no_save);
    let kept_in = store.as_ref().map(|store| (store as &dyn RunStore, &started));
    let tracking = ledger.as_ref().map(ReviewLedger::tracking);
    let ports = ReviewPorts { store: kept_in, tracking, ..chosen.ports() };
    let reviewed = review(&plan, scoped, &ports, &|event| progress.show(&event)).await;
    progress.end();
    let reviewed = reviewed.map_err(changes::failure)?;
    unfinished.finish();
    if let Some(why) = chosen.recording.as_ref().and_then(|recording| recording.problem()) {
        console::say(&format!("warning: the recording is not whole: {why}"));
    }
    if let Some(store) = &store {
        let more = kept(transcript).into_iter().chain(lane_files(chosen.lane_logs.as_deref()));
        keep(&reviewed, &started, store, &more.collect::<Vec<_>>());
    }
    show::show(&reviewed, sinks, &settings.policy, args, here)?;
    if changes.store().is_none() && !args.no_save {
        console::say("note: nothing is kept of this review: there is no repository around it");
    }
    Ok(Exit::from(reviewed.report.outcome))
}

/// The flags that this reviewer has no use for.
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
    given.map(|(flag, _)| format!("{flag} is not used: {kind} asks no model of mala's")).collect()
}

/// A recording until its review is over. One that ends before, as on Ctrl-C, is taken away: half of a
/// recording replays nothing and would be in the way of the next.
struct Unfinished(Option<Arc<Recording>>);

impl Unfinished {
    fn finish(mut self) {
        self.0 = None;
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(recording) = &self.0 {
            recording.discard();
        }
    }
}

/// Keeps the review's files; a folder that cannot be written is a warning, not a lost review.
fn keep(reviewed: &Reviewed, started: &StartTime, store: &dyn RunStore, more: &[(String, String)]) {
    if let Published::Failed(error) = publish(reviewed, started, store, more) {
        console::say(&format!("warning: the files of this review are not kept: {error}"));
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
            let text = read_following_links(&path, MAX_LANE_FILE).ok();
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

/// What the command line wants of the reviewer.
fn options(
    args: &ReviewArgs,
    here: &Surroundings,
    transcript: Option<Transcript>,
    progress: Arc<Progress>,
) -> ReviewerOptions {
    let folder = |folder: &PathBuf| here.folder.join(folder);
    ReviewerOptions {
        named: args.reviewer.clone(),
        transcript,
        record: args.record.as_ref().map(folder),
        replay: args.replay.as_ref().map(folder),
        events: Arc::new(move |event| progress.show(&event)),
        asks: if args.dry_run { ModelAccess::DryRun } else { ModelAccess::Ask },
        ..ReviewerOptions::nothing()
    }
}

/// The texts about the task. Those of a pull request are written by whoever wants it merged.
fn tasks(args: &ReviewArgs, here: &Surroundings) -> Result<Vec<(String, String)>, Failure> {
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

/// The settings, with the repository's file from the side of the change that is trusted.
async fn settings(
    args: &ReviewArgs,
    here: &Surroundings,
    target: &ReviewTarget,
    scoped: &ReviewScope,
    notices: &mut Vec<String>,
) -> anyhow::Result<Settings> {
    let path = [FilePath::from(FILE_NAME)];
    let text = async |side| -> anyhow::Result<Option<Vec<u8>>> {
        let mut blobs = scoped.tree.read(side, &path).await.context("reading mala.yaml")?;
        Ok(blobs.pop().and_then(|blob| blob.text().map(|text| text.as_bytes().to_vec())))
    };
    let at_base = scoped.scope.base.as_deref().unwrap_or("the base");
    let trusted =
        text(Side::Base).await?.map(|bytes| RepositoryFile::committed(short(at_base), bytes));
    let at_head = text(Side::Head).await?.map(RepositoryFile::on_disk);
    let chosen = settings::choose(target, trusted, at_head);
    let settings = settings::load(here, chosen, flags(args))?;
    notices.extend(settings.notice.clone());
    notices.extend(settings.review_warnings().map(ToString::to_string));
    Ok(settings)
}

fn short(sha: &str) -> &str {
    sha.get(..12).unwrap_or(sha)
}

/// What the command line says, as the keys that it stands for.
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
