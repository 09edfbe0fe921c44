//! `mala issue`: the issues that `mala run` works on.

use crate::console::{self, harmless};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::interrupt::until_interrupted;
use crate::wiring::run::{open_git, open_tracker};
use crate::wiring::trusted_settings::WorkingTreeSettings;
use clap::{Args, Subcommand};
use mala_domain::config::Config;
use mala_domain::ports::TrackerError;
use mala_domain::run::issue::{IssueDraft, IssueId, IssueStatus};

/// Add, list, show and close the issues that `mala run` works on
#[derive(Debug, Args)]
pub struct IssueArgs {
    #[command(subcommand)]
    command: IssueCommand,
}

/// The commands of `mala issue`
#[derive(Debug, Subcommand)]
enum IssueCommand {
    /// Add an issue
    Add {
        /// Title
        title: String,
        /// What is to be done, as Markdown
        #[arg(long, value_name = "TEXT", default_value = "")]
        body: String,
        /// Priority; 0 is the most urgent
        #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=4))]
        priority: u8,
    },
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
}

pub(super) fn run(args: &IssueArgs, here: &Environment) -> anyhow::Result<Exit> {
    let settings = WorkingTreeSettings::read(here)?.settings(Config::default())?;
    until_interrupted(async {
        let git = open_git(here).await?;
        let tracker = open_tracker(here, &settings, &git).await?;
        let unknown = |error: TrackerError| match error {
            TrackerError::Unknown(_) => anyhow::Error::from(
                Failure::usage(error.to_string())
                    .hint("run `mala issue list --all` to list the issues"),
            ),
            error => error.into(),
        };
        match &args.command {
            IssueCommand::Add { title, body, priority } => {
                let draft = IssueDraft {
                    title: title.clone(),
                    body: body.clone(),
                    notes: String::new(),
                    priority: *priority,
                    labels: Vec::new(),
                    related_to: None,
                };
                let id = tracker.create(&draft).await?;
                console::data(&format!("{id}\n"))?;
            }
            IssueCommand::List { all } => {
                let mut text = String::new();
                for issue in tracker.issues().await? {
                    if *all || issue.status != IssueStatus::Closed {
                        let title = harmless(&issue.title);
                        let (id, status) = (harmless(issue.id.as_str()), issue.status.name());
                        text.push_str(&format!("{id}  {status}  P{}  {title}\n", issue.priority));
                    }
                }
                match text.is_empty() {
                    true => console::say("no issues"),
                    false => console::data(&text)?,
                }
            }
            IssueCommand::Show { id, json } => {
                let issue = tracker.issue(&IssueId::new(id)).await.map_err(unknown)?;
                let text = match json {
                    true => serde_json::to_string_pretty(&issue)?,
                    false => harmless(&format!(
                        "{} {}\nstatus: {}\nlabels: {}\n\n{}\n{}",
                        issue.id,
                        issue.title,
                        issue.status.name(),
                        issue.labels.join(", "),
                        issue.body,
                        issue.notes
                    )),
                };
                console::data(&format!("{text}\n"))?;
            }
            IssueCommand::Close { id, reason } => {
                tracker.close(&IssueId::new(id), reason).await.map_err(unknown)?;
            }
        }
        Ok(Exit::Passed)
    })
}
