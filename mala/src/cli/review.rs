//! `mala review`: what changed, reviewed, decided and shown.

mod dry_run;
mod outputs;
mod run;
mod show;

use super::exit::Exit;
use super::target::TargetArgs;
use crate::surroundings::Surroundings;
use clap::Args;
use mala_domain::agent::budget::Profile;
use mala_domain::config::{ReviewerType, Seconds};
use mala_domain::verdict::Threshold;
use std::path::PathBuf;

/// Review a change
///
/// With nothing said, the change is the working tree against HEAD: staged, unstaged and untracked
/// files. Exit codes: 0 pass, 1 findings at or above --fail-on, 2 could not review, 3 timeout, 4 no
/// reviewers, 5 internal error, 64 usage, 78 configuration, 130 interrupted.
#[derive(Debug, Default, Args)]
pub struct ReviewArgs {
    #[command(flatten)]
    what: TargetArgs,

    /// The reviewers, separated by commas: builtin, agent_sdk, cerberus or command
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    reviewer: Vec<ReviewerType>,

    /// The model behind the agent, such as sonnet or openai/gpt-4.1-mini
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// What the agent may spend: quick, standard or thorough
    #[arg(long, value_name = "NAME")]
    profile: Option<Profile>,

    /// A file about the task behind the change, for the agent to read
    #[arg(long, value_name = "FILE")]
    context_file: Option<PathBuf>,

    /// The title of the pull request, as its author's claim
    #[arg(long, value_name = "TEXT")]
    pr_title: Option<String>,

    /// A file with the text of the pull request, as its author's claim
    #[arg(long, value_name = "FILE")]
    pr_text: Option<PathBuf>,

    /// Show what would be sent and what it could cost, and ask nobody
    #[arg(long)]
    dry_run: bool,

    /// Keep prompts and answers with the files of this review, without secrets
    #[arg(long, conflicts_with = "no_save")]
    debug: bool,

    /// Keep the model's traffic in this folder, without secrets
    #[arg(long, value_name = "DIR", conflicts_with = "replay")]
    record: Option<PathBuf>,

    /// Answer from this folder in the model's place; no key is needed
    #[arg(long, value_name = "DIR")]
    replay: Option<PathBuf>,

    /// How long the review may take, in seconds
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<Seconds>,

    /// From which priority on findings fail the review: P0, P1, P2, P3 or none
    #[arg(long, value_name = "PRIORITY")]
    fail_on: Option<Threshold>,

    /// How to show the result: text, markdown, json, sarif, rdjson, gitlab, junit or github
    #[arg(long, value_name = "FORMAT")]
    format: Vec<String>,

    /// The same as `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Write a report to a file, as FORMAT=FILE or by the file's ending; the file `-` is stdout; may
    /// be given several times
    #[arg(long, short, value_name = "[FORMAT=]FILE")]
    output: Vec<String>,

    /// Keep no files of this review under .mala/runs, and store nothing in the ledger
    #[arg(long)]
    no_save: bool,

    /// Review everything again, not only what changed since the last review
    #[arg(long)]
    full: bool,

    /// List findings that do not count too: late, waived, disputed, below the bar
    #[arg(long)]
    all: bool,

    /// Print a prompt for a coding agent with the open findings
    #[arg(long, conflicts_with_all = ["format", "json"])]
    fix_prompt: bool,

    /// Show every skipped file and every suppressed finding
    #[arg(long, short)]
    verbose: bool,
}

impl ReviewArgs {
    /// A review of the working tree with the built-in reviewer, as the demo shows it.
    pub(super) fn of_working_tree() -> Self {
        Self { reviewer: vec![ReviewerType::Builtin], ..Self::default() }
    }
}

pub(super) fn run(args: &ReviewArgs, here: &Surroundings) -> anyhow::Result<Exit> {
    run::run(args, here)
}
