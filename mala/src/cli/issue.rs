//! `mala issue`: the issues that `mala run` works on.

mod transfer;

use crate::console::{self, harmless};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt::until_interrupted;
use crate::wiring::run::{open_git, open_tracker};
use crate::wiring::trusted_settings::WorkingTreeSettings;
use clap::{Args, Subcommand};
use mala_domain::config::Config;
use mala_domain::ports::{Tracker, TrackerError};
use mala_domain::run::issue::{IssueDraft, IssueId, IssueKind, IssueStatus, TrackerIssue};
use std::path::PathBuf;
use transfer::IssueFormat;

/// Add, list, show, close, import and export the issues that `mala run` works on
#[derive(Debug, Args)]
pub struct IssueArgs {
    #[command(subcommand)]
    command: IssueCommand,
}

/// The commands of `mala issue`
#[derive(Debug, Subcommand)]
enum IssueCommand {
    /// Add an issue and print its id
    Add(AddArgs),
    /// List issues
    List {
        /// List closed issues too
        #[arg(long)]
        all: bool,
    },
    /// Show an issue
    Show {
        /// Its id
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Close an issue
    Close {
        /// Its id
        id: String,
        /// Why
        #[arg(long, value_name = "TEXT", default_value = "closed by the user")]
        reason: String,
    },
    /// Import issues from JSON Lines or from a Markdown plan with checkboxes
    ///
    /// An issue that exists keeps its status. A line that is no issue is left out with a warning.
    Import {
        /// The file, or `-` for stdin
        file: PathBuf,
        /// Format; by default, from the name of the file
        #[arg(long, value_name = "FORMAT")]
        format: Option<IssueFormat>,
    },
    /// Print all issues as JSON Lines or as a Markdown plan
    Export {
        /// Format
        #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
        format: IssueFormat,
    },
}

/// The fields of a new issue
#[derive(Debug, Args)]
struct AddArgs {
    /// Title
    title: String,
    /// Description of the work, as Markdown
    #[arg(long, value_name = "TEXT", default_value = "")]
    body: String,
    /// Priority; 0 is the most urgent
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=4))]
    priority: u8,
    /// Add an epic: a group of issues that no coder works on
    #[arg(long)]
    epic: bool,
    /// The epic that it is in
    #[arg(long, value_name = "ID")]
    parent: Option<String>,
    /// An issue that must be closed before it; can be given several times
    #[arg(long, value_name = "ID")]
    blocked_by: Vec<String>,
    /// A label; can be given several times
    #[arg(long, value_name = "TEXT")]
    label: Vec<String>,
}

pub(super) fn run(args: &IssueArgs, here: &Environment) -> anyhow::Result<Exit> {
    let settings = WorkingTreeSettings::read(here)?.settings(Config::default())?;
    until_interrupted(async {
        let git = open_git(here).await?;
        let tracker = open_tracker(here, &settings, &git).await?;
        match &args.command {
            IssueCommand::Add(issue) => add(issue, &*tracker).await?,
            IssueCommand::List { all } => list(*all, &*tracker).await?,
            IssueCommand::Show { id, json } => {
                let issue = tracker.issue(&IssueId::new(id)).await.map_err(unknown)?;
                let text =
                    if *json { serde_json::to_string_pretty(&issue)? } else { described(&issue) };
                console::data(&format!("{text}\n"))?;
            }
            IssueCommand::Close { id, reason } => {
                close(&IssueId::new(id), reason, &*tracker).await?;
            }
            IssueCommand::Import { file, format } => {
                let store = transfer::store(&*tracker, &git)?;
                transfer::import(&here.folder.join(file), *format, &store).await?;
            }
            IssueCommand::Export { format } => {
                transfer::export(*format, &transfer::store(&*tracker, &git)?).await?;
            }
        }
        Ok(Exit::Passed)
    })
}

/// Adds an issue. The issues that it names must exist.
async fn add(args: &AddArgs, tracker: &dyn Tracker) -> anyhow::Result<()> {
    if args.title.trim().is_empty() {
        return Err(Failure::usage("the title is empty").into());
    }
    let parent = args.parent.as_ref().map(IssueId::new);
    if let Some(parent) = &parent
        && tracker.issue(parent).await.map_err(unknown)?.kind != IssueKind::Epic
    {
        return Err(Failure::usage(format!("`{parent}` is not an epic")).into());
    }
    let blocked_by: Vec<IssueId> = args.blocked_by.iter().map(IssueId::new).collect();
    for id in &blocked_by {
        tracker.issue(id).await.map_err(unknown)?;
    }
    let draft = IssueDraft {
        title: args.title.clone(),
        body: args.body.clone(),
        priority: args.priority,
        labels: args.label.clone(),
        kind: if args.epic { IssueKind::Epic } else { IssueKind::Work },
        parent,
        blocked_by,
        ..IssueDraft::default()
    };
    Ok(console::data(&format!("{}\n", tracker.create(&draft).await?))?)
}

/// Closes an issue. Work that was started on a task of the built-in tracker ends with a review.
async fn close(id: &IssueId, reason: &str, tracker: &dyn Tracker) -> anyhow::Result<()> {
    let issue = tracker.issue(id).await.map_err(unknown)?;
    if tracker.name() == "builtin" && issue.status == IssueStatus::InProgress {
        let why = format!("`{id}` is in progress: only a review completes it");
        let hint = format!("run `mala task done {id}`, or `mala task block {id}` to set it aside");
        return Err(Failure::usage(why).hint(hint).into());
    }
    tracker.close(id, reason).await.map_err(unknown)
}

async fn list(all: bool, tracker: &dyn Tracker) -> anyhow::Result<()> {
    let mut text = String::new();
    for issue in tracker.issues().await? {
        if all || issue.status != IssueStatus::Closed {
            let title = harmless(&issue.title);
            let (id, status) = (harmless(issue.id.as_str()), issue.status.name());
            let epic = if issue.kind == IssueKind::Epic { "  epic" } else { "" };
            text.push_str(&format!("{id}  {status}  P{}{epic}  {title}\n", issue.priority));
        }
    }
    if text.is_empty() {
        console::say("no issues");
    }
    Ok(console::data(&text)?)
}

fn described(issue: &TrackerIssue) -> String {
    let mut text = format!("{} {}\nstatus: {}\n", issue.id, issue.title, issue.status.name());
    let blockers: Vec<&str> = issue.blocked_by.iter().map(IssueId::as_str).collect();
    let parent = issue.parent.as_ref().map(IssueId::as_str).unwrap_or_default();
    for (name, value) in [
        ("labels", issue.labels.join(", ")),
        ("epic", parent.to_owned()),
        ("blocked by", blockers.join(", ")),
    ] {
        if !value.is_empty() {
            text.push_str(&format!("{name}: {value}\n"));
        }
    }
    harmless(&format!("{text}\n{}\n{}", issue.body, issue.notes))
}

fn unknown(error: TrackerError) -> anyhow::Error {
    match error {
        TrackerError::Unknown(_) | TrackerError::Ambiguous { .. } => {
            Failure::usage(error.to_string())
                .hint("run `mala issue list --all` to list the issues")
                .into()
        }
        error => error.into(),
    }
}
