//! Runs one review: scope, settings, review, stored files, outputs.

use super::outputs::ReportSink;
use super::{ReviewArgs, ReviewOptions, dry_run, show};
use crate::cli::rules::catalogue_ids;
use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind, describe};
use crate::interrupt::until_interrupted;
use crate::progress::ReviewProgress;
use crate::settings::{Settings, UserSettings};
use crate::target::{TargetRequest, requested};
use crate::wiring::changes::Changes;
use crate::wiring::ledger::{LedgerPlace, ReviewLedger, TrackingRequest};
use crate::wiring::reviewers::{ModelAccess, Recording, ReviewerOptions};
use crate::wiring::{
    StateFolder, changes, read_following_links, reviewers, rules, start_time, trusted_settings,
};
use mala_domain::config::{
    BudgetSettings, Config, ConfigOrigin, LinterMode, ReviewPolicy, ReviewSettings, ReviewerType,
};
use mala_domain::ports::{ReviewScope, RunStore, Side};
use mala_domain::report::Report;
use mala_domain::review::ReviewPlan;
use mala_domain::review::policy::configured_command;
use mala_domain::review::suppress::SuppressionPolicy;
use mala_domain::scope::ReviewTarget;
use mala_pipeline::agent::Transcript;
use mala_pipeline::review::{Published, ReviewOutput, ReviewPorts, StartTime, publish, review};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

/// The size limit of a stored file of a lane.
const MAX_LANE_BYTES: u64 = 32 << 20;

/// The size limit of a file about the task.
const MAX_CONTEXT_BYTES: u64 = 1 << 20;

pub(super) fn run(args: &ReviewArgs, here: &Environment) -> anyhow::Result<Exit> {
    let sinks = super::sinks(&args.options)?;
    let request = requested(&args.what)?;
    until_interrupted(one_review(args, here, &request, &sinks))
}

async fn one_review(
    args: &ReviewArgs,
    here: &Environment,
    request: &TargetRequest,
    sinks: &[ReportSink],
) -> anyhow::Result<Exit> {
    let started = start_time();
    let progress = Arc::new(ReviewProgress::start());
    let changes = Changes::open(here).await;
    let user = UserSettings::load(here)?;
    let (target, scoped) = request.scope(&user, &changes).await?;
    let job = ReviewJob {
        options: &args.options,
        is_dry_run: args.dry_run,
        user,
        target,
        scoped,
        tasks: tasks(args, here)?,
        subject: None,
        paths: request.paths().to_vec(),
        trusted: Side::Base,
        store: changes.store(),
        tracked_in: match changes.git() {
            Some(git) => Some(LedgerPlace::of(git).await),
            None => None,
        },
        full_requested: false,
        warnings: Vec::new(),
        is_from_fork: args.is_from_fork,
        started,
        progress,
    };
    let Some(done) = run_job(job, here).await? else { return Ok(Exit::Passed) };
    show::show(&done.reviewed, sinks, &done.policy, &args.options, here)?;
    if changes.store().is_none() && !args.options.no_save {
        console::say("note: not in a repository: the review is not saved");
    }
    Ok(Exit::from(done.reviewed.report.outcome))
}

/// A change that is ready to be reviewed.
pub(in crate::cli) struct ReviewJob<'a> {
    pub(in crate::cli) options: &'a ReviewOptions,
    /// Whether to show the data for models, without a review.
    pub(in crate::cli) is_dry_run: bool,
    pub(in crate::cli) user: UserSettings,
    pub(in crate::cli) target: ReviewTarget,
    pub(in crate::cli) scoped: ReviewScope,
    /// Texts about the task: name and content.
    pub(in crate::cli) tasks: Vec<(String, String)>,
    /// The side whose settings and rules apply: the base, unless all files of HEAD are the change.
    pub(in crate::cli) trusted: Side,
    /// The paths that the review is limited to.
    pub(in crate::cli) paths: Vec<String>,
    /// The pull request, for the id of the review.
    pub(in crate::cli) subject: Option<String>,
    pub(in crate::cli) store: Option<StateFolder>,
    /// The ledger that tracks the review.
    pub(in crate::cli) tracked_in: Option<LedgerPlace>,
    /// Whether everything is reviewed again, as with `--full`.
    pub(in crate::cli) full_requested: bool,
    /// Warnings about the change.
    pub(in crate::cli) warnings: Vec<String>,
    /// Whether the change comes from a fork: no linter and no command runs on it, unless the settings allow it.
    pub(in crate::cli) is_from_fork: bool,
    pub(in crate::cli) started: StartTime,
    pub(in crate::cli) progress: Arc<ReviewProgress>,
}

/// A review that is stored and not shown yet.
pub(in crate::cli) struct FinishedReview {
    pub(in crate::cli) reviewed: ReviewOutput,
    pub(in crate::cli) policy: ReviewPolicy,
    pub(in crate::cli) started: StartTime,
}

/// Reviews a change and stores the files of the review; `None` after a dry run.
pub(in crate::cli) async fn run_job(
    job: ReviewJob<'_>,
    here: &Environment,
) -> anyhow::Result<Option<FinishedReview>> {
    let (settings, mut notices) = trusted_settings(&job).await?;
    let ReviewJob { options: args, is_dry_run, target, scoped, .. } = job;
    let rules = rules::rules_of_side((&scoped, job.trusted), &target, &mut notices).await?;
    let transcript = args.debug.then(Transcript::default);
    let options = ReviewerOptions {
        target: target.clone(),
        transcript: transcript.clone(),
        model_access: if is_dry_run { ModelAccess::DryRun } else { ModelAccess::Call },
        ..reviewer_options(args, here, &settings, job.progress.clone())
    };
    let own: Vec<String> = rules.rules.iter().map(|rule| rule.id.clone()).collect();
    let chosen = reviewers::choose(&settings.policy, here, rules, options).await?;
    // An empty change needs no reviewer.
    if !scoped.change.is_empty() {
        chosen.unavailable.iter().for_each(|error| console::say(&describe(error)));
    }
    let unfinished = UnfinishedRecording(chosen.recording.clone());
    let has_agent = chosen.reviewers.iter().any(|reviewer| reviewer.name() == "agent");
    notices.extend(unused(args, &chosen.kinds, has_agent));
    let is_recorded = args.record.is_some() || args.replay.is_some();
    let request = TrackingRequest {
        target: &target,
        scope: &scoped,
        paths: &job.paths,
        policy: settings.policy.rounds(args.full || job.full_requested || is_recorded),
        at: job.started.at.clone(),
        stores: !args.no_save,
    };
    // An empty change is only looked up: it may be the answer to open findings.
    let is_tracked = |place: &LedgerPlace| !scoped.change.is_empty() || place.path.exists();
    let tracked_in = job.tracked_in.filter(|place| !is_dry_run && is_tracked(place));
    let ledger = open_ledger(tracked_in, request, &mut notices).await;
    let plan = ReviewPlan {
        rule_ids: Box::new(move || catalogue_ids(&own)),
        subject: job.subject,
        ..chosen.plan(&settings.policy, job.tasks, notices)?
    };
    if is_dry_run {
        dry_run::show(args.json, &plan, &chosen, scoped).await?;
        return Ok(None);
    }
    let store = job.store.filter(|_| !args.no_save);
    let kept_in = store.as_ref().map(|store| (store as &dyn RunStore, &job.started));
    let tracking = ledger.as_ref().map(ReviewLedger::tracking);
    let ports = ReviewPorts { store: kept_in, tracking, ..chosen.ports() };
    let reviewed = review(&plan, scoped, &ports, &|event| job.progress.show(&event)).await;
    job.progress.end();
    let reviewed = reviewed.map_err(changes::failure)?;
    unfinished.finish();
    warn_of_recording(chosen.recording.as_deref());
    let reviewed = match &store {
        Some(store) => {
            let more = kept(transcript).into_iter().chain(lane_files(chosen.lane_logs.as_deref()));
            keep(reviewed, &job.started, store, &more.collect::<Vec<_>>())
        }
        None => reviewed,
    };
    Ok(Some(FinishedReview { reviewed, policy: settings.policy, started: job.started }))
}

/// The settings of a review, and notices about them.
async fn trusted_settings(job: &ReviewJob<'_>) -> anyhow::Result<(Settings, Vec<String>)> {
    let flags = flags(job.options);
    let scope = (&job.scoped, job.trusted);
    let mut settings = trusted_settings::of_side(&job.user, scope, flags).await?;
    let mut notices = settings.notices();
    notices.extend(job.warnings.iter().cloned());
    // A pull request cannot waive its own findings, unless the settings allow it.
    let suppressions = &mut settings.policy.suppressions;
    if job.subject.is_some() && suppressions.origin == ConfigOrigin::Default {
        suppressions.value = SuppressionPolicy::Trusted;
    }
    if job.is_from_fork && !settings.policy.fork_commands.value {
        notices.extend(without_commands(&mut settings, &job.options.reviewer)?);
    }
    Ok((settings, notices))
}

async fn open_ledger(
    place: Option<LedgerPlace>,
    request: TrackingRequest<'_>,
    notices: &mut Vec<String>,
) -> Option<ReviewLedger> {
    ReviewLedger::open(&place?, request, notices).await
}

/// Takes linters out of the review of a fork. A reviewer that is a command is an error: a review never falls back.
fn without_commands(
    settings: &mut Settings,
    named: &[ReviewerType],
) -> Result<Option<String>, Failure> {
    if let Some(command) = configured_command(named, &settings.policy, &settings.gate) {
        let what = format!("{command} does not run on pull requests from forks");
        let hint = "set pull_requests.fork_commands on the base branch, or use --reviewer";
        return Err(Failure::new(FailureKind::Configuration, what).hint(hint));
    }
    let ran = std::mem::replace(&mut settings.policy.linters.value, LinterMode::Off);
    let notice =
        "linters do not run on pull requests from forks: pull_requests.fork_commands allows them";
    Ok((ran != LinterMode::Off).then(|| notice.to_owned()))
}

fn warn_of_recording(recording: Option<&Recording>) {
    if let Some(why) = recording.and_then(Recording::problem) {
        console::say(&format!("warning: the recording is incomplete: {why}"));
    }
}

/// Warnings about flags that have no effect with these reviewers. An agent on a panel has a model, but no
/// recording.
fn unused(args: &ReviewOptions, kinds: &[ReviewerType], has_agent: bool) -> Vec<String> {
    if kinds.iter().any(|kind| kind.uses_model()) {
        return Vec::new();
    }
    let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
    let (names, uses) = match names.as_slice() {
        [name] => ((*name).to_owned(), "uses"),
        names => (names.join(" and "), "use"),
    };
    let flags = [
        ("--model", args.model.is_some() && !has_agent),
        ("--profile", args.profile.is_some() && !has_agent),
        ("--record", args.record.is_some()),
        ("--replay", args.replay.is_some()),
    ];
    let given = flags.into_iter().filter(|(_, given)| *given);
    let why = if has_agent { "no recording" } else { "no model of mala" };
    given.map(|(flag, _)| format!("{flag} has no effect: {names} {uses} {why}")).collect()
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

/// Stores the files of a review. If they cannot be written, adds a warning and removes the folder
/// from the report.
fn keep(
    reviewed: ReviewOutput,
    started: &StartTime,
    store: &dyn RunStore,
    more: &[(String, String)],
) -> ReviewOutput {
    let Published::Failed(error) = publish(&reviewed, started, store, more) else {
        return reviewed;
    };
    console::say(&format!("warning: cannot save the review: {error}"));
    let report = Report { review_log_path: None, ..reviewed.report };
    ReviewOutput { report, ..reviewed }
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
fn reviewer_options(
    args: &ReviewOptions,
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
        ..ReviewerOptions::new(settings.models.clone())
    }
}

/// The texts about the task. Those of a pull request are claims of its author.
fn tasks(args: &ReviewArgs, here: &Environment) -> Result<Vec<(String, String)>, Failure> {
    let text = args.pr_text.as_ref();
    let text = text.map(|file| task("text of the pull request", file, here)).transpose()?;
    all_tasks(&args.options, here, [args.pr_title.clone(), text])
}

/// The context file, and title and text of a pull request.
pub(in crate::cli) fn all_tasks(
    options: &ReviewOptions,
    here: &Environment,
    [title, text]: [Option<String>; 2],
) -> Result<Vec<(String, String)>, Failure> {
    let context = options.context_file.as_ref();
    let context = context.map(|file| task("context file", file, here));
    let texts = [
        ("context file", context.transpose()?),
        ("title of the pull request, a claim", title),
        ("text of the pull request, a claim", text),
    ];
    let named = |(name, text): (&str, Option<String>)| text.map(|text| (name.to_owned(), text));
    Ok(texts.into_iter().filter_map(named).collect())
}

fn task(what: &str, file: &Path, here: &Environment) -> Result<String, Failure> {
    let read = read_following_links(&here.folder.join(file), MAX_CONTEXT_BYTES);
    let bytes = read.map_err(|error| {
        let why = match error.kind() {
            ErrorKind::NotFound => "no such file".to_owned(),
            _ => error.to_string(),
        };
        Failure::usage(format!("cannot read the {what} {}: {why}", file.display()))
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The options of the command line as configuration keys.
pub(in crate::cli) fn flags(args: &ReviewOptions) -> Config {
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
