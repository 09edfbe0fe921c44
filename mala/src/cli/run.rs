//! `mala run`: works on issues with coding agents until the work is right.

mod live;
mod show;

use crate::console;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::{Failure, FailureKind};
use crate::interrupt::StopSignals;
use crate::wiring::run::{self as wiring, Git, RunFolder, RunRequest};
use crate::wiring::trusted_settings::{self, TargetSettings};
use anyhow::Context;
use clap::{Args, Subcommand};
use live::LiveView;
use mala_domain::config::{RetryCount, ReviewerType, Seconds};
use mala_domain::ports::{RunLog, RunLogError, Tracker};
use mala_domain::run::issue::IssueId;
use mala_domain::run::lifecycle::RunConclusion;
use mala_domain::run::metadata::StartRequest;
use mala_domain::run::readiness::{IssueSelection, unknown_name};
use mala_domain::run::report::{RunReport, html, markdown};
use mala_domain::run::triggers::ReviewFlags;
use mala_pipeline::run::{RunError, RunPorts, RunResult, run as orchestrate};
use std::collections::BTreeMap;
use tokio::sync::watch;

/// Work on ready issues with coding agents, review their commits, and merge them
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct RunCommandArgs {
    #[command(subcommand)]
    command: Option<RunAction>,
    /// Issues to work on; by default, all that are ready
    #[arg(value_name = "ISSUE")]
    issues: Vec<String>,
    /// Work on the issues of this epic
    #[arg(long, value_name = "ID")]
    epic: Option<String>,
    /// Number of issues to work on at a time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    max_agents: Option<u32>,
    /// Number of issues to work on in all
    #[arg(long, value_name = "N")]
    max_issues: Option<usize>,
    /// Continue the last run
    #[arg(long, conflicts_with = "fresh")]
    resume: bool,
    /// Start a new run, with new baselines
    #[arg(long)]
    fresh: bool,
    /// Wait for further issues when none is ready
    #[arg(long, conflicts_with = "dry_run")]
    watch: bool,
    /// Print the plan and exit
    #[arg(long)]
    dry_run: bool,
    /// Validations to skip
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = ["review"])]
    disable_validations: Vec<String>,
    /// Time limit of each review, in seconds
    #[arg(long, value_name = "SECONDS")]
    review_timeout: Option<Seconds>,
    /// Deprecated: set `code_review.reviewer_type` in mala.yaml
    #[arg(long, value_name = "TYPE")]
    reviewer_type: Option<ReviewerType>,
    /// Deprecated: set `code_review.max_retries` in mala.yaml
    #[arg(long, value_name = "N")]
    max_review_retries: Option<u32>,
    /// Deprecated: set `code_review.cerberus.spawn_args` in mala.yaml
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    cerberus_spawn_args: Vec<String>,
    /// Deprecated: set `code_review.cerberus.wait_args` in mala.yaml
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    cerberus_wait_args: Vec<String>,
    /// Deprecated: set `code_review.cerberus.env` in mala.yaml
    #[arg(long, value_name = "NAME=VALUE")]
    cerberus_env: Vec<String>,
}

/// The commands of `mala run`
#[derive(Debug, Subcommand)]
enum RunAction {
    /// Show the state of the last run
    Status,
    /// Print the events of the last run
    Logs {
        /// Only those of this issue or trigger
        #[arg(value_name = "NAME")]
        name: Option<String>,
    },
    /// Stop the current run after the work in progress
    Stop,
}

pub(super) fn run(args: &RunCommandArgs, here: &Environment) -> anyhow::Result<Exit> {
    let folder = RunFolder::of_work_tree(here.root());
    match &args.command {
        None => {}
        Some(action) => {
            wiring::end_leftovers(here, &folder);
            return match action {
                RunAction::Status => show::status(&folder),
                RunAction::Logs { name } => show::logs(&folder, name.as_deref()),
                RunAction::Stop => show::stop(&folder),
            };
        }
    }
    let request = request(args)?;
    // As many threads for checks and queries as the machine has cores: more only hold memory.
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(cores.max(2))
        .build()
        .context("starting the runtime")?;
    let done = runtime.block_on(async {
        let git = wiring::open_git(here).await?;
        let base = trusted_settings::of_run(here, &git).await?;
        for notice in base.settings.run_notices() {
            console::say(&format!("warning: {notice}"));
        }
        match args.dry_run {
            true => show::plan(&request, (base, git), here, &folder).await,
            false => work(&request, (base, git), here, folder).await,
        }
    });
    runtime.shutdown_background();
    done
}

async fn work(
    request: &RunRequest,
    (base, git): (TargetSettings, Git),
    here: &Environment,
    folder: RunFolder,
) -> anyhow::Result<Exit> {
    let plan = wiring::orchestrator_plan(request, &base.settings, &git, &base.target).await?;
    let log = folder.lock().map_err(locked)?;
    let plan = plan.continuing(log.metadata()?.as_deref()).map_err(failure)?;
    let adapters = wiring::adapters(request, base, here, git).await?;
    check_names(&request.selection, &*adapters.tracker).await?;
    let (sender, stop) = watch::channel(0);
    let view = LiveView::start();
    let ports = RunPorts {
        tracker: &*adapters.tracker,
        coder: &adapters.coder,
        workspaces: &adapters.workspaces,
        main_line: &adapters.main_line,
        log: &log,
        reviews: &adapters.reviews,
        configs: &adapters.configs,
        clock: &|| jiff::Timestamp::now().as_second(),
        notices: &|notice| view.show(notice),
    };
    let done = tokio::select! {
        done = orchestrate(&plan, &ports, stop) => done,
        never = stop_on_signals(sender) => never,
    };
    view.end();
    finish(done.map_err(failure)?, &log)
}

/// Rejects names that the tracker does not know, before anything starts.
async fn check_names(selection: &IssueSelection, tracker: &dyn Tracker) -> anyhow::Result<()> {
    if selection.issues.is_empty() && selection.epic.is_none() {
        return Ok(());
    }
    if let Some(why) = unknown_name(selection, &tracker.issues().await?) {
        return Err(Failure::usage(why).hint("run `mala issue list` to list the issues").into());
    }
    Ok(())
}

/// Ctrl-C once: start nothing new. Twice: stop sessions. Three times: exit.
async fn stop_on_signals(sender: watch::Sender<u32>) -> Result<RunResult, RunError> {
    let Ok(mut signals) = StopSignals::listen() else { return std::future::pending().await };
    signals.next().await;
    console::say("stopping: running work is finished; press Ctrl-C again to stop it");
    sender.send_replace(1);
    signals.next().await;
    console::say("stopping sessions; `mala run --resume` continues");
    sender.send_replace(2);
    signals.next().await;
    std::process::exit(i32::from(Exit::Interrupted.code()));
}

fn finish(result: RunResult, log: &dyn RunLog) -> anyhow::Result<Exit> {
    // One format after the other: a report has a part per issue.
    log.save_report("report.html", &html(&result.report))?;
    log.save_report("report.json", &json(&result.report)?)?;
    let text = markdown(&result.report);
    let path = log.save_report("report.md", &text)?;
    console::data(&text)?;
    console::say(&format!("report: {path}"));
    Ok(match result.conclusion {
        RunConclusion::Succeeded => Exit::Passed,
        RunConclusion::Failed => Exit::Blocked,
        RunConclusion::NotReviewed => Exit::CouldNotReview,
        RunConclusion::Interrupted => Exit::Interrupted,
    })
}

fn json(report: &RunReport) -> anyhow::Result<String> {
    let mut text = serde_json::to_string_pretty(report).context("writing the report")?;
    text.push('\n');
    Ok(text)
}

fn locked(error: RunLogError) -> anyhow::Error {
    match error {
        RunLogError::Locked { .. } => {
            Failure::usage(error.to_string()).hint("wait for it, or run `mala run stop`").into()
        }
        error => error.into(),
    }
}

fn failure(error: RunError) -> anyhow::Error {
    match error {
        RunError::NothingToResume => {
            Failure::usage(error.to_string()).hint("run `mala run` without --resume").into()
        }
        RunError::AlreadyFinished(_) => Failure::usage(error.to_string())
            .hint("run `mala run --fresh` to start a new run")
            .into(),
        RunError::Stuck => Failure::new(FailureKind::Internal, error.to_string()).into(),
        error => error.into(),
    }
}

/// The request, with a warning for each deprecated flag.
fn request(args: &RunCommandArgs) -> anyhow::Result<RunRequest> {
    let deprecated = [
        ("--reviewer-type", "reviewer_type", args.reviewer_type.is_some()),
        ("--max-review-retries", "max_retries", args.max_review_retries.is_some()),
        ("--cerberus-spawn-args", "cerberus.spawn_args", !args.cerberus_spawn_args.is_empty()),
        ("--cerberus-wait-args", "cerberus.wait_args", !args.cerberus_wait_args.is_empty()),
        ("--cerberus-env", "cerberus.env", !args.cerberus_env.is_empty()),
    ];
    for (flag, key, _) in deprecated.into_iter().filter(|(.., is_given)| *is_given) {
        console::say(&format!(
            "warning: {flag} is deprecated: set `code_review.{key}` in mala.yaml"
        ));
    }
    let mut env = BTreeMap::new();
    for pair in &args.cerberus_env {
        let (name, value) = pair
            .split_once('=')
            .ok_or_else(|| Failure::usage(format!("`{pair}` is not NAME=VALUE")))?;
        env.insert(name.to_owned(), value.to_owned());
    }
    let retries = args.max_review_retries.map(|retries| {
        let valid = RetryCount::new(i64::from(retries));
        valid.ok_or_else(|| Failure::usage(format!("`{retries}` is not between 0 and 100")))
    });
    Ok(RunRequest {
        selection: IssueSelection {
            issues: args.issues.iter().map(IssueId::new).collect(),
            epic: args.epic.as_ref().map(IssueId::new),
        },
        start: match (args.resume, args.fresh) {
            (true, _) => StartRequest::Resume,
            (_, true) => StartRequest::Fresh,
            _ => StartRequest::Detect,
        },
        max_agents: args.max_agents.map(|agents| agents as usize),
        max_issues: args.max_issues,
        watches: args.watch,
        review_timeout: args.review_timeout,
        flags: ReviewFlags {
            disabled: !args.disable_validations.is_empty(),
            reviewer_type: args.reviewer_type,
            max_retries: retries.transpose()?,
            spawn_args: args.cerberus_spawn_args.clone(),
            wait_args: args.cerberus_wait_args.clone(),
            env,
        },
    })
}
