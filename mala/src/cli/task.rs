//! `mala task`: tasks whose completion a review decides.

mod done;
mod show;
mod transfer;

use crate::console::{self, harmless};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt::until_interrupted;
use crate::settings::UserSettings;
use crate::wiring::read_following_links;
use crate::wiring::task::TaskRepository;
use clap::{Args, Subcommand, ValueEnum};
use mala_domain::ports::TrackerError;
use mala_domain::run::issue::IssueId;
use mala_domain::task::transitions::TaskAction;
use mala_domain::task::{TaskRecord, TaskStatus, clean_text};
use mala_pipeline::task::{TaskError, change_task, reopen_task, start_task};
use std::path::PathBuf;

/// The size limit of a file with a scope or a plan.
const MAX_FILE: u64 = 16 << 20;

/// Work on tasks that are complete when a review approves them
///
/// `mala task done` reviews the task's own changes. Exit codes of `done` and `review`: 0 complete, 1 revision or rejection, 2 could not review, 3 timeout, 4 no reviewers, 64 not possible in this
/// status.
#[derive(Debug, Args)]
pub struct TaskArgs {
    #[command(subcommand)]
    command: TaskSubcommand,

    /// Output format
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    format: TaskFormat,
}

/// The format of an output
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum TaskFormat {
    /// For people
    Text,
    /// For programs
    Json,
}

/// The commands of `mala task`
#[derive(Debug, Subcommand)]
enum TaskSubcommand {
    /// Add a task
    Add {
        /// Title
        title: String,
        /// Description of the work, as Markdown
        #[arg(long, value_name = "TEXT")]
        scope: Option<String>,
        /// When it is done, as Markdown
        #[arg(long, value_name = "TEXT", default_value = "")]
        acceptance: String,
        /// Read the scope from a file
        #[arg(long, value_name = "FILE", conflicts_with = "scope")]
        file: Option<PathBuf>,
    },
    /// List tasks
    List {
        /// List only tasks with this status
        #[arg(long, value_name = "STATUS", value_parser = status)]
        status: Option<TaskStatus>,
    },
    /// Show a task and its reviews
    Show {
        /// Its id, or the start of it
        id: String,
        /// Print a prompt to fix the issues of the last review
        #[arg(long)]
        fix_prompt: bool,
    },
    /// Start to work on a task: its changes are counted from here, or from the first start of a reopened one
    Start {
        /// Its id, or the start of it
        id: String,
    },
    /// Say that a task is done, and review it
    Done(done::DoneArgs),
    /// Review a task that awaits its review
    Review(done::DoneArgs),
    /// Set a task aside
    Block {
        /// Its id, or the start of it
        id: String,
        /// Why
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Make a blocked or complete task pending again
    Reopen {
        /// Its id, or the start of it
        id: String,
    },
    /// Import tasks from a Markdown plan with checkboxes, or from JSON Lines (`.jsonl`)
    Import {
        /// The file
        file: PathBuf,
    },
    /// Print all tasks as a Markdown plan, or as JSON Lines with `--format json`
    Export,
}

fn status(word: &str) -> Result<TaskStatus, String> {
    let known = TaskStatus::ALL.into_iter().find(|it| it.name().eq_ignore_ascii_case(word));
    let names = || TaskStatus::ALL.map(TaskStatus::name).join(", ");
    known.ok_or_else(|| format!("'{word}' is not one of {}", names()))
}

pub(super) fn run(args: &TaskArgs, here: &Environment) -> anyhow::Result<Exit> {
    until_interrupted(async {
        let tasks = TaskRepository::open(here, UserSettings::load(here)?).await?;
        tasks.end_leftovers().await?;
        run_in(&args.command, args.format, &tasks, here).await
    })
}

async fn run_in(
    command: &TaskSubcommand,
    format: TaskFormat,
    tasks: &TaskRepository,
    here: &Environment,
) -> anyhow::Result<Exit> {
    let ports = tasks.ports(&[]);
    let changed = match command {
        TaskSubcommand::List { status } => return show::list(tasks, *status, format).await,
        TaskSubcommand::Show { id, fix_prompt } => {
            let task = tasks.store().task(id).await.map_err(unknown)?;
            return match fix_prompt {
                true => show::fix_prompt(tasks, &task, format).await,
                false => show::show(tasks, &task, format).await,
            };
        }
        TaskSubcommand::Done(args) => {
            return done::run(args, TaskAction::Done, tasks, (format, here)).await;
        }
        TaskSubcommand::Review(args) => {
            return done::run(args, TaskAction::Review, tasks, (format, here)).await;
        }
        TaskSubcommand::Import { file } => {
            return transfer::import(tasks, &here.folder.join(file), format).await;
        }
        TaskSubcommand::Export => return transfer::export(tasks, format).await,
        TaskSubcommand::Add { title, scope, acceptance, file } => {
            let scope = scope_of(scope.as_deref(), file.as_ref(), here)?;
            Ok(add(tasks, title, &scope, acceptance).await?)
        }
        TaskSubcommand::Start { id } => {
            let (commit, work_tree) = tasks.start().await?;
            start_task(id, &commit, &work_tree, &ports).await
        }
        TaskSubcommand::Block { id, reason } => {
            change_task(id, TaskAction::Block, &ports, |task| {
                if let Some(reason) = reason {
                    task.add_note(&format!("Blocked: {reason}"));
                }
            })
            .await
        }
        TaskSubcommand::Reopen { id } => reopen_task(id, &ports).await,
    };
    let task = changed.map_err(failure)?;
    let text = match format {
        TaskFormat::Text => format!("{}\n", line(&task)),
        TaskFormat::Json => format!("{:#}\n", show::task_json(&task)),
    };
    console::data(&text)?;
    Ok(Exit::Passed)
}

fn scope_of(
    scope: Option<&str>,
    file: Option<&PathBuf>,
    here: &Environment,
) -> Result<String, Failure> {
    let Some(file) = file else { return Ok(scope.unwrap_or_default().to_owned()) };
    let unreadable = |error| Failure::usage(format!("cannot read {}: {error}", file.display()));
    let bytes = read_following_links(&here.folder.join(file), MAX_FILE).map_err(unreadable)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

async fn add(
    tasks: &TaskRepository,
    title: &str,
    scope: &str,
    acceptance: &str,
) -> anyhow::Result<TaskRecord> {
    let task = TaskRecord {
        scope: clean_text(scope),
        acceptance: clean_text(acceptance),
        ..TaskRecord::new(IssueId::new(""), title)
    };
    if task.title.is_empty() {
        return Err(Failure::usage("the title is empty").into());
    }
    Ok(tasks.store().add(&task).await?)
}

/// A task in one line.
fn line(task: &TaskRecord) -> String {
    harmless(&format!("{}  {}  {}", task.id, status_words(task), task.title))
}

/// The status of a task, and whether a complete one was reviewed.
fn status_words(task: &TaskRecord) -> String {
    let not_reviewed = task.status == TaskStatus::Complete && !task.is_reviewed();
    format!("{}{}", task.status.name(), if not_reviewed { " (not reviewed)" } else { "" })
}

/// A refused transition is a usage error with the allowed commands as a hint.
fn failure(error: TaskError) -> anyhow::Error {
    match error {
        TaskError::Transition(error) => Failure::usage(error.to_string()).hint(error.hint()).into(),
        TaskError::Store(error) => unknown(error),
        TaskError::WorkElsewhere { ref id, .. } => {
            let hint = format!(
                "check that work out and run `mala task done {id}`; to close the task without a change, run `mala task \
                 block {id}` and `mala issue close {id}`"
            );
            Failure::usage(error.to_string()).hint(hint).into()
        }
        error => error.into(),
    }
}

fn unknown(error: TrackerError) -> anyhow::Error {
    match error {
        TrackerError::Unknown(_) | TrackerError::Ambiguous { .. } => {
            Failure::usage(error.to_string()).hint("run `mala task list`").into()
        }
        error => error.into(),
    }
}
