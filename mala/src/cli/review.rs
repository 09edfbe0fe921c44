//! `mala review`: reviews a change and prints the report.

mod dry_run;
mod outputs;
mod run;
mod show;

pub(super) use run::{FinishedReview, ReviewJob, all_tasks, flags, run_job};
pub(super) use show::show as show_report;

use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::target::TargetArgs;
use clap::Args;
use clap::builder::PossibleValuesParser;
use mala_domain::agent::budget::Profile;
use mala_domain::config::{ReviewerType, Seconds};
use mala_domain::render::OUTPUTS;
use mala_domain::verdict::Threshold;
use std::path::PathBuf;

/// Review a change
///
/// By default, reviews the working tree against HEAD: staged, unstaged and untracked files. Exit codes: 0 pass, 1 findings at or above --fail-on, 2 could not review, 3 timeout, 4 no
/// reviewers, 5 internal error, 64 usage, 78 configuration, 130 interrupted.
#[derive(Debug, Default, Args)]
pub struct ReviewArgs {
    #[command(flatten)]
    what: TargetArgs,

    #[command(flatten)]
    options: ReviewOptions,

    /// Title of the pull request
    #[arg(long, value_name = "TEXT")]
    pr_title: Option<String>,

    /// File with the description of the pull request
    #[arg(long, value_name = "FILE")]
    pr_text: Option<PathBuf>,

    /// Show what would be sent and its maximum cost, without calling a model
    #[arg(long)]
    dry_run: bool,

    #[arg(skip)]
    is_from_fork: bool,
}

/// Options of a review, for all targets
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ReviewOptions {
    /// Reviewers: builtin, agent_sdk, cerberus, command
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    reviewer: Vec<ReviewerType>,

    /// Model of the agent, such as sonnet or openai/gpt-4.1-mini
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// Budget profile of the agent: lean, standard or thorough
    #[arg(long, value_name = "NAME")]
    profile: Option<Profile>,

    /// File that describes the task, for the reviewers
    #[arg(long, value_name = "FILE")]
    context_file: Option<PathBuf>,

    /// Save prompts and answers with the review, without secrets
    #[arg(long, conflicts_with = "no_save")]
    debug: bool,

    /// Record model traffic in this folder, without secrets
    #[arg(long, value_name = "DIR", conflicts_with = "replay")]
    record: Option<PathBuf>,

    /// Replay recorded model traffic from this folder; needs no key
    #[arg(long, value_name = "DIR")]
    replay: Option<PathBuf>,

    /// Time limit of the review, in seconds
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<Seconds>,

    /// Lowest priority of findings that fail the review: P0, P1, P2, P3 or none
    #[arg(long, value_name = "PRIORITY")]
    fail_on: Option<Threshold>,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_parser = output_formats())]
    format: Vec<String>,

    /// Same as `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Write a report to a file, or to stdout with `-`; repeatable. The format is FORMAT, or follows from
    /// the file extension
    #[arg(long, short, value_name = "[FORMAT=]FILE")]
    output: Vec<String>,

    /// Do not save the review in .mala/runs or in the ledger
    #[arg(long)]
    no_save: bool,

    /// Review everything again, not only changes since the last review
    #[arg(long)]
    full: bool,

    /// Also list findings that do not count: late, waived, disputed, below the threshold of the round
    #[arg(long)]
    all: bool,

    /// Print a prompt for a coding agent with the open findings
    #[arg(long, conflicts_with_all = ["format", "json"])]
    fix_prompt: bool,

    /// Show all skipped files and suppressed findings
    #[arg(long, short)]
    verbose: bool,
}

impl ReviewArgs {
    /// A review of the working tree with the built-in reviewer, for the demo.
    pub(super) fn of_working_tree() -> Self {
        Self { options: ReviewOptions::of_built_in_reviewer(), ..Self::default() }
    }
}

impl ReviewOptions {
    /// The built-in reviewer, and defaults for the rest.
    pub(super) fn of_built_in_reviewer() -> Self {
        Self { reviewer: vec![ReviewerType::Builtin], ..Self::default() }
    }
}

impl ReviewArgs {
    /// A review of the commits of a CI job.
    pub(super) fn of_range(
        (base, head): &(String, String),
        is_from_fork: bool,
        options: ReviewOptions,
    ) -> Self {
        Self { what: TargetArgs::of_range(base, head), is_from_fork, options, ..Self::default() }
    }
}

impl ReviewOptions {
    /// The same options, without storing the review on this condition.
    pub(super) fn unsaved_if(mut self, is_unsaved: bool) -> Self {
        self.no_save |= is_unsaved;
        self
    }

    /// Writes the report to a file too.
    pub(super) fn also_write(&mut self, format: &str, file: &str) {
        self.output.push(format!("{format}={file}"));
    }

    /// Prints the report in this format, unless another one is wanted.
    pub(super) fn default_format(&mut self, format: &str) {
        if self.format.is_empty() && !self.json {
            self.format.push(format.to_owned());
        }
    }
}

/// The formats of reports.
pub(super) fn output_formats() -> PossibleValuesParser {
    PossibleValuesParser::new(OUTPUTS.iter().map(|(name, _)| *name))
}

/// The outputs that the options name.
pub(super) fn sinks(options: &ReviewOptions) -> Result<Vec<outputs::ReportSink>, Failure> {
    let json = vec!["json".to_owned()];
    let formats = if options.json { &json } else { &options.format };
    outputs::sinks(formats, &options.output)
}

pub(super) fn run(args: &ReviewArgs, here: &Environment) -> anyhow::Result<Exit> {
    run::run(args, here)
}
